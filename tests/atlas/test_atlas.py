"""Atlases: known answers, resuming, other computers, refusals, and the report."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.cli import execute
from ascendsim.errors import RequestError
from ascendsim.explore.atlas import Chip, _kernel, _other, atlas, survey
from ascendsim.explore.atlas.space import space_of
from ascendsim.explore.atlas.survey import Survey, measured
from ascendsim.explore.atlas.totals import FACTOR
from ascendsim.host import load

LITERAL = {"alpha": "0x3e2aaaaa"}  # 0.16666666f, one ULP below 1.0f / 6.0f
EXACT_LEAKS, LITERAL_LEAKS = 0x403FFFFF, 0xC0400000
AROUND = 1 << 16  # inputs on both sides of a boundary

#: a kernel that looks at the lane before: out[i] = x[i] + x[i - 1] inside a tile
SHIFTED = {
    "op_def.py": """
from ascendsim.host import OpDef
OP = OpDef("shifted", inputs=("x",), outputs=("out",), dtypes=("float32", "float16"))
""",
    "op_host.py": """
from ascendsim.host import CeilAlign, Tiling
def tiling(ctx, fixed={}):
    return Tiling(1, 0, {"n": ctx.n})
""",
    "op_kernel.py": """
from ascendsim.ascendc import *
def shifted(x, out, workspace, tiling):
    source, target = GlobalTensor(x.dtype), GlobalTensor(x.dtype)
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(out)
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, 64 * 1024)
    local = buf.Get(x.dtype)
    params = DataCopyParams(1, tiling.n * sizeof(x.dtype), 0, 0)
    DataCopyPad(local, source, params, DataCopyPadParams())
    per_block = 32 // sizeof(x.dtype)
    count = tiling.n // per_block * per_block - per_block
    Add(local, local, local[per_block:], count)
    DataCopyPad(target, local, params)
