// What the page shows of a run at a moment, and the keys and buttons that move it.

const HUES = [
  "#2f6fb5",
  "#23835d",
  "#a65f12",
  "#7557b5",
  "#177f8c",
  "#b8433f",
  "#6b7480",
  "#8a6d1d",
];
const ROWS = 400,
  MOST_CHANGES = 8,
  PIECES = 120;
const $ = (id) => document.getElementById(id);

// An element with text or children; strings are never read as HTML.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "text", "line", "title", "g"].includes(tag);
  const made = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "color") made.style.background = value;
    else made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const row = (tag, attributes, ...cells) =>
  make(
    "tr",
    attributes,
    ...cells.map((cell) =>
      cell instanceof Element && cell.tagName === "TD" ? cell : make(tag, {}, cell),
    ),
  );
const short = (file) => file.split(/[\\/]/).slice(-2).join("/");

class Page {
  constructor(run, extra) {
    Object.assign(this, {
      run,
      extra,
      other: null,
      chosen: "",
      lane: -1,
      types: new Map(),
      follow: true,
      first: 0,
    });
    this._furnish();
    this.open(run.tables.blocks[0]);
  }

  // ---- moving

  open(number) {
    this.at = this.run.blocks.get(number);
    $("block").value = number;
    $("slider").max = $("length").textContent = $("position").max = this.at.length;
    this._targets();
    this._compare();
    this.goto(this.at.position);
  }

  goto(position) {
    this.at.goto(position);
    if (this.other) this.theirs?.goto(Math.min(position, this.theirs.length));
    this.slots = this.at.slots();
    const done = this.at.done,
      wrote = stored(done)[0];
    if (this.follow && wrote) this._followed(wrote[0]);
    if (!this.slots.has(this.chosen)) this.chosen = this.slots.keys().next().value ?? "";
    this.draw();
  }

  _followed(byte) {
    for (const [key, slot] of this.slots)
      if (slot.start <= byte && byte < slot.start + slot.nbytes) {
        if (key !== this.chosen) this.lane = -1;
        this.chosen = key;
        this.show(this.lanes.of(byte));
      }
  }

  jump(fits, direction) {
    const position = this.at.behind(fits, direction);
    if (position < 0)
      return this.say(`there is none ${direction > 0 ? "after" : "before"} this call`);
    this.goto(position);
  }

  // To the next (or last) call that stored to the selected lane, or else to the selected buffer.
  write(direction) {
    const slot = this.slots.get(this.chosen);
    if (!slot) return this.say("no buffer is selected");
    const [start, stop] =
      this.lane < 0 ? [slot.start, slot.start + slot.nbytes] : this.lanes.bytes(this.lane);
    this.jump((entry) => writes(entry, start, stop), direction);
  }

  say(text) {
    $("notice").textContent = text;
    $("notice").hidden = !text;
  }

  select(key, lane = -1) {
    Object.assign(this, { chosen: key, lane, follow: this.follow && lane < 0 });
    this.first = lane < 0 ? 0 : this.first;
    this.draw();
  }

  // The lanes of a slot as the page shows them: its own type, or the one that was chosen.
  lanesOf(slot) {
    return (
      slot && new Lanes(slot, this.types.get(slot.name) ?? (slot.mask ? "mask bits" : slot.dtype))
    );
  }

  get lanes() {
    return this.lanesOf(this.slots.get(this.chosen));
  }

  show(lane) {
    this.first = Math.floor(lane / this.lanes.page) * this.lanes.page;
  }

  // ---- drawing

  draw() {
    this.say("");
    const { position, length } = this.at;
    $("slider").value = $("position").value = position;
    $("first").disabled = $("back").disabled = position === 0;
    $("last").disabled = $("forth").disabled = position === length;
    for (const part of [
      drawSource,
      drawStream,
      drawCall,
      drawMap,
      drawSlots,
      drawRegisters,
      drawBuffer,
      drawTimeline,
    ])
      part(this);
    for (const id of ["source", "stream"]) keepInView($(id));
  }

