"""Load an SoC from its TOML file: what it has, which rules hold on it, what its instructions cost.

A file holds tables of facts, `field = {value = ..., source = "...", confidence = "..."}`, where
the name of the table is only a heading, and one table `[ops.<Name>]` per instruction: without the
row the instruction does not exist on this SoC. `@key` in a source stands for the citation of that
key in `sources.toml`. `inherits = "<name>"` starts from another SoC's facts and rows, `remove`
drops rows again, and `inherited_cost_confidence` states how far the inherited costs are trusted.

To add an SoC: write the file, add its name to NAMES. To add an instruction: add its rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.soc.facts import Fact, OpRow, make_fact, make_row, row_facts

NAMES = (
    "ascend910",
    "ascend310p",
    "ascend910b1",
    "ascend910b2",
    "ascend910b3",
    "ascend910b4",
    "ascend910_93",
    "ascend950",
)
ALIASES = {"ascend910b": "ascend910b1", "ascend950pr": "ascend950"}

_FOLDER = Path(__file__).parent
_HEADER = ("inherits", "remove", "inherited_cost_confidence", "ops")
_KINDS: dict[str, type] = {"int": int, "str": str, "bool": bool}


@dataclass(frozen=True, eq=False, slots=True)
class Soc:
    """One SoC. The fields below are in every file; other facts (costs of DMA, clock) by `get`.

    Sizes are bytes. `ub_bytes` is the simulated UB unless `--ub` says otherwise, `tiling_ub_bytes`
    what tiling code is told, `ub_physical_bytes` what is built in. `event_ids` counts per event
    type. `select_scratch_offset` is -1 where Select writes no hidden scratch. `ne_nan` is the bit
    of Compare NE with a NaN operand. `hardware_orders_v`: dependent vector instructions need no
    barrier.
    """

    name: str
    arch: str
    npu_arch: int
    ub_bytes: int
    tiling_ub_bytes: int
    ub_physical_bytes: int
    aiv_cores: int
    aic_cores: int
    max_blocks: int
    event_ids: int
    buffer_mutexes: int
    buffer_handles: int
    uses_mutexes: bool
    overflow_mode: str
    has_counter_mode: bool
    select_scratch_offset: int
    select_scratch_bytes: int
    compare_tail: str
    ne_nan: int
    hardware_orders_v: bool
    l2_bytes: int
    ops: Mapping[str, OpRow]
    all_facts: Mapping[str, Fact]

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_") or field == "all_facts":
            raise AttributeError(field)
        if field in self.all_facts:
            return self.all_facts[field].value
        raise AttributeError(f"{self.name} has no value for {field!r}; use get() for optional ones")

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (self.name,)

    def __repr__(self) -> str:
        return f"Soc({self.name})"

    def fact(self, field: str) -> Fact:
        """Return the value of `field` with its source and confidence.

        Raises
        ------
        RequestError
            When this SoC has no such field; the text lists those that it has.
        """
        found = self.all_facts.get(field)
        if found is None:
            known = ", ".join(self.all_facts)
            raise RequestError(f"{self.name} has no value for {field!r}; it has {known}")
        return found

    def get(self, field: str, default: Any = None) -> Any:
        """Return the value of `field`, or `default` where nothing is known."""
        found = self.all_facts.get(field)
        return default if found is None else found.value

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return every fact and every instruction row, flat: `ub_bytes`, `ops.Muls.fixed`, ..."""
        flat = {field: fact.as_dict() for field, fact in self.all_facts.items()}
        for row in self.ops.values():
            for field, fact in row_facts(row):
                flat[f"ops.{row.name}.{field}"] = fact.as_dict()
        return flat


def load(name: str) -> Soc:
    """Return the SoC called `name` (upper or lower case, or an alias); loaded once.

    Raises
    ------
    RequestError
        When there is no such SoC; the text lists the names.
    ValueError
        When the SoC's own file is broken; the text names file and field.
    """
    lower = str(name).lower()
    canonical = ALIASES.get(lower, lower)
    if canonical not in NAMES:
        known = ", ".join((*NAMES, *ALIASES))
        raise RequestError(f"SoC {name!r} is unknown; use one of {known}")
    return _load(canonical)


@cache
def _load(name: str) -> Soc:
    return build(f"{name}.toml", *_merged(name))


def build(file: str, raw_facts: Mapping[str, Any], raw_ops: Mapping[str, Any]) -> Soc:
    """Check the parsed content of `file` and return the SoC.

    Raises
    ------
    ValueError
        On a missing field, a wrong type, an unknown confidence, dtype or key.
    """
    facts = {field: make_fact(file, field, raw) for field, raw in raw_facts.items()}
    values: dict[str, Any] = {}
    for field in fields(Soc):
        if field.name in ("ops", "all_facts"):
            continue
        if field.name not in facts:
            raise ValueError(f"{file}: required field {field.name!r} is missing")
        value, kind = facts[field.name].value, _KINDS[str(field.type)]
        if type(value) is not kind:
            raise ValueError(f"{file}: {field.name} = {value!r} is not of type {kind.__name__}")
        values[field.name] = value
    ops = {op: make_row(file, op, raw) for op, raw in raw_ops.items()}
    return Soc(**values, ops=MappingProxyType(ops), all_facts=MappingProxyType(facts))


def _merged(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return raw facts and raw rows of a file, laid over those of the SoC that it inherits."""
    file = f"{name}.toml"
    data = tomllib.loads((_FOLDER / file).read_text(encoding="utf-8"))
    facts: dict[str, Any] = {}
    ops: dict[str, Any] = {}
    if "inherits" in data:
        facts, ops = _merged(data["inherits"])
        _trust_costs(ops, data.get("inherited_cost_confidence"))
    for op in data.get("remove", []):
        if ops.pop(op, None) is None:
            raise ValueError(f"{file}: remove names {op!r}, which is not inherited")
    own: set[str] = set()
    for heading, table in data.items():
        if heading in _HEADER:
            continue
        if not isinstance(table, dict) or own & table.keys():
            raise ValueError(f"{file}: [{heading}] is no table of facts, or repeats a field")
        own |= table.keys()
        facts |= table
    for op, row in data.get("ops", {}).items():
        ops[op] = ops.get(op, {}) | row
    return facts, ops


def _trust_costs(ops: dict[str, Any], confidence: str | None) -> None:
    """Give inherited costs another confidence; what is assumed stays so."""
    if confidence is not None:
        for op, row in ops.items():
            if row.get("cost_confidence", "assumed") != "assumed":
                ops[op] = row | {"cost_confidence": confidence}
