"""Control flow, memory, barriers, warps and asynchronous copies: what the machine computes."""

from __future__ import annotations

import numpy as np
import pytest

from phobos.sim import Checks, SimFault, simulate
from tests.sim.harness import kernel, launch

STORE = "mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], %r1;"
SHARED = ".shared .align 16 .b8 smem[4096];"


def run(body: str, count: int = 32, **options: object) -> list[int]:
    """A body that leaves a result in %r1 of each thread."""
    out = np.zeros(count, np.uint32)
    launch(kernel(body + STORE), [out], block=count, **options)  # type: ignore[arg-type]
    return out.tolist()


@pytest.mark.parametrize("count", [32, 96, 40])
def test_divergent_loop_and_branches(count: int) -> None:
    body = """
      mov.u32 %r1, 0; mov.u32 %r2, 0;
    LOOP: setp.ge.u32 %p1, %r2, %t; @%p1 bra DONE;
      and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;
      add.u32 %r1, %r1, 100; bra.uni NEXT;
    EVEN: add.u32 %r1, %r1, 1;
    NEXT: add.u32 %r2, %r2, 1; bra LOOP;
    DONE: activemask.b32 %r4; setp.ne.u32 %p3, %r4, 0xffffffff; @%p3 bra END;
      add.u32 %r1, %r1, 100000;
    END:
    """
    whole = count - count % 32  # the last warp is never complete when it has fewer than 32 threads
    want = [t // 2 * 100 + (t + 1) // 2 + (100000 if t < whole else 0) for t in range(count)]
    assert run(body, count) == want


def test_threads_exit_inside_a_loop() -> None:
    body = """
      mov.u32 %r1, 7; mov.u32 %r2, 0;
    LOOP: add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, %t; @%p1 exit;
      setp.lt.u32 %p2, %r2, 8; @%p2 bra LOOP;
    """
    assert run(body) == [7 if t == 0 or t > 8 else 0 for t in range(32)]


def test_guarded_instructions() -> None:
    body = "mov.u32 %r1, 1; setp.lt.u32 %p1, %t, 5; @%p1 mov.u32 %r1, 2; @!%p1 add.u32 %r1, %r1, 10;"
    assert run(body) == [2 if t < 5 else 11 for t in range(32)]


def test_indexed_branch() -> None:
    body = """
      and.b32 %r2, %t, 3;
      TABLE: .branchtargets A, B, C, B;
      brx.idx %r2, TABLE;
    A: mov.u32 %r1, 1; bra.uni END;
    B: mov.u32 %r1, 2; bra.uni END;
    C: mov.u32 %r1, 3;
    END:
    """
    assert run(body) == [[1, 2, 3, 2][t % 4] for t in range(32)]


def test_special_registers() -> None:
    ptx = kernel("""
      mov.u32 %r1, %tid.y; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %tid.z;
      mov.u32 %r6, %laneid; mov.u32 %r7, %warpid; mov.u32 %r8, %lanemask_lt; mov.u32 %r10, %ctaid.y;
      mad.lo.u32 %r9, %r1, %r3, %t; mad.lo.u32 %r9, %r5, 16, %r9; mad.lo.u32 %r11, %r10, %r4, %r2;
      mad.lo.u32 %r9, %r11, 64, %r9; mul.wide.u32 %rd1, %r9, 16; add.s64 %rd1, %out, %rd1;
      mad.lo.u32 %r12, %r7, 32, %r6; st.global.v4.u32 [%rd1], {%r12, %r8, %r11, %r4};
    """)
    out = np.zeros((6, 64, 4), np.uint32)
    simulate(ptx, "k", [out], (3, 2), (8, 2, 4))
    assert (out[:, :, 0] == np.arange(64)).all()
    assert (out[:, :, 1] == (1 << (np.arange(64) % 32)) - 1).all()
    assert (out[:, :, 2] == np.arange(6)[:, None]).all()
    assert (out[:, :, 3] == 3).all()


def test_widths_and_vectors_of_memory() -> None:
    ptx = kernel(
        """
      mul.wide.u32 %rd1, %t, 16; add.s64 %rd2, %in, %rd1; add.s64 %rd3, %out, %rd1;
      ld.global.nc.L2::128B.v4.b32 {%r1, %r2, %r3, %r4}, [%rd2];
      ld.global.s8 %r5, [%rd2+15]; ld.global.u16 %h1, [%rd2+2]; ld.global.v2.b64 {%rd4, %rd5}, [%rd2];
      ld.volatile.global.b64 %rd6, [%rd2+8];
      cvt.u32.u16 %r6, %h1; cvt.u32.u64 %r7, %rd6;
      st.global.v2.b32 [%rd3], {%r5, %r6}; st.global.b16 [%rd3+8], %h1; st.global.b8 [%rd3+10], %r4;
      st.global.b8 [%rd3+11], %h1; st.global.b32 [%rd3+12], %r7;
    """,
        ("out", "in"),
    )
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (32, 16), np.uint8)
    out = np.zeros((32, 16), np.uint8)
    launch(ptx, [out, data])
    assert (out.view(np.int32)[:, 0] == data[:, 15].view(np.int8)).all()
    assert (out.view(np.uint32)[:, 1] == data.view(np.uint16)[:, 1]).all()
    assert (out.view(np.uint16)[:, 4] == data.view(np.uint16)[:, 1]).all()
    assert (out[:, 10] == data[:, 12]).all()
    assert (out[:, 11] == data[:, 2]).all()
    assert (out.view(np.uint32)[:, 3] == data.view(np.uint32)[:, 2]).all()


