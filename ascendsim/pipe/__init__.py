"""TPipe, TQue, TQueBind and TBuf: who owns which bytes of UB, and in which state.

InitBuffer bumps one cursor through UB; a queue hands its buffers out round robin and passes them
from the producing pipe to the consuming one. Each hand-over implies a token: a flag with an event
id on 910-class chips, the buffer's own mutex on 950. States are kept always, tokens travel on
records only.
Source: asc-devkit impl/basic_api, kernel_tpipe_impl.h, kernel_tquebind_impl.h, kernel_event.h and
dav_3510 (code).
"""

from ascendsim.pipe.buffer import DEQUE, ENQUE, FREE, OCCUPIED, STATE_NAMES, Buffer
from ascendsim.pipe.pool import TBufPool
from ascendsim.pipe.queue import TQue, TQueBind
from ascendsim.pipe.tbuf import TBuf
from ascendsim.pipe.tpipe import TPipe

__all__ = [
    "DEQUE",
    "ENQUE",
    "FREE",
    "OCCUPIED",
    "STATE_NAMES",
    "Buffer",
    "TBuf",
    "TBufPool",
    "TPipe",
    "TQue",
    "TQueBind",
]
