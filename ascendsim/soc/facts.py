"""One fact and one instruction row of an SoC, and the checks that a TOML file has to pass.

`make_fact` and `make_row` take what tomllib parsed. Whatever is wrong is a ValueError that names
file and field: the files are part of the package, so a broken one is our bug.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ascendsim.dtypes import ALL

CONFIDENCES = ("high", "medium", "low", "assumed")

_FACT_KEYS = {"value", "source", "confidence"}
_COST_KEYS = {"fixed", "per_repeat", "cost_source", "cost_confidence"}
_FORM_KEYS = {"dtypes", "modes", "only", "count_only", "pairs"}
_ROW_KEYS = _COST_KEYS | _FORM_KEYS | {"support_source", "support_confidence"}
_DTYPE_NAMES = frozenset(t.name for t in ALL)
_ROUND_LETTERS = frozenset("NRFCAZO")


@dataclass(frozen=True, slots=True)
class Fact:
    """One value, where it comes from (repository: path, or `assumed`), how far it is trusted."""

    value: Any
    source: str
    confidence: str

    def as_dict(self) -> dict[str, Any]:
        """Return the three as a dict that JSON can hold."""
        return {"value": self.value, "source": self.source, "confidence": self.confidence}


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of one instruction: `fixed + per_repeat * repeats`, without bank conflicts.

    A repeat is 256 bytes of the widest operand. `per_repeat` is one number or one per dtype name.
    """

    fixed: float
    per_repeat: float | Mapping[str, float]
    source: str
    confidence: str

    def rate(self, dtype: str) -> float:
        """Return the cycles of one repeat for elements of type `dtype`."""
        if isinstance(self.per_repeat, Mapping):
            return self.per_repeat[dtype]
        return self.per_repeat


@dataclass(frozen=True, slots=True)
class OpRow:
    """One instruction on one SoC: its element types, modes, conversions and cost.

    `dtypes` are names as in `ascendsim.dtypes`; `modes` is empty where the instruction has none;
    `only` restricts the modes of single types, `count_only` are the types without a repeat form;
    `pairs` is Cast's table "source->destination" to the letters of the rounding modes it takes
    (N R F C A Z O = NONE RINT FLOOR CEIL ROUND TRUNC ODD); `cost` is None where nothing is known.
    """

    name: str
    dtypes: tuple[str, ...]
    modes: tuple[int, ...]
    only: Mapping[str, tuple[int, ...]]
    count_only: tuple[str, ...]
    pairs: Mapping[str, str]
    support_source: str
    support_confidence: str
    cost: Cost | None


def make_fact(file: str, field: str, raw: Any) -> Fact:
    """Return the checked fact of one `field = {...}` entry."""
    if not isinstance(raw, dict) or raw.keys() != _FACT_KEYS:
        raise ValueError(f"{file}: {field} needs exactly value, source and confidence")
    source = _cited(file, field, raw["source"])
    return Fact(raw["value"], source, _confidence(file, field, raw["confidence"]))


def make_row(file: str, op: str, raw: Mapping[str, Any]) -> OpRow:
    """Return the checked row of one `[ops.<Name>]` table."""
    where = f"ops.{op}"
    if unknown := raw.keys() - _ROW_KEYS:
        raise ValueError(f"{file}: {where} has unknown keys {sorted(unknown)}")
    for key in ("dtypes", "support_source", "support_confidence"):
        if key not in raw:
            raise ValueError(f"{file}: {where}.{key} is missing")
    pairs = dict(raw.get("pairs", {}))
    for pair, letters in pairs.items():
        _check_dtypes(file, f"{where}.pairs", pair.split("->"))
        if not letters or set(letters) - _ROUND_LETTERS:
            raise ValueError(f"{file}: {where}.pairs {pair!r} has unknown modes {letters!r}")
    for key in ("dtypes", "only", "count_only"):
        _check_dtypes(file, f"{where}.{key}", raw.get(key, ()))
    return OpRow(
        op,
        tuple(raw["dtypes"]),
        tuple(raw.get("modes", ())),
        MappingProxyType({k: tuple(v) for k, v in raw.get("only", {}).items()}),
        tuple(raw.get("count_only", ())),
        MappingProxyType(pairs),
        _cited(file, f"{where}.support_source", raw["support_source"]),
        _confidence(file, f"{where}.support_confidence", raw["support_confidence"]),
        _cost(file, where, raw),
    )


def _cost(file: str, where: str, raw: Mapping[str, Any]) -> Cost | None:
    given = raw.keys() & _COST_KEYS
    if not given:
        return None
    if missing := _COST_KEYS - given:
        raise ValueError(f"{file}: {where} has a cost without {sorted(missing)}")
    rate = raw["per_repeat"]
    if isinstance(rate, dict):
        _check_dtypes(file, f"{where}.per_repeat", rate)
        if missing := set(raw["dtypes"]) - rate.keys():
            raise ValueError(f"{file}: {where}.per_repeat lacks {sorted(missing)}")
        rate = MappingProxyType(rate)
    return Cost(
        raw["fixed"],
        rate,
        _cited(file, f"{where}.cost_source", raw["cost_source"]),
        _confidence(file, f"{where}.cost_confidence", raw["cost_confidence"]),
    )


def row_facts(row: OpRow) -> list[tuple[str, Fact]]:
    """Return what a row states as (field, fact), in values that JSON can hold."""

    def support(value: Any) -> Fact:
        return Fact(value, row.support_source, row.support_confidence)

    found = [("dtypes", support(list(row.dtypes)))]
    if row.modes:
        found.append(("modes", support(list(row.modes))))
    if row.only:
        found.append(("only", support({name: list(modes) for name, modes in row.only.items()})))
    if row.count_only:
        found.append(("count_only", support(list(row.count_only))))
    if row.pairs:
        found.append(("pairs", support(dict(row.pairs))))
    if row.cost is not None:
        cost, rate = row.cost, row.cost.per_repeat
        plain = dict(rate) if isinstance(rate, Mapping) else rate
        found.append(("fixed", Fact(cost.fixed, cost.source, cost.confidence)))
        found.append(("per_repeat", Fact(plain, cost.source, cost.confidence)))
    return found


@cache
def _sources() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))


def _cited(file: str, field: str, text: Any) -> str:
    """Return `text` with every `@key` replaced by the citation that it stands for."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{file}: {field} has no source")
    if unknown := set(re.findall(r"@(\w+)", text)) - _sources().keys():
        raise ValueError(f"{file}: {field} cites unknown sources {sorted(unknown)}")
    return re.sub(r"@(\w+)", lambda key: _sources()[key[1]], text)


def _confidence(file: str, field: str, value: Any) -> str:
    if value not in CONFIDENCES:
        raise ValueError(f"{file}: {field} has confidence {value!r}; use one of {CONFIDENCES}")
    return value


def _check_dtypes(file: str, field: str, names: Iterable[str]) -> None:
    if unknown := set(names) - _DTYPE_NAMES:
        raise ValueError(f"{file}: {field} has unknown dtypes {sorted(unknown)}")
