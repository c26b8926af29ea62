// Draw one part of the page each, anew at every moment.

function drawVerdict({ run: { facts }, extra }) {
  const errors = facts.findings.filter((finding) => finding.severity === "error").length;
  const chip = (text, kind = "") => make("a", { class: `chip ${kind}`, href: "#facts" }, text);
  $("verdict").append(
    chip(errors ? `${errors} findings of severity error` : "ran to the end", errors ? "bad" : "good"),
    chip(`${facts.warnings.length} warnings`, facts.warnings.length ? "bad" : ""),
    chip(extra.checked ? `${facts.findings.length} findings` : "no checks ran"),
    chip(`weakest rule: ${facts.evidence.weakest}`),
  );
  const table = (heads, rows) => make("table", {}, row("th", {}, ...heads), ...rows.map((cells) => row("td", {}, ...cells)));
  const part = (title, open, body) => make("details", open ? { open: "" } : {}, make("summary", {}, title), body);
  const findings = facts.findings.map((f) => [f.severity, f.code, f.message, f.where ? `${short(f.where[0])}:${f.where[1]}` : "", jumper(f), String(f.count)]);
  const rules = facts.evidence.rules.map((r) => [r.grade, r.rule, r.instructions.join(", "), r.text, r.source]);
  const fields = { ...facts.tiling, mode: facts.mode, ...extra.facts };
  $("facts").append(
    part("Warnings", facts.warnings.length, make("ul", {}, ...facts.warnings.map((text) => make("li", {}, text)))),
    part(extra.checked ? "Findings" : "Findings: no checks ran", findings.length,
      table(["severity", "code", "what", "where", "call", "times"], findings)),
    part("Tiling", false, table(["field", "value"], Object.entries(fields).map(([k, v]) => [k, String(v)]))),
    part(`Rules it stood on, weakest first: ${facts.evidence.weakest}`, false, table(["grade", "rule", "instructions", "what it says", "source"], rules)),
  );
}

// A button that goes to a finding's call.
function jumper(finding) {
  const go = () => {
    const page = window.capsule, block = page.run.blocks.get(finding.core);
    const position = block ? block.entries.findIndex((entry) => entry.seq === finding.seq) : -1;
    if (position < 0) return page.say("that call is not among the recorded ones");
    page.open(finding.core);
    page.goto(position + 1);
  };
  return make("button", { onclick: go }, `block ${finding.core} [${finding.seq}]`);
}

