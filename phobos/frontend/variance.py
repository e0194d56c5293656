"""Variance of every value, and what needs uniform control flow (spec section 3)."""

from __future__ import annotations

from ..diagnostics import Sink
from . import typed as t


def check_variance(kernel: t.TypedKernel, sink: Sink) -> None:
    """Report the statements that need more uniformity than they have."""
