"""Mutation score: faults put into a kernel, one at a time, and who notices."""

from ascendsim.explore.mutate.faults import KINDS
from ascendsim.explore.mutate.run import mutate
from ascendsim.explore.mutate.score import Judged, Score

__all__ = ["KINDS", "Judged", "Score", "mutate"]
