"""A C loop that computes what a kernel computes: the limit that the engines are measured against.

`c_source(dtype)` of op_ref.py returns the text of one function, for one element:

    static inline T lane(T grad, T x, float alpha, float beta) { ... }

inputs first, then the float attributes. T is the element as widen takes it. It may use
widen, narrow (nearest even), narrow_away (ties away, not for float16) and exp_rounded.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.errors import RequestError
from ascendsim.host import Op
from ascendsim.numerics.bodies_exp import (
    EXP_HIGHEST,
    EXP_LOWEST,
    EXP_TERMS,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    ROUNDER,
)

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-trapping-math", "-shared", "-fPIC")
_TYPES = {
    "float32": """
typedef float T, S;
static inline float widen(T v) { return v; }
static inline T narrow(float v) { return v; }
static inline T narrow_away(float v) { return v; }
static inline T from_bits(uint32_t b) { T v; memcpy(&v, &b, 4); return v; }
static inline uint32_t to_bits(T v) { uint32_t b; memcpy(&b, &v, 4); return b; }
enum { SIGN = 0x80000000u, INFINITY_BITS = 0x7f800000, QUIET = 0x7fc00000 };
""",
    # compilers do not vectorise _Float16: blocks are widened and narrowed around the lanes
    "float16": """
#include <immintrin.h>
typedef float T;
typedef uint16_t S;
static inline float widen(T v) { return v; }
static inline T narrow(float v) { return v; }
static inline T from_bits(uint32_t b) { return _cvtsh_ss((uint16_t)b); }
static inline uint32_t to_bits(T v) { return _cvtss_sh(v, 0); }
static inline void load(int64_t n, const S *from, T *to) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    for (; i < n; i++) to[i] = from_bits(from[i]);
}
static inline void store(int64_t n, const T *from, S *to) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    for (; i < n; i++) to[i] = (S)to_bits(from[i]);
}
enum { SIGN = 0x8000, INFINITY_BITS = 0x7c00, QUIET = 0x7e00 };
""",
    "bfloat16": """
typedef uint16_t T, S;
static inline float widen(T v) {
    uint32_t b = (uint32_t)v << 16; float f;
    memcpy(&f, &b, 4);
    return f;
}
static inline T narrow_with(float v, uint32_t add, uint32_t odd) {
    uint32_t b; memcpy(&b, &v, 4);
    uint32_t up = (b + add + (odd & (b >> 16 & 1))) >> 16;
    return (T)((b & 0x7fffffff) > 0x7f800000 ? b >> 16 | 0x40 : up);
}
static inline T narrow(float v) { return narrow_with(v, 0x7fff, 1); }
static inline T narrow_away(float v) { return narrow_with(v, 0x8000, 0); }
static inline T from_bits(uint32_t b) { return (T)b; }
static inline uint32_t to_bits(T v) { return v; }
enum { SIGN = 0x8000, INFINITY_BITS = 0x7f80, QUIET = 0x7fc0 };
""",
}
_EXP = f"""
static inline float exp_rounded(float x) {{
    double v = x;
    v = v > {EXP_HIGHEST} ? {EXP_HIGHEST} : v;
    v = v < {EXP_LOWEST} ? {EXP_LOWEST} : v;
    double shifted = __builtin_fma(v, {LOG2_E.hex()}, {ROUNDER}), power = shifted - {ROUNDER};
    double high = __builtin_fma(power, {(-LN2_HIGH).hex()}, v);
    double r = __builtin_fma(power, {(-LN2_LOW).hex()}, high);
    double p = {EXP_TERMS[-1].hex()};
    {" ".join(f"p = __builtin_fma(p, r, {term.hex()});" for term in reversed(EXP_TERMS[:-1]))}
    int64_t bits, scale;
    memcpy(&bits, &p, 8); memcpy(&scale, &shifted, 8);
    bits += (int64_t)((uint64_t)scale << 52);
    memcpy(&p, &bits, 8);
    return (float)p;
}}
"""
_RUN = """
void run(int64_t n, {pointers}, S *restrict out, {attrs}) {{
    for (int64_t i = 0; i < n; i++) out[i] = lane({elements}, {names});
}}
"""
_RUN_WIDENED = """
enum {{ BLOCK = 1024 }};
void run(int64_t n, {pointers}, S *restrict out, {attrs}) {{
    T {buffers}, results[BLOCK];
    for (int64_t at = 0; at < n; at += BLOCK) {{
        int64_t count = n - at < BLOCK ? n - at : BLOCK;
        {loads}
        for (int64_t i = 0; i < count; i++) results[i] = lane({wide}, {names});
        store(count, results, out + at);
    }}
}}
"""
_LOOPS = """
uint64_t sweep(int64_t start, int64_t count, {fixed}, {attrs}) {{
    uint64_t sum = 0;
    {fixed_values}
    for (int64_t at = start; at < start + count; at += 4096)
    for (uint32_t k = 0; k < 4096; k++) {{  // a short inner count: compilers do better with it
        uint32_t i = (uint32_t)at + k;
        T {swept} = from_bits(i);
        uint32_t bits = to_bits(lane({inputs}, {names}));
        bits = (bits & (SIGN - 1)) > INFINITY_BITS ? QUIET : bits;
        sum += (uint64_t)bits * ((uint64_t)i * 2654435761u + 1);
    }}
    return sum;
}}
void triad(int64_t n, const float *restrict a, const float *restrict b, float *restrict out) {{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] + 3.0f * b[i];
}}
"""
_folder: list[tempfile.TemporaryDirectory[str]] = []


def compiler() -> str | None:
    """Return the C compiler of this machine ($CC, cc, gcc or clang), None without one."""
    asked = os.environ.get("CC", "")
    return next(
        (path for name in (asked, "cc", "gcc", "clang") if (path := shutil.which(name))), None
    )


class CLoop:
    """The C loops of one operator and type, compiled.

    Raises
    ------
    RequestError
        When there is no compiler, no c_source, or it does not compile.
    """

    def __init__(self, op: Op, dtype: DType, attrs: dict[str, Any]) -> None:
        source = getattr(op.ref, "c_source", None)
        if source is None:
            raise RequestError(f"{op.name} has no c_source(dtype) in op_ref.py")
        self.op, self.dtype = op, dtype
        floats = [a.name for a in op.definition.attrs if a.type is float]
        values = op.definition.attr_values(attrs)
        self._attrs = [ctypes.c_float(float(values[name])) for name in floats]
        text = translation_unit(op, dtype.name, source(dtype.name), floats)
        self._library = _compiled(text, f"{op.name}_{dtype.name}")
        self._library.sweep.restype = ctypes.c_uint64

    def run(self, arrays: Sequence[np.ndarray], out: np.ndarray) -> None:
        """Compute `out` from inputs in the definition's order."""
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
        self._library.run(ctypes.c_int64(out.size), *pointers, *self._attrs)

    def sweep(self, start: int, count: int, fixed: Sequence[np.ndarray]) -> int:
        """Return the checksum of an atlas over indices start, start + 1, ...; others are fixed.

        `count` is a multiple of 4096.
        """
        bits = np.array(fixed, self.dtype.numpy).view(self.dtype.bits)
        values = [ctypes.c_uint32(int(each)) for each in bits]
        span = ctypes.c_int64(start), ctypes.c_int64(count)
        return int(self._library.sweep(*span, *values, *self._attrs))

    def triad(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """Compute out = a + 3 * b on float32: what memory alone allows."""
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (a, b, out)]
        self._library.triad(ctypes.c_int64(out.size), *pointers)


