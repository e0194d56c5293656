"""The Plan: what the compiler decided for one kernel, as a frozen record that people and tools read."""

from .describe import describe
from .report import render
from .schema import Linked, Plan

__all__ = ["Linked", "Plan", "describe", "render"]
