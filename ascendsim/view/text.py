"""Readable text: tables and pages as strings, coloured only when standard output is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

_WIDE = 160  # columns when nobody's terminal decides


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; numbers are right-aligned, an empty table is only its title."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    body = [[_cell(value) for value in row] for row in rows]
    if not body:
        return f"{title}: none\n"
    lines = box.SQUARE if "utf" in (sys.stdout.encoding or "").lower() else box.ASCII
    made = Table(box=lines)
    for index, column in enumerate(columns):
        number = all(_is_number(row[index]) for row in body)
        made.add_column(escape(column), justify="right" if number else "left", overflow="fold")
    for row in body:
        made.add_row(*(escape(value) for value in row))
    return f"{title}\n{rendered(made)}"


def facts(title: str, values: Mapping[str, Any]) -> str:
    """Return name and value pairs, one a line under `title`."""
    width = max((len(name) for name in values), default=0)
    lines = [f"  {name:<{width}}  {_cell(value)}".rstrip() for name, value in values.items()]
    return "\n".join([title, *lines]) + "\n"


def words(title: str, names: Iterable[str]) -> str:
    """Return names, wrapped, under a title with their number."""
    listed = list(names)
    wrapped = textwrap.fill(", ".join(listed), 98, initial_indent="  ", subsequent_indent="  ")
    return f"{title} ({len(listed)})\n{wrapped}\n"


def page(markdown: str) -> str:
    """Return a page: rendered for a terminal, else the Markdown itself, which reads well."""
    if not sys.stdout.isatty():
        return markdown
    from rich.markdown import Markdown

    return rendered(Markdown(markdown))


def rendered(content: Any) -> str:
    """Return what rich makes of `content`, with control characters only for a terminal."""
    from rich.console import Console

    on_terminal = sys.stdout.isatty()
    styled = on_terminal and not os.environ.get("NO_COLOR")
    target = StringIO()
    console = Console(
        file=target,
        force_terminal=styled,
        width=shutil.get_terminal_size().columns if on_terminal else _columns(),
        color_system="auto" if styled else None,
        highlight=False,
    )
    console.print(content)
    return "".join(line.rstrip() + "\n" for line in target.getvalue().splitlines())


def joined(*parts: str | Callable[[], str]) -> str:
    """Return the parts with an empty line between them; empty parts vanish."""
    texts = [part if isinstance(part, str) else part() for part in parts]
    return "\n".join(text.rstrip("\n") + "\n" for text in texts if text.strip())


def _columns() -> int:
    try:
        return max(40, int(os.environ["COLUMNS"]))
    except (KeyError, ValueError):
        return _WIDE


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(item) for item in value)
    return str(value)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return text == "-"
    return True
