"""The cycle model: records of a launch in, pipes over time out.

banks, cost : one instruction; steps : the stream of a block; schedule : four in-order pipes;
traffic : L2 and HBM; model : all cores; timeline : what the user sees.
"""

from ascendsim.observe.timeline.cost import check_costs
from ascendsim.observe.timeline.model import Launch, schedule_launch
from ascendsim.observe.timeline.steps import StepRecorder, same_stream
from ascendsim.observe.timeline.timeline import Arrow, Slice, Timeline, timeline_of

__all__ = [
    "Arrow",
    "Launch",
    "Slice",
    "StepRecorder",
    "Timeline",
    "check_costs",
    "same_stream",
    "schedule_launch",
    "timeline_of",
]