def translation_unit(op: Op, dtype: str, source: str, floats: Sequence[str]) -> str:
    """Return the whole C text: types, helpers, the operator's lane, the loops."""
    inputs, swept = op.definition.inputs, op.definition.sweep_input
    others = [name for name in inputs if name != swept]
    run = _RUN_WIDENED if dtype == "float16" else _RUN
    loops = (run + _LOOPS).format(
        pointers=", ".join(f"const S *restrict {name}" for name in inputs),
        buffers=", ".join(f"{name}_wide[BLOCK]" for name in inputs),
        loads=" ".join(f"load(count, {name} + at, {name}_wide);" for name in inputs),
        wide=", ".join(f"{name}_wide[i]" for name in inputs),
        elements=", ".join(f"{name}[i]" for name in inputs),
        inputs=", ".join(inputs),
        fixed=", ".join(f"uint32_t {name}_bits" for name in others),
        fixed_values=" ".join(f"T {name} = from_bits({name}_bits);" for name in others),
        swept=swept,
        attrs=", ".join(f"float {name}" for name in floats),
        names=", ".join(floats),
    )
    for empty in (", )", ", ,"):  # no attributes, or no other input
        loops = loops.replace(empty, empty[-1])
    return f"#include <stdint.h>\n#include <string.h>\n{_TYPES[dtype]}{_EXP}{source}\n{loops}"


def _compiled(text: str, name: str) -> ctypes.CDLL:
    tool = compiler()
    if tool is None:
        raise RequestError("no C compiler ($CC, cc, gcc or clang)")
    if not _folder:
        _folder.append(tempfile.TemporaryDirectory(prefix="ascendsim-bench-"))
    source = Path(_folder[0].name) / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    target = source.with_suffix(f".{abs(hash(text)):x}.so")
    done = subprocess.run(
        [tool, *FLAGS, "-o", str(target), str(source), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        first = next(iter(done.stderr.strip().splitlines()), "no message")
        raise RequestError(f"{name}: {Path(tool).name} refuses c_source: {first}")
    return ctypes.CDLL(str(target))
