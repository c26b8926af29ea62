"""The shares of public kernels that could run, counted on a table of five."""

from __future__ import annotations

from tests.coverage_share import TABLE, listed, main, shares


def test_shares():
    rows = [
        {"kind": "elementwise", "items": "Add Cast m:EnQue"},
        {"kind": "elementwise", "items": "Add Nonsense"},
        {"kind": "reduction", "items": "Nonsense t:Other"},
    ]
    found, stops = shares(rows, {"Add", "Cast", "m:EnQue"})
    assert found == {"elementwise": (1, 2), "reduction": (0, 1), "all": (1, 3)}
    assert stops == {"Nonsense": 2, "t:Other": 1}


def test_what_is_listed_and_printed(capsys):
    assert {"Axpy", "Sigmoid", "SetDeqScale", "m:EnQue", "t:TQue"} <= listed()
    main(TABLE)
    out = capsys.readouterr().out
    assert "of  618" in out
    assert "missing most: " in out
