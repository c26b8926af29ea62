"""`ascendsim tiling`: what the host computes for a shape, or for a file of many cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Chip, Kernel, Request
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, warn
from ascendsim.errors import AscendError, RequestError, TilingError

# Another name under which a case may give an attribute: "<alias>_bits".
ALIASES = {"scale": "sconf"}

CASES = typer.Option(
    "--cases",
    metavar="FILE",
    help="JSON list of objects with shape, dtype, ub, cores and NAME_bits of attributes; "
    "prints the list of results.",
)


@takes_groups
def tiling(request: Request, show: Show, cases: Annotated[str | None, CASES] = None) -> None:
    """Show the tiling of OP: blocks, key and fields, as the operator's host code computes them."""
    op = request.kernel.load()
    if cases is not None:
        given = read_cases(cases)
        results = [one_case(op, case, request.kernel, request.chip) for case in given]
        show.result(results, lambda: _case_table(results))
        return
    shape = request.size.asked()
    if shape is None:
        raise RequestError("give the shape: --n 21, --shape 7,3, or --cases FILE")
    made = request.tiled(op, shape)
    what_if = op.soc_warning(made.soc)
    if what_if:
        warn(f"what-if: {what_if}")
    show.result(made.to_json(), lambda: readable(op, made))


def one_case(op: Any, case: Mapping[str, Any], kernel: Kernel, chip: Chip) -> dict[str, Any]:
    """Return the result of one case; whatever refuses it is `FAILED` with the reason."""
    given = chip.checked()
    names = kernel.dtypes(op.definition)
    if "dtype" in case:
        names[op.definition.inputs[0]] = case["dtype"]
    given |= {name: case[name] for name in ("cores", "ub") if case.get(name) is not None}
    attrs: dict[str, Any] = kernel.attrs(op.definition) | case_attrs(op.definition, case)
    try:
        shape = case.get("shape", case.get("n"))
        if shape is None:
            raise RequestError("the case has no shape")
        shape = tuple(shape) if isinstance(shape, list) else shape
        return op.tiling(shape, names, **given, **attrs).to_json()
    except TilingError as error:
        return {"status": "FAILED", "reason": error.reason}
    except (AscendError, TypeError, ValueError) as error:
        return {"status": "FAILED", "reason": str(error) or type(error).__name__}


def case_attrs(definition: Any, case: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes that a case gives as `<name>_bits`; other keys are skipped."""
    names = {attr.name: attr.name for attr in definition.attrs}
    names |= {alias: name for alias, name in ALIASES.items() if name in names}
    found = {}
    for attr_alias, name in names.items():
        bits = case.get(f"{attr_alias}_bits")
        if bits is not None:
            found[name] = f"{bits:#x}" if isinstance(bits, int) else str(bits)
    return found


def read_cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of the file `name`.

    Raises
    ------
    RequestError
        When it cannot be read or holds no JSON list of objects.
    """
    try:
        with open(name, encoding="utf-8") as file:
            cases = json.load(file)
    except OSError as error:
        raise RequestError(f"--cases {name}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RequestError(f"--cases {name}: is not JSON: {error}") from error
    except RecursionError:
        raise RequestError(f"--cases {name}: is nested too deeply for a list of cases") from None
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise RequestError(f"--cases {name}: must hold a JSON list of objects")
    return cases


def readable(op: Any, made: Any) -> str:
    """Return a tiling as text."""
    from ascendsim.view import text

    inputs = ", ".join(f"{name} {made.dtypes[name]} {made.shapes[name]}" for name in made.shapes)
    values = {key: value for key, value in made.to_json().items() if key != "status"}
    return text.facts(f"tiling of {op.name} on {made.soc}: {inputs}", values)


def _case_table(results: list[dict[str, Any]]) -> str:
    from ascendsim.view import text

    failed = [result for result in results if result["status"] == "FAILED"]
    names = list(dict.fromkeys(key for result in results for key in result))
    rows = [[index, *(result.get(key) for key in names)] for index, result in enumerate(results)]
    return text.joined(
        text.table("tilings", ["case", *names], rows),
        f"{len(results) - len(failed)} succeeded, {len(failed)} failed",
    )
