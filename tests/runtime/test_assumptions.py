"""What a launch may assume: variants that do without run and are right, `align` is compared, and promises are."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.errors import AlignedPromiseError, ArgumentError, LaunchError
from phobos.ir.kernel import Fact
from phobos.runtime import device, grid, variant
from phobos.runtime.bind import bind
from phobos.runtime.launch import Prepared
from phobos.sim import SimFault
from phobos.sim import simulate as run_ptx
from phobos.sim.storage import REGION, REGION_BITS

from .fakes import POINTER, FakeDriver, Interface

SOURCE = """\
kernel twice(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = 2.0 * X[i :+ 256]
}

kernel bytes(X: tensor<i8>[M, N], Y: tensor<i8>[M, N]) {
  let r = ctx.block.y * 4
  let c = ctx.block.x * 128
  Y[r :+ 4, c :+ 128] = X[r :+ 4, c :+ 128]
}

@launch(32)
kernel along(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.lane * 4
  if i + 4 <= N {
    store(Y[i :+ 4], elem(X[i :+ 4], align = 16), align = 8)
  }
}

@launch(32)
kernel rows(X: tensor<f32>[M, N], Y: tensor<f32>[M]) {
  if ctx.lane < M {
    Y[ctx.lane] = sum(X[ctx.lane, 0 :+ 4], align = 16)
  }
}

@launch(32)
kernel every_other_row(X: tensor<f32>[M, N], Y: tensor<f32>[M]) {
  if ctx.lane * 2 < M {
    Y[ctx.lane * 2] = sum(X[ctx.lane * 2, 0 :+ 4], align = 16)
  }
}

@launch(32)
kernel shifted(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.lane * 4 + 3
  if i + 4 <= N {
    store(Y[i :+ 4], elem(X[i :+ 4], align = 16), align = 4)
  }
}

@launch(32)
kernel anywhere(X: tensor<f32>[N], Y: tensor<f32>[N], s: i32) {
  let i = ctx.lane * 4
  if i + 8 <= N {
    store(Y[i :+ 4],
      elem(X[i + s :+ 4], align = 16))
  }
}

@aligned(K = 16)
kernel product(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let r = ctx.block.y * 16
  let c = ctx.block.x * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[r :+ 16, k :+ 16], B[k :+ 16, c :+ 16])
  }
  C[r :+ 16, c :+ 16] = acc
}

kernel quarters(X: tensor<f32>[N]) {
  let i = ctx.block.x * 4
  X[i :+ 4] = X[i :+ 4] + 1.0
}

