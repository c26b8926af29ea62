"""What a first phase plans can be read: as text, as JSON, as a picture."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import ascendsim as asim
from ascendsim.errors import RequestError, UnsupportedError
from ascendsim.host import CoreMemType, PlatformAscendC, SocVersion, acl, aclnn
from ascendsim.host.aclnn import EQUAL, PROMOTED, Aclnn, Operator, Tensor
from ascendsim.soc import NAMES, load
from ascendsim.view.host_graph import graph_html, graph_svg
from tests.helpers import assert_same_bits
from tests.host.calls import T, first_phase, start
from tests.host.calls import Tensor as Made

MIXED = (
    T((4, 2), "float16", (3, 1), 2),
    T((4, 2), "float32"),
    T((4, 2), "bfloat16", (8, 3), 1),
)


def planned(soc, specs, name="HardsigmoidBackward"):
    start(soc)
    status, _, executor = first_phase(name, *(Made(each, 0).handle for each in specs))
    assert status == 0
    return executor


def test_text():
    lines = str(planned("ascend950", MIXED)).splitlines()
    assert lines[0] == "aclnnHardsigmoidBackward on ascend950, workspace 2048"
    assert lines[1] == "  input  gradOutput float16 4x2 strides [3, 1] offset 2"
    assert [line.split()[1] for line in lines[4:]] == [
        "Contiguous",
        "Cast",
        "HardSigmoidGrad",
        "Cast",
        "ViewCopy",
    ]
    assert "%2, self -> %3 float32 4x2 at workspace+1024 alpha=0.166666672 beta=0.5" in lines[6]


def test_what_is_assumed_is_said():
    executor = planned("ascend310p", (MIXED[0], T(), T()))
    assert "another kernel" in str(executor)
    assert "AI CPU" in str(executor)
    assert any("assumed" in each for each in executor.warnings)
    assert planned("ascend950", (T(), T(), T())).warnings == []


@pytest.mark.parametrize("specs", [MIXED, (T(), T(), T()), (T((0,)),) * 3])
def test_picture(specs):
    graph = planned("ascend950", specs).graph.to_json()
    assert json.loads(json.dumps(graph)) == graph
    root = ET.fromstring(graph_svg(graph))
    texts = "".join(root.itertext())
    for name in ("gradOutput", "self", "out", *(node["op"] for node in graph["nodes"])):
        assert name in texts
    edges = [each for each in root.iter() if each.get("class") == "edge"]
    used = sum(len(set(node["inputs"])) for node in graph["nodes"])
    assert len(edges) == used + bool(graph["nodes"])
    assert graph_svg(graph) in graph_html(graph)


def test_boxes_do_not_overlap():
    root = ET.fromstring(graph_svg(planned("ascend950", MIXED).graph.to_json()))
    corners = [(r.get("x"), r.get("y")) for r in root.iter() if r.get("class") == "box"]
    assert len(corners) == len(set(corners)) == 3 + 5


PRODUCTS = {  # the product tables; the rows of chips that are not simulated are left out
    "hard_sigmoid_grad": ["another kernel"] * 7 + ["this kernel"],
    "hard_swish_grad": ["no"] * 2 + ["this kernel"] * 5 + ["no"],
    "swish_grad": ["no"] * 2 + ["this kernel"] * 4 + ["no"] * 2,
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_product_table_and_declaration_agree(name):
    op = asim.load(name)
    assert op.definition.products == dict(zip(NAMES, PRODUCTS[name], strict=True))
    call = aclnn.declaration(op)
    assert set(call.dtypes) == {
        soc for soc, found in op.definition.products.items() if found != "no"
    }
    assert {f.tensor for f in call.operator.inputs} - {""} == set(op.definition.inputs)
    assert set(call.operator.attrs.values()) == {attr.name for attr in op.definition.attrs}
    assert list(call.formats) == list(op.definition.formats)


def test_definitions_as_published():
    operators = {n: aclnn.declaration(asim.load(n)).operator for n in PRODUCTS}
    names = {
        each.type: (*(f.name for f in each.inputs), "->", *(f.name for f in each.outputs))
        for each in operators.values()
    }
    assert names == {
        "HardSigmoidGrad": ("grads", "input_x", "->", "y"),
        "HardSwishGrad": ("grad", "x", "->", "y"),
        "SwishGrad": ("grad", "x", "y", "->", "grad_x"),
    }
    assert operators["swish_grad"].inputs[2].tensor == ""


def test_platform():
    said = {
        name: (
            PlatformAscendC(load(name)).GetSocVersion(),
            PlatformAscendC(load(name)).GetCurNpuArch(),
        )
        for name in NAMES
    }
    assert said == {
        "ascend910": (SocVersion.ASCEND910, 1001),
        "ascend310p": (SocVersion.ASCEND310P, 2002),
        "ascend910b1": (SocVersion.ASCEND910B, 2201),
        "ascend910b2": (SocVersion.ASCEND910B, 2201),
        "ascend910b3": (SocVersion.ASCEND910B, 2201),
        "ascend910b4": (SocVersion.ASCEND910B, 2201),
        "ascend910_93": (SocVersion.ASCEND910_93, 2201),
        "ascend950": (SocVersion.ASCEND950, 3510),
    }
    platform = PlatformAscendC(load("ascend910b1"))
    assert platform.GetCoreMemSize(CoreMemType.L1) == 524288
    assert platform.GetCoreMemSize(CoreMemType.L2) == 201326592
    assert platform.GetCoreNumAiv() == 2 * platform.GetCoreNumAic()
    assert platform.CalcTschBlockDim(48, 24, 48) == 24
    assert platform.CalcTschBlockDim(7, 0, 8) == 7
    with pytest.raises(UnsupportedError, match="known are L1, L2"):
        platform.GetCoreMemSize(CoreMemType.L0_A)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"relation": "close"}, "use EQUAL or PROMOTED"),
        ({"empty": ("grad",)}, "'grad' is no parameter"),
        ({"shapes": (("x", "z"),)}, "'z' is no parameter"),
        ({"params": (Tensor("x"),)}, "an input and an output"),
        ({"dtypes": {"ascend123": ("float32",)}}, "ascend123"),
        ({"dtypes": {"ascend950": ("float33",)}}, "float33"),
    ],
)
def test_wrong_declarations(change, text):
    given = {
        "params": (Tensor("x"), Tensor("y", output=True)),
        "dtypes": {"ascend950": ("float32",)},
        "relation": EQUAL,
        "graph": lambda g, x, y: None,
        "operator": Operator("Op", (), ()),
    }
    assert Aclnn("Op", **given | {"relation": PROMOTED}).second_phase == "aclnnOp"
    with pytest.raises(RequestError, match=text):
        Aclnn("Op", **given | change)


FOLDER = {
    "op_def.py": 'from ascendsim.host import OpDef\nOP = OpDef("twice", socs=("ascend950",))\n',
    "op_aclnn.py": "from ascendsim.host.aclnn import *\n",
}


def test_folders_that_declare_wrongly(tmp_path, monkeypatch):
    folder = tmp_path / "twice"
    folder.mkdir()
    for file, text in FOLDER.items():
        (folder / file).write_text(text)
    with pytest.raises(RequestError, match="does not set ACLNN"):
        aclnn.phases(asim.load(folder))
    monkeypatch.setenv("ASCENDSIM_KERNELS", str(tmp_path))
    assert callable(aclnn.aclnnSwishBackward)
    with pytest.raises(RequestError, match="does not set ACLNN"):
        aclnn.aclnnTwice  # noqa: B018
    (folder / "op_aclnn.py").unlink()
    with pytest.raises(RequestError, match=r"no op_aclnn.py"):
        aclnn.phases(asim.load(folder))


BLEND_CALL = """
from ascendsim.host.aclnn import EQUAL, Aclnn, Formal, Operator, Scalar, Tensor

