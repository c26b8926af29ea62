"""A comparison of two sides as text and as the document of `ascendsim compare --json`."""

from __future__ import annotations

from typing import Any

from ascendsim.view import text
from ascendsim.view.diff import Step

_TILINGS = {
    "same": "the same on both",
    "a": "that of {0} on both sides",
    "b": "that of {1} on both sides: the one of {0} does not run on {1}",
    "own": "each side its own: neither runs on the other, so calls are held side by side only "
    "behind an element of an output",
}


def document(found: Any) -> dict[str, Any]:
    """Return a `Comparison` as JSON."""
    a, b = found.tilings
    return {
        "op": found.op,
        "dtype": found.dtype,
        "n": found.n,
        "socs": list(found.socs),
        "options": {"a": found.settings[0], "b": found.settings[1]},
        "tiling": found.tiling,
        "tilings": {"a": a.to_json(), "b": b.to_json()},
        "rules": [rule.to_json() for rule in found.rules],
        "graded": list(found.graded),
        "first": _step(found.first, found.first_rules),
        "differing": found.outputs.differing,
        "outputs": {name: _output(each) for name, each in found.outputs.by_name.items()},
        "lane": _lane(found),
        "blocks": list(found.blocks),
        "warnings": list(found.warnings),
    }


def _step(step: Step | None, rules: Any = ()) -> dict[str, Any] | None:
    if step is None:
        return None
    return {
        "block": step.block,
        "seq": step.position,
        "where": {"file": step.file, "line": step.line},
        "name": step.name,
        "source": step.text,
        "place": step.place,
        "a": step.bits[0],
        "b": step.bits[1],
        "ulp": step.ulp,
        "call": {key: list(pair) for key, pair in step.call.items()},
        "rules": [rule.rule for rule in rules],
    }


def _output(each: Any) -> dict[str, Any]:
    return {
        "differing": each.differing,
        "of": each.of,
        "nan_words": each.nan_words,
        "ulp": each.ulp,
        "first": each.first,
    }


def _lane(found: Any) -> dict[str, Any] | None:
    if found.outputs.element is None:
        return None
    name, index = found.outputs.element
    bits = found.outputs.by_name[name].bits
    steps = [_step(step) for step in found.lane]
    rules = [rule.rule for rule in found.lane_rules]
    return {"output": name, "index": index, "a": bits[0], "b": bits[1], "steps": steps} | {
        "rules": rules
    }


def readable(found: Any) -> str:
    """Return a `Comparison` as text."""
    labels = found.socs if found.socs[0] != found.socs[1] else ("a", "b")
    head = {
        f"options of {label}": ", ".join(f"{key}={value}" for key, value in chosen.items())
        for label, chosen in zip(labels, found.settings, strict=True)
        if chosen
    }
    head["tiling"] = _TILINGS[found.tiling].format(*labels)
    for name, each in found.outputs.by_name.items():
        head[name] = _differing(each)
    rules = [
        (rule.rule, rule.a, rule.b, rule.grade, rule.instructions or None) for rule in found.rules
    ]
    columns = ("rule", *labels, "grade", "in this kernel")
    against = " against ".join(dict.fromkeys(found.socs))
    title = f"{found.op} {found.dtype} n={found.n}: {against}"
    title += "" if found.socs[0] != found.socs[1] else ", a and b differ in options"
    return text.joined(
        text.facts(title, head),
        text.table("what differs", columns, rules),
        _tilings(found, labels),
        _graded(found, labels),
        _parting(found),
        _behind(found),
    )


def _differing(each: Any) -> str:
    if not each.differing:
        return f"all {each.of} elements have the same bits"
    nan = f", {each.nan_words} of them in the word of a NaN only" if each.nan_words else ""
    far = f", the others by up to {each.ulp} ULP" if nan and each.ulp is not None else ""
    far = far or (f" by up to {each.ulp} ULP" if each.ulp is not None else "")
    return f"{each.differing} of {each.of} elements differ{nan}{far}"


def _tilings(found: Any, labels: tuple[str, str]) -> str:
    a, b = (made.to_json() for made in found.tilings)
    rows = [(key, a.get(key), b.get(key)) for key in {**a, **b} if a.get(key) != b.get(key)]
    return text.table("tiling that each host computes", ("field", *labels), rows) if rows else ""


def _graded(found: Any, labels: tuple[str, str]) -> str:
    rows = [(row["rule"], row["a"], row["b"]) for row in found.graded]
    title = "the same rule, on other evidence"
    return text.table(title, ("rule", *labels), rows) if rows else ""


def _parting(found: Any) -> str:
    if found.first is None:
        seen = "" if len(found.blocks) != 1 else f" of block {found.blocks[0]}"
        return "" if found.tiling == "own" else f"every call{seen} stored the same bytes"
    head = f"the first call that stored other bytes, in block {found.first.block}"
    return "\n".join([head, *_shown(found.first, found.first_rules)])


def _shown(step: Step, rules: Any) -> list[str]:
    named = ", ".join(f"{rule.rule} ({rule.grade})" for rule in rules)
    return [f"  {step}", f"    {step.text}", *([f"    by rule {named}"] if named else [])]


def _behind(found: Any) -> str:
    if found.outputs.element is None:
        return "nothing of it reaches an output" if found.first is not None else ""
    name, index = found.outputs.element
    a, b = found.outputs.by_name[name].bits
    head = f"behind {name}[{index}], {a:#x} against {b:#x}"
    if not found.lane:
        return f"{head}: no recorded call stored other bits"
    first, *rest = found.lane
    return "\n".join([head, *_shown(first, found.lane_rules), *(f"  {step}" for step in rest)])
