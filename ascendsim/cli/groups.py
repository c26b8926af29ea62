"""Command-line options in groups: a command takes a few dataclasses instead of twenty arguments.

Each field of a group is one option or argument, declared with `Annotated[type, typer.Option(...)]`
and a default, or a group itself. `takes_groups` gives typer the flat list that it needs and hands
the command the filled groups. With `--json` nothing but the result reaches standard output.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

from ascendsim.cli.show import only_results


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with every dataclass argument replaced by the fields of that dataclass."""
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)

    def flat(**values: Any) -> None:
        with only_results() if values.get("json") else nullcontext():
            command(**{name: _filled(hint, name, values) for name, hint in hints.items()})

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        parameters += _parameters(name, hints[name], parameter.default)
    flat.__name__, flat.__doc__ = command.__name__, command.__doc__
    flat.__annotations__ = {p.name: p.annotation for p in parameters}
    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flat


def _filled(hint: Any, name: str, values: dict[str, Any]) -> Any:
    """Return the value of one argument: its own, or the group filled from its fields."""
    if not is_dataclass(hint):
        return values[name]
    kinds = get_type_hints(hint, include_extras=True)
    group: Any = hint
    return group(**{f.name: _filled(kinds[f.name], f.name, values) for f in fields(hint)})


def _parameters(name: str, hint: Any, default: Any) -> Iterator[inspect.Parameter]:
    if not is_dataclass(hint):
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind, default=default, annotation=hint)
        return
    kinds = get_type_hints(hint, include_extras=True)
    for field in fields(hint):
        given = inspect.Parameter.empty if field.default is MISSING else field.default
        yield from _parameters(field.name, kinds[field.name], given)