@autotune(ROW in [65535, 65536])
kernel far(W: tensor<i8>[65536], X: tensor<i8>[M, N]) {
  let r = (ctx.block.x + 1) * ROW
  X[r :+ 1, 0 :+ 256] = i8(5)
}
"""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return FakeDriver().install(monkeypatch)


@pytest.fixture(scope="module")
def module() -> phobos.Module:
    return phobos.compile(SOURCE, target="sm_80")


def chosen(kernel: Any, *args: Any, blocks: int | None = None) -> Any:
    """The variant that a launch takes."""
    bound = bind(kernel.name, kernel.signature, args)
    first = kernel.variant()
    return variant.allowed(kernel, first, bound, grid.chosen(blocks, first.grid, bound.dims))


# ---- multiples of 4, 16 bytes -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1000, 1001, 1002, 1003, 3])
@pytest.mark.parametrize("x_at", [0, 1, 2])
@pytest.mark.parametrize("y_at", [0, 3])
def test_any_extent_at_any_address(module: phobos.Module, n: int, x_at: int, y_at: int) -> None:
    x = np.zeros(n + 4, np.float32)[x_at : x_at + n]
    x[:] = np.arange(n)
    whole = np.full(n + 16, 7, np.float32)
    y = whole[y_at : y_at + n]
    module.twice.simulate([x, y])
    np.testing.assert_array_equal(y, 2 * np.arange(n, dtype=np.float32))
    assert (whole[:y_at] == 7).all()
    assert (whole[y_at + n :] == 7).all()
    wanted = {("aligned_16", "X")} if x_at else set()
    wanted |= {("aligned_16", "Y")} if y_at else set()
    wanted |= {("multiple_of_4", "N")} if n % 4 else set()
    assert {(f.kind, f.subject) for f in chosen(module.twice, x, y).denied} == wanted


@pytest.mark.parametrize("n", [128, 130, 127])
def test_bytes_of_any_pitch(module: phobos.Module, n: int) -> None:
    x, y = np.arange(7 * n).reshape(7, n).astype(np.int8), np.zeros((7, n), np.int8)
    module.bytes.simulate([x, y])
    np.testing.assert_array_equal(y, x)


def test_a_variant_is_compiled_once_by_many_threads(driver: FakeDriver) -> None:
    kernel = phobos.compile(SOURCE, target="sm_80").twice
    args = Interface((1001,)), Interface((1001,), pointer=POINTER + 0x10000)
    start, made, failed = threading.Barrier(6), list[Any](), list[BaseException]()

    def launch() -> None:
        try:
            start.wait()
            kernel(*args)
            made.append(Prepared(kernel, args).artifact)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=launch) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert len({id(artifact) for artifact in made}) == 1
    assert driver.loads == [("twice", 0)]
    assert len(driver.launches) == 6


# ---- align --------------------------------------------------------------------------------------------------


def test_an_address_that_align_rules_out(driver: FakeDriver, module: phobos.Module) -> None:
    good, bad = Interface((64,)), Interface((64,), pointer=POINTER + 0x1004)
    module.along(good, Interface((64,), pointer=POINTER + 0x1008), grid=1)  # the store says 8 bytes, and keeps them
    with pytest.raises(ArgumentError) as caught:
        module.along(bad, good, grid=1)
    assert str(caught.value) == (
        "X: expected an address such that runs begin at multiples of 16 bytes, as `align = 16` on line 16 says of its "
        "runs, got the address 0x7f0000001004; leave `align` out, or pass a tensor that begins at such an address"
    )
    with pytest.raises(ArgumentError, match="Y: expected an address such that runs begin at multiples of 8 bytes, as"):
        module.along(good, bad, grid=1)
    assert len(driver.launches) == 1
    module.along(bad, good, grid=1, check=False)
    assert not {"ld.global.nc.v4.b32", "ld.global.v4.b32"} & set(chosen(module.along, bad, good, blocks=1).ptx.split())


def test_a_pitch_that_align_rules_out(driver: FakeDriver, module: phobos.Module) -> None:
    y = Interface((8,), pointer=POINTER + 0x10000)
    module.rows(Interface((8, 12)), y, grid=1)
    module.rows(Interface((1, 7)), Interface((1,), pointer=POINTER + 0x10000), grid=1)  # one row begins where X does
    for x in (Interface((8, 6)), Interface((8, 4), strides=(24, 4))):
        with pytest.raises(ArgumentError) as caught:
            module.rows(x, y, grid=1)
        assert str(caught.value) == (
            "X: expected rows that begin at multiples of 16 bytes, as `align = 16` on line 23 says of its runs, got a "
            "distance of 24 bytes along axis 0; leave `align` out, or pad the rows"
        )
    module.rows(Interface((8, 6), strides=(32, 4)), y, grid=1)
    module.every_other_row(Interface((8, 6)), y, grid=1)
    with pytest.raises(ArgumentError, match="a distance of 20 bytes along axis 0"):
        module.every_other_row(Interface((8, 5)), y, grid=1)
    assert len(driver.launches) == 4


def test_an_address_that_the_subscripts_make_good(driver: FakeDriver, module: phobos.Module) -> None:
    """4 elements to the right of 4 bytes before 16: only the sum counts, and what cannot be told is not refused."""
    y = Interface((64,), pointer=POINTER + 0x1000)
    module.shifted(Interface((64,), pointer=POINTER + 4), y, grid=1)
    with pytest.raises(ArgumentError, match="X: expected an address such that runs begin at multiples of 16 bytes"):
        module.shifted(Interface((64,)), y, grid=1)
    x, out = np.arange(68, dtype=np.float32)[1:65], np.zeros(64, np.float32)
    module.shifted.simulate([x, out], 1)
    np.testing.assert_array_equal(out[3:63], x[3:63])
    module.anywhere(Interface((64,), pointer=POINTER + 4), y, 3, grid=1)


def test_the_simulator_finds_what_the_launcher_cannot_tell(module: phobos.Module) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    module.anywhere.simulate([x, y, 4], 1)
    np.testing.assert_array_equal(y[:56], x[4:60])
    with pytest.raises(SimFault) as caught:
        module.anywhere.simulate([x, y, 3], 1)
    finding = caught.value.finding
    assert finding.kind == "misaligned"
    line = int(finding.source.split(":")[1])
    assert SOURCE.splitlines()[line - 1] == "      elem(X[i + s :+ 4], align = 16))"
    assert "16-byte access at an address that is no multiple of 16, in tensor X: element 3 of 64" in finding.message


def test_unchecked_rows_are_the_simulator_s_to_find(module: phobos.Module) -> None:
    x, y = np.ones((8, 6), np.float32), np.zeros(8, np.float32)
    with pytest.raises(ArgumentError):
        module.rows.simulate([x, y], 1)
    with pytest.raises(SimFault, match="misaligned: 16-byte access"):
        module.rows.simulate([x, y], 1, check=False)


def test_what_align_says_is_in_the_plan(module: phobos.Module) -> None:
    facts = {(f.kind, f.subject, f.meaning) for f in module.along.plan.facts}
    assert ("stated_align", "X", "the runs of X lie where `align` says") in facts
    assert ("stated_align", "Y", "the runs of Y lie where `align` says") in facts
    assert [(s.tensor, s.bytes, s.align) for s in module.along.artifact.stated] == [("X", 16, 16), ("Y", 8, 8)]


# ---- promises -----------------------------------------------------------------------------------------------


def test_a_promise_is_about_every_tensor_with_the_dim(module: phobos.Module) -> None:
    a, b = np.ones((20, 40), np.float32), np.ones((40, 20), np.float32)
    with pytest.raises(AlignedPromiseError) as caught:
        module.product.simulate([a, b, np.zeros((20, 20), np.float32)])
    assert str(caught.value) == (
        "product: @aligned(K = 16) promises that K is a multiple of 16, and A and B have K = 40; the kernel would trap"
    )
    walked = [g for access in module.product.plan.accesses for g in access.guards if g.extent == "K"]
    assert len(walked) == 2
    assert [g.guard for g in walked] == ["", ""]
    with pytest.raises(SimFault, match="trap"):
        module.product.simulate([a, b, np.zeros((20, 20), np.float32)], check=False)


# ---- grids --------------------------------------------------------------------------------------------------


def test_more_blocks_than_inferred_get_masks(module: phobos.Module) -> None:
    x = np.arange(64, dtype=np.float32)
    assert Fact("grid", "x") in module.quarters.artifact.used
    assert chosen(module.quarters, x, blocks=16) is module.quarters.artifact
    assert chosen(module.quarters, x, blocks=17).denied == {Fact("grid", "x")}
    module.quarters.simulate([x], 40)
    np.testing.assert_array_equal(x, np.arange(64) + 1)


# ---- wide indices -------------------------------------------------------------------------------------------


def far(kernel: Any, bits: int) -> np.ndarray[Any, Any]:
    """Write a row of X, 32768 bytes each, of which only those around element 2^31 exist: they are W's."""
    artifact = kernel.variant(index_bits=bits)
    w = np.zeros(65536, np.int8)
    wide = np.int32 if artifact.index_bits == 32 else np.int64
    here = (1 << REGION_BITS) + (REGION >> 1)
    values = [w, here + 32768 - 2**31, wide(65537), wide(32768)]
    run_ptx(artifact.ptx, "far", values, (1,), (artifact.threads,))
    return w


