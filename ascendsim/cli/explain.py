"""`ascendsim explain`: a code, an operator, an instruction or a concept in a few lines."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show
from ascendsim.errors import RequestError

TOPIC = typer.Argument(metavar="[CODE|OP|CONCEPT]", show_default=False)


@takes_groups
def explain(
    show: Show,
    topic: Annotated[str | None, TOPIC] = None,
    kernels: Annotated[list[str] | None, KERNELS] = None,
) -> None:
    """Explain a concept, an error or warning code, an option, an instruction or an operator."""
    from ascendsim.view import explain as pages
    from ascendsim.view import text

    if topic is None:
        topics = pages.topics()
        show.result({"topics": topics}, lambda: text.words("explained", topics))
        return
    page = pages.find(topic) or _operator(topic, kernels) or _instruction(topic)
    if page is None:
        raise pages.unknown(topic, _other_names(kernels))
    show.result(page.document(), lambda: text.page(page.markdown()))


def _instruction(topic: str) -> Any:
    from ascendsim.view import isa_page

    try:
        return isa_page.find(topic)
    except RequestError:
        return None


def _operator(topic: str, kernels: list[str] | None) -> Any:
    from ascendsim.host import find_ops, load
    from ascendsim.view.op_page import OpPage

    is_operator = topic in find_ops(kernels or ()) or "/" in topic
    return OpPage(load(topic, kernels=tuple(kernels or ()))) if is_operator else None


def _other_names(kernels: list[str] | None) -> list[str]:
    from ascendsim.host import find_ops
    from ascendsim.view import isa_page

    return [*find_ops(kernels or ()), *isa_page.names()]
