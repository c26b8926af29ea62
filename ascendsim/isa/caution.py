"""Warnings of instructions whose bits on silicon nobody has published."""

from __future__ import annotations

from typing import Any

from ascendsim.errors import UnsupportedError


def table_based(name: str, core: Any) -> None:
    """Warn, or refuse (option vector_recip), where the hardware takes its result from a table.

    Raises
    ------
    UnsupportedError
        Under vector_recip=unsupported on 910B and older.
    """
    soc = core.soc
    if soc.arch == "3510":
        return
    if core.options.vector_recip == "unsupported":
        raise UnsupportedError(
            f"the table that {soc.name} uses is not published and vector_recip=unsupported; use "
            f"Div and Sqrt"
        )
    core.warn(
        "vector-recip",
        f"{name} on {soc.name} is correctly rounded here; the chip takes about 8 bits from a table "
        f"that is not published. Use Div and Sqrt where the last bits matter",
    )


def library_function(name: str, core: Any) -> None:
    """Warn that a function of the library is a correctly rounded model."""
    core.warn(
        f"model-{name.lower()}",
        f"{name} is a function of the library; here its result is correctly rounded, on the chip "
        f"the library's algorithm sets the last bits",
    )
