"""What a pass may know besides the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ..target import Target


@dataclass(frozen=True)
class Options:
    """The chip, the width of index values, and whether to verify the form after each pass."""

    target: Target
    index_bits: int = 32
    verify: bool = False
