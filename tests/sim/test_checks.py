"""Each check, both ways: a kernel that it must object to, naming the place, and a near one that is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phobos.sim import Checks, Finding
from phobos.sim.races import Races
from tests.sim.harness import fault, kernel, launch

SHARED = ".shared .align 16 .b8 smem[1024];"
SLOT = f"{SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; mov.u32 %r1, 0;"
STORE = "mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], %r1;"
NEXT = "add.u32 %r5, %r3, 4; and.b32 %r5, %r5, 255; add.u32 %r5, %r2, %r5;"  # the slot of the thread after this one


def right(body: str, block: int = 64, grid: int = 1, **options: Any) -> None:
    """A kernel that no check objects to."""
    launch(kernel(body), [np.zeros(max(block, 64) * grid, np.uint32)], block, grid, **options)


def wrong(body: str, kind: str, block: int = 64, grid: int = 1, **options: Any) -> Finding:
    """A kernel that a check objects to; and the same with that check off runs."""
    finding = fault(kernel(body), [np.zeros(max(block, 64) * grid, np.uint32)], block, grid, **options).finding
    assert finding.kind == kind, str(finding)
    assert finding.kernel == "k"
    return finding


# Bounds and alignment.


def test_out_of_bounds_of_a_tensor() -> None:
    body = ".loc 1 7 3\n mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %out, %rd1; ld.global.u32 %r1, [%rd1+{}];"
    body += "st.global.u32 [%rd1], %r1;"
    ptx = kernel(body.format(4)) + '.file 1 "k.ph"\n'
    text = fault(ptx, [np.zeros(64, np.uint32)], 64, names=["A"]).finding
    assert text.kind == "out of bounds"
    assert text.message == "read of 4 bytes outside of tensor A: element 64 of 64"
    assert text.source == "k.ph:7:3"
    assert (text.block, text.thread) == ((0, 0, 0), (63, 0, 0))
    launch(kernel(body.format(0)), [np.zeros(64, np.uint32)], 64)
    # Far outside is still that tensor, before its start too, and the index of a matrix has its subscripts.
    text = fault(kernel(body.format(-4)), [np.zeros((8, 8), np.uint32)], 64).finding
    assert "element -1 of 64 [-1, 7] in shape [8, 8]" in text.message
    assert text.thread == (0, 0, 0)
    text = fault(kernel(body.format(1 << 30)), [np.zeros(64, np.uint32)], 64).finding
    assert f"element {(1 << 28)} of 64" in text.message


def test_null_and_wild_pointers() -> None:
    text = fault(kernel("st.global.u32 [%out], %t;"), [None]).finding
    assert "at an address that belongs to no tensor" in text.message
    text = fault(
        kernel("mov.u64 %rd1, table; st.global.u32 [%rd1], %t;", extra=".const .u32 table = 1;"), [None]
    ).finding
    assert "write to constant memory" in text.message


def test_out_of_bounds_of_shared_and_local_memory() -> None:
    finding = wrong(SLOT + f"st.shared.u32 [%r4+{1024 - 252}], %t;", "out of bounds")
    assert finding.message == "write of 4 bytes at offset 1024 of 1024 bytes of shared memory"
    assert finding.thread == (63, 0, 0)
    right(SLOT + f"st.shared.u32 [%r4+{1024 - 256}], %t;")
    wrong(SLOT + "ld.shared.u32 %r1, [%r4+-4];", "out of bounds")
    wrong(".local .b32 mine[4]; mov.u64 %rd1, mine; st.local.u32 [%rd1+16], %t;", "out of bounds")


def test_misaligned() -> None:
    finding = wrong("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+8];", "misaligned")
    assert "16-byte access at an address that is no multiple of 16, in tensor p_out: element 2 of 64" in finding.message
    right("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+16];")
    wrong(SLOT + "st.shared.u32 [%r4+2], %t;", "misaligned")
    # A view that starts off alignment is off alignment here as it would be on a device.
    ptx = kernel("ld.global.v2.u32 {%r1, %r2}, [%out];")
    assert fault(ptx, [np.zeros(64, np.uint32)[1:]]).finding.kind == "misaligned"
    launch(ptx, [np.zeros(64, np.uint32)[2:]])


# Uninitialised.


def test_uninitialised_registers() -> None:
    finding = wrong("setp.lt.u32 %p1, %t, 40; @%p1 mov.u32 %r1, 3; add.u32 %r2, %r1, 1;", "uninitialised")
    assert finding.message == "register %r1 is read and was never written"
    assert finding.thread == (40, 0, 0)
    right("setp.lt.u32 %p1, %t, 40; @%p1 mov.u32 %r1, 3; @%p1 add.u32 %r2, %r1, 1;")
    # Moving what is not set is no fault; using the copy is.
    right("mov.u32 %r2, %r1; mov.u32 %r3, %r2;")
    wrong("mov.u32 %r2, %r1; mov.u32 %r3, %r2; add.u32 %r3, %r3, 1;", "uninitialised")
    body = "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bra B; A: mov.u32 %r1, 1; B: @{}%p1 bra END; add.u32 %r2, %r1, 1; END:"
    right(body.format("!"))
    wrong(body.format(""), "uninitialised")
    launch(kernel("add.u32 %r2, %r1, 1;"), [np.zeros(1)], checks=Checks(uninitialised=False))


def test_uninitialised_shared_memory() -> None:
    store = "setp.lt.u32 %p1, %t, 63; @%p1 st.shared.u32 [%r4], %t; bar.sync 0;"
    finding = wrong(SLOT + store + NEXT + "ld.shared.u32 %r1, [%r5];",
                    "uninitialised")  # fmt: skip
    assert finding.message == "shared memory at offset 252 is read and was never written"
    assert finding.thread == (62, 0, 0)
    right(SLOT + "st.shared.u32 [%r4], %t; bar.sync 0;" + NEXT + "ld.shared.u32 %r1, [%r5];")
    # Each CTA starts with fresh shared memory.
    body = (
        SLOT + "mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 0; @%p1 st.shared.u32 [%r4], %t; ld.shared.u32 %r1, [%r4];"
    )
    assert wrong(body, "uninitialised", grid=2, lanes=64).block == (1, 0, 0)


# Races.

WRITE, READ = "st.shared.u32 [%r4], %t;", "ld.shared.u32 %r1, [%r5];"


def test_races_between_warps_of_a_cta() -> None:
    finding = wrong(SLOT + NEXT + ".loc 1 5 1\n" + WRITE + ".loc 1 6 1\n" + READ, "race")
    assert "this read races with an earlier write of shared memory byte 4: nothing orders them" in finding.message
    assert finding.source == "file 1:6:1"
    assert "written at file 1:5:1: st.shared.u32" in finding.related[0]
    assert finding.thread == (0, 0, 0)
    assert "thread (1, 0, 0)" in finding.related[0]
    right(SLOT + NEXT + WRITE + "bar.sync 0;" + READ)
    right(SLOT + WRITE + "ld.shared.u32 %r1, [%r4];")  # a thread and itself
    # Write after read, and write after write of the same value.
    first = WRITE + "bar.sync 0;" + READ
    finding = wrong(SLOT + NEXT + first + WRITE, "race")
    assert "this write races with an earlier read" in finding.message
    right(SLOT + NEXT + first + "bar.sync 0;" + WRITE)
    finding = wrong(SLOT + NEXT + WRITE + "st.shared.u32 [%r5], 7;", "race")
    assert "this write races with an earlier write" in finding.message
    finding = wrong(SLOT + "st.shared.u32 [smem], 7;", "race")
    assert "this write races with an earlier write" in finding.message
    right(SLOT + "setp.eq.u32 %p1, %t, 9; @%p1 st.shared.u32 [smem], 7; bar.sync 0; ld.shared.u32 %r1, [smem];")


def test_a_byte_that_many_read() -> None:
    # All read a word, one writes it: the writer must wait for all the readers, not only for the last of them.
    before = SLOT + "setp.eq.u32 %p1, %t, {}; @%p1 st.shared.u32 [smem], 7; bar.sync 0; ld.shared.u32 %r1, [smem];"
    after = "@%p1 st.shared.u32 [smem], 8;"
    for writer in (0, 31, 63):
        wrong(before.format(writer) + after, "race")
        right(before.format(writer) + "bar.sync 0;" + after)
    wrong(before.format(63) + "bar.warp.sync 0xffffffff;" + after, "race")


def test_lanes_of_a_warp_race_too() -> None:
    wrong(SLOT + NEXT + WRITE + READ, "race", block=32)
    lane = "xor.b32 %r5, %r3, 4; add.u32 %r5, %r2, %r5;"
    right(SLOT + lane + WRITE + "bar.warp.sync 0xffffffff;" + READ)
    right(SLOT + lane + WRITE + "shfl.sync.bfly.b32 %r9, %t, 1, 31, 0xffffffff;" + READ)
    right(
        SLOT + lane + WRITE + "bar.warp.sync 0xffffffff;" + READ + "bar.warp.sync 0xffffffff; st.shared.u32 [%r5], 3;"
    )
    wrong(SLOT + lane + WRITE + "bar.warp.sync 0xffffffff;" + READ + WRITE, "race")
    # A warp's synchronisation does nothing for another warp.
    wrong(SLOT + "xor.b32 %r5, %r3, 128; add.u32 %r5, %r2, %r5;" + WRITE + "bar.warp.sync 0xffffffff;" + READ, "race")
    # Halves of a warp that synchronise apart are ordered within the half only.
    halves = "setp.lt.u32 %p1, %t, 16; @%p1 bra A; bar.warp.sync 0xffff0000; bra B; A: bar.warp.sync 0xffff; B: "
    right(SLOT + lane + WRITE + halves + READ, block=32)
    wrong(SLOT + "xor.b32 %r5, %r3, 64; add.u32 %r5, %r2, %r5;" + WRITE + halves + READ, "race", block=32)


def test_named_barriers_order_only_those_who_meet() -> None:
    body = (
        SLOT
        + "mov.u32 %r1, 0; xor.b32 %r5, %r3, {}; add.u32 %r5, %r2, %r5; shr.u32 %r6, %t, 6; add.u32 %r6, %r6, 1;"
        + WRITE
    )
    right(body.format(128) + "bar.sync %r6, 64;" + READ, block=128)
    wrong(body.format(256) + "bar.sync %r6, 64;" + READ, "race", block=128)
    # What a barrier before that ordered stays ordered.
    right(body.format(256) + "bar.sync 0; bar.sync %r6, 64;" + READ, block=128)
    # Transitive: 0 before 1 before 2.
    chain = """
      shr.u32 %r6, %t, 5; setp.eq.u32 %p1, %r6, 0; setp.eq.u32 %p2, %r6, 1;
      @!%p1 bra B; st.shared.u32 [%r4], %t; bar.arrive 1, 64; bra END;
    B: @!%p2 bra C; bar.sync 1, 64; bar.arrive {}, 64; bra END;
    C: bar.sync 2, 64; ld.shared.u32 %r1, [%r4+-256];
    END: """
    right(SLOT + chain.format(2), block=96)


def test_asynchronous_copies() -> None:
    copy = "cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %out, %rd2; cp.async.ca.shared.global [%r4], [%rd3], 4;"
    copy += "cp.async.commit_group;"
    own, other = "ld.shared.u32 %r1, [%r4];", NEXT + "ld.shared.u32 %r1, [%r5];"
    finding = wrong(SLOT + copy + own, "race")
    assert finding.message.endswith("an asynchronous copy has not been waited for")
    right(SLOT + copy + "cp.async.wait_group 0;" + own)
    wrong(SLOT + copy + "cp.async.wait_group 1;" + own, "race")
    wrong(SLOT + copy + "cp.async.wait_group 0;" + other, "race")  # waited for by its own thread only
    wrong(SLOT + copy + "bar.sync 0; cp.async.wait_group 0;" + other, "race")
    right(SLOT + copy + "cp.async.wait_group 0; bar.sync 0;" + other)
    # A copy into what others still read.
    first = copy + "cp.async.wait_group 0; bar.sync 0;" + other
    wrong(SLOT + first + copy, "race")
    right(SLOT + first + "bar.sync 0;" + copy)


def test_asynchronous_copies_that_take_less() -> None:
    # Lane t copies 16 bytes from byte 16 t of 256, of which it takes what lies before byte `last`: 16, a part, or 0.
    body = f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3; mov.u32 %r1, 0;
      cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %out, %rd2; setp.eq.u32 %p1, %t, 0;
      sub.s32 %r5, {{last}}, %r3; max.s32 %r5, %r5, 0; min.s32 %r5, %r5, 16; {{before}}
      cp.async.cg.shared.global [%r4], [%rd3+{{skew}}], 16, %r5; cp.async.wait_all;
    """

    def copy(last: int, before: str = "", skew: int = 0) -> str:
        return body.format(last=last, before=before, skew=skew)

    for last in (0, 240, 244, 255, 256):
        right(copy(last))
    finding = wrong(copy(260), "out of bounds")  # whole copies, and one of 4 bytes past the end
    assert (finding.thread, finding.message[:27]) == ((16, 0, 0), "read of 4 bytes outside of ")
    finding = wrong(copy(272), "out of bounds")  # a whole one past the end
    assert (finding.thread, finding.message[:28]) == ((16, 0, 0), "read of 16 bytes outside of ")
    wrong(copy(244, skew=-16), "out of bounds")
    wrong(copy(244, skew=1 << 36), "out of bounds")
    wrong(copy(244, skew=4), "misaligned")
    # Lane 15 takes word 60 and not word 61; lane 16 takes nothing.
    for last in (244, 240):
        right(copy(last, "@%p1 st.global.u32 [%out+244], 7;"))
    right(copy(240, "@%p1 st.global.u32 [%out+240], 7;"))
    wrong(copy(244, "@%p1 st.global.u32 [%out+240], 7;"), "race")
    wrong(copy(240, "@%p1 st.global.u32 [%out+236], 7;"), "race")
    # One thread of another CTA writes what lane 15 of this one took.
    later = "mov.u32 %r8, %ctaid.x; shl.b32 %r8, %r8, 8; or.b32 %r8, %r8, %t; setp.eq.u32 %p2, %r8, 271;"
    later += "@%p2 st.global.u32 [%out+{}], 7;"
    finding = wrong(copy(244) + later.format(240), "race", grid=2)
    assert "this write races with an earlier read" in finding.message
    right(copy(244) + later.format(244), grid=2)


