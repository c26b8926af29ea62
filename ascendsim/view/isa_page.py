"""The page of one instruction, member or type, made from its declaration and the chips' data."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from dataclasses import dataclass
from typing import Any

from ascendsim import ascendc
from ascendsim.errors import RequestError
from ascendsim.isa import LIBRARY, PROGRAM_RULES, REGISTRY
from ascendsim.isa.roles import Role
from ascendsim.isa.rules import RULES
from ascendsim.soc import NAMES, load

_ROLES = {
    Role.OUT: "destination",
    Role.IN: "source",
    Role.BITS_OUT: "destination of mask bits",
    Role.BITS_IN: "source of mask bits",
}
# what the hand-written copies, queues and sizes rely on; declared instructions say it themselves
OTHER_RULES = {
    "DataCopy": ("copy-datablocks", "gm-slack"),
    "DataCopyPad": ("pad-bytes", "pad-register-start", "gm-slack"),
} | dict.fromkeys(("AllocTensor", "EnQue", "DeQue", "FreeTensor", "TQue"), ("queue-states",))


@dataclass(frozen=True, slots=True)
class IsaPage:
    """What is known about one name that kernels may use.

    `operands` are (name, role); `rules` ids of isa.rules; `row` the name of its row in the chips'
    tables, None for what has none (members, types).
    """

    name: str
    kind: str
    signature: str
    doc: str
    operands: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    row: str | None

    def document(self) -> dict[str, Any]:
        """Return the page as JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "signature": self.signature,
            "doc": self.doc,
            "operands": [{"name": name, "role": role} for name, role in self.operands],
            "rules": [_rule(name) for name in self.rules],
            "socs": {chip.name: _support(chip, self.row) for chip in self._chips()},
        }

    def markdown(self) -> str:
        """Return the page as Markdown."""
        parts = [f"# {self.name}", f"{self.kind}\n\n    {self.signature}", self.doc]
        if self.operands:
            parts.append("\n".join(f"* `{name}`: {role}" for name, role in self.operands))
        if self.rules:
            parts.append("## Rules")
            parts += [_rule_text(RULES[name]) for name in self.rules]
        rows = _rows(self._chips(), self.row)
        if rows:
            parts += ["## Chips", "\n".join(rows)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _chips(self) -> list[Any]:
        chips = [load(name) for name in NAMES]
        return [chip for chip in chips if self.row is not None and self.row in chip.ops]


def names() -> list[str]:
    """Return every name that has a page."""
    return [*ascendc.APIS, *ascendc.MEMBERS, *ascendc.TYPES]


def find(name: str) -> IsaPage:
    """Return the page of `name`, in whatever case it is written.

    Raises
    ------
    RequestError
        When kernels cannot use such a name; the text says which are near.
    """
    known = {each.lower(): each for each in reversed(names())}
    exact = name if name in names() else known.get(name.lower())
    if exact is None:
        stems = {each.split("@")[0].lower(): each for each in reversed(names())}
        exact = stems.get(name.lower())
    if exact is None:
        near = difflib.get_close_matches(name.lower(), known, 3)
        hint = f"did you mean {' or '.join(known[each] for each in near)}?" if near else ""
        raise RequestError(
            f"{name!r} is no instruction, member or type that is modelled; "
            f"{hint or 'ascendsim isa lists them'}"
        )
    return _page(exact)


def _page(name: str) -> IsaPage:
    declared = REGISTRY.get(name) or LIBRARY.get(name)
    if declared is not None and name in ascendc.APIS:
        operands = tuple((each, _ROLES[role]) for each, role in declared.operands)
        return IsaPage(
            name, "instruction", declared.signature, declared.doc, operands, declared.rules, name
        )
    targets, kind = _objects(name)
    docs = dict.fromkeys(inspect.getdoc(target) or "" for target in targets)
    row = name if kind == "instruction" else None
    rules = PROGRAM_RULES.get(name) or OTHER_RULES.get(name, ())
    return IsaPage(name, kind, _signature(name, targets), "\n\n".join(docs), (), rules, row)


def _objects(name: str) -> tuple[list[Any], str]:
    """Return what kernels mean by `name`, and what kind of thing that is."""
    if name in ascendc.APIS:
        return [getattr(ascendc, name)], "instruction"
    if name in ascendc.TYPES:
        return [getattr(ascendc, name)], "type"
    member, _, place = name.partition("@")
    owners = [getattr(ascendc, owner) for owner in _owners(place)]
    owners = [owner for owner in owners if hasattr(owner, member)]
    kind = f"member of {', '.join(owner.__name__ for owner in owners)}"
    return [getattr(owner, member) for owner in owners], kind


def _owners(place: str) -> tuple[str, ...]:
    of_place = {"UB": ("LocalTensor",), "GM": ("GlobalTensor",)}
    # a TBuf has the members of a queue, which do nothing there
    queues_first = sorted(ascendc.TYPES, key=lambda name: name == "TBuf")
    return of_place.get(place, tuple(queues_first))


def _signature(name: str, targets: list[Any]) -> str:
    plain = name.partition("@")[0]
    try:
        parameters = inspect.signature(targets[0]).parameters.values()
    except (IndexError, TypeError, ValueError):
        return plain
    shown = [str(each.replace(annotation=each.empty)) for each in parameters if each.name != "self"]
    return f"{plain}({', '.join(shown)})"


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    grades = {chip.name: rule.grade(chip.arch) for chip in map(load, NAMES)}
    return {"rule": rule.id, "text": rule.text, "source": rule.source, "grade": grades}


def _rule_text(rule: Any) -> str:
    by_grade: dict[str, list[str]] = {}
    for chip in map(load, NAMES):
        by_grade.setdefault(rule.grade(chip.arch), []).append(chip.name)
    if len(by_grade) == 1:
        grades = next(iter(by_grade))
    else:
        grades = "; ".join(f"{grade} on {', '.join(chips)}" for grade, chips in by_grade.items())
    text = textwrap.fill(f"* **{rule.id}**: {rule.text}.", 98, subsequent_indent="  ")
    return f"{text}\n  Grade: {grades}. Source: {rule.source}."


def _support(chip: Any, name: str | None) -> dict[str, Any]:
    row = chip.ops[name]
    cost = row.cost
    return {
        "dtypes": list(row.dtypes),
        "pairs": dict(row.pairs),
        "modes": list(row.modes),
        "source": row.support_source,
        "confidence": row.support_confidence,
        "cost": None
        if cost is None
        else {
            "fixed": cost.fixed,
            "per_repeat": {dtype: cost.rate(dtype) for dtype in row.dtypes},
            "source": cost.source,
            "confidence": cost.confidence,
        },
    }


def _rows(chips: list[Any], name: str | None) -> list[str]:
    """Return one entry for all chips that agree in everything that is shown."""
    groups: dict[str, list[str]] = {}
    for chip in chips:
        groups.setdefault(_row_text(chip.ops[name]), []).append(chip.name)
    return [f"* **{', '.join(names)}**: {text}" for text, names in groups.items()]


def _row_text(row: Any) -> str:
    taken = ", ".join(f"{pair} ({modes})" for pair, modes in row.pairs.items())
    text = f"{taken or ', '.join(row.dtypes)}"
    text += f"\n  (support {row.support_confidence}: {row.support_source})"
    if row.cost is not None:
        rates = {dtype: row.cost.rate(dtype) for dtype in row.dtypes}
        values = list(rates.values())
        shown = ", ".join(f"{dtype} {rate}" for dtype, rate in rates.items())
        rate = values[0] if len(set(values)) == 1 else shown
        text += f"\n  cycles: {row.cost.fixed} + {rate} per repeat"
        text += f"\n  ({row.cost.confidence}: {row.cost.source})"
    return text
