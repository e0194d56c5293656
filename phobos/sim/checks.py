"""What to look for while a kernel runs. Everything is on unless turned off.

bounds: accesses outside every tensor, shared memory or local memory. alignment: an access of n bytes at a multiple of
n. uninitialised: registers and shared memory read before they are written. races: see `races`. barriers: a barrier that
only part of a CTA reaches, or that diverged lanes of a warp reach apart. overflow: a signed 32-bit sum or product that
overflows on its way into an address that is used; `program._address_slice` says which instructions are watched. A trap,
a deadlock and an access with no memory behind it are always faults.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Checks:
    """Which checks run."""

    bounds: bool = True
    alignment: bool = True
    uninitialised: bool = True
    races: bool = True
    barriers: bool = True
    overflow: bool = True

    @classmethod
    def none(cls) -> Checks:
        """No check that can be turned off; accesses outside memory stay faults."""
        return cls(False, False, False, False, False, False)
