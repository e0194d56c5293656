"""The passes in order, what form each takes and gives, and the loop that runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..diagnostics import InternalError
from ..ir.kernel import Kernel
from ..ir.verify import check
from . import (
    dp4a,
    fold,
    grid,
    guard,
    hoist,
    lift,
    occupy,
    order,
    pack,
    pipeline,
    place,
    spill,
    split,
    stage,
    sync,
    tails,
)
from .options import Options


@dataclass(frozen=True)
class Pass:
    """A pure function from one form of a kernel to another."""

    name: str
    takes: str
    gives: str
    run: Callable[[Kernel, Options], Kernel]


PIPELINE: tuple[Pass, ...] = (
    Pass("facts", "built", "built", grid.run),
    Pass("dp4a", "built", "built", dp4a.run),
    Pass("fold", "built", "folded", fold.run),
    Pass("hoist", "folded", "folded", hoist.run),
    Pass("guard", "folded", "guarded", guard.run),
    Pass("tails", "guarded", "guarded", tails.run),
    Pass("order", "guarded", "guarded", order.run),
    Pass("spill", "guarded", "guarded", spill.run),
    Pass("place", "guarded", "placed", place.run),
    Pass("split", "placed", "placed", split.run),
    Pass("stage", "placed", "staged", stage.run),
    Pass("lift", "staged", "staged", lift.run),
    Pass("pipeline", "staged", "staged", pipeline.run),
    Pass("occupy", "staged", "staged", occupy.run),
    Pass("pack", "staged", "packed", pack.run),
    Pass("sync", "packed", "synced", sync.run),
)
FORMS: tuple[str, ...] = ("built", "folded", "guarded", "placed", "staged", "packed", "synced")

Observer = Callable[[str, Kernel], None]


def run(kernel: Kernel, options: Options, observer: Observer | None = None, stop_after: str = "") -> Kernel:
    """Run the passes on a kernel from whatever form it is in.

    observer is told each form when the last pass that gives it is done, the given one included; stop_after names a
    pass.
    """
    if options.verify:
        check(kernel, "lower")
    if observer:
        observer(kernel.form, kernel)
    started = False
    for i, step in enumerate(PIPELINE):
        started = started or step.takes == kernel.form
        if not started:
            continue
        if kernel.form != step.takes:
            raise InternalError(f"pass {step.name} takes form {step.takes}, got {kernel.form}")
        kernel = step.run(kernel, options).replace(form=step.gives)
        if options.verify:
            check(kernel, step.name)
        last = i + 1 == len(PIPELINE) or PIPELINE[i + 1].gives != step.gives
        if observer and last and step.gives != "built":
            observer(step.gives, kernel)
        if step.name == stop_after:
            break
    return kernel
