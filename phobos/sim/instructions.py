"""Brings in the modules that fill the instruction table. A new family of instructions is named here."""

from __future__ import annotations

import importlib

FAMILIES = (
    "arith_int", "arith_float", "half", "convert", "logic", "approx", "moves", "memory", "atomics", "sync", "warp",
    "async_copy",
)  # fmt: skip


def load() -> None:
    """Import every family, each of which enters its instructions."""
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
