"""Choosing layouts: coalesced blocks for global memory, per-thread sub-tiles for contractions, swizzles for operands.

Pure functions of shapes and element sizes; `place`, `stage` and `pipeline` call them. Everything static is finite, so
bank conflicts are counted, not argued about.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from math import prod

import numpy as np

from ..layout.base import RegisterLayout
from ..layout.register import Blocked
from ..layout.shared import Swizzled

VECTOR_BYTES = 16
BANKS = 32
BANK_BYTES = 4


def power_of_two_in(n: int) -> int:
    """The largest power of two that divides n."""
    return n & -n


def ceil_power(n: int) -> int:
    return 1 << (n - 1).bit_length()


@lru_cache(maxsize=1024)
def coalesced(
    shape: tuple[int, ...],
    warps: int,
    elem_bytes: int,
    widest: int = VECTOR_BYTES,
    segment_elems: int = 0,
    whole: int = -1,
) -> Blocked:
    """Lanes run along the last axis in vectors of up to `widest` bytes, then along the axis before it.

    segment_elems: at most so many elements in a row before lanes turn to the next axis (0: the whole row), for copies
    that transpose, where a 32-byte sector is all that a row needs to be read whole. whole: an axis that is reduced, so
    that warps stand along the others as long as there is work for them.
    """
    n = len(shape)
    vector = [1] * n
    vector[-1] = min(max(widest // elem_bytes, 1), power_of_two_in(shape[-1]))
    lanes, count = [1] * n, [1] * n
    left, warps_left = 32, warps
    for axis in reversed(range(n)):
        units = -(-shape[axis] // vector[axis])
        if axis == n - 1 and segment_elems:
            units = min(units, max(segment_elems // vector[axis], 1))
        fit = min(left, ceil_power(units))
        # A row of 24 vectors takes 8 lanes three times rather than 16 lanes with a gap.
        exact = min(left, power_of_two_in(units))
        lanes[axis] = exact if exact >= 8 else fit
        left //= lanes[axis]
    lanes[0] *= left
    by_turns = [a for a in reversed(range(n)) if a != whole] + [a for a in (whole,) if a >= 0]
    for axis in by_turns:
        units = -(-shape[axis] // (vector[axis] * lanes[axis]))
        take = _largest_divisor(warps_left, units) if axis != by_turns[-1] else warps_left
        count[axis] = take
        warps_left //= take
    return Blocked(shape, tuple(vector), tuple(lanes), tuple(count), tuple(reversed(range(n))))


def _largest_divisor(n: int, limit: int) -> int:
    return max(d for d in range(1, n + 1) if n % d == 0 and d <= max(limit, 1))


@lru_cache(maxsize=1024)
def scanned(shape: tuple[int, ...], warps: int, elem_bytes: int, axis: int) -> Blocked:
    """A layout in which a scan along an axis stays in a warp: warps stand along another axis, lanes along it as far as
    they have elements, and a thread holds neighbours along the scanned axis where lanes are left for it."""
    n = len(shape)
    along = next(a for a in reversed(range(n)) if a != axis or n == 1)
    rest = prod(shape) // (shape[axis] * shape[along]) if n > 1 else 1
    most = min(32, ceil_power(shape[axis]))
    vector, lanes, count = [1] * n, [1] * n, [1] * n
    if along != axis:
        vector[along] = min(max(VECTOR_BYTES // elem_bytes, 1), power_of_two_in(shape[along]))
        while vector[along] > 1 and shape[along] * rest // vector[along] * most < 32 * warps:
            vector[along] //= 2
        count[along] = warps
    units = -(-shape[along] // vector[along]) * rest if along != axis else 1
    lanes[axis] = 1
    while lanes[axis] < most and units * lanes[axis] < 32 * warps:
        lanes[axis] *= 2
    if along != axis:
        lanes[along] = 32 // lanes[axis]
    else:
        lanes[axis], count[axis] = 32, warps
    vector[axis] = ceil_power(-(-shape[axis] // lanes[axis]))
    return Blocked(shape, tuple(vector), tuple(lanes), tuple(count), tuple(reversed(range(n))))


@lru_cache(maxsize=1024)
def accumulator(
    shape: tuple[int, int], warps: int, elem_bytes: int, whole: int = -1, like: Blocked | None = None
) -> Blocked:
    """The FMA contraction's layout: a sub-tile per thread, columns in 16-byte vectors, 8x8 where it fits.

    The choice reads the fewest operand elements per multiply-add, then covers the tile most exactly, then has square
    warps. Rows and columns come in chunks of `vector` spread over the lanes, so that operand reads are broadcasts of
    contiguous chunks.

    whole: an axis along which a warp is to hold all elements, because they are reduced. like: a column whose rows are
    to lie where this layout's do, because it is broadcast. Where either would take more multiply-adds it is not kept.
    """
    free = min(_accumulators(shape, warps, elem_bytes), key=lambda found: found[0])
    kept = [
        (key, layout)
        for key, layout in _accumulators(shape, warps, elem_bytes)
        if key[0] == free[0][0]
        and (whole < 0 or layout.warps[whole] == 1)
        and (like is None or _rows(layout) == _rows(like))
    ]
    if not kept and like is not None:
        return accumulator(shape, warps, elem_bytes, whole)
    return min(kept, key=lambda found: found[0])[1] if kept else free[1]


def _rows(layout: Blocked) -> tuple[int, ...]:
    """What says where a layout's rows lie, among layouts whose last axis is the fastest."""
    return layout.vector[0], layout.lanes[0], layout.warps[0], *layout.order


