"""A run as one file, and back: the container, its tables, and what reads them with suspicion.

archive : the zip; tables : calls, buffers and tensors as JSON; stream : a block's records and
bytes; outputs, held : the parts of outputs and tensors that recorded blocks touched; registers,
values : registers, numbers and names.
"""

from ascendsim.observe.saved.archive import Archive, Member, packed
from ascendsim.observe.saved.stream import read_recordings, recorded_members

__all__ = ["Archive", "Member", "packed", "read_recordings", "recorded_members"]
