"""Whole runs, call by call, held against logs of the unmodified kernels.

The logs were made by compiling the original kernel headers against a plain IEEE model of the API:
every call's fields, a CRC of the bytes it stored, the whole UB at the end of each block, and the
output.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim

TRACES = sorted((Path(__file__).parent / "data" / "traces").glob("*.json.gz"))
OPTIONS = asim.Options.of("ieee", {"ub_fill": "0xa5", "gm_slack_fill": "0x5a"})
NO_FIELDS = ("status", "block_dim", "sch_mode", "tiling_key", "workspace")


def load(path):
    with gzip.open(path) as stream:
        return json.load(stream)


def run(trace):
    """Run the trace's case; return the run and the tiling."""
    op, dtype, n = asim.load(trace["op"]), trace["dtype"], trace["n"]
    T = op.definition.choose_dtypes(dtype)["out"]
    tables = (
        np.array([int(word, 16) for word in trace[f"{name}_table_hex"]], T.bits)
        for name in ("grad", "x")
    )
    arrays = (table[np.arange(n) % len(table)].view(T.numpy) for table in tables)
    til = op.tiling((n,), dtype, cores=trace["cores_available"], ub=trace["ub"])
    fields = {k: v for k, v in trace["tiling"].items() if k not in NO_FIELDS}
    til = til.replace(fields, trace["block_dim"])
    given = dict(zip(("grad", "x"), arrays, strict=True))
    return asim.launch(op, given, til, record="calls", mode="step", options=OPTIONS)


@pytest.fixture(scope="module", params=TRACES, ids=lambda path: path.name.partition(".")[0])
def case(request):
    trace = load(request.param)
    return trace, run(trace)


def test_every_field_of_every_call(case):
    trace, got = case
    for want, call in zip(trace["calls"], got.calls, strict=True):
        assert {key: call.get(key) for key in want} == want


def test_ub_at_the_end_of_every_block(case):
    trace, got = case
    images = [hashlib.sha256(got.ub(core)).hexdigest() for core in range(trace["block_dim"])]
    assert images == trace["ub_image_sha256"]


def test_output(case):
    trace, got = case
    raw = got.out.tobytes()
    assert zlib.crc32(raw) == trace["out_crc32"] == got.to_json()["out_crc32"]
    if "out_b64" in trace:
        assert raw == base64.b64decode(trace["out_b64"])


def test_the_logs_cover_the_three_kernels_and_types():
    traces = [load(path) for path in TRACES]
    assert len({t["op"] for t in traces}) == 3
    assert len({t["dtype"] for t in traces}) == 3
    assert {"tail65", "cores3tiles", "tiles3p5", "cores4"} == {t["case"] for t in traces}
