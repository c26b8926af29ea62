"""`ascendsim explain`: codes, operators, instructions or concepts in a few lines each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show
from ascendsim.errors import RequestError

_MORE = (
    "'ascendsim explain TOPIC' shows a page; options, rules, instructions and operators have one "
    "too.\nOther spellings and plurals find it, and an unknown word gets the nearest names.\n"
)
TOPICS = typer.Argument(metavar="[CODE|OP|CONCEPT]...", show_default=False)


@takes_groups
def explain(
    show: Show,
    topics: Annotated[list[str] | None, TOPICS] = None,
    kernels: Annotated[list[str] | None, KERNELS] = None,
) -> None:
    """Explain concepts, error or warning codes, options, instructions or operators."""
    from ascendsim.view import explain as written
    from ascendsim.view import text

    if not topics:
        kinds = written.topics_by_kind()
        listed = {"topics": written.topics()}
        show.result(
            listed, lambda: text.joined(*(text.words(kind, kinds[kind]) for kind in kinds), _MORE)
        )
        return
    pages = [_page(topic, kernels) for topic in topics]
    documents = [page.document() for page in pages]
    show.result(
        documents if len(pages) > 1 else documents[0],
        lambda: text.page("\n".join(page.markdown() for page in pages)),
    )


def _page(topic: str, kernels: list[str] | None) -> Any:
    from ascendsim.view import explain as written

    page = written.find(topic) or _operator(topic, kernels) or _instruction(topic)
    if page is None:
        raise written.unknown(topic, _other_names(kernels))
    return page


def _instruction(topic: str) -> Any:
    from ascendsim.view import isa_page

    try:
        return isa_page.find(topic)
    except RequestError:
        return None


def _operator(topic: str, kernels: list[str] | None) -> Any:
    from ascendsim.host import find_ops, load
    from ascendsim.host.loader import DEFINITION
    from ascendsim.view.op_page import OpPage

    is_folder = (Path(topic) / DEFINITION).is_file() or "/" in topic
    is_operator = is_folder or topic in find_ops(kernels or ())
    return OpPage(load(topic, kernels=tuple(kernels or ()))) if is_operator else None


def _other_names(kernels: list[str] | None) -> list[str]:
    from ascendsim.host import find_ops
    from ascendsim.view import isa_page

    return [*find_ops(kernels or ()), *isa_page.names()]