function keepInView(box, item) {
  if (!item) return;
  const top = item.offsetTop;  // within the box, which is positioned
  if (top < box.scrollTop + 20 || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
}

function drawSource(page) {
  const { at } = page, { done, next } = at, shownEntry = done ?? next;
  if (!shownEntry) return;
  const box = $("source"), file = shownEntry.file;
  if (box.dataset.file !== `${at.number} ${file}`) {
    const ran = new Map();
    at.entries.forEach((entry) => entry.file === file && ran.set(entry.line, (ran.get(entry.line) ?? 0) + 1));
    const goOn = (line) => () => {
      const fits = (entry) => entry.file === file && entry.line === line;
      page.jump(fits, page.at.behind(fits, 1) < 0 ? -1 : 1);
    };
    box.replaceChildren(...at.files[file].map((text, number) => {
      const calls = ran.get(number + 1), attributes = calls ? { title: `${calls} calls; click for the next`, onclick: goOn(number + 1) } : {};
      return make("div", { class: calls ? "line ran" : "line" }, make("i", attributes, String(number + 1)), text.replace(/\s+$/, "") || " ");
    }));
    box.dataset.file = `${at.number} ${file}`;
  }
  $("file").replaceChildren(make("b", {}, short(file)), " · ▶ the call just done · ", make("span", { class: "read" }, "next"), " the one to come");
  box.querySelectorAll(".done, .next").forEach((line) => line.classList.remove("done", "next"));
  if (next && next.file === file) box.children[next.line - 1]?.classList.add("next");
  if (done) box.children[done.line - 1]?.classList.add("done");
  keepInView(box, box.children[shownEntry.line - 1]);
}

function drawStream(page) {
  const { at } = page, box = $("stream");
  const first = Math.max(0, Math.min(at.position - ROWS / 2, at.length - ROWS));
  const rows = at.entries.slice(first, first + ROWS).map((entry, k) => {
    const position = first + k, { call } = entry;
    const kinds = ["row", position === at.position - 1 ? "done" : position === at.position ? "next" : position > at.position ? "todo" : "", page.differs.has(position) ? "differs" : ""];
    const tile = entry.tile < 0 ? "" : ` ${entry.tile}`;
    return make("div", { class: kinds.join(" "), onclick: () => page.goto(position + 1) },
      make("span", {}, String(position)), make("span", { class: `pipe ${call.pipe}` }, call.pipe), make("span", {}, call.name),
      make("span", {}, brief(call)), make("span", { class: "dim" }, entry.phase ? entry.phase + tile : ""));
  });
  if (first > 0) rows.unshift(make("div", { class: "row dim" }, "", `${first} calls before`));
  box.replaceChildren(...rows);
  keepInView(box, box.querySelector(".done") ?? box.firstChild);
}

function brief(call) {
  if (call.name === "InitBuffer") return `${call.fields.buf} ${call.fields.num} x ${call.fields.len}`;
  const names = (writes) => call.accesses.filter((a) => a.writes === writes).map((a) => a.name).join(", ");
  return [names(true), names(false)].filter(Boolean).join(" ← ") || String(call.fields.mode ?? "");
}

function operandText(call, access) {
  const bytes = call.extent(access), size = TYPES[access.dtype].size;
  const name = access.slot ? `${access.name}@${access.slot}` : access.name;
  if (!bytes) return name;
  if (access.element === 0) return `${name} bits ${(access.start - access.at) * 8}..${(access.start - access.at + bytes) * 8 - 1}`;
  const first = (access.start - access.at) / size;
  return `${name}[${first}..${first + Math.ceil(bytes / size) - 1}]`;
}

function described({ call, scalar, bits }) {
  const words = call.accesses.map((access) => make("span", { class: access.writes ? "write" : "read" }, `${access.role} ${operandText(call, access)}  `));
  if (scalar !== null) words.push(`scalar ${scalarText(scalar)}${bits ? ` (${bits})` : ""}  `);
  const fields = Object.entries(call.fields).map(([name, value]) => `${name} ${scalarText(value)}`);
  return [...words, make("span", { class: "dim" }, fields.join("  "))];
}

function drawCall(page) {
  const { at } = page, { done, next } = at;
  const parts = [];
  if (!done) parts.push(make("h3", {}, "Start of the block"), make("p", {}, "Nothing is done yet. ", make("kbd", {}, "→"), " does the next call."));
  else {
    const tile = done.tile < 0 ? "" : `, tile ${done.tile}`;
    parts.push(
      make("h3", {}, `[${at.position - 1}] ${done.call.name} `, make("span", { class: `pipe ${done.call.pipe}` }, done.call.pipe), make("small", { class: "dim" }, ` ${done.phase}${tile}`)),
      make("div", { class: "operands" }, ...described(done)), ...changes(page, done));
  }
  const then = next ? [`next: [${at.position}] ${next.call.name} `, ...described(next)] : ["the block is done"];
  $("call").replaceChildren(...parts, make("div", { class: "then" }, ...then));
}

function changes(page, done) {
  const gm = done.stores.filter((store) => store.space !== "UB");
  if (gm.length) {
    const bytes = gm.reduce((sum, store) => sum + store.stop - store.start, 0);
    return [make("p", {}, `stored ${bytes} bytes of ${gm[0].space} in GM`), stores(gm, done)];
  }
  const slot = page.slots.get(page.chosen), wrote = stored(done);
  if (!wrote.length) return [make("p", { class: "dim" }, "changes no byte"), ...states(page, done)];
  if (!slot || !writes(done, slot.start, slot.start + slot.nbytes)) return [make("p", {}, `stored elsewhere: UB[0x${wrote[0][0].toString(16)}, 0x${wrote[0][1].toString(16)})`)];
  const lanes = page.lanes, before = lanes.before(page.at);
  const changed = [...before].filter(([lane, bits]) => bits !== lanes.bits(page.at.ub, lane));
  const lines = changed.slice(0, MOST_CHANGES).map(([lane, old]) => {
    const open = () => page.select(page.chosen, lane);
    return row("td", { onclick: open }, lanes.place(lane), ...lanes.words(old), "→", ...lanes.words(lanes.bits(page.at.ub, lane)));
  });
  const more = changed.length > lines.length ? `, the first ${lines.length}:` : changed.length ? ":" : "";
  return [make("p", {}, make("b", { class: "write" }, `${changed.length} of ${before.size} stored lanes of ${lanes.name} changed`), more), make("table", { class: "mono" }, ...lines)];
}

// What a queue call changes: the state of its slot, and the tokens between the pipes.
function states(page, { call, waits, signals }) {
  const lines = [], holder = call.accesses[0];
  if (call.name in STATES && holder) {
    const slot = page.slots.get(`${holder.name}@${holder.slot}`);
    if (slot) lines.push(make("p", {}, page.lanesOf(slot).name, " is now ", make("span", { class: `state ${slot.state}` }, slot.state)));
  }
  const pipe = (name) => name.replace("PIPE_", "");
  for (const [word, tokens] of [["waits for", waits], ["signals", signals]])
    for (const [, source, target, id] of tokens) lines.push(make("p", { class: "dim" }, `${word} ${pipe(source)} → ${pipe(target)}, id ${id}`));
  return lines;
}

function stores(gm, done) {
  const access = done.call.accesses.find((a) => a.writes && a.space === "GM"), size = TYPES[access.dtype].size;
  const lines = [];
  for (const store of gm)
    for (let k = 0; k + size <= store.after.length && lines.length < MOST_CHANGES; k += size) {
      const bits = bitsAt(store.after, k, size);
      lines.push(row("td", {}, `${store.space}[${(store.start + k) / size}]`, "=", shown(bits, access.dtype), hex(bits, size)));
    }
  return make("table", { class: "mono" }, ...lines);
}

function drawMap(page) {
  const names = [...new Set([...page.slots.values()].map((slot) => slot.name))];
  page.hues = new Map(names.map((name, k) => [name, HUES[k % HUES.length]]));
  const end = Math.max(...[...page.slots.values()].map((slot) => slot.start + slot.nbytes), 1);
  const x = (byte) => (byte / end) * 1000;
  const svg = make("svg", { viewBox: "0 0 1000 56", preserveAspectRatio: "none", height: 56 });
  svg.append(make("rect", { class: "empty", x: 0, y: 10, width: 1000, height: 32 }));
  for (const [key, slot] of page.slots)
    svg.append(make("rect", { class: `slot ${slot.state} ${key === page.chosen ? "chosen" : ""}`, x: x(slot.start) + 0.5, y: 10, width: Math.max(x(slot.nbytes) - 1, 1), height: 32, rx: 2, fill: page.hues.get(slot.name), onclick: () => page.select(key) },
      make("title", {}, `${page.lanesOf(slot).name} UB[0x${slot.start.toString(16)}, 0x${(slot.start + slot.nbytes).toString(16)}) ${slot.state}`)));
  const marks = (kind, y, spans) => spans.forEach(([start, stop]) => svg.append(make("rect", { class: kind, x: x(start), y, width: Math.max(x(stop - start), 2.5), height: 6, rx: 1 })));
  const done = page.at.done, reads = done ? done.call.accesses.filter((a) => !a.writes && a.space === "UB") : [];
  marks("reads", 46, reads.map((a) => [a.start, a.start + done.call.extent(a)]).filter(([a, b]) => b > a));
  marks("wrote", 2, stored(done).slice(0, 200));
  const used = `0x0 to 0x${end.toString(16)} of ${page.at.ub.length} bytes`;
  $("map").replaceChildren(svg, make("div", { class: "dim" }, `${used} · `, make("span", { class: "write" }, "▀ stored"), " and ", make("span", { class: "read" }, "▄ read"), " by the call just done; pale: free"));
}

function drawSlots(page) {
  const rows = [...page.slots].map(([key, slot]) => {
    const lanes = page.lanesOf(slot), before = lanes.before(page.at), cells = [], most = Math.min(lanes.mask ? 32 : 6, lanes.count);
    for (let lane = 0; lane < most; lane++) {
      const bits = lanes.bits(page.at.ub, lane), text = lanes.words(bits)[0] + (lanes.mask ? "" : "  ");
      cells.push(before.has(lane) && before.get(lane) !== bits ? make("span", { class: "write" }, text) : lanes.never(page.at, lane) ? make("span", { class: "never" }, text) : text);
    }
    const state = slot.state ? make("span", { class: `state ${slot.state}` }, slot.state) : make("span", { class: "dim" }, slot.kind);
    return row("td", { class: `slot ${key === page.chosen ? "chosen" : ""}`, onclick: () => page.select(key) },
      make("td", {}, make("span", { class: "swatch", color: page.hues.get(slot.name) }), lanes.name), state, make("td", { class: "dim" }, lanes.type),
      make("td", {}, make("span", { class: "peek mono" }, ...cells, lanes.count > most ? "…" : "")));
  });
  $("slots").replaceChildren(make("table", {}, ...rows));
}

function drawBuffer(page) {
  const lanes = page.lanes;
  if (!lanes) return $("buffer").replaceChildren();
  page.first = Math.max(0, Math.min(page.first, Math.floor((lanes.count - 1) / lanes.page) * lanes.page));
  const end = Math.min(page.first + lanes.page, lanes.count), before = lanes.before(page.at);
  const grid = lanes.mask ? maskGrid(page, lanes, before, end) : valueGrid(page, lanes, before, end);
  $("buffer").replaceChildren(bufferBar(page, lanes, end), grid, historyOf(page, lanes));
}

function bufferBar(page, lanes, end) {
  const retype = ({ target }) => { page.types.set(lanes.slot.name, target.value); Object.assign(page, { lane: -1, first: 0 }); page.draw(); };
  const types = [...Object.keys(TYPES), "mask bits"].map((name) => make("option", name === lanes.type ? { value: name, selected: "" } : { value: name }, name));
  const turn = (step) => () => { Object.assign(page, { first: page.first + step, follow: false }); page.draw(); };
  const back = make("button", { onclick: turn(-lanes.page) }, "◀"), forth = make("button", { onclick: turn(lanes.page) }, "▶");
  [back.disabled, forth.disabled] = [page.first === 0, end === lanes.count];
  const choose = ({ target }) => { const k = Number(target.value); if (k >= 0 && k < lanes.count) { page.show(k); page.select(page.chosen, k); } };
  const lane = make("input", { type: "number", min: 0, max: lanes.count - 1, placeholder: "lane", "aria-label": "lane", onchange: choose });
  const follow = make("input", { type: "checkbox", onchange: ({ target }) => { page.follow = target.checked; page.goto(page.at.position); } });
  follow.checked = page.follow;
  return make("div", { class: "bar" }, make("h2", {}, lanes.name), make("select", { onchange: retype, "aria-label": "element type" }, ...types),
    back, `lanes ${page.first}..${end - 1} of ${lanes.count}`, forth, lane, make("label", {}, follow, " follow the writes"));
}

function kindsOf(page, lanes, before, lane, bits, other) {
  const changed = before.has(lane) ? (before.get(lane) !== bits ? "changed" : "stored") : "";
  return [changed, lanes.never(page.at, lane) ? "never" : "", lane === page.lane ? "chosen" : "", other !== null && other !== bits ? "differs" : ""].join(" ");
}

// The bits of a lane in the other capsule at this moment, null where there is none.
function theirBits(page, lanes, lane) {
  const { theirs, at } = page;
  return theirs && at.position <= page.difference.common ? lanes.bits(theirs.ub, lane) : null;
}

function valueGrid(page, lanes, before, end) {
  const grid = make("div", { class: "lanes" });
  for (let lane = page.first; lane < end; lane++) {
    if ((lane - page.first) % 8 === 0) grid.append(make("div", { class: "head" }, String(lane)));
    const bits = lanes.bits(page.at.ub, lane), other = theirBits(page, lanes, lane), [value, raw] = lanes.words(bits);
    const theirs = other === null || other === bits ? null : make("small", { class: "other" }, lanes.words(other).join(" "));
    grid.append(make("div", { class: kindsOf(page, lanes, before, lane, bits, other), title: `lane ${lane}${lanes.never(page.at, lane) ? ", never written in this block" : ""}`, onclick: () => page.select(page.chosen, lane) }, value, make("small", {}, raw), theirs));
  }
  return grid;
}

function maskGrid(page, lanes, before, end) {
  const box = make("div", { class: "mask" });
  for (let first = page.first; first < end; first += 64) {
    const line = make("div", {}, make("span", { class: "head" }, String(first)));
    for (let lane = first; lane < Math.min(first + 64, end); lane++) {
      const bit = lanes.bits(page.at.ub, lane), kinds = kindsOf(page, lanes, before, lane, bit, theirBits(page, lanes, lane));
      line.append(make("b", { class: `${bit ? "one" : ""} ${kinds}`, title: `bit ${lane} is ${bit}`, onclick: () => page.select(page.chosen, lane) }));
    }
    box.append(line);
  }
  return box;
}

// Who stored to the selected lane, with its bits after each.
function historyOf(page, lanes) {
  if (page.lane < 0) return make("p", { class: "dim" }, "click a lane: who stored to it, and when");
  const { at } = page, here = at.position;
  const lines = at.writers(...lanes.bytes(page.lane)).map((k) => {
    const entry = at.goto(k + 1).entries[k], words = lanes.words(lanes.bits(at.ub, page.lane));
    return row("td", { class: k === here - 1 ? "done" : k >= here ? "dim" : "", onclick: () => page.goto(k + 1) }, `[${k}]`, entry.call.name, ...words, `line ${entry.line}`, k >= here ? "to come" : "");
  });
  at.goto(here);
  const head = make("p", {}, make("b", {}, lanes.place(page.lane)), lines.length ? " was stored by" : " is never stored");
  return make("div", { id: "lane" }, head, make("table", { class: "mono" }, ...lines));
}

function drawTimeline(page) {
  const found = page.extra.timelines[page.at.number];
  if (!found) return $("timeline").replaceChildren(make("p", { class: "dim" }, page.extra.no_timeline || "no timeline of this block"));
  const { at } = page, lanes = ["S", "MTE2", "V", "MTE3"].filter((pipe) => pipe !== "S" || found.pieces.some((p) => p[1] === "S"));
  const seq = at.done ? at.done.seq : -1;
  const near = found.pieces.findIndex((piece) => piece[0] >= seq);
  const from = Math.max(0, Math.min((near < 0 ? found.pieces.length : near) - PIECES / 2, found.pieces.length - PIECES));
  const pieces = found.pieces.slice(from, from + PIECES);
  const start = from ? Math.min(...pieces.map((p) => p[2])) : 0, stop = Math.max(...pieces.map((p) => p[4]), start + 1);
  const width = 1400, left = 60, x = (cycles) => left + ((cycles - start) / (stop - start)) * (width - left - 4);
  const height = lanes.length * 25 + 16;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, make("title", {}, "timeline of the block"));
  lanes.forEach((pipe, k) => svg.append(make("rect", { class: "empty", x: left, y: k * 25, width: width - left - 4, height: 21 }), make("text", { x: 4, y: k * 25 + 15 }, pipe)));
  for (const [number, pipe, first, last, until, name] of pieces) {
    const y = lanes.indexOf(pipe) * 25, hue = { S: HUES[7], MTE2: HUES[0], V: HUES[2], MTE3: HUES[1] }[pipe];
    const kind = number === seq ? "done" : number < seq ? "past" : "";
    const go = () => { const k = at.entries.findIndex((entry) => entry.seq === number); if (k >= 0) page.goto(k + 1); };
    svg.append(make("rect", { class: `piece ${kind}`, x: x(first), y, width: Math.max(x(last) - x(first) - 0.5, 1), height: 21, rx: 2, fill: hue, onclick: go },
      make("title", {}, `[${number}] ${name}: cycles ${Math.round(first)} to ${Math.round(last)}`)));
    if (until > last) svg.append(make("rect", { class: "late", x: x(last), y: y + 5, width: x(until) - x(last), height: 11, fill: hue }));
    if (x(last) - x(first) > 6.4 * name.length) svg.append(make("text", { class: "on", x: x(first) + 4, y: y + 15 }, name));
  }
  const us = (cycles) => `${(cycles / found.mhz).toFixed(2)} us`;
  svg.append(make("text", { class: "dim", x: left, y: height - 3 }, us(start)), make("text", { class: "dim", x: width - 4, y: height - 3, "text-anchor": "end" }, `${us(stop)} predicted; ${found.summary}`));
  $("timeline").replaceChildren(svg);
}

