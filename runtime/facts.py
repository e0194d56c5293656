"""The assumption class of a launch: which facts that a kernel's proofs used these arguments break.

Each kind of fact is explained at `phobos.ir.kernel.Fact`; `docs/abi.md` has the table. A launch that breaks one gets
the variant compiled without it.
"""

from __future__ import annotations

from phobos.artifact import Artifact
from phobos.errors import ArgumentError
from phobos.ir.kernel import Fact

from .bind import Bound
from .grid import AXES, Grid, inferred

INDEX_32 = Fact("index_32", "")
INDEX_LIMIT = 2**31


def needs_64_bits(bound: Bound) -> bool:
    """Whether an offset in elements, or an extent, can be beyond 31 bits."""
    largest = max((a.size for a in bound.arrays.values()), default=0)
    return max(largest, *bound.dims.values(), 0) >= INDEX_LIMIT


def broken(artifact: Artifact, bound: Bound, grid: Grid) -> frozenset[Fact]:
    """The facts of the artifact's assumption class that a launch breaks. 32-bit indices rely on `index_32` always."""
    facts = {f for f in artifact.used if not _holds(f, artifact, bound, grid)}
    if artifact.index_bits == 32 and needs_64_bits(bound):
        facts.add(INDEX_32)
    return frozenset(facts)


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
