"""The first instruction at which two sides part, for one input: from one-element records."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.explore.atlas.definition import DefinitionSource
from ascendsim.explore.atlas.sides import KernelSide
from ascendsim.explore.atlas.space import Space
from ascendsim.explore.atlas.survey import Survey
from ascendsim.host.job import make_job
from ascendsim.launch import Readers, run
from ascendsim.observe.recorder import BlockRecording, Recorder
from ascendsim.view.diff import diff_runs
from ascendsim.view.explain_lane import explain


def parting(survey: Survey, index: int) -> dict[str, Any]:
    """Return name, file, line and a sentence: where the results of one input part.

    `name` is "" when no single instruction can be named.
    """
    assert isinstance(survey.one, KernelSide)
    one = _recorded(survey.one, survey.space, index)
    if isinstance(survey.two, KernelSide):
        found = diff_runs(one, _recorded(survey.two, survey.space, index))
        if found.first is None:
            return {"name": "", "file": "", "line": 0, "text": found.parted}
        first = found.first
        text = f"{first}: {first.text}"
        return {"name": first.name, "file": first.file, "line": first.line, "text": text}
    _, source = survey.open()
    if not isinstance(source, DefinitionSource):
        text = "torch does not show its steps; compare with definition to see where"
        return {"name": "", "file": "", "line": 0, "text": text}
    told = explain(one, survey.space.output, 0, lambda graph: source.real(index), 1)
    return {"name": told.name, "file": told.file, "line": told.line, "text": told.text}


def _recorded(side: KernelSide, space: Space, index: int) -> dict[int, BlockRecording]:
    """Return the records of a launch with one element."""
    recorder = Recorder(None)
    arrays = space.arrays(np.array([index], np.uint64))
    job = make_job(side.op(), arrays, side.tiling(space, 1), None, 0, side.options)
    run(job, Readers((recorder,)), "step")
    return recorder.blocks
