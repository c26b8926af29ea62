// Draw what belongs to the whole run: verdict, findings, rules, timeline, the other capsule.

function drawVerdict({ run: { facts }, extra }) {
  const errors = facts.findings.filter((finding) => finding.severity === "error").length;
  const chip = (text, kind = "") => make("a", { class: `chip ${kind}`, href: "#facts" }, text);
  $("verdict").append(
    chip(
      errors ? `${errors} findings of severity error` : "ran to the end",
      errors ? "bad" : "good",
    ),
    chip(`${facts.warnings.length} warnings`, facts.warnings.length ? "bad" : ""),
    chip(extra.checked ? `${facts.findings.length} findings` : "no checks ran"),
    chip(`weakest rule: ${facts.evidence.weakest}`),
  );
  const table = (heads, rows) =>
    make("table", {}, row("th", {}, ...heads), ...rows.map((cells) => row("td", {}, ...cells)));
  const part = (title, open, body) =>
    make("details", open ? { open: "" } : {}, make("summary", {}, title), body);
  const findings = facts.findings.map((f) => [
    f.severity,
    f.code,
    f.message,
    f.where ? `${short(f.where[0])}:${f.where[1]}` : "",
    jumper(f),
    String(f.count),
  ]);
  const rules = facts.evidence.rules.map((r) => [
    r.grade,
    r.rule,
    r.instructions.join(", "),
    r.text,
    r.source,
  ]);
  const fields = { ...facts.tiling, mode: facts.mode, ...extra.facts };
  $("facts").append(
    part(
      "Warnings",
      facts.warnings.length,
      make("ul", {}, ...facts.warnings.map((text) => make("li", {}, text))),
    ),
    part(
      extra.checked ? "Findings" : "Findings: no checks ran",
      findings.length,
      table(["severity", "code", "what", "where", "call", "times"], findings),
    ),
    part(
      "Tiling",
      false,
      table(
        ["field", "value"],
        Object.entries(fields).map(([k, v]) => [k, String(v)]),
      ),
    ),
    part(
      `Rules it stood on, weakest first: ${facts.evidence.weakest}`,
      false,
      table(["grade", "rule", "instructions", "what it says", "source"], rules),
    ),
  );
}

// A button that goes to a finding's call.
function jumper(finding) {
  const go = () => {
    const page = window.capsule,
      block = page.run.blocks.get(finding.core);
    const position = block ? block.entries.findIndex((entry) => entry.seq === finding.seq) : -1;
    if (position < 0) return page.say("that call is not among the recorded ones");
    page.open(finding.core);
    page.goto(position + 1);
  };
  return make("button", { onclick: go }, `block ${finding.core} [${finding.seq}]`);
}

function drawTimeline(page) {
  const found = page.extra.timelines[page.at.number];
  if (!found)
    return $("timeline").replaceChildren(
      make("p", { class: "dim" }, page.extra.no_timeline || "no timeline of this block"),
    );
  const { at } = page,
    lanes = ["S", "MTE2", "V", "MTE3"].filter(
      (pipe) => pipe !== "S" || found.pieces.some((p) => p[1] === "S"),
    );
  const seq = at.done ? at.done.seq : -1;
  const near = found.pieces.findIndex((piece) => piece[0] >= seq);
  const from = Math.max(
    0,
    Math.min((near < 0 ? found.pieces.length : near) - PIECES / 2, found.pieces.length - PIECES),
  );
  const pieces = found.pieces.slice(from, from + PIECES);
  const start = from ? Math.min(...pieces.map((p) => p[2])) : 0,
    stop = Math.max(...pieces.map((p) => p[4]), start + 1);
  const width = 1400,
    left = 60,
    x = (cycles) => left + ((cycles - start) / (stop - start)) * (width - left - 4);
  const height = lanes.length * 25 + 16;
  const svg = make(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img" },
    make("title", {}, "timeline of the block"),
  );
  lanes.forEach((pipe, k) =>
    svg.append(
      make("rect", { class: "empty", x: left, y: k * 25, width: width - left - 4, height: 21 }),
      make("text", { x: 4, y: k * 25 + 15 }, pipe),
    ),
  );
  for (const [number, pipe, first, last, until, name] of pieces) {
    const y = lanes.indexOf(pipe) * 25,
      hue = { S: HUES[7], MTE2: HUES[0], V: HUES[2], MTE3: HUES[1] }[pipe];
    const kind = number === seq ? "done" : number < seq ? "past" : "";
    const go = () => {
      const k = at.entries.findIndex((entry) => entry.seq === number);
      if (k >= 0) page.goto(k + 1);
    };
    svg.append(
      make(
        "rect",
        {
          class: `piece ${kind}`,
          x: x(first),
          y,
          width: Math.max(x(last) - x(first) - 0.5, 1),
          height: 21,
          rx: 2,
          fill: hue,
          onclick: go,
        },
        make(
          "title",
          {},
          `[${number}] ${name}: cycles ${Math.round(first)} to ${Math.round(last)}`,
        ),
      ),
    );
    if (until > last)
      svg.append(
        make("rect", {
          class: "late",
          x: x(last),
          y: y + 5,
          width: x(until) - x(last),
          height: 11,
          fill: hue,
        }),
      );
    if (x(last) - x(first) > 6.4 * name.length)
      svg.append(make("text", { class: "on", x: x(first) + 4, y: y + 15 }, name));
  }
  const us = (cycles) => `${(cycles / found.mhz).toFixed(2)} us`;
  svg.append(
    make("text", { class: "dim", x: left, y: height - 3 }, us(start)),
    make(
      "text",
      { class: "dim", x: width - 4, y: height - 3, "text-anchor": "end" },
      `${us(stop)} predicted; ${found.summary}`,
    ),
  );
  $("timeline").replaceChildren(svg);
}

function drawAgainst(page) {
  const box = $("against");
  box.hidden = !page.other;
  if (!page.other) return;
  const close = make(
    "button",
    {
      onclick: () => {
        page.other = null;
        page._compare();
        page.draw();
      },
    },
    "close",
  );
  if (!page.theirs)
    return box.replaceChildren(
      `${page.otherName} has not recorded block ${page.at.number}  `,
      close,
    );
  const { common: count, positions } = page.difference,
    parted =
      count < Math.max(page.at.length, page.theirs.length)
        ? `; the streams part at [${count}]`
        : "";
  if (!positions.length)
    return box.replaceChildren(
      `against ${page.otherName}: no stored byte of block ${page.at.number} differs${parted}  `,
      close,
    );
  const k = positions[0],
    first = page.at.entries[k],
    lane = firstLane(first, page.theirs.entries[k]),
    size = lane.dtype ? TYPES[lane.dtype].size : 0;
  const words = lane.bits.map((bits) =>
    size ? `${shown(bits, lane.dtype)} (${hex(bits, size)})` : String(bits),
  );
  const ulp = lane.ulp === null ? "" : `, ${lane.ulp} ULP`,
    many = lane.lanes === null ? "" : `; ${lane.lanes} lanes of this call differ`;
  box.replaceChildren(
    make(
      "b",
      {},
      `against ${page.otherName}: the first call that differs is [${k}] ${first.call.name} line ${first.line}: `,
    ),
    `${lane.place} ${words[0]} here, ${words[1]} there${ulp}${many}; ${positions.length} calls store other bytes${parted}  `,
    make("button", { onclick: () => page.firstDifference() }, "go there (d)"),
    " ",
    close,
  );
}
