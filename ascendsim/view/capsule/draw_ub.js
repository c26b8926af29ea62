// Draw UB: its map, the slots with their states, the lanes of the selected buffer.

function drawMap(page) {
  const names = [...new Set([...page.slots.values()].map((slot) => slot.name))];
  page.hues = new Map(names.map((name, k) => [name, HUES[k % HUES.length]]));
  const end = Math.max(...[...page.slots.values()].map((slot) => slot.start + slot.nbytes), 1);
  const x = (byte) => (byte / end) * 1000;
  const svg = make("svg", { viewBox: "0 0 1000 56", preserveAspectRatio: "none", height: 56 });
  svg.append(make("rect", { class: "empty", x: 0, y: 10, width: 1000, height: 32 }));
  for (const [key, slot] of page.slots)
    svg.append(
      make(
        "rect",
        {
          class: `slot ${slot.state} ${key === page.chosen ? "chosen" : ""}`,
          x: x(slot.start) + 0.5,
          y: 10,
          width: Math.max(x(slot.nbytes) - 1, 1),
          height: 32,
          rx: 2,
          fill: page.hues.get(slot.name),
          onclick: () => page.select(key),
        },
        make(
          "title",
          {},
          `${page.lanesOf(slot).name} UB[0x${slot.start.toString(16)}, 0x${(slot.start + slot.nbytes).toString(16)}) ${slot.state}`,
        ),
      ),
    );
  const marks = (kind, y, spans) =>
    spans.forEach(([start, stop]) =>
      svg.append(
        make("rect", {
          class: kind,
          x: x(start),
          y,
          width: Math.max(x(stop - start), 2.5),
          height: 6,
          rx: 1,
        }),
      ),
    );
  const done = page.at.done,
    reads = done ? done.call.accesses.filter((a) => !a.writes && a.space === "UB") : [];
  marks(
    "reads",
    46,
    reads.map((a) => [a.start, a.start + done.call.extent(a)]).filter(([a, b]) => b > a),
  );
  marks("wrote", 2, stored(done).slice(0, 200));
  const used = `0x0 to 0x${end.toString(16)} of ${page.at.ub.length} bytes`;
  $("map").replaceChildren(
    svg,
    make(
      "div",
      { class: "dim" },
      `${used} · `,
      make("span", { class: "write" }, "▀ stored"),
      " and ",
      make("span", { class: "read" }, "▄ read"),
      " by the call just done; pale: free",
    ),
  );
}

function drawSlots(page) {
  const rows = [...page.slots].map(([key, slot]) => {
    const lanes = page.lanesOf(slot),
      before = lanes.before(page.at),
      cells = [],
      most = Math.min(lanes.mask ? 32 : 6, lanes.count);
    for (let lane = 0; lane < most; lane++) {
      const bits = lanes.bits(page.at.ub, lane),
        text = lanes.words(bits)[0] + (lanes.mask ? "" : "  ");
      cells.push(
        before.has(lane) && before.get(lane) !== bits
          ? make("span", { class: "write" }, text)
          : lanes.never(page.at, lane)
            ? make("span", { class: "never" }, text)
            : text,
      );
    }
    const state = slot.state
      ? make("span", { class: `state ${slot.state}` }, slot.state)
      : make("span", { class: "dim" }, slot.kind);
    return row(
      "td",
      { class: `slot ${key === page.chosen ? "chosen" : ""}`, onclick: () => page.select(key) },
      make(
        "td",
        {},
        make("span", { class: "swatch", color: page.hues.get(slot.name) }),
        lanes.name,
      ),
      state,
      make("td", { class: "dim" }, lanes.type),
      make("td", {}, make("span", { class: "peek mono" }, ...cells, lanes.count > most ? "…" : "")),
    );
  });
  $("slots").replaceChildren(make("table", {}, ...rows));
}

// The registers that are not as a block finds them, in the words of view/registers.py.
function registerWords(held) {
  const words = {};
  if (held.mask_mode !== "normal") words["mask mode"] = held.mask_mode;
  if (held.mask !== null) words.mask = maskWords(BigInt(scalarText(held.mask)), held.mask_mode);
  if (held.deq_scale !== null) words["deq scale"] = scalarText(held.deq_scale);
  if (held.atomic) words.atomic = held.atomic;
  if (held.pad_value !== null)
    words["pad value"] = "0x" + BigInt(scalarText(held.pad_value)).toString(16);
  return words;
}

function maskWords(mask, mode) {
  if (mode === "counter") return `${mask} elements`;
  if (mask === 0n) return "no lane";
  const bits = mask.toString(2);
  return bits.includes("0")
    ? `lanes 0x${mask.toString(16)} of a repeat`
    : `the first ${bits.length} lanes of a repeat`;
}

function drawRegisters(page) {
  const held = Object.entries(registerWords(page.at.registers()));
  const rows = held.map(([name, word]) => row("td", {}, make("td", { class: "dim" }, name), word));
  $("registers").replaceChildren(rows.length ? make("table", {}, ...rows) : "");
}

