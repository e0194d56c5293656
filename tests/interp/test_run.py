"""Memory, control and the checks of `run`, on kernels written as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phobos.interp import InterpError, TrapError, bf16_from_f32, dims_of, run
from phobos.ir.kernel import GridAxis, Kernel, grid_of
from phobos.ir.parser import parse
from phobos.ir.verify import verify

TENSORS = "%A: tensor<f32>[M, N], %B: tensor<f32>[M, N]"
NUMBERS = "\n".join(f"%n{n}: index = const() {{value = {n}}}" for n in (0, 1, 2, 4))


def kernel(body: str, tensors: str = TENSORS, dims: str = "%M: index, %N: index", scalars: str = "") -> Kernel:
    made = parse(f'kernel k({tensors}; {dims}; {scalars})\nform "guarded"\n{{\n{NUMBERS}\n{body}\n}}', "k.tile")
    assert verify(made) == []
    return made


def counting(m: int, n: int) -> np.ndarray[Any, Any]:
    return np.arange(1, m * n + 1, dtype=np.float32).reshape(m, n)


# ---- memory -----------------------------------------------------------------------------------------------------

COPY = """
%t: tile<f32>[4, 4] = load(%A, [%i, %j], [%M, %N]) {{guards = ["{0}", "{1}"]}}
store(%B, [%i, %j], [%M, %N], %t) {{guards = ["{0}", "{1}"]}}
"""


@pytest.mark.parametrize("rows", ["", "hi", "lo", "both"])
@pytest.mark.parametrize("columns", ["", "hi", "lo", "both"])
@pytest.mark.parametrize("corner", [(0, 0), (3, 0), (-2, 1), (2, -3), (-1, -1), (4, 4), (9, 9), (-9, 0)])
def test_guards_mask_what_they_say(rows: str, columns: str, corner: tuple[int, int]) -> None:
    """Every guard combination: masked parts are skipped; what no guard masks and lies outside is an error."""
    k = kernel(COPY.format(rows, columns), scalars="%i: index, %j: index")
    a, b = counting(6, 7), np.zeros((6, 7), np.float32)

    def kept(guard: str, start: int, extent: int) -> tuple[list[int], bool]:
        at = [x for x in range(start, start + 4) if not (guard in ("hi", "both") and x >= extent)]
        at = [x for x in at if not (guard in ("lo", "both") and x < 0)]
        return at, all(0 <= x < extent for x in at)

    (i, good_i), (j, good_j) = kept(rows, corner[0], 6), kept(columns, corner[1], 7)
    arguments: dict[str, Any] = {"arrays": {"A": a, "B": b}, "scalars": {"i": corner[0], "j": corner[1]}}
    if i and j and not (good_i and good_j):
        with pytest.raises(InterpError, match="is outside its extent"):
            run(k, grid=(1, 1, 1), **arguments)
        assert not b.any()
    else:
        run(k, grid=(1, 1, 1), **arguments)
        expected = np.zeros_like(b)
        if i and j:
            expected[np.ix_(i, j)] = a[np.ix_(i, j)]
        assert np.array_equal(b, expected)


def test_masked_elements_read_0() -> None:
    k = kernel(
        """%t: tile<f32>[4, 4] = load(%A, [%n1, %n2], [%M, %N]) {guards = ["hi", "both"]}
        store(%B, [%n0, %n0], [%P, %P], %t) {guards = ["", ""]}""",
        tensors="%A: tensor<f32>[M, N], %B: tensor<f32>[P, P]",
        dims="%M: index, %N: index, %P: index",
    )
    a, b = counting(3, 4), np.full((4, 4), 9, np.float32)
    run(k, {"A": a, "B": b}, {}, (1, 1, 1))
    assert b.tolist() == [[7, 8, 0, 0], [11, 12, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_an_unguarded_access_outside_names_everything() -> None:
    k = kernel(COPY.format("hi", ""), scalars="%i: index, %j: index")
    arrays = {"A": counting(6, 7), "B": counting(6, 7)}
    with pytest.raises(InterpError) as e:
        run(k, arrays, {"i": 0, "j": 5}, (1, 1, 1))
    message = str(e.value)
    assert message.startswith("k.tile:9:1: index 7 of axis 1 of %A is outside its extent 7 (guard there: none)")
    assert "%t: tile<f32>[4, 4] = load(%A" in message
    with pytest.raises(InterpError, match=r"index -1 of axis 0 of %A is outside its extent 6 \(guard there: hi\)"):
        run(k, arrays, {"i": -1, "j": 0}, (1, 1, 1))


def test_a_wrong_extent_is_an_error() -> None:
    k = kernel('%t: tile<f32>[4, 4] = load(%A, [%n0, %n0], [%N, %M]) {guards = ["hi", "hi"]}')
    with pytest.raises(InterpError, match="extent of axis 0 of %A is 6, the op takes 7"):
        run(k, {"A": counting(6, 7), "B": counting(6, 7)}, {}, (1, 1, 1))


def test_points() -> None:
    k = kernel(
        """%v: bf16 = load_point(%A, [%i], [%N])
        store_point(%A, [%n1], [%N], %v)""",
        tensors="%A: tensor<bf16>[N]",
        dims="%N: index",
        scalars="%i: index",
    )
    a = bf16_from_f32(np.array([1.0, 2.0, 3.0], np.float32))
    run(k, {"A": a}, {"i": 2}, (1, 1, 1))
    assert a.tolist() == bf16_from_f32(np.array([1.0, 3.0, 3.0], np.float32)).tolist()
    for i in (3, -1):
        with pytest.raises(InterpError, match=f"index {i} of axis 0 of %A is outside its extent 3"):
            run(k, {"A": a}, {"i": i}, (1, 1, 1))


def test_a_tile_is_a_snapshot() -> None:
    """Two names for one array: what was loaded before a store stays."""
    k = kernel(
        """%t: tile<f32>[1, 4] = load(%A, [%n0, %n0], [%M, %N]) {guards = ["", ""]}
        store(%B, [%n0, %n1], [%M, %N], %t) {guards = ["", ""]}
        %u: tile<f32>[1, 4] = load(%A, [%n0, %n1], [%M, %N]) {guards = ["", ""]}
        store(%B, [%n0, %n0], [%M, %N], %t) {guards = ["", ""]}
        %s: tile<f32>[1, 4] = binary(%t, %u) {kind = "add"}
        store(%B, [%n0, %n0], [%M, %N], %s) {guards = ["", ""]}"""
    )
    a = counting(1, 5)
    run(k, {"A": a, "B": a}, {}, (1, 1, 1))
    assert a.tolist() == [[2, 4, 6, 8, 4]]


def test_strided_arrays_are_written_in_place() -> None:
    k = kernel(COPY.format("hi", "hi"), scalars="%i: index, %j: index")
    whole = np.zeros((8, 8), np.float32)
    run(k, {"A": counting(4, 4), "B": whole[::2, 1::2]}, {"i": 0, "j": 0}, (1, 1, 1))
    assert whole[::2, 1::2].tolist() == counting(4, 4).tolist()
    assert not whole[1::2].any()


def test_bool_tensors() -> None:
    k = kernel(
        """%t: tile<bool>[4] = load(%A, [%n0], [%N]) {guards = ["hi"]}
        %u: tile<bool>[4] = unary(%t) {kind = "not"}
        store(%A, [%n0], [%N], %u) {guards = ["hi"]}""",
        tensors="%A: tensor<bool>[N]",
        dims="%N: index",
    )
    a = np.array([True, False, True])
    run(k, {"A": a}, {}, (1, 1, 1))
    assert a.tolist() == [False, True, False]


# ---- control ----------------------------------------------------------------------------------------------------


def scalar_kernel(body: str, scalars: str) -> Kernel:
    """A kernel that stores the index %out into OUT[0]."""
    return kernel(
        f"""{body}
        %wide: i64 = cast(%out)
        store_point(%OUT, [%n0], [%n1], %wide)""",
        tensors="%OUT: tensor<i64>[1]",
        dims="",
        scalars=scalars,
    )


def result(k: Kernel, index_bits: int = 32, **scalars: int | bool) -> int:
    out = np.zeros(1, np.int64)
    run(k, {"OUT": out}, scalars, (1, 1, 1), index_bits)
    return int(out[0])


FOR = scalar_kernel(
    """[%out: index] = for(%lo, %hi, %step, [%n0]) body(%i: index, %sum: index) {
        %ten: index = const() {value = 10}
        %more: index = binary(%sum, %ten) {kind = "mul"}
        %next: index = binary(%more, %i) {kind = "add"}
        yield([%next])
    }""",
    "%lo: index, %hi: index, %step: index",
)


@pytest.mark.parametrize(
    ("lo", "hi", "step", "expected"),
    [(1, 4, 1, 123), (1, 6, 2, 135), (4, 1, 1, 0), (0, 0, 1, 0), (1, 5, 0, 0), (5, 1, -1, 0)],
)
def test_for(lo: int, hi: int, step: int, expected: int) -> None:
    assert result(FOR, lo=lo, hi=hi, step=step) == expected


def test_the_loop_variable_does_not_wrap() -> None:
    top = 2**31 - 1
    assert result(FOR, lo=top - 1, hi=top, step=3) == top - 1


def test_a_remainder_loop_runs_once_at_most() -> None:
    k = scalar_kernel(
        '[%out: index] = for(%n0, %hi, %n2, [%n0]) {part = "remainder"} body(%i: index, %s: index) { yield([%i]) }',
        "%hi: index",
    )
    assert result(k, hi=2) == 0
    with pytest.raises(InterpError, match="a remainder loop runs a second trip"):
        result(k, hi=3)


def test_while_gives_what_its_condition_passed_last() -> None:
    k = scalar_kernel(
        """[%out: index] = while([%n1]) cond(%a: index) {
            %go: bool = compare(%a, %limit) {kind = "lt"}
            %plus: index = binary(%a, %n1) {kind = "add"}
            yield([%go, %plus])
        } body(%b: index) {
            %twice: index = binary(%b, %n2) {kind = "mul"}
            yield([%twice])
        }""",
        "%limit: index",
    )
    assert result(k, limit=0) == 2  # not even one trip: the condition's own 1 + 1
    assert result(k, limit=10) == 11  # 1 -> 2 -> 4 -> 5 -> 10, then 10 + 1


def test_if() -> None:
    k = scalar_kernel(
        "[%out: index] = if(%p) then { yield([%n1]) } orelse { yield([%n2]) }",
        "%p: bool",
    )
    assert [result(k, p=True), result(k, p=False)] == [1, 2]


def test_a_broken_promise_traps() -> None:
    k = scalar_kernel(
        """%ok: bool = compare(%out, %n4) {kind = "ge"}
        require(%ok) {text = "@aligned(M = 4)"}""",
        "%out: index",
    )
    assert result(k, out=5) == 5
    with pytest.raises(TrapError, match=r"trap: @aligned\(M = 4\)"):
        result(k, out=3)


def test_index_width() -> None:
    k = scalar_kernel('%out: index = binary(%a, %a) {kind = "mul"}', "%a: index")
    assert result(k, 32, a=2**20) == 0
    assert result(k, 64, a=2**20) == 2**40


def test_blocks_run_with_x_fastest() -> None:
    k = kernel(
        """%x: index = program_id() {axis = 0}
        %y: index = program_id() {axis = 1}
        %z: index = program_id() {axis = 2}
        %gx: index = grid_size() {axis = 0}
        %gz: index = grid_size() {axis = 2}
        %seen: i32 = load_point(%A, [%n0, %n0, %n0], [%P, %Q, %R])
        %one: i32 = const() {value = 1}
        %next: i32 = binary(%seen, %one) {kind = "add"}
        store_point(%A, [%n0, %n0, %n0], [%P, %Q, %R], %next)
        store_point(%B, [%z, %y, %x], [%P, %Q, %R], %seen)
        %sizes: index = binary(%gx, %gz) {kind = "sub"}
        %as: i32 = cast(%sizes)
        store_point(%A, [%n0, %n0, %n1], [%P, %Q, %R], %as)""",
        tensors="%A: tensor<i32>[P, Q, R], %B: tensor<i32>[P, Q, R]",
        dims="%P: index, %Q: index, %R: index",
    )
    a, b = np.zeros((2, 3, 4), np.int32), np.zeros((2, 3, 4), np.int32)
    run(k, {"A": a, "B": b}, {}, (4, 3, 2))
    assert b.tolist() == np.arange(24).reshape(2, 3, 4).tolist()
    assert a[0, 0, 1] == 2


RING = """
kernel k(%A: tensor<f32>[M], %B: tensor<f32>[M]; %M: index; ) form "staged" {
  %n0: index = const() {value = 0}
  %n1: index = const() {value = 1}
  %buf: buffer<f32>[4] x 2 @rows(fast=0) = alloc() {label = "buf"}
  copy_async(%A, [%n0], [%M], %buf, %n1) {layout = LAYOUT, guards = ["hi"], width = 1}
  commit()
  WAIT
  %x: tile<f32>[4] @LAYOUT_ = read(%buf, SLOT)
  store(%B, [%n0], [%M], %x) {guards = ["hi"]}
}
""".replace("LAYOUT_", "blocked(vector=[1], lanes=[32], warps=[8], order=[0])").replace(
    "LAYOUT", "@blocked(shape=[4], vector=[1], lanes=[32], warps=[8], order=[0])"
)


@pytest.mark.parametrize(
    ("wait", "slot", "expected"),
    [
        ("wait() {pending = 0}", "%n1", [1.0, 2.0, 3.0]),
        ("wait() {pending = 1}", "%n1", None),  # the group may still be in flight: poison
        ("wait() {pending = 0}", "%n0", None),  # the other slot was never filled
    ],
)
def test_an_async_copy_arrives_at_its_wait(wait: str, slot: str, expected: list[float] | None) -> None:
    a, b = np.array([1, 2, 3], np.float32), np.zeros(3, np.float32)
    run(parse(RING.replace("WAIT", wait).replace("SLOT", slot)), {"A": a, "B": b}, {}, (1, 1, 1))
    assert np.isnan(b).all() if expected is None else b.tolist() == expected


def test_a_slot_that_is_not_there() -> None:
    text = RING.replace("WAIT", "wait() {pending = 0}").replace("SLOT", "%M")
    with pytest.raises(InterpError, match="slot 3 of %buf, which has 2"):
        run(parse(text), {"A": np.zeros(3, np.float32), "B": np.zeros(3, np.float32)}, {}, (1, 1, 1))


# ---- arguments --------------------------------------------------------------------------------------------------

ARGUMENTS = kernel("", "%A: tensor<f16>[M, 4], %B: tensor<bf16>[M]", "%M: index", "%n: i8, %x: f32")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": None}, "no array for the tensor A"),
        ({"A": np.zeros((3, 4), np.float32)}, r"A holds float32, tensor<f16>\[M, 4\] wants float16"),
        ({"B": np.zeros(3, np.float32)}, r"B holds float32, tensor<bf16>\[M\] wants uint16"),
        ({"A": np.zeros((3, 4, 1), np.float16)}, "A has 3 axes"),
        ({"A": np.zeros((3, 5), np.float16)}, "axis 1 of A is 5, 4 is 4 by its type"),
        ({"B": np.zeros(2, np.uint16)}, "axis 0 of B is 2, M is 3 by axis 0 of A"),
        ({"C": np.zeros(2)}, "the kernel has no array C"),
        ({"n": None}, "no value for the scalar n"),
        ({"n": 128}, "n = 128 does not fit i8"),
        ({"n": 1.5}, "n = 1.5 does not fit i8"),
        ({"m": 1}, "the kernel has no scalar m"),
    ],
)
def test_wrong_arguments(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"A": np.zeros((3, 4), np.float16), "B": np.zeros(3, np.uint16), "n": 1, "x": 2.0}
    given = {name: v for name, v in {**given, **change}.items() if v is not None}
    arrays = {n: v for n, v in given.items() if isinstance(v, np.ndarray)}
    scalars = {n: v for n, v in given.items() if n not in arrays}
    with pytest.raises(ValueError, match=message):
        run(ARGUMENTS, arrays, scalars, (1, 1, 1))


def test_an_index_width_of_16() -> None:
    with pytest.raises(ValueError, match="index_bits is 32 or 64, not 16"):
        run(ARGUMENTS, {}, {}, (1, 1, 1), 16)


def test_dims_of() -> None:
    arrays = {"A": np.zeros((3, 4), np.float16), "B": np.zeros(3, np.uint16)}
    assert dims_of(ARGUMENTS, arrays) == {"M": 3}


def test_grid_of() -> None:
    k = ARGUMENTS.replace(grid=(GridAxis("M", 64), GridAxis(65, 32), GridAxis()))
    assert grid_of(k, {"M": 129}) == (3, 3, 1)
    assert grid_of(k, {"M": 0}) == (0, 3, 1)
    with pytest.raises(ValueError, match="the grid's x axis needs the extent M"):
        grid_of(k, {})
    unknown = k.replace(grid=(GridAxis(), GridAxis(unknown="subscripts disagree"), GridAxis()))
    with pytest.raises(ValueError, match="the grid's y axis cannot be inferred: subscripts disagree"):
        grid_of(unknown, {})
