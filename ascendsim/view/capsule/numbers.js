// Element types: bits to values, and the shortest text that means exactly that value.

const TYPES = {
  float32: { size: 4, kind: "float", mantissa: 23, exponent: 8 },
  float16: { size: 2, kind: "float", mantissa: 10, exponent: 5 },
  bfloat16: { size: 2, kind: "float", mantissa: 7, exponent: 8 },
  int8: { size: 1, kind: "int" },
  int16: { size: 2, kind: "int" },
  int32: { size: 4, kind: "int" },
  int64: { size: 8, kind: "int" },
  uint8: { size: 1, kind: "uint" },
  uint16: { size: 2, kind: "uint" },
  uint32: { size: 4, kind: "uint" },
  uint64: { size: 8, kind: "uint" },
};

// The raw bits of the element at byte `at`; a BigInt for types of 8 bytes.
function bitsAt(bytes, at, size) {
  if (size === 8)
    return BigInt(bitsAt(bytes, at + 4, 4)) * 2n ** 32n + BigInt(bitsAt(bytes, at, 4));
  let word = 0;
  for (let k = size - 1; k >= 0; k--) word = word * 256 + bytes[at + k];
  return word;
}

function hex(bits, size) {
  return "0x" + bits.toString(16).padStart(2 * size, "0");
}

function floatOf(bits, { mantissa, exponent }) {
  const sign = bits >= 2 ** (mantissa + exponent) ? -1 : 1;
  const field = Math.floor(bits / 2 ** mantissa) % 2 ** exponent;
  const fraction = bits % 2 ** mantissa;
  if (field === 2 ** exponent - 1) return fraction ? NaN : sign * Infinity;
  const bias = 2 ** (exponent - 1) - 1;
  const whole = field ? 2 ** mantissa + fraction : fraction;
  return sign * whole * 2 ** (Math.max(field, 1) - bias - mantissa);
}

function valueOf(bits, name) {
  const type = TYPES[name];
  if (type.kind === "float") return floatOf(bits, type);
  if (type.kind === "uint") return bits;
  if (type.size === 8) return BigInt.asIntN(64, bits);
  return bits >= 2 ** (8 * type.size - 1) ? bits - 2 ** (8 * type.size) : bits;
}

// The shortest decimal that reads back as the same element.
function shown(bits, name) {
  const type = TYPES[name],
    value = valueOf(bits, name);
  if (type.kind !== "float" || !Number.isFinite(value))
    return String(value).replace("Infinity", "inf");
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const up = Math.abs(floatOf(bits + 1, type) - value) / 2; // to the next value, away from zero
  const down = Math.abs(value - floatOf(bits - 1, type)) / 2;
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits),
      error = (Number(text) - value) * Math.sign(value);
    if (error < (Number.isFinite(up) ? up : down) && -error < down) return compact(Number(text));
  }
  return String(value);
}

function compact(value) {
  const size = Math.abs(value);
  return size >= 1e16 || size < 1e-4 ? value.toExponential() : String(value);
}

// Place of a pattern among its type's numbers: the difference of two is their distance in ULP.
function order(bits, name) {
  const type = TYPES[name];
  if (type.kind !== "float") return valueOf(bits, name);
  const sign = 2 ** (8 * type.size - 1);
  return bits >= sign ? sign - bits : bits;
}

// A number as records hold it (see observe/saved/values.py), as text.
function scalarText(found) {
  if (found === null || typeof found !== "object") return String(found);
  if ("int" in found) {
    const size = BigInt(found.int.replace("-", ""));
    return String(found.int.startsWith("-") ? -size : size);
  }
  if ("dtype" in found) return found.dtype;
  if (found.type in TYPES)
    return shown(
      TYPES[found.type].size === 8 ? BigInt(found.bits) : Number(found.bits),
      found.type,
    );
  if (found.type === "bool") return found.bits === "0x1" ? "True" : "False";
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(found.bits));
  return String(view.getFloat64(0));
}
