"""`ascendsim explain`: the page of a concept, an error, an option, a rule, a chip's word.

Concepts are written in `pages/*.md`: each starts with `## Title | key, key ...`; a page is found
by its keys and by its title. Options and rules are generated from where they are defined.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.observe.checks import CODES, Code
from ascendsim.options import CHOICES, FILLS, IEEE, Options

_PAGES = Path(__file__).parent / "pages"
_NEAR = 3  # names that an unknown topic is answered with


@dataclass(frozen=True, slots=True)
class Page:
    """One explained thing."""

    name: str
    kind: str
    title: str
    text: str

    def document(self) -> dict[str, str]:
        """Return the page as JSON."""
        return {"name": self.name, "kind": self.kind, "title": self.title, "text": self.text}

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return f"# {self.title}\n\n{self.text}\n"


def topics() -> list[str]:
    """Return the first key of every written page, and the generated ones."""
    written = dict.fromkeys(page.name for page in _written().values())
    return [*written, "options"]


def topics_by_kind() -> dict[str, list[str]]:
    """Return the topics as `topics` does, concepts, errors and findings apart."""
    found: dict[str, list[str]] = {"concepts": [], "errors": [], "findings": []}
    for page in dict.fromkeys(_written().values()):
        found[f"{page.kind}s"].append(page.name)
    found["concepts"].append("options")
    return found


def find(topic: str) -> Page | None:
    """Return the page of `topic`, or None; a finding that shares its name comes first.

    Behind an option as it is spelled (with `_`) the finding comes second.
    """
    key = _key(topic)
    finding, other = _bare_finding(key), _other(key)
    if finding is None or other is None or finding is other:
        return finding or other
    option = topic.strip() in CHOICES | FILLS
    return _joined(other, finding) if option else _joined(finding, other)


def _joined(first: Page, second: Page) -> Page:
    return replace(first, text=f"{first.text}\n\n## {second.title}\n\n{second.text}")


def _bare_finding(key: str) -> Page | None:
    """Return the page of the finding whose code, without its checker, is `key`."""
    code = next((code for code in CODES if code.partition(":")[2] == key), "")
    return _written().get(code)


def _other(key: str) -> Page | None:
    if key in ("options", "option"):
        return Page("options", "options", "Options of the model", _options_text())
    if key.replace("-", "_") in CHOICES | FILLS:
        return _option(key.replace("-", "_"), _written().get(key))
    return _written().get(key) or _rule(key) or _finding(key)


def near(topic: str, more: list[str]) -> list[str]:
    """Return what `topic` may have been meant as: names like it, else pages that speak of it."""
    key = _key(topic)
    known = {_key(name): name for name in [*_written(), *CHOICES, *FILLS, "options", *more]}
    close = [known[each] for each in difflib.get_close_matches(key, known, _NEAR, 0.6)]
    parts = [name for each, name in known.items() if len(key) > 2 and (key in each)]
    if found := list(dict.fromkeys([*close, *parts]))[:_NEAR]:
        return found
    word = re.compile(rf"\b{re.escape(topic.strip())}", re.I)
    pages = dict.fromkeys(_written().values())
    spoken = [page.name for page in pages if topic.strip() and word.search(page.text)]
    return spoken[:_NEAR]


def unknown(topic: str, more: list[str]) -> RequestError:
    """Return the error for a topic without a page."""
    close = near(topic, more)
    hint = f"did you mean {' or '.join(close)}?" if close else "'ascendsim explain' lists them"
    return RequestError(f"nothing is written about {topic!r}; {hint}")


def _finding(key: str) -> Page | None:
    """Return the page of `checker:what`, or that of the checker."""
    return _written().get(key.partition(":")[0]) if ":" in key else None


def _rule(key: str) -> Page | None:
    from ascendsim.isa.rules import RULES
    from ascendsim.soc import NAMES, load

    rule = RULES.get(key)
    if rule is None:
        return None
    grades = "\n".join(f"* {name}: {rule.grade(load(name).arch)}" for name in NAMES)
    text = f"{_filled(rule.text)}\n\nSource: {rule.source}\n\nGrade:\n\n{grades}"
    return Page(rule.id, "rule", f"Rule {rule.id}", text)


def _option(name: str, concept: Page | None) -> Page:
    parts = [_filled(_option_texts().get(name, "")), _values(name)]
    if concept is not None:
        parts += [f"## {concept.title}", concept.text]
    return Page(name, "option", f"Option {name}", "\n\n".join(part for part in parts if part))


def _options_text() -> str:
    parts = [
        "Set one with `--option NAME=VALUE` (in Python: a field of `Options`). The first value is "
        "the default; `--profile ieee` sets those that say so differently."
    ]
    texts = _option_texts()
    for field in fields(Options):
        parts.append(f"* **{field.name}**: {texts.get(field.name, '')} {_values(field.name)}")
    return "\n\n".join(_filled(part, "  ") for part in parts)


def _values(name: str) -> str:
    values = CHOICES.get(name) or (*FILLS[name], "a byte like 0xa5")
    ieee = f" With profile ieee: {IEEE[name]}." if name in IEEE else ""
    return f"Values: {', '.join(values)}.{ieee}"


@cache
def _option_texts() -> dict[str, str]:
    """Return what the docstring of Options says about each option."""
    found: dict[str, str] = {}
    current: list[str] = []
    for line in (Options.__doc__ or "").splitlines():
        head = re.fullmatch(r"    ([a-z_]+(?:, [a-z_]+)*) : (.*)", line)
        if head:
            current = head[1].split(", ")
            found |= dict.fromkeys(current, head[2].strip())
        elif current and line.strip():
            found |= {name: f"{found[name]} {line.strip()}" for name in current}
    return found


@cache
def _written() -> dict[str, Page]:
    """Return every written page by each of its keys."""
    found: dict[str, Page] = {}
    for file in sorted(_PAGES.glob("*.md")):
        for block in re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
            head, _, text = block.partition("\n")
            title, _, keys = head.partition("|")
            names = [_key(key) for key in keys.split(",") if key.strip()]
            kind = "error" if file.stem == "errors" else "concept"
            text = text.strip()
            if names[0] in CODES:
                kind, text = "finding", f"{text}\n\n{_severity(CODES[names[0]])}"
            page = Page(names[0], kind, title.strip(), text)
            found |= dict.fromkeys([*names, _key(title)], page)
    return found


def _severity(code: Code) -> str:
    """Return how grave a finding is, and the way out; that of a finding may fit it more closely."""
    return f"Severity: {code.severity}. Way out: {code.way_out or code.otherwise}."


def _key(text: str) -> str:
    return re.sub(r"[\s_]+", "-", text.strip().lower())


def _filled(text: Any, indent: str = "") -> str:
    return textwrap.fill(str(text), 98, subsequent_indent=indent)