function drawBuffer(page) {
  const lanes = page.lanes;
  if (!lanes) return $("buffer").replaceChildren();
  page.first = Math.max(
    0,
    Math.min(page.first, Math.floor((lanes.count - 1) / lanes.page) * lanes.page),
  );
  const end = Math.min(page.first + lanes.page, lanes.count),
    before = lanes.before(page.at);
  const grid = lanes.mask
    ? maskGrid(page, lanes, before, end)
    : valueGrid(page, lanes, before, end);
  $("buffer").replaceChildren(bufferBar(page, lanes, end), grid, historyOf(page, lanes));
}

function bufferBar(page, lanes, end) {
  const retype = ({ target }) => {
    page.types.set(lanes.slot.name, target.value);
    Object.assign(page, { lane: -1, first: 0 });
    page.draw();
  };
  const types = [...Object.keys(TYPES), "mask bits"].map((name) =>
    make("option", name === lanes.type ? { value: name, selected: "" } : { value: name }, name),
  );
  const turn = (step) => () => {
    Object.assign(page, { first: page.first + step, follow: false });
    page.draw();
  };
  const back = make("button", { onclick: turn(-lanes.page) }, "◀"),
    forth = make("button", { onclick: turn(lanes.page) }, "▶");
  [back.disabled, forth.disabled] = [page.first === 0, end === lanes.count];
  const choose = ({ target }) => {
    const k = Number(target.value);
    if (k >= 0 && k < lanes.count) {
      page.show(k);
      page.select(page.chosen, k);
    }
  };
  const lane = make("input", {
    type: "number",
    min: 0,
    max: lanes.count - 1,
    placeholder: "lane",
    "aria-label": "lane",
    onchange: choose,
  });
  const follow = make("input", {
    type: "checkbox",
    onchange: ({ target }) => {
      page.follow = target.checked;
      page.goto(page.at.position);
    },
  });
  follow.checked = page.follow;
  return make(
    "div",
    { class: "bar" },
    make("h2", {}, lanes.name),
    make("select", { onchange: retype, "aria-label": "element type" }, ...types),
    back,
    `lanes ${page.first}..${end - 1} of ${lanes.count}`,
    forth,
    lane,
    make("label", {}, follow, " follow the writes"),
  );
}

function kindsOf(page, lanes, before, lane, bits, other) {
  const changed = before.has(lane) ? (before.get(lane) !== bits ? "changed" : "stored") : "";
  return [
    changed,
    lanes.never(page.at, lane) ? "never" : "",
    lane === page.lane ? "chosen" : "",
    other !== null && other !== bits ? "differs" : "",
  ].join(" ");
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
    const bits = lanes.bits(page.at.ub, lane),
      other = theirBits(page, lanes, lane),
      [value, raw] = lanes.words(bits);
    const theirs =
      other === null || other === bits
        ? null
        : make("small", { class: "other" }, lanes.words(other).join(" "));
    grid.append(
      make(
        "div",
        {
          class: kindsOf(page, lanes, before, lane, bits, other),
          title: `lane ${lane}${lanes.never(page.at, lane) ? ", never written in this block" : ""}`,
          onclick: () => page.select(page.chosen, lane),
        },
        value,
        make("small", {}, raw),
        theirs,
      ),
    );
  }
  return grid;
}

function maskGrid(page, lanes, before, end) {
  const box = make("div", { class: "mask" });
  for (let first = page.first; first < end; first += 64) {
    const line = make("div", {}, make("span", { class: "head" }, String(first)));
    for (let lane = first; lane < Math.min(first + 64, end); lane++) {
      const bit = lanes.bits(page.at.ub, lane),
        kinds = kindsOf(page, lanes, before, lane, bit, theirBits(page, lanes, lane));
      line.append(
        make("b", {
          class: `${bit ? "one" : ""} ${kinds}`,
          title: `bit ${lane} is ${bit}`,
          onclick: () => page.select(page.chosen, lane),
        }),
      );
    }
    box.append(line);
  }
  return box;
}

// Who stored to the selected lane, with its bits after each.
function historyOf(page, lanes) {
  if (page.lane < 0) return make("p", { class: "dim" }, "click a lane: who stored to it, and when");
  const { at } = page,
    here = at.position;
  const lines = at.writers(...lanes.bytes(page.lane)).map((k) => {
    const entry = at.goto(k + 1).entries[k],
      words = lanes.words(lanes.bits(at.ub, page.lane));
    return row(
      "td",
      { class: k === here - 1 ? "done" : k >= here ? "dim" : "", onclick: () => page.goto(k + 1) },
      `[${k}]`,
      entry.call.name,
      ...words,
      `line ${entry.line}`,
      k >= here ? "to come" : "",
    );
  });
  at.goto(here);
  const head = make(
    "p",
    {},
    make("b", {}, lanes.place(page.lane)),
    lines.length ? " was stored by" : " is never stored",
  );
  return make("div", { id: "lane" }, head, make("table", { class: "mono" }, ...lines));
}
