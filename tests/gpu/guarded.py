"""Tensors with poison around them: what lies beside an output must be untouched after a launch."""

from __future__ import annotations

from math import prod

import torch

POISON = -7.75
"""A number no kernel here computes, exact in every float type."""
MARGIN = 4096
"""Elements before and behind a tensor; a multiple of 16 bytes in every type."""


class Guarded:
    """A dense tensor in the middle of poisoned memory. shift: elements by which its base is moved off alignment."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, shift: int = 0) -> None:
        self.size = prod(shape)
        self.start = MARGIN + shift
        self.memory = torch.full((self.start + self.size + MARGIN,), POISON, dtype=dtype, device="cuda")
        self.tensor = self.memory[self.start : self.start + self.size].view(shape)

    def check(self) -> None:
        """The memory on both sides still holds the poison."""
        assert bool((self.memory[: self.start] == POISON).all()), "memory before the tensor was written"
        assert bool((self.memory[self.start + self.size :] == POISON).all()), "memory behind the tensor was written"


def filled(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, shift: int = 0) -> Guarded:
    """Random normal data between the guards."""
    made = Guarded(shape, dtype, shift)
    made.tensor.copy_(torch.randn(shape, dtype=torch.float32, device="cuda"))
    return made


def poisoned(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, shift: int = 0) -> Guarded:
    """NaN between the guards: an element that is not written stays NaN."""
    made = Guarded(shape, dtype, shift)
    made.tensor.fill_(float("nan"))
    return made