def test_generic_addresses_constants_and_local_memory() -> None:
    body = f"""
      {SHARED} .local .align 8 .b8 mine[16];
      mov.u64 %rd2, table; cvta.global.u64 %rd2, %rd2; ld.u32 %r2, [%rd2+4];
      ld.const.u32 %r3, [fixed];
      mov.u32 %r4, smem; cvt.u64.u32 %rd3, %r4; cvta.shared.u64 %rd4, %rd3;
      mul.wide.u32 %rd5, %t, 4; add.s64 %rd4, %rd4, %rd5; st.u32 [%rd4], %t; ld.u32 %r5, [%rd4];
      cvta.to.shared.u64 %rd6, %rd4; ld.shared.u32 %r6, [%rd6];
      mov.u64 %rd7, mine; cvta.local.u64 %rd8, %rd7; st.local.u32 [%rd7+8], %t; ld.u32 %r7, [%rd8+8];
      isspacep.shared %p1, %rd4; isspacep.global %p2, %rd4; selp.u32 %r8, 1000, 0, %p1; selp.u32 %r9, 5000, 0, %p2;
      add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7; add.u32 %r1, %r1, %r8;
      add.u32 %r1, %r1, %r9;
    """
    out = np.zeros(32, np.uint32)
    extra = ".global .u32 table[2] = {3, 10};\n.const .u32 fixed = 20;"
    launch(kernel(body + STORE, extra=extra), [out])
    assert out.tolist() == [1030 + 3 * t for t in range(32)]


def test_parameters_of_all_kinds() -> None:
    text = """.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u8 b, .param .align 2 .b8 h[2], .param .f64 d, .param .align 16 .b8 v[16]) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .f64 %d;
  ld.param.u64 %rd1, [out]; ld.param.u8 %r1, [b]; ld.param.b16 %h1, [h]; ld.param.f64 %d, [d];
  ld.param.v2.b32 {%r2, %r3}, [v+8]; mov.b64 %rd2, v; cvta.param.u64 %rd3, %rd2; ld.b32 %r4, [%rd3+4];
  cvt.u32.u16 %r5, %h1; cvt.rzi.u32.f64 %r6, %d;
  st.global.v4.u32 [%rd1], {%r1, %r5, %r6, %r4}; st.global.v2.u32 [%rd1+16], {%r2, %r3}; ret; }
"""
    out = np.zeros(6, np.uint32)
    checks = Checks(races=False)  # every thread writes the same elements
    simulate(
        text, "k", [out, 200, np.float16(1.5), 7.9, np.arange(4, dtype=np.uint32).tobytes()], (1,), (32,), checks=checks
    )
    assert out.tolist() == [200, 0x3E00, 7, 1, 2, 3]


