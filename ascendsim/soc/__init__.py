"""The SoCs as data: sizes, rules, instruction support and costs, each with source and confidence.

One TOML file per SoC in this directory; `soc.py` says how they are written and read.
"""

from ascendsim.soc.facts import CONFIDENCES, Cost, Fact, OpRow
from ascendsim.soc.soc import ALIASES, NAMES, Soc, load

__all__ = ["ALIASES", "CONFIDENCES", "NAMES", "Cost", "Fact", "OpRow", "Soc", "load"]
