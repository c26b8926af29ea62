"""memcheck, initcheck, racecheck and synccheck: observers that say what is wrong with a kernel.

They look at the stream of records only. `Checks` is one observer for those that are wanted; its
`findings` are values (record.Finding), told once per code and lines.
"""

from ascendsim.observe.checks.checks import Checks
from ascendsim.observe.checks.codes import CODES, ERROR, TOOLS, WARNING, Code, tool_of

__all__ = ["CODES", "ERROR", "TOOLS", "WARNING", "Checks", "Code", "tool_of"]
