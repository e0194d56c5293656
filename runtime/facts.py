"""The assumption class of a launch: which facts that a kernel's proofs used these arguments break.

Each kind of fact is explained at `phobos.ir.kernel.Fact`; `docs/abi.md` has the table. A launch that breaks one gets
the variant compiled without it.
"""

from __future__ import annotations

from phobos.artifact import Artifact
from phobos.errors import ArgumentError
from phobos.ir.kernel import Fact, Stated

from .arrays import SIZES, Array
from .bind import Bound
from .grid import AXES, Grid, inferred

INDEX_32 = Fact("index_32", "")
INDEX_LIMIT = 2**31


def needs_64_bits(bound: Bound) -> bool:
    """Whether an offset in elements, or an extent, can be beyond 31 bits."""
    largest = max((a.reach for a in bound.arrays.values()), default=0)
    return max(largest, *bound.dims.values(), 0) >= INDEX_LIMIT


def broken(artifact: Artifact, bound: Bound, grid: Grid) -> frozenset[Fact]:
    """The facts of the artifact's assumption class that a launch breaks."""
    return frozenset(f for f in artifact.used if not _holds(f, artifact, bound, grid))


def _holds(fact: Fact, artifact: Artifact, bound: Bound, grid: Grid) -> bool:
    match fact.kind:
        case "multiple_of_4":
            return bound.dims[fact.subject] % 4 == 0
        case "aligned_16":
            return bound.arrays[fact.subject].pointer % 16 == 0
        case "no_alias":
            return not bound.overlaps_written(fact.subject)
        case "dense":
            return bound.arrays[fact.subject].is_dense
        case "pitch_16" | "pitch_8":
            array = bound.arrays[fact.subject]
            return all(s * SIZES[array.elem] % int(fact.kind[6:]) == 0 for s in array.steps[:-1])
        case "stated_align":
            return True  # `refuse_overstated` has raised if it does not, unless the caller wanted no check
        case "index_32":
            return not needs_64_bits(bound)
        case "grid":
            axis = AXES.index(fact.subject)
            most = inferred(artifact.grid, bound.dims)[axis]
            return most is None or grid[axis] <= most
        case _:
            # An unknown fact cannot be judged here: the variant without it is right, only slower.
            return False


def refuse_larger_grid(artifact: Artifact, bound: Bound, grid: Grid) -> None:
    """A promise (`@aligned`) unmasks what the inferred grid covers: more blocks would leave the tensors."""
    if not artifact.aligned:
        return
    most = inferred(artifact.grid, bound.dims)
    for fact in artifact.used:
        if fact.kind == "grid":
            axis = AXES.index(fact.subject)
            limit = most[axis]
            if limit is not None and grid[axis] > limit:
                raise ArgumentError(
                    "grid",
                    f"at most {limit} blocks along {fact.subject}, since @aligned leaves them unmasked",
                    f"{grid[axis]}",
                )


def refuse_overstated(artifact: Artifact, bound: Bound) -> None:
    """Raise where the addresses and strides given make untrue what `align` says of a run.

    Told from what is proved of the subscripts; a run whose place in the row is only known when the kernel runs is left
    to the simulator, and to the hardware, which traps.
    """
    for said in artifact.stated:
        array = bound.arrays[said.tensor]
        if array.size:
            _refuse_overstated(said, array)


def _refuse_overstated(said: Stated, array: Array) -> None:
    size = SIZES[array.elem]
    steps = (*array.steps[:-1], 1)
    if said.axes[-1][1] * size % said.bytes:
        return
    claim = f"as `align = {said.align}` on line {said.span.line} says of its runs"
    for axis, (step, (_, rest)) in enumerate(zip(steps, said.axes, strict=True)):
        if rest * step * size % said.bytes:
            raise ArgumentError(
                said.tensor,
                f"rows that begin at multiples of {said.bytes} bytes, {claim}",
                f"a distance of {step * size} bytes along axis {axis}",
                "leave `align` out, or pad the rows",
            )
    start = array.pointer + size * sum(constant * step for step, (constant, _) in zip(steps, said.axes, strict=True))
    if start % said.bytes:
        raise ArgumentError(
            said.tensor,
            f"an address such that runs begin at multiples of {said.bytes} bytes, {claim}",
            f"the address {array.pointer:#x}",
            "leave `align` out, or pass a tensor that begins at such an address",
        )
