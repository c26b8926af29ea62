"""What the tests of the arithmetic share: formats, patterns worth trying, documented vectors."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np

from ascendsim import dtypes
from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Format

FORMATS = (FLOAT32, FLOAT16, BFLOAT16)
DTYPES: dict[Format, DType] = {
    FLOAT32: dtypes.float32,
    FLOAT16: dtypes.float16,
    BFLOAT16: dtypes.bfloat16,
}
VALUE_TYPES = {FLOAT32: np.float32, FLOAT16: np.float16, BFLOAT16: ml_dtypes.bfloat16}
MODES = tuple(RoundMode)
ENVS = tuple(range(8))
assert ENV_NAN_ONES | ENV_SATURATE | ENV_FLUSH == 7

EVERY_16_BIT = np.arange(1 << 16, dtype=np.uint16)
DATA = Path(__file__).parent.parent / "data" / "numerics_vectors.json"
ASCEND = {"half": FLOAT16, "bfloat16_t": BFLOAT16, "float": FLOAT32}


def named(fmt: Format) -> str:
    """Return the name of a test case."""
    return fmt.name


def array(patterns: object, fmt: Format) -> np.ndarray:
    """Return the numbers with these patterns."""
    return np.asarray(patterns, dtype=f"u{fmt.width // 8}").view(VALUE_TYPES[fmt])


def patterns(values: np.ndarray) -> list[int]:
    """Return the patterns of these numbers as Python ints."""
    return values.view(f"u{values.dtype.itemsize}").tolist()


def random_patterns(fmt: Format, count: int, seed: int) -> np.ndarray:
    """Return patterns drawn uniformly, NaN and infinities among them."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 1 << fmt.width, count, dtype=np.uint64).astype(f"u{fmt.width // 8}")


def special_patterns(fmt: Format) -> list[int]:
    """Return the patterns of both signs at which rules change."""
    one = fmt.bias << fmt.mantissa_bits
    quiet = fmt.inf_bits | fmt.min_normal_bits >> 1
    signless = [
        *(0, 1, 2, fmt.min_normal_bits // 2, fmt.min_normal_bits - 1),
        *(fmt.min_normal_bits, fmt.min_normal_bits + 1, 2 * fmt.min_normal_bits),
        *(one - 1, one, one + 1, one + fmt.min_normal_bits, one + 3 * fmt.min_normal_bits // 2),
        *(fmt.max_bits - 1, fmt.max_bits, fmt.inf_bits, fmt.inf_bits + 1, quiet, quiet + 1),
        fmt.sign_bits - 1,
    ]
    return [sign | pattern for pattern in signless for sign in (0, fmt.sign_bits)]


def special_pairs(fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """Return each special number against each."""
    special = array(special_patterns(fmt), fmt)
    left, right = np.meshgrid(np.arange(special.size), np.arange(special.size))
    return special[left.ravel()], special[right.ravel()]


def vectors(*ops: str) -> list:
    """Return the manual's worked examples of these instructions, misprints corrected."""
    entries = json.loads(DATA.read_text(encoding="utf-8"))["vectors"]
    for entry in entries:
        entry["outputs"].update(entry.get("corrected", {}))
    return [entry for entry in entries if entry["op"] in ops]


def numbers(printed: list, fmt: Format) -> np.ndarray:
    """Return printed numbers in `fmt`, rounded to nearest even."""
    return np.array([float(each) for each in printed]).astype(VALUE_TYPES[fmt])
