"""The SoC files: complete, cited, of the right sizes, and readable as JSON."""

import json
import pickle

import pytest

from ascendsim.errors import RequestError
from ascendsim.soc import ALIASES, CONFIDENCES, NAMES, Soc, load
from ascendsim.soc import soc as loader

C220 = ["ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910_93"]
OLD = ["ascend910", "ascend310p"]
PAIRS_C220 = {
    "float32->float16": "NRFCAZO",
    "float32->bfloat16": "RFCAZ",
    "float32->float32": "RFCAZ",
    "float16->float32": "N",
    "bfloat16->float32": "N",
}
GOOD = {"value": 1, "source": "somewhere: path", "confidence": "low"}


@pytest.fixture(params=NAMES)
def soc(request: pytest.FixtureRequest) -> Soc:
    return load(request.param)


def test_every_value_has_source_and_confidence(soc: Soc) -> None:
    facts = soc.facts()
    assert len(facts) > 50
    for field, fact in facts.items():
        assert fact.keys() == {"value", "source", "confidence"}, field
        assert fact["source"].strip(), field
        assert "@" not in fact["source"], field
        assert fact["confidence"] in CONFIDENCES, field


def test_facts_survive_json(soc: Soc) -> None:
    facts = soc.facts()
    assert json.loads(json.dumps(facts)) == facts


def test_attribute_fact_and_get_agree(soc: Soc) -> None:
    for field in soc.all_facts:
        assert getattr(soc, field) == soc.fact(field).value == soc.get(field)
    assert soc.get("no_such_field", 7) == 7
    assert not hasattr(soc, "no_such_field")
    with pytest.raises(RequestError, match="no value for 'no_such_field'; it has name"):
        soc.fact("no_such_field")


def test_name_is_that_of_the_file(soc: Soc) -> None:
    assert load(soc.name) is soc
    assert load(soc.name.upper()) is soc
    assert pickle.loads(pickle.dumps(soc)) is soc


@pytest.mark.parametrize(
    ("name", "npu_arch", "ub", "tiling_ub", "aiv", "events", "overflow"),
    [
        ("ascend910", 1001, 262144, 262144, 32, 4, "saturate"),
        ("ascend310p", 2002, 262144, 262144, 8, 8, "saturate"),
        ("ascend910b1", 2201, 196608, 196352, 48, 8, "inf_nan"),
        ("ascend910b2", 2201, 196608, 196352, 48, 8, "inf_nan"),
        ("ascend910b3", 2201, 196608, 196352, 40, 8, "inf_nan"),
        ("ascend910b4", 2201, 196608, 196352, 40, 8, "inf_nan"),
        ("ascend910_93", 2201, 196608, 196608, 48, 8, "inf_nan"),
        ("ascend950", 3510, 253952, 253952, 64, 8, "inf_nan"),
    ],
)
def test_sizes(
    name: str, npu_arch: int, ub: int, tiling_ub: int, aiv: int, events: int, overflow: str
) -> None:
    soc = load(name)
    assert (soc.npu_arch, soc.ub_bytes, soc.tiling_ub_bytes) == (npu_arch, ub, tiling_ub)
    assert (soc.aiv_cores, soc.event_ids, soc.overflow_mode) == (aiv, events, overflow)
    assert (soc.max_blocks, soc.buffer_handles) == (65535, 64)
    assert soc.ub_physical_bytes == (262144 if npu_arch == 3510 else ub)
    assert soc.buffer_mutexes == (28 if npu_arch == 3510 else 0)
    assert soc.uses_mutexes is soc.hardware_orders_v is (npu_arch == 3510)
    assert soc.compare_tail == ("ceil" if npu_arch == 3510 else "floor")
    assert soc.ne_nan == (0 if npu_arch == 2201 else 1)
    assert soc.has_counter_mode is (npu_arch != 1001)
    assert soc.select_scratch_offset == {2201: 188416, 2002: 253952}.get(npu_arch, -1)


def test_aliases() -> None:
    assert load("Ascend910B") is load("ascend910b1")
    assert load("ascend950PR") is load("ascend950")
    assert set(ALIASES.values()) <= set(NAMES)


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(RequestError, match="'ascend1' is unknown; use one of ascend910, "):
        load("ascend1")


def test_inheritance_overrides_single_values() -> None:
    base, child = load("ascend910b1"), load("ascend910b4")
    assert child.fact("l2_bytes") == base.fact("l2_bytes")
    assert child.clock_mhz == 1500 != base.clock_mhz
    assert child.ops["Muls"] == base.ops["Muls"]
    assert load("ascend910_93").ops["Muls"].cost.confidence == "low"
    assert load("ascend910_93").ops["Sort32"].cost.confidence == "assumed"  # and stays so
    assert load("ascend910_93").ops["Muls"].cost.fixed == base.ops["Muls"].cost.fixed
    assert load("ascend910").ops["Select"].dtypes == load("ascend310p").ops["Select"].dtypes