""",
}


def part(name, attrs, against, start, stop):
    """Return what a stretch of float32 inputs gives."""
    op = load(name)
    one = _kernel(op, Chip(), attrs)
    asked = Survey(space_of(op, "float32", {}), one, _other(op, one, Chip(), against, ()))
    try:
        return measured(asked, start, stop)
    finally:
        asked.close()


def boundaries(name, attrs, against):
    """Return the boundary inputs close to -3 and 3, and whether that is all that is kept."""
    found = []
    for centre in (0x40400000, 0xC0400000):
        each = part(name, attrs, against, centre - AROUND, centre + AROUND)
        found += [x for run in each.runs[0] for x in range(run.start, run.stop + 1)]
        assert each.counts[0] == len(each.runs[0])
    return found


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_known_answers_in_16_bits(dtype):
    exact = atlas("hard_sigmoid_grad", dtype, against="definition")
    assert (exact.mismatches, exact.to_json()["exact"]) == (0, 0)
    literal = atlas("hard_sigmoid_grad", dtype, attrs=LITERAL, against="definition").to_json()
    assert (literal["mismatches"], literal["classes"]["boundary"]) == (1, 1)
    (only,) = literal["examples"]
    assert only["x"] == -3
    assert only["other_bits"] == 0
    assert literal["parting"]["boundary"]["name"] == "Muls"
    both = atlas("hard_sigmoid_grad", dtype, against="alpha=0x3e2aaaaa").to_json()
    assert [each["x"] for each in both["examples"]] == [-3]


def test_known_answers_in_float32():
    name = "hard_sigmoid_grad"
    assert boundaries(name, {}, "alpha=0x3e2aaaaa") == [EXACT_LEAKS, LITERAL_LEAKS]
    assert boundaries(name, {}, "definition") == [EXACT_LEAKS]
    assert boundaries(name, LITERAL, "definition") == [LITERAL_LEAKS]


@pytest.mark.slow
def test_known_answers_over_all_float32():
    found = atlas("hard_sigmoid_grad", "float32", against="alpha=0x3e2aaaaa").to_json()
    at = [each["x_bits"] for each in found["examples"] if each["class"] == "boundary"]
    assert at == [EXACT_LEAKS, LITERAL_LEAKS]
    assert found["classes"] == {
        "boundary": 2,
        "rounding": 2 * EXACT_LEAKS + 1,
        "overflow": 0,
        "nan": 0,
        "flush": 0,
    }


def test_a_literal_stands_for_the_default_unless_it_is_named():
    """With alpha = 0x3e2aaaaa itself the interval reaches beyond 3."""
    found = boundaries("hard_sigmoid_grad", LITERAL, "definition:alpha=0x3e2aaaaa")
    assert found == [0x40400000]
    sixth = boundaries("hard_sigmoid_grad", LITERAL, "definition:alpha=1/6")
    assert sixth == [LITERAL_LEAKS]


def test_results_are_those_of_a_launch():
    op = asim.load("swish_grad")
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    grad = np.full_like(x, np.float16(-2))
    out = asim.launch(op, {"grad": grad, "x": x}, op.tiling(x.shape, "float16", sconf=2)).out
    bits = out.view(np.uint16).astype(np.uint64)
    bits[np.isnan(out)] = 0x7E00
    index = np.arange(1 << 16, dtype=np.uint64)
    wanted = int((bits * (index * np.uint64(2654435761) + np.uint64(1))).sum())
    found = atlas("swish_grad", "float16", attrs={"sconf": 2}, settings={"grad": "-2"}).to_json()
    assert found["checksum"] == f"{wanted % (1 << 64):016x}"
    assert (found["against"], found["mismatches"]) == (None, 0)


def test_neighbours_and_distances_of_an_example():
    found = atlas("swish_grad", "bfloat16", against="sconf=1.01").to_json()
    assert found["mismatches"] == sum(each["count"] for each in found["examples"])
    each = next(e for e in found["examples"] if e["count"] > 2 and e["before"] and e["after"])
    op = asim.load("swish_grad")
    dtype = op.definition.choose_dtypes("bfloat16")["x"]
    first, last = each["x_bits"], each["last_x_bits"]
    x = np.array([first - 1, first, last + 1], np.uint16).view(dtype.numpy)
    data = {"grad": np.ones_like(x), "x": x}
    for key, sconf in (("out_bits", 1), ("other_bits", 1.01)):
        out = asim.launch(op, data, op.tiling(x.shape, "bfloat16", sconf=sconf)).out
        shown = [each["before"][key], each[key], each["after"][key]]
        assert out.view(np.uint16).tolist() == shown
    assert each["ulp"] == abs(each["out_bits"] - each["other_bits"])


def test_a_stopped_survey_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("ascendsim.explore.atlas.space.CHUNK", 1 << 13)
    request = {"dtype": "float16", "against": "definition", "settings": {"grad": "0.3"}}
    whole = atlas("swish_grad", **request).to_json()
    state = tmp_path / "state.json"

    def stop(done, total):
        if done >= total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atlas("swish_grad", **request, resume=str(state), progress=stop)
    assert json.loads(state.read_text())["totals"]["stop"] == 1 << 15
    (plain := tmp_path / "plain").touch()
    assert state.stat().st_mode == plain.stat().st_mode
    again = atlas("swish_grad", **request, resume=str(state)).to_json()
    assert {**again, "seconds": 0} == {**whole, "seconds": 0}
    with pytest.raises(RequestError, match="state of another request"):
        atlas("swish_grad", "float16", resume=str(state))
    state.write_text("{}")
    with pytest.raises(RequestError, match="no state of an atlas"):
        atlas("swish_grad", "float16", resume=str(state))
    with pytest.raises(RequestError, match="no directory"):
        atlas("swish_grad", "float16", resume=str(tmp_path / "none" / "state.json"))


@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("ascendsim.explore.atlas.space.CHUNK", 1 << 12)
    monkeypatch.setattr(survey, "TASK_CHUNKS", 1)
    request = {"dtype": "float16", "against": "sconf=1.001"}
    here = atlas("swish_grad", **request).to_json()
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        there = atlas("swish_grad", **request, scheduler=cluster.scheduler_address).to_json()
    assert {**there, "seconds": 0} == {**here, "seconds": 0}


@pytest.fixture
def shifted(tmp_path):
    folder = tmp_path / "shifted"
    folder.mkdir()
    for name, text in SHIFTED.items():
        (folder / name).write_text(text)
    return str(folder)


def test_a_kernel_that_looks_at_neighbours_is_refused(shifted):
    with pytest.raises(RequestError, match=r"shifted is not elementwise: .* permuted or shifted"):
        atlas(shifted, "float16")


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"settings": {"x": "1"}}, "x takes every value; grad can be set"),
        ({"settings": {"weight": "1"}}, "no input 'weight' to set; it has grad beside x"),
        ({"settings": {"grad": "0x10000"}}, "raw bits of float16 have 16 bits"),
        ({"settings": {"grad": "much"}}, "a number, raw bits like 0x3c00, or all"),
        ({"dtype": "float32", "settings": {"grad": "all"}}, "grad = all needs 16-bit types"),
        ({"against": "gamma=1"}, "no attribute 'gamma'"),
        ({"against": "alpha="}, "NAME=VALUE"),
        ({"against": "nobody"}, "use ATTR=VALUE, OP"),
        ({"against": "definition:gamma=1"}, "no attribute 'gamma'"),
        ({"against": "definition:alpha=one"}, "write 1/6"),
        ({"scheduler": "udp://x"}, "scheduler 'udp://x' is unknown"),
    ],
)
def test_wrong_requests(request_, text):
    with pytest.raises(RequestError, match=re.escape(text).replace(r"\ ", " ")):
        atlas("hard_sigmoid_grad", **{"dtype": "float16", **request_})


def test_command_line(tmp_path, capsys):
    report = tmp_path / "report.html"
    words = ["atlas", "hard_sigmoid_grad", "--dtype", "float16", "--attr", "alpha=0x3e2aaaaa"]
    words += ["--against", "definition", "--report", str(report)]
    assert execute([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["classes"]) == ["boundary", "rounding", "overflow", "nan", "flush"]
    assert document["examples"][0].items() >= {"x_bits": 0xC200, "other_bits": 0}.items()
    assert execute(words) == 0
    shown = capsys.readouterr().out
    assert "takes the literal 0x3e2aaaaa" in shown
    page = report.read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(src|href)=|https?://", page)
    assert execute([*words[:4], "--report", str(report)]) == 2
    assert "--against" in capsys.readouterr().err


def test_every_pair_of_a_restricted_range():
    """A row of `--grad all` is the atlas of that grad, at another index."""
    op = load("hard_sigmoid_grad")
    one = _kernel(op, Chip(), {})
    space = space_of(op, "float16", {"grad": "all"})
    assert space.size == 1 << 32
    asked = Survey(space, one, _other(op, one, Chip(), "definition", ()))
    start = 0x3801 << 16
    found = measured(asked, start, start + space.row)
    results = int(asked.open()[0].bits(start, space.row).sum(dtype=np.uint64))
    asked.close()
    alone = atlas("hard_sigmoid_grad", "float16", settings={"grad": "0x3801"}).totals
    assert sum(found.counts) == 0
    assert (found.checksum - alone.checksum - FACTOR * start * results) % (1 << 64) == 0
