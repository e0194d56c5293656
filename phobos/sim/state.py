"""What a machine holds while it runs: lanes, registers, memories, shadows; and the means that steps are built with.

A *wave* is the CTAs that run together, `slots` of them. CTA `slot` has lanes `slot * width ..`, a thread a lane, its
width rounded up to whole warps; lanes that stand for no thread have exited before the first instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .carried import Orderings
from .checks import Checks
from .clocks import SITE_MASK, Clocks, site_of, thread_of
from .counters import Counters
from .errors import Finding, PtxError, SimFault
from .program import Program
from .races import Races
from .registers import RegisterFile
from .storage import GlobalMemory, LocalMemory, SharedMemory
from .syntax import Imm, Instruction, Not, Operand, Reg, Sink, Special, Symbol
from .table import Batch, Source, Step
from .types import TYPES, Type, immediate

Array = NDArray[Any]
WARP = 32
FINDING_LIMIT = 100


class State:
    """The state of one machine. Built once per launch (or worker) and used for wave after wave."""

    def __init__(
        self,
        program: Program,
        memory: GlobalMemory,
        params: bytes,
        symbols: dict[str, int],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        slots: int,
        shared_size: int,
        local_size: int,
        checks: Checks,
        count: bool,
        collect: bool,
    ) -> None:
        self.program = program
        self.memory = memory
        self.symbols = symbols
        self.grid, self.block = grid, block
        self.checks = checks
        self.collect = collect
        self.findings: list[Finding] = []
        self._reported: set[tuple[Any, ...]] = set()
        self.slots = slots
        self.threads = block[0] * block[1] * block[2]
        self.width = -(-self.threads // WARP) * WARP
        self.lanes = slots * self.width
        self.registers = RegisterFile(program.entry, self.lanes)
        self.params = np.frombuffer(params.ljust(-(-len(params) // 8) * 8 + 16, b"\0"), np.uint8)
        self.param_size = len(params)
        self.shared = SharedMemory(slots, shared_size)
        self.local = LocalMemory(self.lanes, local_size)
        self.slot = np.repeat(np.arange(slots), self.width)
        self.index = np.arange(self.lanes) % self.width
        self.exited = np.zeros(self.lanes, np.bool_)
        self.specials: dict[str, Array] = {}
        self.first_cta = 0
        self._geometry()
        # Memory instructions are sites; a site says whether its accesses are strong.
        self.sites: list[Instruction] = [Instruction("start", (), (), 0)]
        self.strong: list[bool] = [False]
        self.clocks = Clocks(slots, self.width, self.threads)
        self.shared_granule, self.global_granule = 0, 0  # log2 of bytes
        self.shared_races: Races | None = None
        self.global_races: Races | None = None
        self.counters = Counters() if count else None
        self.taint: dict[str, Array] = {}
        self.tainted = False
        self.overflows: dict[int, Instruction] = {}  # by lane: where its index first overflowed
        self.unset: dict[str, Array] = {}  # for registers that may be unset: which lanes have set them
        self.orderings: Orderings | None = None
        self.stores = 0  # executions of anything that changes memory, for finding loops that wait in vain
        self.scratch: dict[str, Any] = {}  # what instruction families keep between instructions, by family

    def _geometry(self) -> None:
        x, y, _z = self.block
        index = self.index.astype(np.uint32)

        def full(value: int) -> Array:
            return np.full(self.lanes, value, np.uint32)

        lane = index % WARP
        one = np.uint32(1)
        bit = one << lane
        self.specials = {
            "%tid.x": index % x, "%tid.y": index // x % y, "%tid.z": index // (x * y),
            "%laneid": lane, "%warpid": index // WARP, "%nwarpid": full(self.width // WARP),
            "%lanemask_eq": bit, "%lanemask_lt": bit - one, "%lanemask_le": bit | (bit - one),
            "%lanemask_gt": ~(bit | (bit - one)), "%lanemask_ge": ~(bit - one),
            "%smid": full(0), "%nsmid": full(1), "%gridid": full(0), "WARP_SZ": full(WARP),
            "%total_smem_size": full(self.shared.size), "%dynamic_smem_size": full(0),
            "%aggr_smem_size": full(self.shared.size), "%cluster_ctarank": full(0), "%cluster_nctarank": full(1),
        }  # fmt: skip
        for axis, (blocks, threads) in zip("xyz", zip(self.grid, self.block, strict=True), strict=True):
            self.specials[f"%ntid.{axis}"] = full(threads)
            self.specials[f"%nctaid.{axis}"] = full(blocks)
            self.specials[f"%ctaid.{axis}"] = full(0)
            self.specials[f"%cluster_ctaid.{axis}"] = full(0)
            self.specials[f"%cluster_nctaid.{axis}"] = full(1)
            self.specials[f"%nclusterid.{axis}"] = full(blocks)
        for axis in "xyz":
            self.specials[f"%clusterid.{axis}"] = self.specials[f"%ctaid.{axis}"]

    def begin_wave(self, first_cta: int) -> None:
        """Set up the CTAs from a linear index on; what stands past the grid's end has exited."""
        self.first_cta = first_cta
        cta = (first_cta + self.slot).astype(np.uint32)
        gx, gy, gz = self.grid
        self.specials["%ctaid.x"][:] = cta % gx
        self.specials["%ctaid.y"][:] = cta // gx % gy
        self.specials["%ctaid.z"][:] = cta // (gx * gy)
        self.exited[:] = (self.index >= self.threads) | (first_cta + self.slot >= gx * gy * gz)
        self.registers.clear()
        for row in (*self.taint.values(), *self.unset.values()):
            row[:] = False
        self.tainted = False
        self.overflows.clear()
        if self.orderings is not None:
            self.orderings.begin()
        self.clocks.begin(first_cta)
        for races in (self.shared_races, self.global_races):
            if races is not None:
                races.begin()

    def make_races(self) -> None:
        """Make the shadows; all sites must be known."""
        if self.checks.races or self.checks.uninitialised:
            assert len(self.sites) <= SITE_MASK, "more memory instructions than a tag can tell apart"
            granules = len(self.shared.data) >> self.shared_granule
            self.shared_races = Races(granules, self.clocks, self.strong, self._on_shared_race, False)
        if self.checks.races:
            granules = len(self.memory.arena) >> self.global_granule
            self.global_races = Races(granules, self.clocks, self.strong, self._on_global_race, True)

    # Building steps.

    def source(self, i: Instruction, operand: Operand, type_: Type) -> Array:
        """An operand as a live array of a type: a row of the register file, a special register or a constant."""
        if isinstance(operand, Reg):
            return self.registers.source(operand, type_, i.line)
        if isinstance(operand, Imm):
            return immediate(operand, type_)
        if isinstance(operand, Special):
            row = self.specials.get(operand.name)
            if row is None:
                raise PtxError(i.line, f"the special register {operand.name} is not supported here")
            return row.view(type_.dtype) if type_.bits == 32 else row.astype(type_.dtype)
        if isinstance(operand, Symbol):
            return np.array(self.symbol(operand, i.line), np.uint64).astype(type_.dtype)
        if isinstance(operand, Not) and type_.kind == "pred":
            raise PtxError(i.line, "a negated predicate is not allowed here")
        raise PtxError(i.line, f"unexpected operand of '{i.name}'")

    def predicate(self, i: Instruction, operand: Operand) -> Callable[[], Array]:
        """A predicate operand, perhaps negated, read when called."""
        if isinstance(operand, Not):
            row = self.source(i, operand.operand, TYPES["pred"])
            return lambda: ~row
        row = self.source(i, operand, TYPES["pred"])
        return lambda: row

    def symbol(self, symbol: Symbol, line: int) -> int:
        """The address of a variable in its own space."""
        if symbol.name not in self.symbols:
            raise PtxError(line, f"'{symbol.name}' has no address")
        return self.symbols[symbol.name] + symbol.offset

    def target(self, i: Instruction, operand: Operand, type_: Type) -> Array:
        """A destination to assign values of a type to."""
        if isinstance(operand, Reg):
            return self.registers.target(operand, type_, i.line)
        if isinstance(operand, Sink):
            return np.zeros(self.lanes, type_.dtype)
        raise PtxError(i.line, f"the destination of '{i.name}' is not a register")

    def pure(
        self,
        i: Instruction,
        fn: Callable[..., Any],
        result: Type,
        operands: tuple[tuple[Operand, Type], ...],
        target: Operand | None = None,
    ) -> Step:
        """A step that applies an elementwise function. `fn` must take arrays of any shape."""
        destination = i.operands[0] if target is None else target
        out = self.target(i, destination, result)
        sources = tuple(self.source(i, operand, type_) for operand, type_ in operands)
        full: Callable[[], object]
        if isinstance(fn, np.ufunc) and fn.nout == 1 and all(s.dtype == sources[0].dtype for s in sources):
            ufunc = fn
            same = out.dtype == sources[0].dtype or out.dtype == np.bool_
            if same and len(sources) == 2:
                a, b = sources
                full = partial(ufunc, a, b, out=out)
            elif same:
                full = partial(ufunc, *sources, out=out)
            else:

                def full() -> None:
                    out[:] = ufunc(*sources)
        elif len(sources) == 1:
            (only,) = sources

            def full() -> None:
                out[:] = fn(only)
        elif len(sources) == 2:
            first, second = sources

            def full() -> None:
                out[:] = fn(first, second)
        else:

            def full() -> None:
                out[:] = fn(*sources)

        def masked(mask: Array) -> None:
            np.copyto(out, fn(*sources), where=mask, casting="unsafe")

        return Step(full, masked, self._batch(i, fn, result, operands, destination))

    def _batch(
        self,
        i: Instruction,
        fn: Callable[..., Any],
        result: Type,
        operands: tuple[tuple[Operand, Type], ...],
        destination: Operand,
    ) -> Batch | None:
        if not isinstance(destination, Reg):
            return None
        target = self.registers.batch_source(destination, result)
        if target is None:
            return None
        sources = []
        for operand, type_ in operands:
            if isinstance(operand, Reg):
                source = self.registers.batch_source(operand, type_)
                if source is None:
                    return None
            else:
                source = Source(0, 0, type_.dtype, self.source(i, operand, type_))
            sources.append(source)
        # What is not a source is part of the function, such as the selector of a prmt.
        given = [operand for operand, _ in operands]
        baked = tuple(operand for operand in i.operands[1:] if operand not in given)
        return Batch((i.name, *baked), fn, tuple(sources), target)

    def site(self, i: Instruction, strong: bool) -> int:
        """Number a memory instruction."""
        self.sites.append(i)
        self.strong.append(strong)
        return len(self.sites) - 1

    # Reporting.

    def block_of(self, cta: int) -> tuple[int, int, int]:
        gx, gy, _gz = self.grid
        return cta % gx, cta // gx % gy, cta // (gx * gy)

    def thread_of(self, index: int) -> tuple[int, int, int]:
        x, y, _z = self.block
        return index % x, index // x % y, index // (x * y)

    def report(
        self,
        kind: str,
        i: Instruction,
        lane: int | None,
        message: str,
        address: int | None = None,
        related: tuple[str, ...] = (),
        key: tuple[Any, ...] = (),
        where: tuple[tuple[int, int, int], tuple[int, int, int]] | None = None,
    ) -> None:
        """A finding: raised, or collected once for each kind and instruction."""
        block, thread = where if where is not None else (None, None)
        if lane is not None:
            block = self.block_of(self.first_cta + int(self.slot[lane]))
            thread = self.thread_of(int(self.index[lane]))
        finding = Finding(
            kind, message, self.program.entry.name, self.program.source(i), i.line, i.name, block, thread, address,
            related,
        )  # fmt: skip
        if not self.collect:
            raise SimFault(finding)
        mark = (kind, i.line, *key)
        if mark not in self._reported and len(self.findings) < FINDING_LIMIT:
            self._reported.add(mark)
            self.findings.append(finding)

    def fail(self, kind: str, i: Instruction, lane: int | None, message: str, related: tuple[str, ...] = ()) -> None:
        """A finding after which the kernel cannot go on; raised in every mode."""
        collect, self.collect = self.collect, False
        try:
            self.report(kind, i, lane, message, related=related)
        finally:
            self.collect = collect

    def _on_shared_race(self, site: int, lane: int, granule: int, tag: int, was: str, now: str) -> None:
        address = (granule << self.shared_granule) - int(self.slot[lane]) * self.shared.stride
        self._race(site, lane, f"shared memory byte {address}", address, tag, was, now)

    def _on_global_race(self, site: int, lane: int, granule: int, tag: int, was: str, now: str) -> None:
        address, text = self._global_place(granule)
        self._race(site, lane, text, address, tag, was, now)

    def race_between(self, granule: int, now_tag: int, was_tag: int, was: str, now: str) -> None:
        """A race between CTAs that different processes ran."""
        address, text = self._global_place(granule)
        thread = int(thread_of(now_tag))
        where = (self.block_of(thread // self.threads), self.thread_of(thread % self.threads))
        self._race(int(site_of(now_tag)), None, text, address, was_tag, was, now, where)

    def _global_place(self, granule: int) -> tuple[int | None, str]:
        place = granule << self.global_granule
        for allocation in self.memory.allocations:
            if allocation.place <= place < allocation.place + max(allocation.size, 1):
                address = allocation.address + place - allocation.place
                return address, self.memory.describe(address)
        return None, "global memory"

    def _race(
        self,
        site: int,
        lane: int | None,
        what: str,
        address: int | None,
        tag: int,
        was: str,
        now: str,
        where: tuple[tuple[int, int, int], tuple[int, int, int]] | None = None,
    ) -> None:
        if not self.checks.races:
            return
        i, earlier = self.sites[site], self.sites[int(site_of(tag))]
        thread = int(thread_of(tag))
        pending = tag >> 62
        between = "an asynchronous copy has not been waited for" if pending else "nothing orders them"
        done = "copied" if pending else "written" if was == "write" else "read"
        related = (
            f"{done} at {self.program.source(earlier) or 'PTX'}: {earlier.name} (PTX line {earlier.line}), "
            f"block {self.block_of(thread // self.threads)}, thread {self.thread_of(thread % self.threads)}",
        )
        self.report(
            "race", i, lane, f"this {now} races with an earlier {was} of {what}: {between}", address, related,
            key=(earlier.line,), where=where,
        )  # fmt: skip
