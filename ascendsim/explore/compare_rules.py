"""Which rules of the model, and which numbers of the chips, differ between two sides.

A side is a chip with options. What a rule says there is decided by the chip, unless an option says
otherwise; two sides differ in a rule when that differs, whatever the options are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ascendsim.isa.rules import RULES, weakest
from ascendsim.options import Options
from ascendsim.soc import Soc


@dataclass(frozen=True, slots=True)
class Difference:
    """A rule (or number) that differs.

    a, b : what it says on the two sides; grade : the weaker of both sides' evidence;
    instructions : that relied on the rule, empty when none did or when it is a number;
    option, forced : the option that gives side b what side a has, where one can.
    """

    rule: str
    a: str
    b: str
    grade: str
    instructions: tuple[str, ...] = ()
    option: str = ""
    forced: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the row of `ascendsim compare --json`."""
        row = {"rule": self.rule, "a": self.a, "b": self.b, "grade": self.grade}
        return row | {"instructions": list(self.instructions)}


def _overflow(soc: Soc, options: Options) -> str:
    return soc.overflow_mode if options.overflow == "soc" else options.overflow


def _subnormals(soc: Soc, options: Options) -> str:
    said = {"soc": "flushed by Exp, Ln, Div, Sqrt", "flush": "flushed by all arithmetic"}
    return said.get(options.subnormals, "kept")


def _nan(soc: Soc, options: Options) -> str:
    return {"ones": "0x7fffffff, 0x7fff", "qnan": "0x7fc00000, 0x7e00, 0x7fc0"}[options.nan]


def _ne_nan(soc: Soc, options: Options) -> str:
    return str(soc.ne_nan) if options.ne_nan == "soc" else options.ne_nan


def _compare_tail(soc: Soc, options: Options) -> str:
    return soc.compare_tail if options.compare_tail == "soc" else options.compare_tail


def _compare_mask(soc: Soc, options: Options) -> str:
    return "honoured" if soc.arch == "3510" else "ignored"


def _pad_bytes(soc: Soc, options: Options) -> str:
    if options.pad_bytes != "documented":
        return options.pad_bytes
    unless = "isPad" if soc.arch == "3510" else "a side is padded"
    return f"first element, pad register if {unless}"


def _select_scratch(soc: Soc, options: Options) -> str:
    if options.select_scratch == "off" or soc.select_scratch_offset < 0:
        return "none"
    return f"{soc.select_scratch_bytes} bytes at {soc.select_scratch_offset:#x}"


#: rule of isa.rules, the option that decides it, and what it says on a side
_DECIDED: tuple[tuple[str, str, Callable[[Soc, Options], str]], ...] = (
    ("launch-overflow-mode", "overflow", _overflow),
    ("flush-subnormals", "subnormals", _subnormals),
    ("nan-word", "nan", _nan),
    ("compare-ne-nan", "ne_nan", _ne_nan),
    ("compare-tail", "compare_tail", _compare_tail),
    ("compare-mask", "", _compare_mask),
    ("pad-bytes", "pad_bytes", _pad_bytes),
    ("select-scratch", "select_scratch", _select_scratch),
)
#: what side b is told to do as side a does; what is missing here cannot be told
_FORCED: Mapping[str, Callable[[Soc, Options], str]] = {
    "overflow": _overflow,
    "subnormals": lambda soc, options: options.subnormals,
    "nan": lambda soc, options: options.nan,
    "ne_nan": lambda soc, options: "1" if _ne_nan(soc, options) == "1" else "",
    "compare_tail": _compare_tail,
    "pad_bytes": lambda soc, options: (
        "" if options.pad_bytes == "documented" else options.pad_bytes
    ),
    "select_scratch": lambda s, o: "off" if _select_scratch(s, o) == "none" else "",
}
_NUMBERS = (
    "ub_bytes",
    "tiling_ub_bytes",
    "aiv_cores",
    "event_ids",
    "buffer_mutexes",
    "uses_mutexes",
    "has_counter_mode",
    "hardware_orders_v",
)
_OTHER_OPTIONS = ("ub_fill", "gm_slack_fill", "auto_sync", "int_overflow", "vector_recip")


def differences(
    socs: tuple[Soc, Soc], options: tuple[Options, Options], used: Mapping[str, tuple[str, ...]]
) -> list[Difference]:
    """Return what differs: rules that a call relied on first, then the others, then numbers.

    used : the instructions that relied on a rule, by rule.
    """
    rules = [_rule(*row, socs, options, used) for row in _DECIDED]
    found = [row for row in rules if row.a != row.b]
    found.sort(key=lambda row: not row.instructions)
    for name in _OTHER_OPTIONS:
        values = [getattr(each, name) for each in options]
        if values[0] != values[1]:
            found.append(Difference(f"option {name}", values[0], values[1], "assumed"))
    for name in _NUMBERS:
        facts = [soc.fact(name) for soc in socs]
        if facts[0].value != facts[1].value:
            grade = weakest([fact_grade(fact) for fact in facts])
            found.append(Difference(name, str(facts[0].value), str(facts[1].value), grade))
    return found


def _rule(
    name: str,
    option: str,
    said: Callable[[Soc, Options], str],
    socs: tuple[Soc, Soc],
    options: tuple[Options, Options],
    used: Mapping[str, tuple[str, ...]],
) -> Difference:
    a, b = (said(soc, chosen) for soc, chosen in zip(socs, options, strict=True))
    grade = weakest([RULES[name].grade(soc.arch) for soc in socs])
    forced = _FORCED[option](socs[0], options[0]) if option else ""
    return Difference(name, a, b, grade, used.get(name, ()), option, forced)


def fact_grade(fact: Any) -> str:
    """Return the grade of a number of a chip, read off its source and confidence.

    A page of a manual is documented, a header or source file code, anything else a report; what
    is assumed or of low confidence is assumed.
    """
    if fact.confidence in ("assumed", "low") or fact.source.startswith("assumed"):
        return "assumed"
    if ".md" in fact.source or "page" in fact.source:
        return "documented"
    return "code" if ".h" in fact.source or ".cpp" in fact.source else "report"


def graded_otherwise(
    one: Mapping[str, Any], two: Mapping[str, Any], differing: list[Difference]
) -> list[dict[str, str]]:
    """Return the rules that both sides relied on and that say the same, on other evidence."""
    grades = [{row["rule"]: row["grade"] for row in side["rules"]} for side in (one, two)]
    apart = {row.rule for row in differing}
    return [
        {"rule": rule, "a": grade, "b": grades[1][rule]}
        for rule, grade in grades[0].items()
        if rule not in apart and grades[1].get(rule, grade) != grade
    ]
