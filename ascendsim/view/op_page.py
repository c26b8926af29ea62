"""The page of an operator, made from its kernel folder."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from ascendsim.host.aclnn.declare import EQUAL, MAX_RANK, PROMOTED
from ascendsim.host.aclnn.phases import declaration
from ascendsim.soc import load

_OPTIONAL = {
    "api": "numpy-level function",
    "ref": "definition to compare with",
    "demo": "demo",
    "aclnn": "two-phase host call",
}


@dataclass(frozen=True, slots=True)
class OpPage:
    """The definition of one operator, and what its folder has beside the kernel."""

    op: Any

    def document(self) -> dict[str, Any]:
        """Return the page as JSON."""
        definition, call = self.op.definition, declaration(self.op)
        return {
            "kind": "operator",
            **definition.to_json(),
            "formats": list(definition.formats),
            "products": definition.products,
            "aclnn": call.to_json() if call else None,
            "folder": str(self.op.folder),
            "text": self._text(),
            "has": [name for name in _OPTIONAL if self._has(name)],
        }

    def markdown(self) -> str:
        """Return the page as Markdown."""
        definition = self.op.definition
        attrs = [f"{a.name} ({a.type.__name__}, default {a.default})" for a in definition.attrs]
        there = [f"op_{name}.py" if name != "demo" else "demo.py" for name in _OPTIONAL]
        lacks = [
            f"{file} ({_OPTIONAL[name]})"
            for name, file in zip(_OPTIONAL, there, strict=True)
            if not self._has(name)
        ]
        rows = {
            "inputs": ", ".join(definition.inputs),
            "outputs": ", ".join(definition.outputs),
            "types": definition.dtype_text(),
            "chips": ", ".join(definition.socs),
            "formats": ", ".join(definition.formats),
            "attributes": "; ".join(attrs) or "none",
            "folder": str(self.op.folder),
            "missing files": ", ".join(lacks) or "none",
        }
        listed = "\n".join(f"* {name}: {value}" for name, value in rows.items())
        parts = [f"# {definition.name}", self._text(), listed, self._products(), self._call()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _products(self) -> str:
        """Return the product table."""
        rows = [
            f"* {name} ({load(name).product}): {found}"
            for name, found in self.op.definition.products.items()
        ]
        return "## Products\n\n" + "\n".join(rows)

    def _call(self) -> str:
        """Return what the two-phase call takes, and what it checks, in order."""
        call = declaration(self.op)
        if call is None:
            return ""
        said, formals = call.to_json(), (*call.operator.inputs, *call.operator.outputs)
        names = [
            f"{f.name} ({f.tensor or 'not given to the kernel'}{', ' * bool(f.note)}{f.note})"
            for f in formals
        ]
        types: dict[str, list[str]] = {}
        for soc, kinds in call.dtypes.items():
            types.setdefault(", ".join(kinds), []).append(soc)
        relation = {
            EQUAL: "161002: element types that differ",
            PROMOTED: "types may differ: computed in the promoted one, cast to the output's",
        }[call.relation]
        rows = [
            f"first phase: {said['first_phase']} gives status, workspace size, executor",
            f"second phase: {said['second_phase']} gives status",
            f"operator: {call.operator.type}, with {'; '.join(names)}",
            f"161001: {', '.join(p.name for p in call.tensors)} null",
            "161002: the chip does not have it",
            *(f"161002: on {', '.join(on)} not {kinds}" for kinds, on in types.items()),
            relation,
            f"161002: format not {' or '.join(call.formats)}",
            f"161002: rank above {MAX_RANK}; shapes of "
            f"{', '.join(' and '.join(pair) for pair in call.shapes)} not equal",
            "161002 (assumed): negative strides, stride 0 of an output, storage below the view",
            f"empty {' or '.join(call.empty)}: success, workspace 0, nothing to run",
            "361001: used executor, workspace too small or null, freed memory, before init",
        ]
        return "## Two-phase call\n\n" + "\n".join(f"* {row}" for row in rows)

    def _has(self, name: str) -> bool:
        file = "demo.py" if name == "demo" else f"op_{name}.py"
        return (self.op.folder / file).is_file()

    def _text(self) -> str:
        """Return what the kernel's own file says first."""
        return inspect.cleandoc(self.op.kernel_module.__doc__ or "")
