"""What the tests of HTML faces share: recorded runs, a strict reader of HTML."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np

import ascendsim as asim

VOID = {"br", "meta"}
KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")


@functools.cache
def recorded(name, dtype="float16", n=3000, ub=16384):
    """Return a run of a kernel on two cores with everything recorded."""
    op = asim.load(name)
    rng = np.random.default_rng(3)
    arrays = {k: (3 * rng.standard_normal(n)).astype(dtype) for k in ("grad", "x")}
    return asim.launch(op, arrays, op.tiling((n,), dtype, cores=2, ub=ub), record="bytes")


@dataclass
class Element:
    """A tag with its attributes and the text directly inside."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Reader(HTMLParser):
    """Reads HTML and fails where a tag is closed that is not the open one."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.elements.append(Element(tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1].text += data


def read(html: str) -> list[Element]:
    """Return the elements of well-formed HTML, in order."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open, f"never closed: {[each.tag for each in reader.open]}"
    return reader.elements


def of_class(html: str, name: str) -> list[Element]:
    """Return the elements of one class."""
    return [e for e in read(html) if name in (e.attributes.get("class") or "").split()]
