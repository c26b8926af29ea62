// A slot's bytes as lanes of an element type, or as mask bits.

class Lanes {
  constructor(slot, type) {
    const mask = type === "mask bits";
    Object.assign(this, {
      slot,
      type,
      mask,
      size: mask ? 1 / 8 : TYPES[type].size,
      page: mask ? 512 : 64,
    });
    this.count = Math.floor(slot.nbytes / this.size);
  }

  get name() {
    const { name, slot, num } = this.slot;
    return num > 1 ? `${name}@${slot}` : name;
  }

  place(lane) {
    return `${this.name}[${this.mask ? "bit " : ""}${lane}]`;
  }

  // The (first) lane that holds a byte of UB.
  of(byte) {
    return Math.floor((byte - this.slot.start) / this.size);
  }

  // The bytes of UB that hold a lane.
  bytes(lane) {
    const start = Math.floor(this.slot.start + lane * this.size);
    return [start, start + Math.max(1, this.size)];
  }

  bits(ub, lane) {
    const [start] = this.bytes(lane);
    return this.mask ? (ub[start] >> (lane % 8)) & 1 : bitsAt(ub, start, this.size);
  }

  // True where no call of the block has stored to the lane yet.
  never(at, lane) {
    return !at.written[this.bytes(lane)[0]];
  }

  // [value, bits] as text; of a mask bit the bit alone.
  words(bits) {
    return this.mask ? [String(bits), ""] : [shown(bits, this.type), hex(bits, this.size)];
  }

  // {lane: its bits before the last call} of the lanes that the last call stored.
  before(at) {
    const { start, nbytes } = this.slot,
      end = start + nbytes,
      found = new Map();
    if (!at.done || !writes(at.done, start, end)) return found;
    const position = at.position,
      spans = stored(at.done);
    at.goto(position - 1);
    for (const [a, b] of spans) {
      const last = Math.min(this.of(Math.min(b, end) - 1) + (this.mask ? 7 : 0), this.count - 1);
      for (let lane = this.of(Math.max(a, start)); lane <= last; lane++)
        found.set(lane, this.bits(at.ub, lane));
    }
    at.goto(position);
    return found;
  }
}
