// Where two recorded blocks part: the first call that stores other bytes, as view/diff.py finds it.

function sameKind(one, two) {
  const kind = ({ call }) => [
    call.name,
    ...call.accesses.map((a) => [a.role, a.space, a.name, a.dtype]),
  ];
  return JSON.stringify(kind(one)) === JSON.stringify(kind(two));
}

// How many calls at the start are the same call on the same buffers in both.
function common(one, two) {
  let count = 0;
  while (
    count < Math.min(one.length, two.length) &&
    sameKind(one.entries[count], two.entries[count])
  )
    count++;
  return count;
}

// Offsets of bytes that differ, by store: [[number of the store, offset], ...].
function differing(one, two) {
  const found = [];
  one.stores.forEach((store, number) => {
    const other = two.stores[number];
    if (!other) return;
    const size = Math.min(store.after.length, other.after.length);
    for (let k = 0; k < size; k++) if (store.after[k] !== other.after[k]) found.push([number, k]);
  });
  return found;
}

// {common, positions: of all calls that store other bytes} of two blocks.
function compared(one, two) {
  const count = common(one, two),
    positions = [];
  for (let k = 0; k < count; k++)
    if (differing(one.entries[k], two.entries[k]).length) positions.push(k);
  return { common: count, positions };
}

// The first lane that a call stores otherwise: {place, lane, dtype, bits: [here, there], ulp, lanes}.
function firstLane(one, two) {
  const wrong = differing(one, two),
    [number, offset] = wrong[0];
  const store = one.stores[number],
    access = one.call.accesses.find((a) => a.writes);
  const at = store.start + offset;
  if (!access || access.element === 0) {
    const bits = [store.after[offset], two.stores[number].after[offset]];
    const bit = 31 - Math.clz32((bits[0] ^ bits[1]) & -(bits[0] ^ bits[1]));
    const lane = (at - (access ? access.start : 0)) * 8 + bit;
    const name = access ? access.name : store.space;
    return {
      place: `${name}[bit ${lane}]`,
      lane,
      bits: bits.map((b) => (b >> bit) & 1),
      ulp: null,
      lanes: null,
    };
  }
  const size = TYPES[access.dtype].size,
    inside = (((at - access.start) % size) + size) % size;
  const bits = [store, two.stores[number]].map((s) => bitsAt(s.after, offset - inside, size));
  const lane = Math.floor((at - access.at) / size);
  const lanes = new Set(wrong.map(([n, k]) => Math.floor((one.stores[n].start + k) / size))).size;
  const gap = order(bits[0], access.dtype) - order(bits[1], access.dtype);
  return {
    place: `${access.name}[${lane}]`,
    lane,
    dtype: access.dtype,
    bits,
    ulp: gap < 0 ? -gap : gap,
    lanes,
  };
}
