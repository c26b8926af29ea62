"""The graph of a two-phase call as a picture: tensors and operators, from the inputs to the output.

Takes what `aclOpExecutor.graph.to_json()` gives. A column is a step; boxes of tensors are pale,
those of operators coloured by the engine that runs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

BOX, HEIGHT, GAP_X, GAP_Y, TOP, LEFT = 190, 62, 46, 22, 46, 14
COLOURS = {"AIV": "#a65f12", "AI CPU": "#6b7480", "tensor": "#2f6fb5"}
STYLE = """
text{font:11px system-ui,sans-serif;fill:#1c2128}
.h{font-weight:600;font-size:13px}
.o{font-weight:600}
.s{fill:#59636e;font-size:10px}
.bg{fill:#fff}
.box{fill:#eef1f4;stroke-width:1.6}
.edge{stroke:#59636e;stroke-width:1.2;fill:none}
.head{fill:#59636e}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.s{fill:#9aa5b1}.bg{fill:#0f141a}.box{fill:#1b222b}
.edge{stroke:#9aa5b1}.head{fill:#9aa5b1}
}
"""


@dataclass(frozen=True, slots=True)
class Box:
    """One box: where it stands, what it says, and the names of the values that lead to it."""

    key: str
    column: int
    row: int
    lines: tuple[str, ...]
    colour: str
    sources: tuple[str, ...]

    @property
    def x(self) -> int:
        """Left side."""
        return LEFT + self.column * (BOX + GAP_X)

    @property
    def y(self) -> int:
        """Upper side."""
        return TOP + self.row * (HEIGHT + GAP_Y)


def graph_svg(graph: dict[str, Any]) -> str:
    """Return the picture as one SVG document."""
    boxes = _boxes(graph)
    width = max(box.x for box in boxes) + BOX + LEFT
    height = max(box.y for box in boxes) + HEIGHT + LEFT
    title = f"{graph['call']} on {graph['soc']}, workspace {graph['workspace']} bytes"
    makers = {box.key: box for box in boxes}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="bg" width="{width}" height="{height}"/>',
        f'<text class="h" x="{LEFT}" y="24">{escape(title)}</text>',
        *(_edge(makers[source], box) for box in boxes for source in box.sources),
        *(_drawn(box) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def graph_html(graph: dict[str, Any]) -> str:
    """Return a page with the picture."""
    title = escape(f"{graph['call']} on {graph['soc']}")
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    return f"{head}<body>{graph_svg(graph)}</body></html>\n"


def _boxes(graph: dict[str, Any]) -> list[Box]:
    """Return boxes of inputs, nodes and outputs; a node is found by the value that it makes."""
    values = {value["name"]: value for value in graph["values"]}
    inputs = [value for value in graph["values"] if value["role"] == "input"]
    columns = {value["name"]: 0 for value in inputs}
    boxes = [
        Box(value["name"], 0, row, _tensor(value), COLOURS["tensor"], ())
        for row, value in enumerate(inputs)
    ]
    taken: dict[int, int] = {}

    def add(key: str, sources: tuple[str, ...], lines: tuple[str, ...], colour: str) -> None:
        column = 1 + max((columns[source] for source in sources), default=0)
        rows = [box.row for box in boxes if box.key in sources]
        row = max(taken.get(column, -1) + 1, min(rows, default=0))
        taken[column], columns[key] = row, column
        boxes.append(Box(key, column, row, lines, colour, sources))

    for node in graph["nodes"]:
        made = values[node["output"]]
        what = "x".join(map(str, made["shape"])) or "scalar"
        lines = (node["op"], f"{made['dtype']} {what}", f"{node['engine']} {node['chip']}")
        key = f"node of {node['output']}" if made["role"] == "output" else node["output"]
        add(key, tuple(dict.fromkeys(node["inputs"])), lines, COLOURS[node["engine"]])
    for value in graph["values"]:
        if value["role"] == "output":
            maker = f"node of {value['name']}"
            made_here = any(box.key == maker for box in boxes)
            sources = (maker,) if made_here else ()
            add(value["name"], sources, _tensor(value), COLOURS["tensor"])
    return boxes


def _tensor(value: dict[str, Any]) -> tuple[str, ...]:
    shape = "x".join(map(str, value["shape"])) or "scalar"
    dense = value["contiguous"] and not value["offset"]
    place = "contiguous" if dense else f"strides {value['strides']}, offset {value['offset']}"
    return value["name"], f"{value['dtype']} {shape}", place


def _drawn(box: Box) -> str:
    texts = "".join(
        f'<text class="{"o" if at == 0 else "s"}" x="{box.x + 9}" y="{box.y + 19 + 17 * at}">'
        f"{escape(line)}</text>"
        for at, line in enumerate(box.lines)
    )
    return (
        f'<rect class="box" x="{box.x}" y="{box.y}" width="{BOX}" height="{HEIGHT}" rx="5" '
        f'stroke="{box.colour}"/>{texts}'
    )


def _edge(source: Box, target: Box) -> str:
    x, y = source.x + BOX, source.y + HEIGHT // 2
    to_x, to_y = target.x - 5, target.y + HEIGHT // 2
    turn = target.x - GAP_X  # along its own row up to there, so that it passes no box on the way
    middle = (turn + to_x) // 2
    return (
        f'<path class="edge" d="M{x} {y}H{turn}C{middle} {y} {middle} {to_y} {to_x} {to_y}"/>'
        f'<path class="head" d="M{to_x + 5} {to_y}l-7 -4v8z"/>'
    )
