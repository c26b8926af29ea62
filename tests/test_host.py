"""Kernel folders that others write: loading, definitions, replaced tiling fields."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from ascendsim.errors import RequestError, ShapeError, TilingError
from ascendsim.host import OpDef, find_ops, load
from ascendsim.host.loader import PATH_VARIABLE

DEFINITION = """
from ascendsim.host import Attr, OpDef
OP = OpDef("scale", inputs=("x",), outputs=("out",), attrs=(Attr("factor", float, 2.0),
           Attr("mode", str, "plain"), Attr("steps", int, 3), Attr("fast", bool, False)),
           dtypes=("float32", "float16"), socs=("ascend910b1",))
"""
HOST = """
from ascendsim.host import Tiling, TilingError
from .common import HALF
def tiling(ctx, fixed={}):
    if ctx.n == 13:
        raise TilingError("13 elements bring bad luck")
    size = fixed.get("size", ctx.n // HALF)
    return Tiling(ctx.platform.GetCoreNum(), 7, {"size": size, "factor": ctx.attr("factor")},
                  positive=("size",))
"""
KERNEL = """
STEP = 1
def scale(x, out, workspace, tiling):
    return STEP
"""
FILES = {"op_def.py": DEFINITION, "op_host.py": HOST, "op_kernel.py": KERNEL}


def write(folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    named = {key.replace("__", "."): text for key, text in changes.items()}
    for file, text in (FILES | {"common.py": "HALF = 2"} | named).items():
        if text is not None:
            (folder / file).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "scale")


def test_finds_kernels_everywhere(folder, monkeypatch):
    assert {"hard_sigmoid_grad", "hard_swish_grad", "swish_grad"} <= find_ops().keys()
    assert "scale" not in find_ops()
    assert load("scale", kernels=(folder.parent,)).folder == folder
    assert load(folder) is load(str(folder))
    monkeypatch.setenv(PATH_VARIABLE, str(folder.parent))
    assert load("scale").name == "scale"
    assert load("kernels.swish_grad") is load("swish_grad")


def test_two_folders_do_not_clash(tmp_path, folder):
    other = write(tmp_path / "other" / "scale", op_kernel__py=KERNEL.replace("1", "2"))
    assert load(folder).kernel(None, None, None, None) == 1
    assert load(other).kernel(None, None, None, None) == 2


def test_an_edit_is_seen(folder):
    before = load(folder)
    assert before.kernel(*[None] * 4) == 1
    (folder / "op_kernel.py").write_text(KERNEL.replace("STEP = 1", "STEP = 55"))
    assert load(folder).kernel(*[None] * 4) == 55
    assert before.kernel(*[None] * 4) == 1


def test_nothing_is_written_into_the_folder(folder):
    before = sorted(folder.iterdir())
    load(folder).tiling((8,), "float32")
    assert sorted(folder.iterdir()) == before


def test_variant_replaces_constants_or_source(folder):
    op = load(folder)
    assert op.variant(constants={"STEP": 4}).kernel(*[None] * 4) == 4
    assert op.variant(source=KERNEL.replace("1", "9")).kernel(*[None] * 4) == 9
    assert op.kernel(*[None] * 4) == 1
    with pytest.raises(RequestError, match="no constant STOP"):
        op.variant(constants={"STOP": 4})


def _definition(old, new):
    return {"op_def__py": DEFINITION.replace(old, new)}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"op_def__py": None}, "no op_def.py"),
        ({"op_def__py": "OP = 3"}, "does not set OP"),
        ({"op_def__py": "OP = ("}, "syntax error"),
        ({"op_def__py": "\nimport no_such_module"}, "op_def.py:2: cannot be loaded"),
        ({"op_def__py": DEFINITION.replace("float16", "float17")}, "'float17' is unknown"),
        ({"op_kernel__py": None}, "no op_kernel.py"),
        ({"op_kernel__py": "x = 1"}, "no function scale"),
        ({"op_host__py": "x = 1"}, "no function tiling"),
        ({"op_host__py": "def tiling(ctx): return 3"}, "op_host.py:1: .*must return a Tiling"),
        (
            {"op_host__py": "from ascendsim.host import Tiling\ndef tiling(ctx): return Tiling(0)"},
            "op_host.py:2: .*block dim 0 is outside 1..65535; an empty tensor takes 1, and",
        ),
        (_definition('("x",)', '("x", "x")'), r"op_def.py:3: OpDef 'scale': the name 'x' is taken"),
        (_definition('("x",)', '"x"'), r"op_def.py:3: .*inputs='x': write a tuple"),
        (_definition('("out",)', '("x",)'), r"op_def.py:3: .*the name 'x' is taken twice"),
        (_definition('("out",)', '("workspace",)'), "the name 'workspace' is taken twice"),
        (_definition('"steps"', '"ub"'), "the name 'ub' is taken twice"),
        (_definition("float16", "float17"), "op_def.py:3: dtype 'float17' is unknown"),
        (_definition("910b1", "910z"), "op_def.py:3: .*SoC 'ascend910z' is unknown"),
        (_definition("socs", "infer=lambda ctx: 3, socs"), "op_def.py: infer gives 3"),
        (_definition("socs", "infer=lambda ctx: {'a': 3}, socs"), "op_def.py: infer gives"),
        ({"op_kernel__py": KERNEL + "\0"}, "op_kernel.py: .*null bytes"),
        ({"op_host__py": "def tiling(): return 3"}, r"op_host.py:1: write .*, not tiling\(\)"),
        (
            {"op_host__py": HOST.replace("CoreNum()", "CoreNum() / 1")},
            "op_host.py:4: .*48.0: an",
        ),
        ({"op_host__py": HOST.replace("positive", "workspace=16, positive")}, "write a tuple"),
        (
            {"op_kernel__py": KERNEL.replace("workspace, ", "")},
            r"op_kernel.py:3: the kernel is scale\(x, out, tiling\), but it is called as "
            r"scale\(x, out, workspace, tiling\)",
        ),
        ({"op_host__py": "def tiling(ctx): return 1 // 0"}, "op_host.py:1: fails: ZeroDivision"),
    ],
)
def test_broken_folders(tmp_path, changes, text):
    folder = write(tmp_path / "scale", **changes)

    def use():
        op = load(folder)
        op.tiling((8,), "float32")
        assert op.kernel

    with pytest.raises(RequestError, match=text):
        use()


def test_unknown_op_lists_the_known(tmp_path):
    with pytest.raises(RequestError, match=r"known ops: .*swish_grad"):
        load("no_such_op")
    with pytest.raises(RequestError, match="no such directory"):
        load("swish_grad", kernels=(str(tmp_path / "missing"),))


def test_optional_modules(folder):
    op = load(folder)
    assert (op.api, op.ref, op.demo, op.aclnn) == (None, None, None, None)
    assert load("swish_grad").ref.definition(Fraction(1), Fraction(0))[0] == Fraction(1, 2)


def test_tiling_carries_its_origin(folder):
    til = load(folder).tiling((2, 4), "float16", cores=5, ub=4096, factor="0x3f800000")
    assert (til.soc, til.ub, til.dtype.name) == ("ascend910b1", 4096, "float16")
    assert (til.shapes, til.output_shapes) == ({"x": (2, 4)}, {"out": (2, 4)})
    assert til.attrs == {"factor": 1.0, "mode": "plain", "steps": 3, "fast": False}
    want = {"status": "SUCCESS", "block_dim": 5, "tiling_key": 7, "workspace": [0]}
    assert til.to_json() == want | {"size": 4, "factor_bits": 0x3F800000}
    view = til.kernel_view()
    assert (view.size, view.factor, view.key) == (4, np.float32(1), 7)


def test_a_tiling_does_not_change_in_place(folder):
    til = load(folder).tiling((8,), "float32")
    for mapping in (til.fields, til.shapes, til.dtypes, til.attrs, til.output_shapes):
        with pytest.raises(TypeError, match="mappingproxy"):
            mapping["size"] = 0
    for copied in (copy.deepcopy(til), pickle.loads(pickle.dumps(til))):
        assert (copied.fields, copied.shapes, str(copied)) == (til.fields, til.shapes, str(til))


def test_scalar_tensor_counts_as_one(folder):
    assert load("hard_swish_grad").tiling((), "float32").fields["totalNum"] == 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"shape": (-1,)}, RequestError, "not below 0"),
        ({"shape": (2.5,)}, RequestError, "integers"),
        ({"shape": {"y": (1,)}}, RequestError, "no input 'y'"),
        ({"shape": {}}, RequestError, "needs a shape for x"),
        ({"dtype": "float8"}, RequestError, "unknown"),
        ({"dtype": "int32"}, ShapeError, "takes float32, float16"),
        ({"dtype": {"x": "float32", "out": "float16"}}, ShapeError, "out float16"),
        ({"dtype": {"z": "float32"}}, RequestError, "no tensor 'z'"),
        ({"soc": "ascend123"}, RequestError, "ascend950"),
        ({"cores": 0}, RequestError, "1..65535"),
        ({"ub": 0}, RequestError, "a UB of 1 to"),
        ({"angle": 1}, RequestError, "no attribute 'angle'; it has factor"),
        ({"factor": "two"}, RequestError, "decimal number"),
        ({"fast": "maybe"}, RequestError, "true or false"),
        ({"steps": "1.5"}, RequestError, "integer"),
        ({"fixed": {"length": 3}}, RequestError, "use one of size, factor_bits"),
        ({"fixed": {"size": -3}}, RequestError, "makes no sense"),
        ({"shape": (13,)}, TilingError, "bad luck"),
    ],
)
def test_refused_requests(folder, arguments, error, text):
    with pytest.raises(error, match=text):
        load(folder).tiling(**{"shape": (8,), "dtype": "float32"} | arguments)


def test_a_chip_without_bfloat16():
    op = load("hard_swish_grad")
    with pytest.raises(RequestError, match="ascend910 has no bfloat16"):
        op.tiling((8,), "bfloat16", soc="ascend910")
    assert op.tiling((8,), "float16", soc="ascend910").block_dim == 8
    assert "not registered for ascend910 " in op.soc_warning("ascend910")
    assert op.soc_warning("ascend910b") is None


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"size": "12"}, (12, 2.0)),
        ({"size": "0x10"}, (16, 2.0)),
        ({"factor_bits": "0x3e2aaaaa"}, (4, 0.16666665)),
        ({"factor_bits": "1073741824"}, (4, 2.0)),
        ({"factor": "0.5"}, (4, 0.5)),
        ({"factor": "0x40400000"}, (4, 3.0)),
    ],
)
def test_replace(folder, settings, fields):
    til = load(folder).tiling((8,), "float32").replace(settings, block_dim=3)
    assert til.block_dim == 3
    assert list(til.fields.values()) == [fields[0], np.float32(fields[1])]
    assert til.soc == "ascend910b1"


@pytest.mark.parametrize(
    ("settings", "block_dim", "text"),
    [
        ({"length": 3}, None, "use one of size, factor_bits"),
        ({"size_bits": 3}, None, "unknown"),
        ({"size": 0}, None, "use 1 or more"),
        ({"size": -64}, None, "makes no sense"),
        ({"size": "1.5"}, None, "integer"),
        ({"size": 1 << 63}, None, "makes no sense"),
        ({"factor_bits": 1 << 32}, None, "0xffffffff"),
        ({"factor_bits": "0.5"}, None, "integer"),
        ({}, 0, "1..65535"),
        ({}, 65536, "1..65535"),
    ],
)
def test_replace_refuses(folder, settings, block_dim, text):
    til = load(folder).tiling((8,), "float32")
    with pytest.raises(RequestError, match=text):
        til.replace(settings, block_dim)


def test_zeros_of_an_empty_tensor_may_be_written_back():
    til = load("hard_sigmoid_grad").tiling((0,), "float32")
    assert til.replace({"ubFactor": 0}).fields == til.fields


def test_columns_of_dtypes():
    rows = {"a": ("float32", "float16", "float16"), "b": ("int32", "int32", "int8")}
    definition = OpDef("pick", inputs=("a", "b"), outputs=("out",), dtypes=rows)
    chosen = definition.choose_dtypes({"a": "float16", "b": "int8"})
    assert {k: v.name for k, v in chosen.items()} == {
        "a": "float16",
        "b": "int8",
        "out": "float16",
    }
    assert definition.choose_dtypes("float16")["b"].name == "int32"
    assert definition.sweep_input == "b"
    with pytest.raises(ShapeError, match="a=float32 b=int32"):
        definition.choose_dtypes({"a": "float32", "b": "int8"})
