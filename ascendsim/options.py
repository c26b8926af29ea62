"""Options: every choice of the model, in one frozen object.

The first value of each choice is the default under `profile=documented`; `IEEE` lists what
`profile=ieee` (plain IEEE arithmetic, to compare with host oracles) sets differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from ascendsim.errors import RequestError, UnsupportedError

CHOICES: dict[str, tuple[str, ...]] = {
    "overflow": ("soc", "inf_nan", "saturate"),
    "int_overflow": ("clamp", "truncate"),
    "subnormals": ("soc", "keep", "flush"),
    "transcendental": ("rounded", "envelope"),
    "nan": ("ones", "qnan"),
    "ne_nan": ("soc", "1"),
    "pad_bytes": ("documented", "none", "poison"),
    "select_scratch": ("on", "off"),
    "compare_tail": ("soc", "floor", "ceil"),
    "auto_sync": ("on", "off"),
    "vector_recip": ("model", "unsupported"),
    "fused_check": ("once", "always"),
    "out_of_bounds": ("raise", "report"),
    "uninitialized": ("report", "raise"),
    "race": ("report", "raise"),
    "sync": ("report", "raise"),
}
FILLS = {"ub_fill": ("poison", "random"), "gm_slack_fill": ("poison",)}
IEEE = {
    "overflow": "inf_nan",
    "subnormals": "keep",
    "nan": "qnan",
    "ne_nan": "1",
    "pad_bytes": "none",
    "select_scratch": "off",
}
NOT_YET = {
    ("transcendental", "envelope"): "transcendental=rounded",
}


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice of the model; `ascendsim explain options` prints this list.

    overflow : what half and bfloat16 results do beyond their range. `soc`: inf and NaN are kept on
        910B-class and 950, saturated on 910 and 310P (launch-time mode, assumed).
    int_overflow : out-of-range conversion to integers clamps or keeps the low bits.
    subnormals : `soc` flushes operands and results of Exp, Ln, Div and Sqrt and keeps those of the
        add and multiply family (assumed on 910B, documented on 950).
    transcendental : `rounded` gives the correctly rounded result of Exp, Ln, Div, Sqrt.
    nan : the word of every NaN that arithmetic or Cast produces.
    ne_nan : Compare NE with a NaN operand; `soc`: 0 on 910B-class (public report), 1 elsewhere.
    pad_bytes : what DataCopyPad leaves up to the next 32 bytes of UB.
    select_scratch : 910B and 310P Select also writes a hidden scratch area near the end of UB.
    ub_fill, gm_slack_fill : the bytes before a kernel writes: poison, 0xNN, random (UB only).
    compare_tail : a compare count that is no multiple of 256 bytes; `soc`: floor on 910B, ceil on
        950.
    auto_sync : the compiler orders dependent vector instructions on 910B.
    vector_recip : Reciprocal and Rsqrt of 910B and older as a rounded model, or refused.
    fused_check : when fused code is compared with replay.
    out_of_bounds : a call that leaves its tensor raises, or (report) goes on: within UB as hardware
        does; a copy that leaves the slack of a GM tensor without the bytes outside the tensor.
        memcheck makes a finding of both; without it `report` is a warning. Past the end of UB, and
        of library functions, Gather, workspaces and single elements of GM it raises all the same.
    uninitialized, race, sync : what initcheck, racecheck, synccheck find is reported or raised.
    """

    overflow: str = "soc"
    int_overflow: str = "clamp"
    subnormals: str = "soc"
    transcendental: str = "rounded"
    nan: str = "ones"
    ne_nan: str = "soc"
    pad_bytes: str = "documented"
    select_scratch: str = "on"
    ub_fill: str = "poison"
    gm_slack_fill: str = "poison"
    compare_tail: str = "soc"
    auto_sync: str = "on"
    vector_recip: str = "model"
    fused_check: str = "once"
    out_of_bounds: str = "raise"
    uninitialized: str = "report"
    race: str = "report"
    sync: str = "report"

    def __new__(cls, *_values: str, **settings: str) -> Options:
        """Refuse an unknown name before `__init__` would, with the names that there are."""
        for name in settings:
            _check_name(name)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))

    @classmethod
    def of(cls, profile: str = "documented", settings: Mapping[str, str] | None = None) -> Options:
        """Return the options of `profile` with `settings` (name to value) laid over them.

        Raises
        ------
        RequestError
            When a profile, name or value is unknown; the text lists what exists.
        """
        if profile not in ("documented", "ieee"):
            raise RequestError(f"profile {profile!r} is unknown; use documented or ieee")
        chosen = dict(IEEE) if profile == "ieee" else {}
        for name, value in (settings or {}).items():
            if name == "profile":
                raise RequestError("profile is set with --profile NAME, not as an option")
            _check_name(name)
            chosen[name] = str(value)
        return replace(cls(), **chosen)


def fill_byte(value: str) -> int | None:
    """Return the byte of a fill like `0xa5`, or None when `value` is no such byte."""
    try:
        number = int(value, 16) if value.lower().startswith("0x") else -1
    except ValueError:
        return None
    return number if 0 <= number <= 255 else None


def _check_name(name: str) -> None:
    if name not in Options.__dataclass_fields__:
        names = ", ".join(Options.__dataclass_fields__)
        raise RequestError(f"option {name!r} is unknown; use one of {names}")


def _check(name: str, value: str) -> None:
    if name in FILLS:
        if value not in FILLS[name] and fill_byte(str(value)) is None:
            raise RequestError(
                f"option {name}={value!r}: use {', '.join(FILLS[name])} or a byte like 0xa5"
            )
        return
    if value not in CHOICES[name]:
        raise RequestError(f"option {name}={value!r}: use one of {', '.join(CHOICES[name])}")
    if (name, value) in NOT_YET:
        raise UnsupportedError(
            f"option {name}={value} is not modelled; the nearest is {NOT_YET[name, value]}"
        )
