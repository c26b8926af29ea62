"""The page of an operator, made from its kernel folder."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

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
        definition = self.op.definition
        return {
            "kind": "operator",
            **definition.to_json(),
            "formats": list(definition.formats),
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
        return f"# {definition.name}\n\n{self._text()}\n\n{listed}\n"

    def _has(self, name: str) -> bool:
        file = "demo.py" if name == "demo" else f"op_{name}.py"
        return (self.op.folder / file).is_file()

    def _text(self) -> str:
        """Return what the kernel's own file says first."""
        return inspect.cleandoc(self.op.kernel_module.__doc__ or "")
