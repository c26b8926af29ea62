// Draw the kernel's source, the instruction stream, and the call just done with what it changed.

// Scroll a box so that its present line is seen. Last of all, since it asks for the layout.
function keepInView(box) {
  const item = box.present;
  if (!item) return;
  const top = item.offsetTop; // within the box, which is positioned
  if (top < box.scrollTop + 20 || top > box.scrollTop + box.clientHeight - 40)
    box.scrollTop = top - box.clientHeight / 2;
}

function drawSource(page) {
  const { at } = page,
    { done, next } = at,
    shownEntry = done ?? next;
  if (!shownEntry) return;
  const box = $("source"),
    file = shownEntry.file;
  if (box.dataset.file !== `${at.number} ${file}`) {
    const ran = new Map();
    at.entries.forEach(
      (entry) => entry.file === file && ran.set(entry.line, (ran.get(entry.line) ?? 0) + 1),
    );
    const goOn = (line) => () => {
      const fits = (entry) => entry.file === file && entry.line === line;
      page.jump(fits, page.at.behind(fits, 1) < 0 ? -1 : 1);
    };
    box.replaceChildren(
      ...at.files[file].map((text, number) => {
        const calls = ran.get(number + 1),
          attributes = calls
            ? { title: `${calls} calls; click for the next`, onclick: goOn(number + 1) }
            : {};
        return make(
          "div",
          { class: calls ? "line ran" : "line" },
          make("i", attributes, String(number + 1)),
          text.replace(/\s+$/, "") || " ",
        );
      }),
    );
    box.dataset.file = `${at.number} ${file}`;
  }
  $("file").replaceChildren(
    make("b", {}, short(file)),
    " · ▶ the call just done · ",
    make("span", { class: "read" }, "next"),
    " the one to come",
  );
  box.querySelectorAll(".done, .next").forEach((line) => line.classList.remove("done", "next"));
  if (next && next.file === file) box.children[next.line - 1]?.classList.add("next");
  if (done) box.children[done.line - 1]?.classList.add("done");
  box.present = box.children[shownEntry.line - 1];
}

function drawStream(page) {
  const { at } = page,
    box = $("stream");
  const first = Math.max(0, Math.min(at.position - ROWS / 2, at.length - ROWS));
  const rows = at.entries.slice(first, first + ROWS).map((entry, k) => {
    const position = first + k,
      { call } = entry;
    const kinds = [
      "row",
      position === at.position - 1
        ? "done"
        : position === at.position
          ? "next"
          : position > at.position
            ? "todo"
            : "",
      page.differs.has(position) ? "differs" : "",
    ];
    const tile = entry.tile < 0 ? "" : ` ${entry.tile}`;
    return make(
      "div",
      { class: kinds.join(" "), onclick: () => page.goto(position + 1) },
      make("span", {}, String(position)),
      make("span", { class: `pipe ${call.pipe}` }, call.pipe),
      make("span", {}, call.name),
      make("span", {}, brief(call)),
      make("span", { class: "dim" }, entry.phase ? entry.phase + tile : ""),
    );
  });
  if (first > 0) rows.unshift(make("div", { class: "row dim" }, "", `${first} calls before`));
  box.replaceChildren(...rows);
  box.present = box.querySelector(".done") ?? box.firstChild;
}

function brief(call) {
  if (call.name === "InitBuffer")
    return `${call.fields.buf} ${call.fields.num} x ${call.fields.len}`;
  const names = (writes) =>
    call.accesses
      .filter((a) => a.writes === writes)
      .map((a) => a.name)
      .join(", ");
  return [names(true), names(false)].filter(Boolean).join(" ← ") || String(call.fields.mode ?? "");
}

function operandText(call, access) {
  const bytes = call.extent(access),
    size = TYPES[access.dtype].size;
  const name = access.slot ? `${access.name}@${access.slot}` : access.name;
  if (!bytes) return name;
  if (access.element === 0)
    return `${name} bits ${(access.start - access.at) * 8}..${(access.start - access.at + bytes) * 8 - 1}`;
  const first = (access.start - access.at) / size;
  return `${name}[${first}..${first + Math.ceil(bytes / size) - 1}]`;
}