def test_a_copy_whose_source_is_at_fault_brings_zeros() -> None:
    body = f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 3; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd2, %r3;
      add.s64 %rd3, %in, %rd2; cp.async.ca.shared.global [%r4], [%rd3], 8, 4; cp.async.wait_all;
      ld.shared.u32 %r1, [%r4];
    """
    out, data = np.full(64, 5, np.uint32), np.full(64, 9, np.uint32)
    result = launch(kernel(body + STORE, ("out", "in")), [out, data], 64, collect=True)
    assert [finding.kind for finding in result.findings] == ["out of bounds"]
    assert out.tolist() == [9] * 32 + [0] * 32


def test_a_copy_is_checked_for_all_lanes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    read = Races.read

    def counted(races: Races, site: int, granules: Any, lanes: Any, want_written: bool) -> Any:
        calls.append(site)
        return read(races, site, granules, lanes, want_written)

    monkeypatch.setattr(Races, "read", counted)
    for last in (28, 32, 30):  # bytes that each lane takes at most 4 of
        body = f"sub.s32 %r5, {last}, %r3; max.s32 %r5, %r5, 0; min.s32 %r5, %r5, 4; cvt.u64.u32 %rd2, %r3;"
        body += "add.s64 %rd3, %out, %rd2; cp.async.ca.shared.global [%r4], [%rd3], 4, %r5; cp.async.wait_all;"
        calls.clear()
        result = launch(kernel(SLOT + body), [np.zeros(64, np.uint32)], 64)
        assert len(calls) == 1
        origin = next(access for access in result.counters.accesses.values() if access.sectors)
        assert (origin.sectors, origin.warps, origin.bytes) == (1, 1, last)


def test_races_in_global_memory() -> None:
    one = "mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], 7;"
    for lanes in (64, 4096):  # CTAs of different waves race like those of one
        finding = wrong(one, "race", grid=2, lanes=lanes)
        assert "this write races with an earlier write of tensor p_out" in finding.message
        assert finding.block == (1, 0, 0) or "block (1, 0, 0)" in finding.related[0]
    own = "mov.u32 %r8, %ctaid.x; mad.lo.u32 %r9, %r8, 64, %t; mul.wide.u32 %rd1, %r9, 4; add.s64 %rd1, %out, %rd1;"
    right(own + "st.global.u32 [%rd1], 7;", grid=2)
    wrong(own + "st.global.u32 [%rd1], 7; ld.global.u32 %r1, [%out];", "race", grid=2)
    wrong(own + "ld.global.u32 %r1, [%out+4]; bar.sync 0; st.global.u32 [%rd1], 7;", "race", grid=2)
    right(own + "ld.global.u32 %r1, [%out+4];", grid=2)
    right("red.global.add.u32 [%out], 1;", grid=4)
    wrong("red.global.add.u32 [%out], 1; bar.sync 0; ld.global.u32 %r1, [%out];", "race", grid=2)
    right("red.global.add.u32 [%out], 1; ld.relaxed.gpu.global.u32 %r1, [%out];", grid=2)
    # Threads of one CTA race in global memory as in shared memory.
    pair = (
        own + "st.global.u32 [%rd1], 7; xor.b32 %r9, %r9, 32; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd2, %out, %rd2; {}"
        "ld.global.u32 %r1, [%rd2];"
    )
    wrong(pair.format(""), "race")
    right(pair.format("bar.sync 0;"))


def test_acquire_and_release_order() -> None:
    message = """
      mov.u32 %r8, %ctaid.x; setp.ne.u32 %p3, %t, 0; @%p3 exit; setp.ne.u32 %p1, %r8, 0; @%p1 bra GET;
      st.global.u32 [%out+4], 7; {put} ret;
    GET: {get} setp.eq.u32 %p2, %r1, 0; @%p2 bra GET; {after} ld.global.u32 %r2, [%out+4];
    """
    plain = {"after": ""}
    right(
        message.format(
            put="st.release.gpu.global.u32 [%out], 1;", get="ld.acquire.gpu.global.u32 %r1, [%out];", **plain
        ),
        grid=2,
    )
    wrong(
        message.format(
            put="st.relaxed.gpu.global.u32 [%out], 1;", get="ld.acquire.gpu.global.u32 %r1, [%out];", **plain
        ),
        "race",
        grid=2,
    )
    wrong(
        message.format(
            put="st.release.gpu.global.u32 [%out], 1;", get="ld.relaxed.gpu.global.u32 %r1, [%out];", **plain
        ),
        "race",
        grid=2,
    )
    fence = "fence.acq_rel.gpu;"
    right(
        message.format(
            put=fence + "st.volatile.global.u32 [%out], 1;", get="ld.volatile.global.u32 %r1, [%out];", after=fence
        ),
        grid=2,
    )
    wrong(
        message.format(put="st.volatile.global.u32 [%out], 1;", get="ld.volatile.global.u32 %r1, [%out];", after=fence),
        "race",
        grid=2,
    )
    right(
        message.format(
            put=fence + "red.global.add.u32 [%out], 1;", get="atom.acquire.gpu.global.add.u32 %r1, [%out], 0;", **plain
        ),
        grid=2,
    )


def test_races_between_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phobos.sim.run.PATIENCE", 0.0)
    body = "mov.u32 %r8, %ctaid.x; setp.lt.u32 %p1, %r8, 3; @%p1 exit; st.global.u32 [%out], 7;"
    # CTAs 3 and 4 fall to different processes.
    finding = wrong(body, "race", block=1, grid=5, lanes=32, processes=2)
    assert "this write races with an earlier write of tensor p_out: element 0 of" in finding.message
    own = "mov.u32 %r8, %ctaid.x; mul.wide.u32 %rd1, %r8, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], 7;"
    right(own, block=1, grid=5, lanes=32, processes=2)
    read = own + "ld.global.u32 %r1, [%out+8];"
    wrong(read, "race", block=1, grid=5, lanes=32, processes=2)


# Barriers, deadlock, trap.


def test_a_barrier_that_part_of_a_cta_reaches() -> None:
    finding = wrong("setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 0;", "barrier")
    assert finding.message == "part of the CTA reaches this barrier: 32 of 64 threads have exited before it"
    right("bar.sync 0; setp.ge.u32 %p1, %t, 32; @%p1 exit;")
    finding = wrong("setp.ge.u32 %p1, %t, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:", "barrier")
    assert finding.message.startswith("part of a warp reaches an aligned barrier")
    right("setp.ge.u32 %p1, %t, 32; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:")
    right("setp.ge.u32 %p1, %t, 16; @%p1 bra A; barrier.sync 0; bra B; A: barrier.sync 0; B:")
    assert "there is no barrier 16" in wrong("bar.sync 16;", "barrier").message
    assert "not a number of warps" in wrong("bar.sync 1, 40;", "barrier").message


def test_deadlocks_say_who_waits_where() -> None:
    finding = wrong(
        ".loc 1 4 2\n setp.ge.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B:", "deadlock"
    )
    assert finding.related[0].startswith(
        "block (0, 0, 0): threads 0 to 31 wait at barrier 1, file 1:4:2 (bar.sync, PTX line "
    )
    assert finding.related[0].endswith("32 of 64 came")
    assert "threads 32 to 63 wait at barrier 2" in finding.related[1]
    finding = wrong("bar.sync 1, 96;", "barrier")
    finding = wrong("setp.ge.u32 %p1, %t, 32; @%p1 exit; bar.sync 1, 64;", "deadlock")
    assert "32 of 64 came" in finding.related[0]
    finding = wrong("setp.ge.u32 %p1, %t, 16; @%p1 bra A; shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffffffff; bra B;"
                    "A: bar.warp.sync 0xffffffff; B:",
                    "deadlock", block=32)  # fmt: skip
    assert any("wait for their warp at" in text for text in finding.related)
    finding = wrong("W: ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;", "deadlock")
    assert "wait in a loop" in finding.related[0]
    # A long loop without any effect is not a deadlock.
    right("mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 30000; @%p1 bra L;")


def test_lanes_outside_of_a_member_mask() -> None:
    assert "outside its own member mask" in wrong("shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff;", "warp", block=32).message
    body = "setp.lt.u32 %p1, %t, 16; @%p1 bra A; shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff0000; A:"
    assert "reads lane 0, which does not take part" in wrong(body, "shuffle", block=32).message


def test_traps() -> None:
    finding = wrong(".loc 1 9 1\n setp.ne.u32 %p1, %t, 40; @%p1 bra END; trap; END:", "trap")
    assert finding.thread == (40, 0, 0)
    assert finding.source == "file 1:9:1"
    right("setp.ne.u32 %p1, %t, 400; @%p1 bra END; trap; END:")


# Overflow.


def test_overflow_of_an_index() -> None:
    body = (
        "mov.u32 %r2, {}; mad.lo.s32 %r3, %r2, 32768, %t; {} mul.wide.{}32 %rd1, %r3, 4; add.s64 %rd2, %out, %rd1; {}"
    )
    use = "ld.global.u32 %r4, [%rd2];"
    finding = wrong(body.format(65536, "", "s", use), "overflow")
    assert finding.message == "a signed 32-bit index overflows on its way into an address"
    assert finding.instruction == "mad.lo.s32"
    assert "used at" in finding.related[0]
    right(body.format(65536, "", "s", ""))  # not used as an address
    right(body.format(65536, "", "s", "setp.gt.u32 %p1, %t, 900; @%p1 " + use))  # nor here, by any thread
    right(body.format(0, "", "s", use))
    # Through more arithmetic, and up to the same conclusion.
    finding = wrong(
        body.format(65535, "add.s32 %r3, %r3, 40000; mov.b32 %r5, %r3; sub.s32 %r3, %r5, 1;", "s", use), "overflow"
    )
    assert finding.instruction == "add.s32"
    # The source of a copy is an address, unless the copy takes nothing from it.
    copy = f"{SHARED} mov.u32 %r7, smem; cp.async.ca.shared.global [%r7], [%rd2], 8, {{}};"
    for taken in (8, 4):
        wrong(body.format(65536, "", "s", copy.format(taken)), "overflow")
    right(body.format(65536, "", "s", copy.format(0)), block=1)
    # Unsigned widening of a large index is not overflow; there it is merely outside of the tensor.
    wrong(body.format(65536, "", "u", use), "out of bounds")
    index = "mov.u32 %r2, 65536; mad.lo.s32 %r3, %r2, 65536, %t; mul.wide.s32 %rd1, %r3, 4;"
    launch(kernel(index + "add.s64 %rd2, %out, %rd1;" + use),
           [np.zeros(64, np.uint32)], checks=Checks(overflow=False))  # fmt: skip


# Collecting, counters.


def test_findings_can_be_collected() -> None:
    body = SLOT + NEXT + WRITE + READ + "ld.global.u32 %r6, [%out+1024]; st.shared.u32 [%r4+2], %r6;" + STORE
    result = launch(kernel(body), [np.zeros(64, np.uint32)], 64, collect=True)
    assert [finding.kind for finding in result.findings] == ["race", "out of bounds", "misaligned"]
    assert str(result.findings[1]).splitlines()[1].startswith("  in k at PTX line ")
    assert launch(kernel(SLOT + STORE), [np.zeros(64, np.uint32)], 64, collect=True).findings == []


def test_counters() -> None:
    body = "mul.wide.u32 %rd1, %t, {}; add.s64 %rd1, %out, %rd1; ld.global.u32 %r1, [%rd1];"
    for stride, sectors, lines in ((4, 4, 1), (8, 8, 2), (32, 32, 8), (128, 32, 32)):
        result = launch(kernel(body.format(stride)), [np.zeros(64 * 32, np.uint32)], 64)
        (access,) = result.counters.accesses.values()
        assert (access.sectors, access.lines, access.warps, access.bytes) == (2 * sectors, 2 * lines, 2, 256)
        assert result.counters.instructions["ld.global.u32"] == 2
    store = f"{SHARED} mov.u32 %r2, smem; mul.lo.u32 %r3, %t, {{}}; add.u32 %r3, %r2, %r3; st.shared.{{}} [%r3], {{}};"
    four = "{%t, %t, %t, %t}"
    for stride, type_, value, passes in (
        (4, "u32", "%t", 1),
        (8, "u32", "%t", 2),
        (16, "v4.u32", four, 4),
        (32, "u32", "%t", 8),
    ):
        result = launch(kernel(store.format(stride, type_, value)), [np.zeros(1)], 32)
        (access,) = result.counters.accesses.values()
        assert access.passes == passes
        assert result.counters.bank_conflicts == (0 if type_ == "v4.u32" else passes - 1)
    result = launch(kernel("setp.lt.u32 %p1, %t, 8; @%p1 bra A; mov.u32 %r1, 1; mov.u32 %r1, 2; A:"), [np.zeros(1)], 32)
    assert result.counters.masked_lanes == 2 * 8
    assert launch(kernel(body.format(4)), [np.zeros(64)], 32, count=False).counters.accesses == {}
