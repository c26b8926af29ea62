// A recorded block with a moment in time: the delta log and its undo, as in view/stepper.py.
// `position` counts the calls that are done; `ub` is UB at that moment.

const STATES = { AllocTensor: "OCCUPIED", EnQue: "ENQUE", DeQue: "DEQUE", FreeTensor: "FREE" };

class Call {
  constructor(row, tables) {
    Object.assign(this, row);
    this.pipe = row.pipe.replace("PIPE_", "");
    this.accesses = row.accesses.map(
      ([role, space, holder, start, dtype, writes, element, block, repeat]) => {
        const [name, ...rest] = tables[space === "UB" ? "buffers" : "tensors"][holder];
        const [at, , slot] = space === "UB" ? rest : [0, 0, 0];
        return { role, space, name, at, slot, start, dtype, writes, element, block, repeat };
      },
    );
  }

  // Bytes from an operand's start to the last one that the call touches.
  extent(access) {
    const shape = this.geometry;
    if (!shape) return 0;
    if ("blocks" in shape)
      return shape.blocks ? (shape.blocks - 1) * access.block + access.element : 0;
    if (access.element === 0) {
      const selects = shape.layouts[0][0] > 0;
      if (!access.repeat) return shape.lanes / 8;
      return Math.ceil((shape.counted && selects ? shape.count : shape.lanes * shape.repeats) / 8);
    }
    if (shape.counted) return shape.count * access.element;
    const lanes = BigInt(shape.mask).toString(2).length,
      per = 32 / access.element;
    if (!shape.repeats || BigInt(shape.mask) === 0n) return 0;
    const last = (shape.repeats - 1) * access.repeat + Math.floor((lanes - 1) / per) * access.block;
    return last + (((lanes - 1) % per) + 1) * access.element;
  }
}

class Block {
  // `tables`: of run.json; `log`: of blocks/K.json; `after`: bytes that the calls stored, in order.
  constructor(number, tables, log, ub, after) {
    this.number = number;
    this.dropped = log.dropped;
    this.start = log.registers;
    this.ub = ub.slice();
    this.position = 0;
    this.written = new Uint32Array(ub.length); // how often each byte was stored up to now
    this.files = tables.files;
    const calls = tables.calls.map((row) => new Call(row, tables));
    let at = 0;
    this.entries = log.records.map(([seq, call, scalar, bits, waits, signals, place, stores]) => ({
      seq,
      call: calls[call],
      scalar,
      bits,
      waits,
      signals,
      file: tables.places[place][0],
      line: tables.places[place][1],
      phase: tables.places[place][2],
      stores: stores.map(([space, start, stop]) => {
        const store = {
          space,
          start,
          stop,
          before: null,
          after: after.subarray(at, at + stop - start),
        };
        at += stop - start;
        return store;
      }),
    }));
    let tile = -1,
      previous = "";
    for (const entry of this.entries) {
      if (entry.phase === "CopyIn" && previous !== "CopyIn") tile++;
      previous = entry.phase || previous;
      entry.tile = tile;
    }
  }

  get length() {
    return this.entries.length;
  }

  get done() {
    return this.position ? this.entries[this.position - 1] : null;
  }

  get next() {
    return this.position < this.length ? this.entries[this.position] : null;
  }

  goto(position) {
    position = Math.max(0, Math.min(position, this.length));
    while (this.position < position) {
      const stores = this._stores(this.position++);
      for (const store of stores) store.before ??= this.ub.slice(store.start, store.stop);
      for (const store of stores) this._put(store, store.after, 1);
    }
    while (this.position > position)
      for (const store of this._stores(--this.position).reverse())
        this._put(store, store.before, -1);
    return this;
  }

  _put({ start, stop }, bytes, count) {
    this.ub.set(bytes, start);
    for (let byte = start; byte < stop; byte++) this.written[byte] += count;
  }

  _stores(position) {
    return this.entries[position].stores.filter((store) => store.space === "UB");
  }

  // The position just behind the nearest call that fits, in a direction (1 or -1), or -1.
  behind(fits, direction) {
    for (let k = this.position - 1 + direction; k >= 0 && k < this.length; k += direction)
      if (fits(this.entries[k])) return k + 1;
    return -1;
  }

  // {name@slot: {name, slot, kind, start, nbytes, state, dtype, mask}} of all slots made up to now.
  slots() {
    const found = new Map();
    for (const { call } of this.entries.slice(0, this.position)) {
      if (call.name === "InitBuffer") {
        const { buf, kind, ub, len32, num } = call.fields;
        for (let slot = 0; slot < num; slot++) {
          const state = kind === "TBuf" ? "" : "FREE",
            start = ub + slot * len32;
          found.set(`${buf}@${slot}`, {
            name: buf,
            slot,
            num,
            kind,
            start,
            nbytes: len32,
            state,
            dtype: "uint8",
            mask: false,
          });
        }
      }
      for (const access of call.accesses) {
        const slot = access.space === "UB" && found.get(`${access.name}@${access.slot}`);
        if (!slot) continue;
        if (call.name in STATES && access === call.accesses[0] && slot.state)
          slot.state = STATES[call.name];
        for (const each of found.values())
          if (each.name === slot.name)
            Object.assign(each, {
              dtype: access.dtype,
              mask: call.geometry ? access.element === 0 : each.mask,
            });
      }
    }
    return found;
  }

  // What the registers hold that calls set and later calls obey, as in record/registers.py.
  registers() {
    const found = { ...this.start };
    for (const { call } of this.entries.slice(0, this.position)) Object.assign(found, call.sets);
    return found;
  }

  // Every call that stored to bytes [start, stop) of UB, as positions.
  writers(start, stop) {
    const found = [];
    this.entries.forEach((entry, k) => {
      if (writes(entry, start, stop)) found.push(k);
    });
    return found;
  }
}

function writes(entry, start, stop) {
  return entry.stores.some((s) => s.space === "UB" && s.start < stop && start < s.stop);
}

// The bytes of UB that a call changed or stored: [start, stop] pairs.
function stored(entry) {
  return entry ? entry.stores.filter((s) => s.space === "UB").map((s) => [s.start, s.stop]) : [];
}

class Run {
  static async of(bytes) {
    const archive = Archive.of(bytes),
      head = await archive.json("run.json");
    if (head.format !== "ascendsim-run" || head.version !== 2)
      throw new Error(`version ${head.version} of the format cannot be read here`);
    const run = new Run();
    Object.assign(run, { archive, facts: head.run, tables: head.recording, blocks: new Map() });
    for (const number of head.recording.blocks) run.blocks.set(number, await run._block(number));
    return run;
  }

  async _block(number) {
    const name = `blocks/${number}`;
    const [log, ub, after] = await Promise.all([
      this.archive.json(`${name}.json`),
      this.archive.content(`${name}.ub`),
      this.archive.content(`${name}.after`),
    ]);
    return new Block(number, this.tables, log, ub, after);
  }
}