def test_the_boundary_is_at_2_to_the_31_elements(driver: FakeDriver, module: phobos.Module) -> None:
    """E19: 65535 and 65536 rows of 32768; the row before element 2^31, and the one that begins with it."""
    w, first = Interface((65536,), "|i1"), module.far
    last = first.configured(ROW=65536)
    for rows, bits in ((65535, 32), (65536, 64), (65537, 64)):
        args = w, Interface((rows, 32768), "|i1", POINTER + 2**20)
        assert Prepared(first, args, grid=1).artifact.index_bits == bits
    for bits in (32, 64):
        assert far(first, bits).nonzero()[0].tolist() == list(range(256))
    assert far(last, 64).nonzero()[0].tolist() == list(range(32768, 33024))
    with pytest.raises(SimFault) as caught:
        far(last, 32)
    assert caught.value.finding.kind == "overflow"


def test_a_32_bit_build_says_what_it_cannot_do() -> None:
    facts = {bits: phobos.compile(SOURCE, "sm_80", bits).twice.plan for bits in (32, 64)}
    said = [(f.kind, f.meaning) for f in facts[32].facts if f.kind == "index_32"]
    assert said == [("index_32", "every offset in elements fits in 31 bits")]
    assert not any(f.kind == "index_32" for f in facts[64].facts)


def test_without_a_gpu_the_checks_are_the_same(module: phobos.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "why_no_gpu", lambda: "no driver in this test")
    monkeypatch.setattr(device, "has_gpu", lambda: False)
    x, y = np.ones((8, 6), np.float32), np.zeros(8, np.float32)
    with pytest.raises(ArgumentError, match="X: expected rows that begin"):
        module.rows(x, y, grid=1)
    with pytest.raises(LaunchError, match="misaligned"):
        module.rows(x, y, grid=1, check=False)