def operand_reads(layout: Blocked, elem_bytes: int) -> int:
    """Shared-memory cycles of a warp for one step of a contraction along k."""
    (rm, rn), (vm, vn) = layout.repeats, layout.vector
    (lane_m, lane_n) = layout.lanes
    return -(-lane_m * vm * elem_bytes // 128) * rm + -(-lane_n * vn * elem_bytes // 128) * rn


@lru_cache(maxsize=1024)
def _accumulators(shape: tuple[int, int], warps: int, elem_bytes: int) -> tuple[tuple[tuple[float, ...], Blocked], ...]:
    """Every candidate with what it costs, the dearest cost first."""
    m, n = shape
    widest = VECTOR_BYTES // elem_bytes
    found: list[tuple[tuple[float, ...], Blocked]] = []
    for lane_m, warp_m in itertools.product((1, 2, 4, 8, 16, 32), [d for d in range(1, warps + 1) if warps % d == 0]):
        lane_n, warp_n = 32 // lane_m, warps // warp_m
        for vm, vn in itertools.product((1, 2, 4), (1, 2, 4, 8)):
            if vn > widest or vm > widest or m % vm or n % vn:
                continue
            layout = Blocked(shape, (vm, vn), (lane_m, lane_n), (warp_m, warp_n), (1, 0))
            rm, rn = (r * v for r, v in zip(layout.repeats, (vm, vn), strict=True))
            # Surplus slots multiply for nothing; operand reads are in 16-byte units where vectors allow.
            work = rm * rn
            reads = rm / min(vm, widest) + rn / min(vn, widest)
            spread = abs((warp_m * lane_m * vm) - (warp_n * lane_n * vn))
            stores = -min(vn, widest)
            # A warp reads lane_m * vm rows and lane_n * vn columns: fewer distinct bytes, fewer shared wavefronts.
            wave = operand_reads(layout, elem_bytes)
            found.append(((work, stores, wave + reads, -vm, lane_n != 4, spread), layout))
    return tuple(found)


@lru_cache(maxsize=1024)
def operand_buffer(shape: tuple[int, int], fast: int, elem_bytes: int, writers: tuple[RegisterLayout, ...]) -> Swizzled:
    """The shared layout of a contraction operand: `fast` is the axis that is not contracted.

    When the writers run along the other axis the store transposes, and rows are XOR-swizzled in 16-byte chunks; of the
    swizzles that keep chunks whole, the one with the fewest bank conflicts over the writers' first warps is taken.
    """
    plain = Swizzled(shape, fast)
    chunk = max(VECTOR_BYTES // elem_bytes, 1)
    if shape[fast] % chunk or not writers:
        return plain
    places = [_places(w) for w in writers]
    best = (_cost(plain, places, elem_bytes), plain)
    size = min(8, power_of_two_in(shape[fast] // chunk))
    while size > 1 and best[0]:
        for multiply, shift in itertools.product((1, 2, 4, 3, 5, 6, 7), (31, 1, 2, 3, 4)):
            candidate = Swizzled(shape, fast, chunk, multiply, shift, size - 1)
            cost = _cost(candidate, places, elem_bytes)
            if cost < best[0]:
                best = (cost, candidate)
            if not cost:
                break
        size //= 2
    return best[1]


def write_conflicts(buffer: Swizzled, layout: RegisterLayout, elem_bytes: int) -> int:
    """Extra shared-memory cycles when warp 0 writes its registers one element at a time: 0 is conflict free."""
    return _cost(buffer, [_places(layout)], elem_bytes)


def _places(layout: RegisterLayout) -> list[tuple[np.ndarray, ...]]:
    """For each of the first registers, the coordinates of warp 0's lanes that hold something."""
    lane = np.arange(32)
    base = [np.broadcast_to(np.asarray(b), (32,)) for b in layout.thread_base(lane, 0)]
    out = []
    for register in range(min(layout.registers, 8)):
        coords = [b + s for b, s in zip(base, layout.register_offset(register), strict=True)]
        held = np.logical_and.reduce([c < s for c, s in zip(coords, layout.shape, strict=True)])
        if held.any():
            out.append(tuple(c[held] for c in coords))
    return out


def _cost(buffer: Swizzled, places: list[list[tuple[np.ndarray, ...]]], elem_bytes: int) -> int:
    total = 0
    for writer in places:
        for coords in writer:
            words = np.unique(np.asarray(buffer.offset(coords)) * elem_bytes // BANK_BYTES)
            total += int(np.bincount(words % BANKS).max()) - 1
    return total