def test_which_instruction_exists_where() -> None:
    for name in OLD:
        assert "DataCopyPad" not in load(name).ops
        assert all("bfloat16" not in row.dtypes for row in load(name).ops.values())
        pairs = load(name).ops["Cast"].pairs
        assert (pairs["float32->float16"], pairs["int16->float16"]) == ("NO", "N")
    assert not {"Compares", "CompareScalar", "Maxs", "Mins"} & load("ascend910").ops.keys()
    assert load("ascend910").ops["Select"].modes == (0,)
    for name in set(NAMES) - {"ascend910"}:
        assert load(name).ops["Select"].modes == (0, 1, 2)
        assert load(name).ops["Compares"].dtypes == load(name).ops["CompareScalar"].dtypes
    for name in C220:
        assert load(name).ops["Cast"].pairs.items() >= PAIRS_C220.items()
        assert load(name).ops["Add"].dtypes == ("float32", "float16", "int16", "int32")
        assert load(name).ops["Compare"].only == {"int32": (2,)}
    ops = load("ascend950").ops
    assert set(ops["Add"].dtypes) == {*ops["Select"].dtypes, "int8", "uint8"}
    assert ops["Add"].count_only == ("int8", "uint8")
    assert ops["Exp"].dtypes == ops["Abs"].dtypes == ("float32", "float16")
    assert ops["Cast"].pairs.items() >= PAIRS_C220.items()
    assert ops["Cast"].pairs["bfloat16->float16"] == "RFCAZ"
    assert ops["Cast"].pairs["int16->float16"] == "RFCAZ"
    # the table of the manual: its pairs without int4, fp4, fp8, hifloat8, double and complex
    counts = {"ascend950": 39, "ascend910b1": 23, "ascend310p": 14, "ascend910": 11}
    assert {name: len(load(name).ops["Cast"].pairs) for name in counts} == counts


def test_costs() -> None:
    cost = load("ascend910b1").ops["Ln"].cost
    assert (cost.fixed, cost.rate("float32"), cost.rate("float16")) == (33, 2, 4)
    assert load("ascend950").ops["Add"].cost.rate("bfloat16") == 2.0
    assert all(load(name).ops["Add"].cost is None for name in OLD)
    assert load("ascend910b1").facts()["ops.Muls.fixed"]["value"] == 26
    assert "ops.Muls.fixed" not in load("ascend910").facts()


def _break_fact(field: str, raw: object) -> None:
    facts, ops = loader._merged("ascend950")
    loader.build("broken.toml", facts | {field: raw}, ops)


def _break_row(**change: object) -> None:
    facts, ops = loader._merged("ascend910b1")
    row = {k: v for k, v in (ops["Ln"] | change).items() if v is not None}
    loader.build("broken.toml", facts, ops | {"Ln": row})


def test_missing_required_field() -> None:
    facts, ops = loader._merged("ascend950")
    del facts["ub_bytes"]
    with pytest.raises(ValueError, match=r"broken\.toml: required field 'ub_bytes'"):
        loader.build("broken.toml", facts, ops)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (GOOD | {"confidence": "sure"}, "ub_bytes has confidence 'sure'"),
        (GOOD | {"source": " "}, "ub_bytes has no source"),
        (GOOD | {"source": "@nowhere"}, "ub_bytes cites unknown sources"),
        (GOOD | {"value": "1"}, "ub_bytes = '1' is not of type int"),
        (GOOD | {"value": True}, "ub_bytes = True is not of type int"),
        ({"value": 1}, "ub_bytes needs exactly value, source and confidence"),
        (1, "ub_bytes needs exactly value, source and confidence"),
    ],
)
def test_broken_fact(raw: object, text: str) -> None:
    with pytest.raises(ValueError, match=f"broken.toml: {text}"):
        _break_fact("ub_bytes", raw)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"dtypes": ["float"]}, "dtypes has unknown dtypes"),
        ({"dtypes": None}, "dtypes is missing"),
        ({"pairs": {"float32->int4": "N"}}, "pairs has unknown dtypes"),
        ({"pairs": {"float32->float16": "X"}}, "pairs 'float32->float16' has unknown modes"),
        ({"fixed": None}, r"has a cost without \['fixed'\]"),
        ({"per_repeat": {"float32": 1}}, r"per_repeat lacks \['float16'\]"),
        ({"cost_confidence": "sure"}, "cost_confidence has confidence 'sure'"),
        ({"support_source": ""}, "support_source has no source"),
        ({"speed": 1}, r"has unknown keys \['speed'\]"),
    ],
)
def test_broken_row(change: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=rf"broken\.toml: ops\.Ln.*{text}"):
        _break_row(**change)
