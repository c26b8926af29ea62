"""The Chrome trace, read back by plain JSON and by its raw text, against the timeline."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.view import chrome_trace
from ascendsim.view.chrome_trace import THREADS, save_trace, write_trace
from ascendsim.view.lanes import block_starts, representatives
from tests.timing.conftest import timed

LANES = ["SCALAR", "MTE2", "VECTOR", "MTE3"]


def traced(timeline: Any, blocks: Any = None) -> tuple[str, list[dict[str, Any]]]:
    file = io.StringIO()
    write_trace(timeline, file, blocks)
    return file.getvalue(), json.loads(file.getvalue())["traceEvents"]


def lanes(events: list[dict[str, Any]]) -> dict[Any, list[tuple[int, int, dict[str, Any]]]]:
    """Return (start, stop, event) in whole nanoseconds by process and thread, in order."""
    found = defaultdict(list)
    for event in (e for e in events if e["ph"] == "X"):
        start, length = (event[key] * 1000 for key in ("ts", "dur"))
        assert start == pytest.approx(round(start), abs=1e-6)
        assert length == pytest.approx(round(length), abs=1e-6)
        span = round(start), round(start) + round(length)
        found[event["pid"], event["tid"]].append((*span, event))
    for spans in found.values():
        spans.sort(key=lambda span: span[:2])
    return found


def test_head_of_the_file(timeline):
    text, events = traced(timeline)
    head = text[: text.index("[")]
    assert '"profilingType": "op"' in head
    document = json.loads(text)
    assert list(document) == ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"]
    assert document["displayTimeUnit"] == "ns"
    assert document["schemaVersion"] == 1
    assert {event["ph"] for event in events} == {"M", "X", "s", "t"}


def test_every_instruction_is_a_slice(timeline):
    _, events = traced(timeline, [0])
    names = defaultdict(list)
    for event in (e for e in events if e["ph"] == "X" and e["name"] != "latency"):
        names[event["tid"]].append(event["name"])
    want = defaultdict(list)
    for part in timeline.slices(0):
        want[THREADS[part.pipe]].append(part.instr.call.name)
    assert names == want
    assert len(want["VECTOR"]) > 10


def test_slices_carry_their_line_and_operands(timeline):
    _, events = traced(timeline, [0])
    copy = next(e for e in events if e["ph"] == "X" and e["tid"] == "MTE2")
    file, _, line = copy["args"]["code"].rpartition(":")
    assert "DataCopy" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "dst=" in copy["args"]["detail"]
    assert " UB[0x" in copy["args"]["detail"]
    assert copy["args"]["bytes"] > 0
    assert copy["args"]["cycles"] > 0
    assert {e["cname"] for e in events if e["ph"] == "X" and e["tid"] == "VECTOR"} == {"rail_idle"}


def test_slices_of_a_lane_do_not_overlap(timeline):
    _, events = traced(timeline, sorted(block_starts(timeline)))
    for spans in lanes(events).values():
        for (_, stop, _), (start, _, _) in pairwise(spans):
            assert stop <= start


def test_lanes_add_up_to_the_busy_cycles(timeline):
    launch = timeline.launch
    block = launch.blocks[launch.slowest].stream.blocks[0]
    _, events = traced(timeline, [block])
    for pipe in ("MTE2", "V", "MTE3"):
        slices = [e for e in events if e["ph"] == "X" and e["tid"] == THREADS[pipe]]
        cycles = sum(e["args"]["cycles"] for e in slices)
        assert cycles * launch.rounds == pytest.approx(timeline.pipes[pipe]["busy_cycles"])


def test_arrows_have_two_ends_on_slices(timeline):
    _, events = traced(timeline)
    slices = lanes(events)
    ends = defaultdict(list)
    for event in (e for e in events if e["ph"] in "st"):
        ends[event["cat"], event["name"], event["id"]].append(event)
    assert len(ends) > 5
    for (cat, name, _), pair in ends.items():
        source, target = pair
        assert (source["ph"], target["ph"], name) == ("s", "t", "flow")
        assert cat == f"{source['tid']}To{target['tid']}"
        assert source["ts"] <= target["ts"]
        for event in pair:
            moment = round(event["ts"] * 1000)
            spans = slices[event["pid"], event["tid"]]
            assert any(start <= moment < stop for start, stop, _ in spans)
    kinds = {cat for cat, _, _ in ends}
    assert {"MTE2ToVECTOR", "VECTORToMTE3"} <= kinds


def test_names_and_order_of_lanes(timeline):
    _, events = traced(timeline)
    meta = [e for e in events if e["ph"] == "M"]
    for process in {e["pid"] for e in events}:
        own = [e for e in meta if e["pid"] == process]
        assert process == f"core{process[4:-9]}.veccore0"
        order = {e["tid"]: e["args"]["sort_index"] for e in own if e["name"] == "thread_sort_index"}
        assert sorted(order, key=order.__getitem__) == LANES
        assert [e["args"]["name"] for e in own if e["name"] == "process_name"] == [process]


def test_one_block_of_each_kind_or_those_asked_for():
    timeline = timed("double")
    assert len(timeline.launch.blocks) > len(representatives(timeline)) == 2
    _, events = traced(timeline)
    blocks = {e["args"]["block"] for e in events if e["ph"] == "X"}
    assert blocks == set(representatives(timeline))
    _, events = traced(timeline, [3, 5])
    assert {e["args"]["block"] for e in events if e["ph"] == "X"} == {3, 5}


def test_rounds_follow_one_another():
    timeline = timed("rounds")
    starts = block_starts(timeline)
    assert [starts[block][0] for block in range(12)] == [0, 1, 2, 3] * 3
    assert starts[0][1] == 0 < starts[4][1] < starts[8][1]
    _, events = traced(timeline, [0, 4, 8])
    assert {e["pid"] for e in events} == {"core0.veccore0"}
    ends = [[e["ts"] for e in events if e["ph"] == "X" and e["args"]["block"] == b] for b in (0, 4)]
    assert max(ends[0]) < min(ends[1])


def test_gm_addresses_only_where_they_are_known():
    timeline = timed("long")
    other = timeline.launch.blocks[0].stream.blocks[1]
    for block, known in ((timeline.launch.blocks[0].stream.blocks[0], True), (other, False)):
        _, events = traced(timeline, [block])
        copy = next(e for e in events if e["ph"] == "X" and e["tid"] == "MTE2")
        assert (" GM[" in copy["args"]["detail"]) == known


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    timeline, path = timed("single"), tmp_path / "trace.json"
    path.write_text("old")

    def broken(*_):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(chrome_trace, "links_of", broken)
    with pytest.raises(RuntimeError):
        save_trace(timeline, path)
    assert [file.name for file in tmp_path.iterdir()] == ["trace.json"]
    assert path.read_text() == "old"


def test_run_saves_its_trace(tmp_path):
    op = asim.load("hard_sigmoid_grad")
    x = np.ones(1000, np.float32)
    run = asim.launch(op, {"grad": x, "x": x}, op.tiling(x.shape, "float32"))
    assert run.timeline is run.timeline
    assert run.timeline.to_json() == asim.time(op, op.tiling(x.shape, "float32")).to_json()
    run.save_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    with pytest.raises(RequestError, match="block 77 is not in this launch of"):
        run.save_trace(tmp_path / "other.json", blocks=[77])
    with pytest.raises(RequestError, match="there is no directory"):
        run.save_trace(tmp_path / "no" / "trace.json")
    assert [file.name for file in tmp_path.iterdir()] == ["trace.json"]
