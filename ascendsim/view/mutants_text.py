"""A mutation score as text: how many faults of each class were noticed, and those that were not."""

from __future__ import annotations

from typing import Any

from ascendsim.view import text

_UNKNOWN = "only a test can tell what it changes"
_EQUAL = "no bit differs on the seeded inputs, no check minds: perhaps no fault at all"


def score(found: Any) -> str:
    """Return what `Score` holds."""
    judges = ("tests", "checks") if found.tests else ("checks", "bits")
    return text.joined(
        _by_kind(found, judges),
        f"{found.killed} of {len(found.judged)} mutants noticed\n",
        _checks(found),
        "\n".join(_survivor(each) for each in found.survivors),
        "".join(f"note: {note}\n" for note in found.notes),
    )


def _by_kind(found: Any, judges: tuple[str, ...]) -> str:
    rows = []
    for kind in found.kinds:
        mine = [each for each in found.judged if each.mutant.kind == kind]
        counts = [sum(each.by == judge for each in mine) for judge in judges]
        if mine:
            rows.append((kind, len(mine), *counts, sum(not each.by for each in mine)))
    by = ", ".join(found.tests) if found.tests else "no tests"
    columns = ("fault", "mutants", *judges, "nobody")
    return text.table(f"mutants of {found.folder.name} ({by})", columns, rows)


def _checks(found: Any) -> str:
    """Return those that only the checks noticed, where there are tests."""
    if not found.tests:
        return ""
    rows = [
        (_place(each.mutant), change(each.mutant), each.killed_by.partition(" ")[2])
        for each in found.judged
        if each.by == "checks"
    ]
    return text.table("only the checks noticed", ("line", "change", "code"), rows) if rows else ""


def _survivor(each: Any) -> str:
    mutant = each.mutant
    lines = [f"nobody noticed {_place(mutant)}: {mutant.kind}: {change(mutant)}"]
    lines += [f"  {line}" for line in mutant.before.splitlines()]
    if each.witness is not None:
        lines.append(f"  differs: {_differs(each.witness)}")
    else:
        lines.append(f"  {_EQUAL if each.compared else _UNKNOWN}")
    return "\n".join(lines) + "\n"


def _differs(witness: dict[str, Any]) -> str:
    given = ", ".join(f"{name} {value}" for name, value in witness["inputs"].items())
    tensor = f"{witness['tensor']}[{witness['index']}]"
    return (
        f"{tensor} = {witness['got']} instead of {witness['want']} ({witness['dtype']}) at "
        f"{given or 'its inputs'}; {witness['differing']} of {witness['of']} inputs differ"
    )


def change(mutant: Any) -> str:
    """Return what was replaced by what, in a line."""
    return "; ".join(f"{old} -> {new}" for old, new in mutant.changes)


def _place(mutant: Any) -> str:
    return f"{mutant.file}:{mutant.line}"
