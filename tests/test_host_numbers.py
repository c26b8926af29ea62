"""Attributes and tiling fields: from what people write to fp32 and integers."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.errors import RequestError
from ascendsim.host import Attr, Tiling, load, parse_attr
from ascendsim.host.numbers import round_float32


def test_parse_attr():
    definition = load("hard_sigmoid_grad").definition
    assert definition.attr_values({})["alpha"].view(np.uint32) == 0x3E2AAAAB
    assert parse_attr(definition, "alpha=0x3e2aaaaa")[1].view(np.uint32) == 0x3E2AAAAA
    assert parse_attr(definition, "alpha=0.16666666")[1].view(np.uint32) == 0x3E2AAAAA
    with pytest.raises(RequestError, match="NAME=VALUE"):
        parse_attr(definition, "alpha")


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("0.1", 0x3DCCCCCD),
        ("-0", 0x80000000),
        ("1e-60", 0),
        ("1e999999999", 0x7F800000),
        ("-inf", 0xFF800000),
        ("nan", 0x7FC00000),
        ("340282356779733661637539395458142568447", 0x7F7FFFFF),  # just below the half-way point
        ("340282356779733661637539395458142568448", 0x7F800000),
        ("1.00000005960464477539", 0x3F800000),  # fp64 makes a tie of these two
        ("1.000000059604644775390625000000000001", 0x3F800001),
        ("1.000000178813934326171874999999999999", 0x3F800001),
    ],
)
def test_decimal_text_is_rounded_once(text, bits):
    assert int(round_float32(text).view(np.uint32)) == bits


def test_attr_json_shows_bits():
    row = Attr("alpha", float, 1 / 6).to_json()
    assert row["bits"] == "0x3e2aaaab"


def test_fields_are_integers_or_fp32():
    til = Tiling(1, fields={"a": np.int64(3), "b": 0.5, "c": True})
    assert til.printed() == {"a": 3, "b_bits": 0x3F000000, "c": 1}
    with pytest.raises(TypeError, match="tiling field a"):
        Tiling(1, fields={"a": "3"})
