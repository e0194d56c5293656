"""Which variant of a kernel a launch takes: the one whose assumption class its arguments keep."""

from __future__ import annotations

import logging
from typing import Protocol

from phobos.artifact import Artifact, Signature
from phobos.errors import LaunchError
from phobos.ir.kernel import Fact, Kernel

from . import facts, grid
from .bind import Bound

log = logging.getLogger("phobos.launch")


class Launchable(Protocol):
    """A kernel as the launcher needs it: `phobos.KernelHandle` is one."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> Signature: ...

    @property
    def meaning(self) -> Kernel:
        """The kernel for the interpreter, with its grid inferred."""

    def variant(self, denied: frozenset[Fact] = frozenset(), index_bits: int | None = None) -> Artifact:
        """The artifact compiled without some facts, made once; index_bits None: as the caller of `compile` chose."""


def allowed(kernel: Launchable, first: Artifact, bound: Bound, blocks: grid.Grid) -> Artifact:
    """The variant of a kernel whose assumption class this launch keeps.

    What is denied only grows, so this ends; a variant compiled without some facts may rely on others.
    """
    made, denied = first, first.denied
    while missing := facts.broken(made, bound, blocks):
        denied |= missing
        bits = 64 if facts.INDEX_32 in denied else None
        again = kernel.variant(denied, bits)
        if again is made:
            raise LaunchError(
                f"{kernel.name} relies on {', '.join(map(str, sorted(missing)))}, which this launch breaks"
            )
        log.info("%s: compiled without %s", kernel.name, ", ".join(map(str, sorted(denied))))
        made = again
    return made
