"""One memory instruction's way to memory: addresses of lanes, bounds, alignment, shadows, and the elements themselves.

An `Access` turns the addresses of some lanes into indices of elements of a memory, having checked them. Lanes whose
access goes nowhere are reported and left out. Generic addresses are sorted into the windows of the spaces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import PtxError
from .state import State
from .storage import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Allocation
from .syntax import Address, Instruction, Reg, Symbol
from .types import TYPES

Array = NDArray[Any]
Lanes = Array | None

SPACES = ("global", "shared", "local", "const", "param", "shared::cta", "param::entry", "shared::cluster")


class Access:
    """`count` elements of `width` bytes from each lane's address in one space."""

    def __init__(
        self,
        state: State,
        i: Instruction,
        operand: Address,
        space: str,
        width: int,
        count: int,
        site: int,
        writes: bool,
    ) -> None:
        self.state = state
        self.i = i
        self.space = space
        self.width = width
        self.count = count
        self.total = width * count
        self.site = site
        self.writes = writes
        self.shift = width.bit_length() - 1
        self.base, self.offset = _base(state, i, operand)
        self.base_name = operand.base.name if isinstance(operand.base, Reg) else None
        self.steps = np.arange(count, dtype=np.int64)[:, None]
        if space == "shared":
            self.view = state.shared.views[width * 8]
            self.slot_start = (state.slot * state.shared.stride).astype(np.int64)
            self.limit = state.shared.size - self.total
            self.granule = state.shared_granule
        elif space == "global":
            self.view = state.memory.views[width * 8]
            self.granule = state.global_granule
        elif space == "local":
            self.view = state.local.views[width * 8]
            self.slot_start = np.arange(state.lanes, dtype=np.int64) * state.local.stride
            self.limit = state.local.size - self.total
        else:
            self.view = state.params.view(f"u{width}")
            self.limit = state.param_size - self.total
        parts = max(self.total >> self.granule, 1) if space in ("shared", "global") else 1
        self.parts = np.arange(parts, dtype=np.int64)[:, None]
        self.allocation: Allocation | None = None
        if state.counters is not None and space in ("shared", "global"):
            from .counters import AccessCount

            state.counters.accesses.setdefault(site, AccessCount(i.name, i.line, state.program.source(i)))

    def addresses(self, lanes: Lanes) -> Array:
        """The addresses of lanes (of all), as 64-bit unsigned numbers or 32-bit ones."""
        base = self.base if lanes is None or self.base.ndim == 0 else self.base[lanes]
        if self.base.ndim == 0:
            base = np.full(self.state.lanes if lanes is None else len(lanes), self.base)
        return base + self.offset if self.offset else base

    def locate(self, lanes: Lanes, addresses: Array) -> tuple[Lanes, Array]:
        """Byte positions in the memory of the lanes that have one."""
        state = self.state
        if state.tainted:
            self.check_overflow(lanes)
        if self.space == "global":
            lanes, place, addresses = self._global(lanes, addresses)
        else:
            bad = addresses > addresses.dtype.type(max(self.limit, 0))
            if self.limit < 0:
                bad = np.ones(len(addresses), np.bool_)
            if bad.any():
                self._outside(lanes, addresses, bad)
                lanes, addresses = _keep(lanes, addresses, ~bad)
            place = addresses.astype(np.int64)
            if self.space != "param":
                place += self.slot_start if lanes is None else self.slot_start[lanes]
        if self.total > 1:
            low = addresses & addresses.dtype.type(self.total - 1)
            if low.any():
                lanes, place, addresses = self._misaligned(lanes, place, addresses, low)
        if state.counters is not None and len(addresses):
            if self.space == "shared":
                state.counters.shared_access(self.site, addresses, lanes, self.total)
            elif self.space == "global":
                state.counters.global_access(self.site, addresses, lanes, self.total)
        return lanes, place

    def _global(self, lanes: Lanes, addresses: Array) -> tuple[Lanes, Array, Array]:
        allocation = self.allocation
        if allocation is None and len(addresses):
            allocation = self.allocation = self.state.memory.find(int(addresses[0]))
        if allocation is not None and allocation.size >= self.total:
            offset = addresses - np.uint64(allocation.address)
            if not (offset > np.uint64(allocation.size - self.total)).any() and not (
                self.writes and not allocation.writable
            ):
                return lanes, offset.view(np.int64) + allocation.place, addresses
        # Several allocations, or some lane outside of its own.
        place = np.zeros(len(addresses), np.int64)
        good = np.zeros(len(addresses), np.bool_)
        for region in np.unique(addresses >> np.uint64(37)):
            here = addresses >> np.uint64(37) == region
            found = self.state.memory.find(int(region) << 37)
            if found is None or found.size < self.total or (self.writes and not found.writable):
                continue
            offset = addresses - np.uint64(found.address)
            inside = here & (offset <= np.uint64(found.size - self.total))
            good |= inside
            place = np.where(inside, offset.view(np.int64) + found.place, place)
            self.allocation = found
        if not good.all():
            self._outside(lanes, addresses, ~good)
        lanes, addresses = _keep(lanes, addresses, good)
        return lanes, place[good], addresses

    def _outside(self, lanes: Lanes, addresses: Array, bad: Array) -> None:
        at = int(np.flatnonzero(bad)[0])
        lane = at if lanes is None else int(lanes[at])
        address = int(addresses[at])
        verb = "write" if self.writes else "read"
        if self.space == "global":
            found = self.state.memory.find(address)
            what = f"{verb} of {self.total} bytes outside of {self.state.memory.describe(address)}"
            if found is None:
                what = f"{verb} of {self.total} bytes at an address that belongs to no tensor"
            elif self.writes and not found.writable:
                what = f"write to constant memory, {self.state.memory.describe(address)}"
        else:
            size = {"shared": self.state.shared.size, "local": self.state.local.size}.get(
                self.space, self.state.param_size
            )
            what = f"{verb} of {self.total} bytes at offset {address} of {size} bytes of {self.space} memory"
        self.state.report("out of bounds", self.i, lane, what, address)

    def _misaligned(self, lanes: Lanes, place: Array, addresses: Array, low: Array) -> tuple[Lanes, Array, Array]:
        bad = low != 0
        at = int(np.flatnonzero(bad)[0])
        lane = at if lanes is None else int(lanes[at])
        address = int(addresses[at])
        if self.state.checks.alignment or self.state.collect is False:
            what = self.state.memory.describe(address) if self.space == "global" else f"{self.space} memory"
            self.state.report(
                "misaligned", self.i, lane,
                f"{self.total}-byte access at an address that is no multiple of {self.total}, in {what}", address,
            )  # fmt: skip
        kept, addresses = _keep(lanes, addresses, ~bad)
        return kept, place[~bad], addresses

    def check_overflow(self, lanes: Lanes) -> None:
        """Report a lane whose address came from an index that overflowed."""
        state = self.state
        taint = state.taint.get(self.base_name or "")
        if taint is None:
            return
        hit = np.flatnonzero(taint if lanes is None else taint[lanes])
        if len(hit):
            lane = int(hit[0] if lanes is None else lanes[hit[0]])
            origin = state.overflows.get(lane)
            i = origin if origin is not None else self.i
            state.report(
                "overflow", i, lane, "a signed 32-bit index overflows on its way into an address",
                related=(f"used at {state.program.source(self.i)}: {self.i.name} (PTX line {self.i.line})",),
            )  # fmt: skip

    def elements(self, place: Array) -> Array:
        """Element indices from byte positions: [lanes], or [count, lanes] of a vector."""
        index = place >> self.shift
        return index if self.count == 1 else index + self.steps

    def granules(self, place: Array) -> Array:
        """Granules of the shadow from byte positions, [granules, lanes]."""
        return (place >> self.granule) + self.parts

    def note_read(self, lanes: Lanes, place: Array) -> None:
        """Tell the shadow of a read."""
        state = self.state
        if self.space == "shared" and state.shared_races is not None:
            missing = state.shared_races.read(self.site, self.granules(place), lanes, state.checks.uninitialised)
            if missing is not None and missing.any():
                at = int(np.flatnonzero(missing)[0])
                lane = at if lanes is None else int(lanes[at])
                address = int(place[at]) - int(self.slot_start[lane])
                state.report(
                    "uninitialised", self.i, lane, f"shared memory at offset {address} is read and was never written",
                    address,
                )  # fmt: skip
        elif self.space == "global" and state.global_races is not None:
            state.global_races.read(self.site, self.granules(place), lanes, False)

    def note_write(self, lanes: Lanes, place: Array, in_flight: bool = False) -> None:
        """Tell the shadow of a write."""
        state = self.state
        state.stores += 1
        if self.space == "shared" and state.shared_races is not None:
            state.shared_races.write(self.site, self.granules(place), lanes, in_flight)
        elif self.space == "global" and state.global_races is not None:
            state.global_races.write(self.site, self.granules(place), lanes, in_flight)