function described({ call, scalar, bits }) {
  const words = call.accesses.map((access) =>
    make(
      "span",
      { class: access.writes ? "write" : "read" },
      `${access.role} ${operandText(call, access)}  `,
    ),
  );
  if (scalar !== null) words.push(`scalar ${scalarText(scalar)}${bits ? ` (${bits})` : ""}  `);
  const fields = Object.entries(call.fields).map(([name, value]) => `${name} ${scalarText(value)}`);
  return [...words, make("span", { class: "dim" }, fields.join("  "))];
}

function drawCall(page) {
  const { at } = page,
    { done, next } = at;
  const parts = [];
  if (!done)
    parts.push(
      make("h3", {}, "Start of the block"),
      make("p", {}, "Nothing is done yet. ", make("kbd", {}, "→"), " does the next call."),
    );
  else {
    const tile = done.tile < 0 ? "" : `, tile ${done.tile}`;
    parts.push(
      make(
        "h3",
        {},
        `[${at.position - 1}] ${done.call.name} `,
        make("span", { class: `pipe ${done.call.pipe}` }, done.call.pipe),
        make("small", { class: "dim" }, ` ${done.phase}${tile}`),
      ),
      make("div", { class: "operands" }, ...described(done)),
      ...changes(page, done),
    );
  }
  const then = next
    ? [`next: [${at.position}] ${next.call.name} `, ...described(next)]
    : ["the block is done"];
  $("call").replaceChildren(...parts, make("div", { class: "then" }, ...then));
}

function changes(page, done) {
  const gm = done.stores.filter((store) => store.space !== "UB");
  if (gm.length) {
    const bytes = gm.reduce((sum, store) => sum + store.stop - store.start, 0);
    return [make("p", {}, `stored ${bytes} bytes of ${gm[0].space} in GM`), stores(gm, done)];
  }
  const slot = page.slots.get(page.chosen),
    wrote = stored(done);
  if (!wrote.length) return [make("p", { class: "dim" }, "changes no byte"), ...states(page, done)];
  if (!slot || !writes(done, slot.start, slot.start + slot.nbytes))
    return [
      make(
        "p",
        {},
        `stored elsewhere: UB[0x${wrote[0][0].toString(16)}, 0x${wrote[0][1].toString(16)})`,
      ),
    ];
  const lanes = page.lanes,
    before = lanes.before(page.at);
  const changed = [...before].filter(([lane, bits]) => bits !== lanes.bits(page.at.ub, lane));
  const lines = changed.slice(0, MOST_CHANGES).map(([lane, old]) => {
    const open = () => page.select(page.chosen, lane);
    return row(
      "td",
      { onclick: open },
      lanes.place(lane),
      ...lanes.words(old),
      "→",
      ...lanes.words(lanes.bits(page.at.ub, lane)),
    );
  });
  const more =
    changed.length > lines.length ? `, the first ${lines.length}:` : changed.length ? ":" : "";
  return [
    make(
      "p",
      {},
      make(
        "b",
        { class: "write" },
        `${changed.length} of ${before.size} stored lanes of ${lanes.name} changed`,
      ),
      more,
    ),
    make("table", { class: "mono" }, ...lines),
  ];
}

// What a queue call changes: the state of its slot, and the tokens between the pipes.
function states(page, { call, waits, signals }) {
  const lines = [],
    holder = call.accesses[0];
  if (call.name in STATES && holder) {
    const slot = page.slots.get(`${holder.name}@${holder.slot}`);
    if (slot)
      lines.push(
        make(
          "p",
          {},
          page.lanesOf(slot).name,
          " is now ",
          make("span", { class: `state ${slot.state}` }, slot.state),
        ),
      );
  }
  const pipe = (name) => name.replace("PIPE_", "");
  for (const [word, tokens] of [
    ["waits for", waits],
    ["signals", signals],
  ])
    for (const [, source, target, id] of tokens)
      lines.push(
        make("p", { class: "dim" }, `${word} ${pipe(source)} → ${pipe(target)}, id ${id}`),
      );
  return lines;
}

function stores(gm, done) {
  const access = done.call.accesses.find((a) => a.writes && a.space === "GM"),
    size = TYPES[access.dtype].size;
  const lines = [];
  for (const store of gm)
    for (let k = 0; k + size <= store.after.length && lines.length < MOST_CHANGES; k += size) {
      const bits = bitsAt(store.after, k, size);
      lines.push(
        row(
          "td",
          {},
          `${store.space}[${(store.start + k) / size}]`,
          "=",
          shown(bits, access.dtype),
          hex(bits, size),
        ),
      );
    }
  return make("table", { class: "mono" }, ...lines);
}
