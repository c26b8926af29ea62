"""How many of the public kernels could run: all that they call is in `ascendsim isa --json`.

    python -m tests.coverage_share [tests/data/coverage_items.csv]

The table lists public kernels, each with its kind and the names that it uses (`m:` a member, `t:` a
type). A name counts when `ascendsim isa` lists it; which forms and types of it exist is not asked.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "coverage_items.csv"


@cache
def listed() -> set[str]:
    """Return what `ascendsim isa --json` lists, under the names of the table."""
    command = [sys.executable, "-c", "import ascendsim.cli as c; c.main()", "isa", "--json"]
    known = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {
        *known["apis"],
        *(f"m:{name}" for name in known["members"]),
        *(f"t:{name}" for name in known["types"]),
    }


def shares(
    rows: Iterable[dict[str, str]], known: set[str]
) -> tuple[dict[str, tuple[int, int]], Counter[str]]:
    """Return (kernels that could run, all kernels) by kind, and what each missing name stops."""
    runs, total, stops = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        missing = set(row["items"].split()) - known
        for kind in (row["kind"], "all"):
            total[kind] += 1
            runs[kind] += not missing
        stops.update(missing)
    return {kind: (runs[kind], total[kind]) for kind in total}, stops


def main(path: Path) -> None:
    """Print the shares and what is missing most."""
    with path.open(encoding="utf-8", newline="") as table:
        found, stops = shares(csv.DictReader(table), listed())
    for kind, (runs, total) in sorted(found.items(), key=lambda item: -item[1][1]):
        print(f"{kind:24} {runs:4} of {total:4}  {100 * runs / total:5.1f} %")
    print("missing most:", ", ".join(f"{name} {count}" for name, count in stops.most_common(30)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE)