function drawAgainst(page) {
  const box = $("against");
  box.hidden = !page.other;
  if (!page.other) return;
  const close = make("button", { onclick: () => { page.other = null; page._compare(); page.draw(); } }, "close");
  if (!page.theirs) return box.replaceChildren(`${page.otherName} has not recorded block ${page.at.number}  `, close);
  const { common: count, positions } = page.difference, parted = count < Math.max(page.at.length, page.theirs.length) ? `; the streams part at [${count}]` : "";
  if (!positions.length) return box.replaceChildren(`against ${page.otherName}: no stored byte of block ${page.at.number} differs${parted}  `, close);
  const k = positions[0], first = page.at.entries[k], lane = firstLane(first, page.theirs.entries[k]), size = lane.dtype ? TYPES[lane.dtype].size : 0;
  const words = lane.bits.map((bits) => (size ? `${shown(bits, lane.dtype)} (${hex(bits, size)})` : String(bits)));
  const ulp = lane.ulp === null ? "" : `, ${lane.ulp} ULP`, many = lane.lanes === null ? "" : `; ${lane.lanes} lanes of this call differ`;
  box.replaceChildren(make("b", {}, `against ${page.otherName}: the first call that differs is [${k}] ${first.call.name} line ${first.line}: `),
    `${lane.place} ${words[0]} here, ${words[1]} there${ulp}${many}; ${positions.length} calls store other bytes${parted}  `,
    make("button", { onclick: () => page.firstDifference() }, "go there (d)"), " ", close);
}
