"""Print the tables of the README from a bench: `ascendsim bench --json > b.json`, then this.

`python -m tests.speed.table b.json`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RATIOS = (
    "step / numpy",
    "replay / numpy",
    "fused loop / C",
    "step / Pallas interpret",
    "step / Triton interpret",
)


def tables(document: dict[str, Any]) -> str:
    """Return the ratios by kernel and type, then the other rows, as markdown."""
    found: dict[str, dict[str, str]] = {}
    others = []
    for row in document["rows"]:
        subject, _, ratio = row["name"].partition(": ")
        if ratio in RATIOS:
            found.setdefault(subject, {})[ratio] = _cell(row)
        else:
            others.append(f"| {row['name']} | {_cell(row)} |")
    lines = [f"| kernel | type | {' | '.join(RATIOS)} |", "|---" * (2 + len(RATIOS)) + "|"]
    for subject, cells in found.items():
        shown = " | ".join(cells.get(ratio, "-") for ratio in RATIOS)
        lines.append(f"| {subject.replace(' ', ' | ')} | {shown} |")
    return "\n".join([*lines, "", "| how many times faster | ratio |", "|---|---|", *others])


def _cell(row: dict[str, Any]) -> str:
    if row["ratio"] is None:
        return "-"
    target = "" if row["target"] is None else f" ({row['target']:.2g})"
    return f"{row['ratio']:.2f}{target}"


if __name__ == "__main__":
    print(tables(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
