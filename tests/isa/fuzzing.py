"""Random calls for the fuzz tests: operands with special values, counts, masks, strides, places."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from ascendsim import soc as socs
from ascendsim.ascendc import SetMaskCount, SetMaskNorm
from ascendsim.errors import BoundsError
from tests.helpers import assert_same_bits
from tests.isa import plain
from tests.isa.shapes import Shape
from tests.kit import EVERY_SOC, Ub, peek, put, run_block

SIZE = 49152  # bytes of UB that a call may touch
OPTIONS = (
    {},
    {"subnormals": "flush"},
    {"subnormals": "keep"},
    {"overflow": "saturate"},
    {"nan": "qnan"},
    {"overflow": "saturate", "subnormals": "flush"},
)


@dataclass
class Dice:
    """Where random choices come from, and how many calls were compared."""

    seed: int
    choices: random.Random = field(init=False)
    numbers: np.random.Generator = field(init=False)
    compared: int = 0

    def __post_init__(self):
        self.choices = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)

    def of(self, *values):
        return self.choices.choice(values)

    def soc(self, name):
        return self.of(*(soc for soc in EVERY_SOC if name in socs.load(soc).ops))

    def words(self, T, count):
        """Patterns of a type: random bits, the special ones, and numbers around 1."""
        rng, bits = self.numbers, 8 * T.nbytes
        words = rng.integers(0, 1 << bits, count, np.uint64).astype(T.bits)
        top = 1 << bits - 1
        if T.kind != "float":
            special = np.array([0, 1, 2, 2 * top - 1, top, top - 1], np.uint64).astype(T.bits)
            return np.where(rng.random(count) < 0.25, rng.choice(special, count), words)
        precision = plain.FORMATS[T.name][0]
        inf, least = ((1 << bits - precision) - 1) << precision - 1, 1 << precision - 1
        sizes = [0, inf, inf | 1, inf | least >> 1, 1, least - 1, least, inf - 1, top - 1]
        special = [size | sign for size in sizes for sign in (0, top)]
        scale = rng.choice([1, 2, 100, 1e-3], count)
        near = plain.to_float(
            (rng.normal(size=count) * scale).astype(np.float32).astype(float), T.name
        )
        pick = rng.random(count)
        words = np.where(pick < 0.25, rng.choice(special, count), np.where(pick < 0.7, near, words))
        return words.astype(T.bits)

    def count(self, width):
        return self.of(0, 1, 2, 7, width - 1, width, width + 1, self.choices.randrange(1200))

    def mask(self, width):
        """Return a number of lanes or mask words; at least one lane, which every chip takes."""
        low, high = (int(w) for w in self.numbers.integers(0, 1 << 63, 2, np.uint64))
        words = [low & (1 << min(width, 64)) - 1 or 1, high if width > 64 else 0]
        return self.of(width, self.choices.randrange(1, width + 1), words, [1, 0])

    def shape(self, width, operands, forms):
        """Return a random shape; `forms` are some of count, repeat and counter."""
        form, count = self.of(*forms), self.count(width)
        strides = tuple(
            (
                self.of(*((1, 1, 1, 2, 3) if not k else (1, 1, 1, 0, 2, 3))),
                self.of(8, 8, 0, 1, 4, 9, 12),
            )
            for k in range(operands)
        )
        if form == "count":
            return Shape(count, None, 1, strides)
        if form == "counter":
            return Shape(count, count, 1, strides, counter=True)
        repeats = self.of(0, 1, 2, 3, 5, self.choices.randrange(40), 255)
        return Shape(0, self.mask(width), repeats, strides)

    def starts(self, operands):
        """Byte offsets of the operands: apart, the same, or anywhere over each other."""
        apart = [16384 * k for k in range(operands)]
        anywhere = [32 * self.choices.randrange(200) for _ in range(operands)]
        return self.of(apart, anywhere, [anywhere[0]] * operands)


def forms_on(soc, row, T):
    """Return which forms a chip has for a type."""
    if T.name in row.count_only:
        return ("count",)
    counter = ("counter",) if socs.load(soc).has_counter_mode else ()
    return ("count", "repeat", "repeat", *counter)


def environment(soc, options):
    """Return what `plain.Floats` needs to know of a chip and options."""
    chip = socs.load(soc)
    overflow = options.get("overflow", "soc")
    saturate = chip.overflow_mode if overflow == "soc" else overflow
    return {
        "saturate": saturate == "saturate",
        "nan": plain.QUIET if options.get("nan") == "qnan" else plain.ONES,
        "flush": options.get("subnormals") == "flush",
        "keep": options.get("subnormals") == "keep",
        "once": chip.arch == "3510",
        "ne_ordered": options.get("ne_nan", "soc") == "soc" and chip.arch == "c220",
    }


def arguments(shape, params):
    """Return what follows the operands of a call: count, or mask, repeats and parameters."""
    if shape.mask is None:
        return (shape.count,)
    flat = [s[0] for s in shape.strides] + [s[1] for s in shape.strides]
    return (shape.mask, shape.repeats, params(*flat))


def left_by(image, shape, call, soc, options):
    """Return UB after `call(memory)`, None when an operand would leave it."""
    found = []

    def body():
        from ascendsim.ascendc import uint8

        u = Ub(memory=(uint8, SIZE))
        put(u["memory"], image)
        if shape.counter:
            SetMaskCount()
        try:
            call(u["memory"])
            found.append(peek(u["memory"]))
        except BoundsError:
            pass
        finally:
            if shape.counter:
                SetMaskNorm()

    run_block(body, soc=soc, options=options, observe=False)
    return found[0] if found else None


def compare(dice, got, want, *about):
    """Check that two images are the same; `about` says of which call."""
    if got is None:
        return
    dice.compared += 1
    try:
        assert_same_bits(got, want)
    except AssertionError as error:
        raise AssertionError(f"{about}\n{error}") from error
