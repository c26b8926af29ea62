"""Make the plan of a job, and what every run of it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ascendsim.core import AivCore
from ascendsim.engine.plan import Plan, make_plan
from ascendsim.engine.stream import NoPlanError, Stream, same_stream
from ascendsim.errors import AscendError
from ascendsim.launch.classes import block_classes
from ascendsim.launch.job import Job
from ascendsim.launch.report import coverage, evidence, touches_slack, warnings_of


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan, or why there is none (`refusal`), and what every run of it reports.

    covered : the outputs of which every byte is stored
    """

    plan: Plan | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    covered: frozenset[str] = frozenset()


class _End:
    """What is left when the last block has been recorded."""

    def __init__(self) -> None:
        self.core: AivCore | None = None
        self.allocations: dict[str, Any] = {}
        self.warnings: dict[str, str] = {}

    def __call__(self, core: AivCore) -> None:
        self.core, self.warnings = core, core.warnings
        self.allocations = core.gm.allocations


def planned(job: Job) -> Planned:
    """Record the blocks of `job` without data and return their plan.

    A kernel that breaks a rule has no plan: step mode then says where, as it always does.
    """
    if job.options.out_of_bounds == "report":
        return Planned(None, "out_of_bounds=report: a plan has no calls that leave their buffers")
    end = _End()
    try:
        classes = block_classes(job, Stream, same_stream, at_end=end)
        tensors = {name: a.nbytes for name, a in end.allocations.items()}
        plan = make_plan(classes, tensors, job.ub_bytes)
    except NoPlanError as reason:
        return Planned(None, str(reason))
    except AscendError as error:
        return Planned(None, f"no plan of this kernel: {error}")
    assert end.core is not None
    spans = {name: plan.touched[name].writes[:, :2] for name in job.outputs}
    warnings = warnings_of(job, end.warnings, end.allocations, spans)
    slack = any(map(touches_slack, end.allocations.values()))
    covered = frozenset(n for n, each in spans.items() if not coverage(tensors[n], each)[0])
    return Planned(plan, "", tuple(warnings), evidence(end.core, slack), covered)