def test_atomics() -> None:
    ptx = kernel(
        """
      atom.global.add.u32 %r1, [%out], 2; atom.global.max.s32 %r2, [%out+4], %t;
      red.global.add.f32 [%out+8], 0f3F800000;
      atom.global.cas.b32 %r3, [%out+12], 0, %t; atom.global.inc.u32 %r4, [%out+16], 9; red.global.or.b32 [%out+20], %t;
      red.relaxed.gpu.global.add.noftz.f16x2 [%out+24], 0x3C003C00; atom.global.exch.b32 %r5, [%out+28], 5;
      atom.global.dec.u32 %r6, [%out+32], 3; atom.acq_rel.gpu.global.add.u64 %rd3, [%out+40], 1;
      red.global.add.v2.f32 [%out+48], {0f3F800000, 0f40000000}; atom.global.min.u32 %r8, [%out+56], %t;
      mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %old, %rd1; st.global.u32 [%rd1], %r1;
    """,
        ("out", "old"),
    )
    out = np.zeros(16, np.uint32)
    out[14] = 1000
    old = np.zeros(64, np.uint32)
    launch(ptx, [out, old], block=64)
    assert out[0] == 128
    assert old.tolist() == list(range(0, 128, 2))
    assert out[1] == 63
    assert out.view(np.float32)[2] == 64.0
    assert out[3] in range(64)
    assert out[4] == 64 % 10
    assert out[5] == 63
    assert out.view(np.float16)[12:14].tolist() == [64.0, 64.0]
    assert out[7] == 5
    assert out[8] == (-64) % 4
    assert out.view(np.uint64)[5] == 64
    assert out.view(np.float32)[12:14].tolist() == [64.0, 128.0]
    assert out[14] == 0


