"""Speed as ratios inside one run: our modes against numpy, a C loop, memory, other simulators.

bench(quick=True).to_json()
"""

from ascendsim.explore.speed.rows import Report, Row, bench

__all__ = ["Report", "Row", "bench"]