def _keep(lanes: Lanes, addresses: Array, good: Array) -> tuple[Lanes, Array]:
    kept = np.flatnonzero(good) if lanes is None else lanes[good]
    return kept, addresses[good]


def _base(state: State, i: Instruction, operand: Address) -> tuple[Array, Any]:
    if isinstance(operand.base, Reg):
        bits = TYPES[operand.base.type].bits
        if bits not in (32, 64):
            raise PtxError(i.line, f"register {operand.base.name} cannot hold an address")
        dtype = np.dtype(f"u{bits // 8}")
        row = state.registers.source(operand.base, TYPES[f"u{bits}"], i.line)
        return row, dtype.type(operand.offset & ((1 << bits) - 1))
    address = operand.offset
    if isinstance(operand.base, Symbol):
        address += state.symbol(operand.base, i.line)
    return np.array(address & ((1 << 64) - 1), np.uint64), np.uint64(0)


class Generic:
    """A generic access: each lane's address is in the window of some space."""

    def __init__(
        self, state: State, i: Instruction, operand: Address, width: int, count: int, site: int, writes: bool
    ) -> None:
        self.state = state
        self.spaces = {
            space: Access(state, i, operand, space, width, count, site, writes)
            for space in ("global", "shared", "local", "param")
        }
        self.main = self.spaces["global"]

    def split(self, lanes: Lanes) -> list[tuple[Access, Lanes, Array]]:
        """For each space: its access, the lanes whose address lies there, and the addresses within the space."""
        addresses = self.main.addresses(lanes)
        window = addresses >> np.uint64(52)
        if not window.any():
            return [(self.main, lanes, addresses)]
        where = np.arange(self.state.lanes) if lanes is None else lanes
        parts: list[tuple[Access, Lanes, Array]] = []
        for space, start in (
            ("global", 0),
            ("shared", SHARED_WINDOW),
            ("local", LOCAL_WINDOW),
            ("param", PARAM_WINDOW),
        ):
            here = window == start >> 52
            if here.any():
                parts.append((self.spaces[space], where[here], addresses[here] - np.uint64(start)))
        return parts


def access_of(
    state: State, i: Instruction, operand: Address, space: str, width: int, count: int, site: int, writes: bool
) -> Access | Generic:
    """The access of an instruction to a space, `generic` included."""
    space = {"shared::cta": "shared", "shared::cluster": "shared", "param::entry": "param", "const": "global"}.get(
        space, space
    )
    if space == "generic":
        return Generic(state, i, operand, width, count, site, writes)
    return Access(state, i, operand, space, width, count, site, writes)


def parts_of(access: Access | Generic, lanes: Lanes) -> list[tuple[Access, Lanes, Array]]:
    """The plain accesses that an access consists of for some lanes."""
    if isinstance(access, Generic):
        return access.split(lanes)
    return [(access, lanes, access.addresses(lanes))]
