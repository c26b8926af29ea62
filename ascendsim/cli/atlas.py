"""`ascendsim atlas`: every x of a type through a kernel, compared with what it should be."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Chip, Choices, Kernel, pairs
from ascendsim.cli.files import Outputs, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.guard import StoppedError
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import RequestError

SHOWN_EXAMPLES = 4  # of each class, in the text
_CLASSES = ("boundary", "overflow", "nan", "flush", "rounding")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the inputs that are not swept hold."""

    grad: Annotated[
        str | None,
        typer.Option(metavar="VALUE|all", help="The input called grad: short for --set grad=..."),
    ] = None
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TENSOR=VALUE|all",
            help="An input that is not swept: a number, raw bits 0x..., or all (16-bit types: "
            "every pair). Default 1 (repeatable).",
        ),
    ] = None

    def settings(self) -> dict[str, str]:
        """Return {tensor: value}."""
        found = pairs(self.set, "--set")
        if self.grad is not None:
            if "grad" in found:
                raise RequestError("--grad and --set grad=... both set grad: give one")
            found["grad"] = self.grad
        return found


@dataclass(frozen=True, slots=True)
class Work:
    """What to compare with, who computes, and what to write."""

    against: Annotated[
        str | None,
        typer.Option(
            metavar="ATTR=VALUE|OP[:ATTR=VALUE]|definition|torch",
            help="What to compare with: another attribute value, another kernel, the exact "
            "definition, or torch. Without it: the checksum only.",
        ),
    ] = None
    report: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Write a report to open in a browser.")
    ] = None
    resume: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the state here; if it exists, go on from it."),
    ] = None
    scheduler: Annotated[
        str, typer.Option(metavar="local|tcp://HOST:PORT", help="This process, or a dask cluster.")
    ] = "local"


@takes_groups
def atlas(
    kernel: Kernel, inputs: Inputs, work: Work, chip: Chip, choices: Choices, show: Show
) -> None:
    """Visit every x of OP's type: checksum, and where results differ from what they should be."""
    options, op = choices.options(), kernel.load()
    if work.report is not None and work.against is None:
        raise RequestError("--report draws differences: give --against as well")
    with Outputs() as outputs:
        path = None
        if work.report is not None:
            path = outputs.reserve(work.report, "--report")
        found = _surveyed(op, kernel, inputs, work, {**chip.checked(), "options": options})
        document = found.to_json()
        if path is not None:
            from ascendsim.view.atlas_html import atlas_html

            page = atlas_html(document, found.profile(), found.zooms)
            with writing("--report", work.report):
                path.write_text(page, encoding="utf-8")
        outputs.commit()
    if chip.soc is not None and (what_if := op.soc_warning(chip.soc)):
        warn(f"what-if: {what_if}")
    show.result(document, lambda: readable(document))


def _surveyed(op: Any, kernel: Kernel, inputs: Inputs, work: Work, chip: dict[str, Any]) -> Any:
    from ascendsim.explore.atlas import Chip as Place
    from ascendsim.explore.atlas import atlas as survey

    try:
        with progress(f"atlas of {op.name}") as tick:
            return survey(
                op,
                kernel.dtypes(op.definition),
                settings=inputs.settings(),
                attrs=kernel.attrs(op.definition),
                against=work.against,
                chip=Place(**chip),
                scheduler=work.scheduler,
                resume=work.resume,
                progress=tick,
                kernels=tuple(kernel.kernels or ()),
            )
    except KeyboardInterrupt:
        if work.resume is None or not os.path.exists(work.resume):
            raise
        text = f"interrupted; the same command goes on from {work.resume}"
        raise StoppedError(text) from None


def readable(document: Mapping[str, Any]) -> str:
    """Return an atlas as text: counts by class, where the sides part, and the first runs."""
    from ascendsim.view import text

    names = ("dtype", "attrs", "fixed", "against", "inputs", "seconds", "mismatches", "exact")
    head = {name: document[name] for name in (*names, "checksum")}
    head["seconds"] = f"{document['seconds']:.1f}"
    head["attrs"], head["fixed"] = _listed(document["attrs"]), _listed(_hex(document["fixed"]))
    side = document["against"]
    if side is None:
        head = {name: head[name] for name in head if name not in ("against", "mismatches", "exact")}
        return text.facts(f"atlas of {document['op']}", head)
    head["against"] = " ".join(filter(None, (side["name"], _listed(side["attrs"]))))
    rows = [
        (name, document["classes"][name], document["runs"][name], _parted(document, name))
        for name in _CLASSES
    ]
    columns = ("class", "inputs", "runs", "where the first one parts")
    return text.joined(
        text.facts(f"atlas of {document['op']}", head),
        text.table("differences", columns, rows),
        text.table(f"first runs (at most {SHOWN_EXAMPLES} of a class)", *_runs(document)),
    )


def _parted(document: Mapping[str, Any], name: str) -> str:
    return document["parting"].get(name, {}).get("text", "")


def _runs(document: Mapping[str, Any]) -> tuple[Sequence[str], list[Sequence[Any]]]:
    examples = document["examples"]
    rows: list[Sequence[Any]] = [
        (
            name,
            f"{each['x_bits']:#x}",
            f"{each['x']:.9g}",
            f"{each['out_bits']:#x}",
            f"{each['other_bits']:#x}",
            "-" if each["ulp"] is None else each["ulp"],
            each["count"],
        )
        for name in _CLASSES
        for each in [e for e in examples if e["class"] == name][:SHOWN_EXAMPLES]
    ]
    return ("class", "from x", "value", "result", "other", "ULP", "inputs in a row"), rows


def _hex(fixed: Mapping[str, int]) -> dict[str, str]:
    return {name.removesuffix("_bits"): f"{bits:#x}" for name, bits in fixed.items()}


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
