"""The PTX simulator: runs emitted PTX on the CPU, all threads of many CTAs at once, and looks for faults.

Written from the text of the PTX ISA; it shares no code with the compiler, so that the two judge each other.
`simulate(ptx, entry, args, grid, block)` is the way in.
"""

from __future__ import annotations

from .checks import Checks
from .counters import Counters
from .errors import Finding, PtxError, SimFault
from .run import SimResult, simulate

__all__ = ["Checks", "Counters", "Finding", "PtxError", "SimFault", "SimResult", "simulate"]