@pytest.mark.parametrize(
    ("instruction", "want"),
    [
        ("shfl.sync.idx.b32 %r1, %t, 3, 31, 0xffffffff;", lambda t: t // 32 * 32 + 3),
        ("shfl.sync.bfly.b32 %r1, %t, 5, 31, 0xffffffff;", lambda t: t ^ 5),
        ("shfl.sync.down.b32 %r1, %t, 4, 31, 0xffffffff;", lambda t: t + 4 if t % 32 < 28 else t),
        ("shfl.sync.up.b32 %r1, %t, 4, 0, 0xffffffff;", lambda t: t - 4 if t % 32 >= 4 else t),
        ("shfl.sync.bfly.b32 %r1|%p1, %t, 1, 0x1c1f, 0xffffffff; selp.u32 %r2, 100, 0, %p1; add.u32 %r1, %r1, %r2;",
         lambda t: (t ^ 1) + 100),
        # Segments of 8: c is 31 with a segment mask of 0b11000.
        ("shfl.sync.down.b32 %r1|%p1, %t, 3, 0x181f, 0xffffffff; selp.u32 %r2, 100, 0, %p1; add.u32 %r1, %r1, %r2;",
         lambda t: t + 103 if t % 8 < 5 else t),
        ("setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r1, %p1, 0xffffffff;", lambda t: 31 if t < 32 else 0),
        ("setp.lt.u32 %p1, %t, 40; vote.sync.all.pred %p2, %p1, 0xffffffff; selp.u32 %r1, 1, 0, %p2;",
         lambda t: t < 32),
        ("setp.lt.u32 %p1, %t, 40; vote.sync.any.pred %p2, !%p1, 0xffffffff; selp.u32 %r1, 1, 0, %p2;",
         lambda t: t >= 32),
        ("setp.lt.u32 %p1, %t, 40; vote.sync.uni.pred %p2, %p1, 0xffffffff; selp.u32 %r1, 1, 0, %p2;",
         lambda t: t < 32),
        ("redux.sync.add.s32 %r1, %t, 0xffffffff;", lambda t: sum(range(t // 32 * 32, t // 32 * 32 + 32))),
        ("redux.sync.max.u32 %r1, %t, 0xffffffff;", lambda t: t | 31),
        ("and.b32 %r2, %t, 1; match.any.sync.b32 %r1, %r2, 0xffffffff;", lambda t: 0xAAAAAAAA if t & 1 else 0x55555555),
        ("shr.u32 %r2, %t, 5; match.all.sync.b32 %r1|%p1, %r2, 0xffffffff;", lambda t: 0xFFFFFFFF),
        ("elect.sync %r2|%p1, 0xffffffff; selp.u32 %r1, 1, 0, %p1;", lambda t: t % 32 == 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_warp_instructions(instruction: str, want: object) -> None:
    assert run(instruction, 64) == [int(want(t)) for t in range(64)]  # type: ignore[operator]


def test_a_shuffle_in_halves_of_a_warp() -> None:
    body = """
      mov.u32 %r1, 0; setp.lt.u32 %p1, %t, 16; @%p1 bra LOW;
      shfl.sync.down.b32 %r1, %t, 1, 31, 0xffff0000; bra.uni END;
    LOW: shfl.sync.bfly.b32 %r1, %t, 1, 31, 0x0000ffff;
    END: bar.warp.sync 0xffffffff;
    """
    assert run(body) == [t ^ 1 if t < 16 else min(t + 1, 31) for t in range(32)]


def test_lanes_meet_at_a_shuffle_from_different_branches() -> None:
    # Both halves come to the same instruction one after the other, since the branch does not reconverge before.
    body = """
      mov.u32 %r2, %t; setp.lt.u32 %p1, %t, 16; @%p1 bra HERE; add.u32 %r2, %r2, 100;
    HERE: shfl.sync.bfly.b32 %r1, %r2, 16, 31, 0xffffffff;
    """
    assert run(body) == [t + 116 if t < 16 else t - 16 for t in range(32)]


def test_barriers_of_a_cta() -> None:
    body = f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %t;
      bar.sync 0;
      xor.b32 %r5, %r3, 508; add.u32 %r5, %r2, %r5; ld.shared.u32 %r1, [%r5];
      setp.lt.u32 %p1, %t, 50; bar.red.popc.u32 %r6, 0, %p1; add.u32 %r1, %r1, %r6;
      bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
      selp.u32 %r7, 1000, 0, %p2; selp.u32 %r8, 5000, 0, %p3; add.u32 %r1, %r1, %r7; add.u32 %r1, %r1, %r8;
    """
    assert run(body, 128) == [127 - t + 50 + 5000 for t in range(128)]


def test_producer_and_consumers_with_named_barriers() -> None:
    body = f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; mov.u32 %r1, 0; mov.u32 %r9, 0;
      setp.lt.u32 %p1, %t, 32; @%p1 bra PRODUCER;
    CONSUMER: bar.sync 1, 64; ld.shared.u32 %r5, [%r4+-128]; add.u32 %r1, %r1, %r5; bar.arrive 2, 64;
      add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3; @%p2 bra CONSUMER; bra.uni END;
    PRODUCER: mad.lo.u32 %r6, %r9, 1000, %t; st.shared.u32 [%r4], %r6; bar.arrive 1, 64; bar.sync 2, 64;
      add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3; @%p2 bra PRODUCER;
    END:
    """
    assert run(body, 64) == [0] * 32 + [3000 + 3 * t for t in range(32)]


def copying(wait: str) -> str:
    return f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd2, %r3;
      add.s64 %rd3, %in, %rd2;
      st.shared.v4.u32 [%r4], {{7, 7, 7, 7}};
      cp.async.cg.shared.global [%r4], [%rd3], 16; cp.async.commit_group;
      cp.async.ca.shared.global [%r4+512], [%rd3], 16, 8; cp.async.commit_group;
      {wait} ld.shared.u32 %r1, [%r4]; ld.shared.u32 %r5, [%r4+516]; ld.shared.u32 %r6, [%r4+520];
      add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;
    """


def test_asynchronous_copies_arrive_at_the_wait() -> None:
    data = np.arange(128, dtype=np.uint32) + 1000
    none = Checks.none()
    results = {}
    for wait in ("cp.async.wait_all;", "cp.async.wait_group 0;", "cp.async.wait_group 1;", "cp.async.wait_group 2;"):
        out = np.zeros(32, np.uint32)
        launch(kernel(copying(wait) + STORE, ("out", "in")), [out, data], checks=none)
        results[wait] = out.tolist()
    full = [1000 + 4 * t + 1001 + 4 * t for t in range(32)]  # the second copy takes 8 bytes and fills up with zeros
    assert results["cp.async.wait_all;"] == results["cp.async.wait_group 0;"] == full
    assert results["cp.async.wait_group 1;"] == [1000 + 4 * t for t in range(32)]
    assert results["cp.async.wait_group 2;"] == [7] * 32


def test_a_copy_that_ignores_its_source() -> None:
    body = f"""
      {SHARED} mov.u32 %r2, smem; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd2, %r3;
      add.s64 %rd3, %in, %rd2;
      setp.lt.u32 %p1, %t, 8; cp.async.ca.shared.global [%r4], [%rd3], 4, %p1; cp.async.wait_all;
      ld.shared.u32 %r1, [%r4];
    """
    out, data = np.zeros(32, np.uint32), np.arange(32, dtype=np.uint32) + 5
    launch(kernel(body + STORE, ("out", "in")), [out, data])
    assert out.tolist() == [0 if t < 8 else t + 5 for t in range(32)]


def test_ctas_wait_for_each_other() -> None:
    # CTA 0 waits for all others, which come later in the grid.
    body = """
      mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra OTHER;
    WAIT: ld.acquire.gpu.global.u32 %r4, [%flag]; add.u32 %r5, %r4, 1; setp.ne.u32 %p2, %r5, %r3; @%p2 bra WAIT;
      bar.sync 0; mov.u32 %r1, 0; mov.u32 %r6, 1;
    SUM: mul.wide.u32 %rd2, %r6, 4; add.s64 %rd2, %out, %rd2; ld.global.u32 %r7, [%rd2]; add.u32 %r1, %r1, %r7;
      add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, %r3; @%p3 bra SUM;
      setp.ne.u32 %p4, %t, 0; @%p4 exit; st.global.u32 [%out], %r1; ret;
    OTHER: setp.ne.u32 %p4, %t, 0; @%p4 bra SKIP;
      mul.wide.u32 %rd1, %r2, 4; add.s64 %rd1, %out, %rd1; st.global.u32 [%rd1], %r2;
    SKIP: bar.sync 0; @%p4 exit; membar.gl; red.global.add.u32 [%flag], 1;
    """
    out, flag = np.zeros(6, np.uint32), np.zeros(1, np.uint32)
    launch(kernel(body, ("out", "flag")), [out, flag], block=64, grid=6)
    assert out.tolist() == [15, 1, 2, 3, 4, 5]


def test_arrays_that_alias_and_views() -> None:
    ptx = kernel("mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %in, %rd1; add.s64 %rd3, %out, %rd1;"
                 "ld.global.u32 %r1, [%rd2];"
                 "add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;", ("out", "in"))  # fmt: skip
    whole = np.arange(64, dtype=np.uint32)
    launch(ptx, [whole[:32], whole[:32]])
    assert whole.tolist() == [*range(1, 33), *range(32, 64)]
    # Thread 24 writes what thread 0 reads.
    launch(ptx, [whole[8:40], whole[32:]], checks=Checks(races=False))
    assert whole[8:40].tolist() == list(range(33, 65))


def test_strided_arrays_lie_as_they_do_here() -> None:
    body = "shr.u32 %r2, %t, 3; and.b32 %r3, %t, 7; mad.lo.u32 %r4, %r2, PITCH, %r3; mul.wide.u32 %rd1, %r4, 4;"
    body += "add.s64 %rd2, %in, %rd1; add.s64 %rd3, %out, %rd1;"
    body += "ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;"
    source, whole = np.arange(48, dtype=np.uint32).reshape(4, 12), np.full((4, 12), 7, np.uint32)
    launch(kernel(body.replace("PITCH", "12"), ("out", "in")), [whole[:, 2:10], source[:, 2:10]])
    assert (whole[:, 2:10] == source[:, 2:10] + 1).all()
    assert (whole[:, :2] == 7).all()
    assert (whole[:, 10:] == 7).all()
    dense = kernel(body.replace("PITCH", "8"), ("out", "in"))
    with pytest.raises(SimFault, match=r"no tensor, tensor p_out: byte 32 of 176, between the rows in shape \[4, 8\]"):
        launch(dense, [whole[:, 2:10], source])
    found = launch(dense, [whole[:, 2:10], source], collect=True).findings
    assert [f.kind for f in found] == ["out of bounds"]


@pytest.mark.parametrize("options", [{"lanes": 64}, {"lanes": 64, "processes": 2}, {"lanes": 1 << 14}], ids=str)
def test_a_grid_in_several_waves_and_processes(options: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phobos.sim.run.PATIENCE", 0.0)
    ptx = kernel("mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %t; mul.wide.u32 %rd1, %r3, 4;"
                 "add.s64 %rd1, %out, %rd1;"
                 "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r3; st.global.u32 [%rd1], %r4;")  # fmt: skip
    out = np.ones(32 * 37, np.uint32)
    seen: list[int] = []
    result = launch(ptx, [out], grid=37, progress=lambda done, total: seen.append(done), **options)
    assert (out == np.arange(32 * 37) + 1).all()
    assert result.ctas == 37
    assert result.processes == options.get("processes", result.processes)
    assert seen[-1] == 37
    assert result.counters.instructions["st.global.u32"] == 37
    assert result.counters.sectors == 37 * 8


def test_dynamic_shared_memory() -> None:
    body = "mov.u32 %r2, dyn; shl.b32 %r3, %t, 2; add.u32 %r3, %r2, %r3; st.shared.u32 [%r3], %t;"
    body += "ld.shared.u32 %r1, [%r3];"
    out = np.zeros(32, np.uint32)
    launch(kernel(body + STORE, extra=".extern .shared .align 1024 .b8 dyn[];"), [out], dynamic_shared=128)
    assert out.tolist() == list(range(32))


def test_batching_changes_nothing() -> None:
    body = "".join(f"mad.lo.u32 %r{k}, %t, {k}, {k * k}; " for k in range(2, 14))
    body += "mov.u32 %r1, 0; " + "".join(f"xor.b32 %r1, %r1, %r{k}; add.u32 %r{k}, %r1, 1; " for k in range(2, 14))
    assert run(body) == run(body, batching=False)


def test_guarded_warp_instructions_and_barriers() -> None:
    body = """
      setp.lt.u32 %p1, %t, 16; mov.u32 %r1, 500; @%p1 shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xffff;
      setp.lt.u32 %p2, %t, 32; @%p2 barrier.sync 1, 32; @!%p2 add.u32 %r1, %r1, 1;
    """
    assert run(body, 64) == [t ^ 1 if t < 16 else 500 if t < 32 else 501 for t in range(64)]


def test_results_of_warp_instructions_count_as_written() -> None:
    body = """
      setp.lt.u32 %p1, %t, 32; @%p1 bra A; mov.u32 %r3, 1; bra B;
    A: shfl.sync.idx.b32 %r3, %t, 2, 31, 0xffffffff; bar.red.popc.u32 %r4, 1, 32, %p1;
    B: @%p1 add.u32 %r1, %r3, %r4; @!%p1 mov.u32 %r1, %r3;
    """
    assert run(body, 64) == [34] * 32 + [1] * 32