def graph(g, x, y, weight, shift, out):
    made = g.Kernel(x=g.Contiguous(x), y=g.Contiguous(y), weight=weight, shift=shift)
    g.ViewCopy(made, out)

ACLNN = Aclnn(
    "Blend",
    params=(Tensor("x"), Tensor("y"), Tensor("weight"), Scalar("shift", "shift", 0.25),
            Tensor("out", output=True)),
    dtypes=dict.fromkeys(("ascend910b1", "ascend910_93", "ascend950"), ("float32", "float16")),
    relation=EQUAL,
    shapes=(("x", "y"), ("x", "out")),
    empty=("x",),
    graph=graph,
    operator=Operator("Blend", (Formal("x", "x"),), (Formal("y", "out"),)),
)
"""


def test_a_call_for_anybodys_kernel(tmp_path, monkeypatch):
    shutil.copytree(Path(__file__).parents[1] / "ports" / "blend", tmp_path / "blend")
    (tmp_path / "blend" / "op_aclnn.py").write_text(BLEND_CALL)
    monkeypatch.setenv("ASCENDSIM_KERNELS", str(tmp_path))
    stream = start("ascend910_93")
    views = (T((40, 3), strides=(1, 40)), T((40, 3)), T((1,)), T((40, 3), strides=(7, 2)))
    x, y, weight, out = (Made(spec, seed) for seed, spec in enumerate(views))
    shift = aclnn.aclCreateScalar(-2, acl.ACL_INT8)
    handles = (x.handle, y.handle, weight.handle, shift, out.handle)
    status, size, executor = aclnn.aclnnBlendGetWorkspaceSize(*handles)
    assert (status, size) == (0, 1024), acl.get_recent_err_msg()
    workspace, _ = acl.rt.malloc(size, 0)
    assert aclnn.aclnnBlend(workspace, size, executor, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    op = asim.load("blend")
    data = {n: t.view(t.before) for n, t in (("x", x), ("y", y), ("weight", weight))}
    shapes = {name: array.shape for name, array in data.items()}
    til = op.tiling(shapes, "float32", soc="ascend910_93", shift=-2)
    want = out.before.copy()
    out.view(want)[...] = asim.launch(op, data, til).out
    assert_same_bits(out.after(), want)