  _furnish() {
    const { facts, tables } = this.run;
    $("title").append(
      facts.op,
      make(
        "small",
        {},
        ` · ${facts.dtype} · ${facts.n} elements · ${facts.soc} · ${facts.block_dim} block${facts.block_dim === 1 ? "" : "s"}`,
      ),
    );
    for (const number of tables.blocks)
      $("block").append(make("option", { value: number }, String(number)));
    drawVerdict(this);
    if (this.extra.notes.length)
      $("facts").prepend(make("p", { class: "dim" }, this.extra.notes.join(" ")));
    const on = (id, kind, act) => $(id).addEventListener(kind, act);
    on("block", "change", () => this.open(Number($("block").value)));
    on("slider", "input", () => this.goto(Number($("slider").value)));
    on("position", "change", () => this.goto(Number($("position").value) || 0));
    on("first", "click", () => this.goto(0));
    on("back", "click", () => this.goto(this.at.position - 1));
    on("forth", "click", () => this.goto(this.at.position + 1));
    on("last", "click", () => this.goto(this.at.length));
    on("previous", "click", () => this._jumpToTarget(-1));
    on("following", "click", () => this._jumpToTarget(1));
    on("help", "click", () => $("keys").showModal());
    on("other", "change", () => this.compareWith($("other").files[0]));
    document.addEventListener("keydown", (event) => this._key(event));
  }

  _targets() {
    const of = (fact) => [...new Set(this.at.entries.flatMap(fact))].filter(Boolean);
    const names = (entry) =>
      entry.call.accesses
        .filter((a) => a.writes && a.space === "UB" && entry.stores.length)
        .map((a) => a.name);
    const kinds = {
      write: ["a write to", of(names)],
      pipe: ["pipe", of((e) => e.call.pipe)],
      phase: ["phase", of((e) => e.phase)],
      name: ["instruction", of((e) => e.call.name)],
    };
    const groups = Object.entries(kinds).map(([kind, [title, words]]) =>
      make(
        "optgroup",
        { label: title },
        ...words.map((word) => make("option", { value: `${kind}=${word}` }, `${title} ${word}`)),
      ),
    );
    $("target").replaceChildren(...groups);
  }

  // As the stepper's until(): `kind` is write, pipe, phase, name or tile.
  until(kind, word, direction = 1) {
    const tests = {
      write: (e) =>
        e.stores.length &&
        e.call.accesses.some((a) => a.writes && a.space === "UB" && a.name === word),
      pipe: (e) => e.call.pipe === word,
      phase: (e) => e.phase === word,
      name: (e) => e.call.name === word,
      tile: (e) => e.tile === word,
    };
    this.jump(tests[kind], direction);
  }

  _jumpToTarget(direction) {
    const [kind, word] = $("target").value.split("=");
    this.until(kind, word, direction);
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (event.target.matches("select, input[type=number]")) return;
    const { position, length, done } = this.at,
      step = event.shiftKey ? 10 : 1;
    const keys = {
      ArrowRight: () => this.goto(position + step),
      ArrowLeft: () => this.goto(position - step),
      Home: () => this.goto(0),
      End: () => this.goto(length),
      w: () => this.write(1),
      W: () => this.write(-1),
      n: () => this._jumpToTarget(1),
      p: () => this._jumpToTarget(-1),
      t: () => this.until("tile", (done?.tile ?? -1) + 1),
      T: () => this.until("tile", (done?.tile ?? 0) - 1, -1),
      d: () => this.firstDifference(),
      g: () => $("position").select(),
      "?": () => $("keys").showModal(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  // ---- another capsule

  async compareWith(file) {
    try {
      this.other = await Run.of(new Uint8Array(await file.arrayBuffer()));
      this.otherName = file.name;
      if (this.other.facts.op !== this.run.facts.op)
        throw new Error(`it is a run of ${this.other.facts.op}`);
      this.open(this.at.number);
    } catch (error) {
      this.other = null;
      this._compare();
      this.draw();
      this.say(`${file.name} cannot be compared: ${error.message}`);
    }
  }

  _compare() {
    this.theirs = this.other?.blocks.get(this.at.number) ?? null;
    this.difference = this.theirs && compared(this.at, this.theirs);
    this.differs = new Set(this.difference?.positions);
    drawAgainst(this);
  }

  firstDifference() {
    if (!this.differs.size)
      return this.say(this.other ? "no call differs in this block" : "no other capsule is open");
    this.follow = true;
    this.goto(this.difference.positions[0] + 1);
  }
}

async function start() {
  const bytes = bytesOfBase64($("run").textContent);
  const page = new Page(await Run.of(bytes), JSON.parse($("extra").textContent));
  window.capsule = page; // for scripts and the console: capsule.goto(3), capsule.at.ub
  const place = new URLSearchParams(location.hash.slice(1));
  if (place.has("block")) page.open(Number(place.get("block")));
  if (place.has("position")) page.goto(Number(place.get("position")));
}

start().catch((error) => {
  $("notice").hidden = false;
  $("notice").textContent = `this page cannot be shown: ${error.message}`;
  throw error;
});
