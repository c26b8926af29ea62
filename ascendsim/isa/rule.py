"""One rule of the model: what it says, where that is from, how well it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MANUAL = "asc-devkit docs/zh/api/SIMD-API"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it says, where that is from, and its grade (`default` or by architecture)."""

    id: str
    text: str
    source: str
    default: str
    by_arch: Mapping[str, str]

    def grade(self, arch: str) -> str:
        """Return the grade of this rule on `arch`."""
        return self.by_arch.get(arch, self.default)


def make_rule(id: str, text: str, source: str, default: str, **by_arch: str) -> Rule:
    """Return a rule; grades of single architectures as arch3510=..., archc220=..."""
    return Rule(id, text, source, default, {k.removeprefix("arch"): v for k, v in by_arch.items()})
