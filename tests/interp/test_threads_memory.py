"""Points, runs and sums of single threads in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from phobos.interp import InterpError, bf16_from_f32, bf16_to_f32, run
from tests.interp.per_thread import MP, PUT, THREADS, XO, Array, T, i32, kernel, outcome, under

# ---- points -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [0, 5, 32, 100, 1000])
def test_a_lane_stride_loop_sums_in_its_order(m: int) -> None:
    body = """
    %z: f32 = const() {value = 0.0}
    [%out: f32] = for(%lane, %M, %n32, [%z]) body(%i: index, %acc: f32) {
      %x: f32 = load_point(%X, [%i], [%M]) {scope = "thread"}
      %next: f32 = fma(%x, %x, %acc)
      yield([%next])
    }
    """
    x, out = np.random.default_rng(3).standard_normal(m).astype(np.float32), np.full(THREADS, -1, np.float32)
    run(kernel(body + PUT, XO, MP), {"X": x, "O": out}, {}, (1, 1, 1))
    sums = np.zeros(THREADS, np.float32)
    for t in range(THREADS):
        for v in x[t % 32 :: 32].astype(np.float64):  # v * v is exact; one rounding to f64 and one to f32 differ rarely
            sums[t] = np.float32(v * v + np.float64(sums[t]))
    assert np.array_equal(out, sums)


STORE = 'store_point(%O, [%at], [%P], %out) {scope = "SCOPE"}'


@pytest.mark.parametrize(
    ("at", "value", "expected"),
    [
        ("%warp", "%warp", [0, 1]),
        ("%n2", "%warp", [-1, -1, 1]),  # one after the other: the later warp's stays
        ("%warp", "%n3", [3, 3]),
    ],
)
def test_warp_scope_stores_once_a_warp(at: str, value: str, expected: list[int]) -> None:
    text = i32("out", value[1:]) + STORE.replace("SCOPE", "warp").replace("%at", at)
    assert outcome(text) == expected + [-1] * (THREADS - len(expected))


@pytest.mark.parametrize(("at", "value"), [("%warp", "%lane"), ("%lane", "%warp")])
def test_warp_scope_needs_lanes_that_are_alike(at: str, value: str) -> None:
    with pytest.raises(InterpError, match="differs between the lanes of a warp"):
        outcome(i32("out", value[1:]) + STORE.replace("SCOPE", "warp").replace("%at", at))


def test_warp_scope_is_done_by_the_first_active_lane() -> None:
    """Lanes that are not there may hold anything."""
    body = f"""
    %some: bool = compare(%lane, %n4) {{kind = "ge"}}
    %lost: index = binary(%lane, %n4) {{kind = "min"}}
    %out: i32 = cast(%lost)
    if(%some) then {{
      {STORE.replace("SCOPE", "warp").replace("%at", "%warp")}
      yield([])
    }} orelse {{ yield([]) }}
    """
    assert outcome(body)[:3] == [4, 4, -1]


def test_cta_scope_needs_all_threads_alike() -> None:
    cta = STORE.replace("SCOPE", "cta")
    assert outcome(i32("out", "n3") + cta.replace("%at", "%n1"))[:3] == [-1, 3, -1]
    for at, value in (("%n1", "lane"), ("%warp", "n1")):
        with pytest.raises(InterpError, match=r'differs between threads; the scope of the store_point is "cta"'):
            outcome(i32("out", value) + cta.replace("%at", at))
    with pytest.raises(InterpError, match=r'load_point of scope "cta" under divergent control flow'):
        outcome(under("%x: i32 = load_point(%O, [%n0], [%P])"))


def test_of_threads_that_meet_the_last_active_one_stays() -> None:
    body = f"""
    %even: index = binary(%thread, %n1) {{kind = "and"}}
    %is: bool = compare(%even, %n0) {{kind = "eq"}}
    %at: index = binary(%lane, %n32) {{kind = "div"}}
    %out: i32 = cast(%thread)
    if(%is) then {{
      {STORE.replace("SCOPE", "thread")}
      yield([])
    }} orelse {{ yield([]) }}
    """
    assert outcome(body)[:2] == [62, -1]


def test_only_active_threads_must_stay_inside() -> None:
    text = '%x: f32 = load_point(%X, [%lane], [%M]) {scope = "thread"}\n'
    text += 'store_point(%O, [%lane], [%P], %x) {scope = "thread"}'
    out = np.zeros(4, np.float32)
    run(kernel(under(text), XO, MP), {"X": np.arange(4, dtype=np.float32), "O": out}, {}, (1, 1, 1))
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(InterpError, match=r"index 3 of axis 0 of %X is outside its extent 3 in thread 3 "):
        run(kernel(under(text), XO, MP), {"X": np.zeros(3, np.float32), "O": out}, {}, (1, 1, 1))
    with pytest.raises(InterpError, match=r"index 4 of axis 0 of %O is outside its extent 4 in thread 4 "):
        run(kernel(text, XO, MP), {"X": np.zeros(99, np.float32), "O": out}, {}, (1, 1, 1))
    back = '%back: index = binary(%n2, %thread) {kind = "sub"}\n' + text.replace("%X, [%lane]", "%X, [%back]")
    with pytest.raises(InterpError, match=r"index -1 of axis 0 of %X is outside its extent 9 in thread 3 "):
        run(kernel(back, XO, MP), {"X": np.zeros(9, np.float32), "O": out}, {}, (1, 1, 1))


# ---- runs and sums ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
def test_runs_along_either_axis(axis: int) -> None:
    """Each thread moves a run of its own, and inactive ones nothing."""
    at = ["[%n0, %thread]", "[%thread, %n2]"][axis]
    text = f"""%v: vec<bf16, 4> = load_run(%X, {at}, [%M, %P]) {{axis = {axis}}}
    %w: vec<bf16, 4> = binary(%v, %v) {{kind = "mul"}}
    store_run(%O, {at}, [%M, %P], %w) {{axis = {axis}}}"""
    tensors = ", ".join(f"%{n}: tensor<bf16>[M, P]" for n in "XO")
    x = bf16_from_f32(np.random.default_rng(1).standard_normal((80, 90)).astype(np.float32))
    out = np.zeros_like(x)
    run(kernel(under(text), tensors, MP), {"X": x, "O": out}, {}, (1, 1, 1))
    square = bf16_from_f32(bf16_to_f32(x) ** 2)
    expected = np.zeros_like(x)
    for t in (*range(4), *range(32, 36)):
        run_of = (slice(0, 4), t) if axis == 0 else (t, slice(2, 6))
        expected[run_of] = square[run_of]
    assert np.array_equal(out, expected)
    end = '%n77: index = const() {value = 77}\n%end: index = binary(%n77, %lane) {kind = "max"}\n'
    outside = kernel(end + text.replace("%n0, %thread", "%end, %thread"), tensors, MP)
    arrays = {"X": x, "O": out} if axis == 0 else {"X": x[:, :4], "O": out[:, :4]}
    with pytest.raises(InterpError, match=rf"index {80 - axis * 76} of axis {axis} of %X .* in thread 0 "):
        run(outside, arrays, {}, (1, 1, 1))


def test_runs_that_overlap_are_written_in_thread_order() -> None:
    text = """%v: vec<f32, 4> = load_run(%X, [%n0], [%M]) {axis = 0}
    %t: f32 = cast(%thread)
    %s: vec<f32, 4> = splat(%t)
    %w: vec<f32, 4> = binary(%v, %s) {kind = "add"}
    store_run(%O, [%AT], [%P], %w) {axis = 0}"""
    x, out = np.array([0, 100, 200, 300], np.float32), np.zeros(THREADS + 3, np.float32)
    run(kernel(text.replace("AT", "thread"), XO, MP), {"X": x, "O": out}, {}, (1, 1, 1))
    assert out.tolist() == [*range(THREADS), 163, 263, 363]
    reverse = '%n63: index = const() {value = 63}\n%at: index = binary(%n63, %thread) {kind = "sub"}\n'
    run(kernel(reverse + text.replace("AT", "at"), XO, MP), {"X": x, "O": out}, {}, (1, 1, 1))
    expected = np.zeros_like(out)
    for t in range(THREADS):
        expected[63 - t : 67 - t] = t + x
    assert np.array_equal(out, expected)


def test_a_run_past_the_last_index_does_not_come_back_in() -> None:
    """The index of its last element does not fit an i32."""
    text = "%v: vec<f32, 4> = load_run(%X, [%far], [%M]) {axis = 0}"
    k = kernel(text, "%X: tensor<f32>[M]", "%M: index", "%far: index")
    with pytest.raises(InterpError, match="index 2147483646 "):
        run(k, {"X": np.zeros(9, np.float32)}, {"far": 2**31 - 2}, (1, 1, 1))


@pytest.mark.parametrize(
    ("elem", "into", "numbers", "expected"),
    [
        ("f16", "f32", [2048, 1, 1, -2048], 2),  # in f16 each 1 would be lost
        ("bf16", "f32", [256, 1, 1, -256], 2),
        ("f32", "f32", [2**24, 1, 1, -(2**24)], 0),  # first to last, so each 1 is lost
        ("f32", "f32", [1, 1, 2**24, -(2**24)], 2),
        ("f32", "f32", [-0.0], -0.0),  # nothing is added to a first element
        ("f64", "f64", [2**24, 1, 1, -(2**24)], 2),
        ("i8", "i32", [100, 100, 100, 100], 400),
        ("i32", "i32", [2**31 - 1, 1], -(2**31)),
    ],
)
def test_sums_go_from_first_to_last_and_round_each_step(
    elem: str, into: str, numbers: list[float], expected: float
) -> None:
    n = len(numbers)
    kinds = {
        "f16": np.float16,
        "bf16": np.float32,
        "f32": np.float32,
        "f64": np.float64,
        "i8": np.int8,
        "i32": np.int32,
    }
    one: Array = np.array(numbers, kinds[elem])
    x = np.tile(bf16_from_f32(one) if elem == "bf16" else one, (THREADS, 1))
    x[7] = 0
    text = f"""%v: vec<{elem}, {n}> = load_run(%X, [%thread, %n0], [%P, %M]) {{axis = 1}}
    %out: {into} = sum_run(%v)\n{PUT}"""
    out = np.full(THREADS, 3, kinds[into])
    run(kernel(text, f"%X: tensor<{elem}>[P, M], %O: tensor<{into}>[P]", MP), {"X": x, "O": out}, {}, (1, 1, 1))
    assert out[7] == 0
    assert np.array_equal(np.delete(out, 7), np.full(THREADS - 1, expected, kinds[into]))
    assert np.array_equal(np.signbit(np.delete(out, 7)), np.full(THREADS - 1, np.signbit(expected)))


def test_an_element_of_a_run() -> None:
    text = """%v: vec<f32, 4> = load_run(%X, [%thread], [%M]) {axis = 0}
    %out: f32 = element(%v) {index = 2}"""
    out = np.zeros(THREADS, np.float32)
    run(kernel(f"{text}\n{PUT}", XO, MP), {"X": np.arange(99, dtype=np.float32), "O": out}, {}, (1, 1, 1))
    assert np.array_equal(out, T + 2)


# ---- atomics ----------------------------------------------------------------------------------------------------

ATOMIC = '%out: i32 = atomic(%O, [%n0], [%P], [%v]) {kind = "KIND", scope = "SCOPE"}'


def atomic(scope: str, value: str, kind: str = "add") -> str:
    return i32("v", value) + "\n" + ATOMIC.replace("KIND", kind).replace("SCOPE", scope)


@pytest.mark.parametrize(
    ("scope", "total"),
    [("cta", 3), ("warp", 3 * 2), ("thread", 3 * THREADS)],  # threads that do the same all do it
)
def test_an_atomic_happens_as_often_as_its_scope_says(scope: str, total: int) -> None:
    assert outcome(atomic(scope, "n3"))[:2] == [-1 + total, -1]


def test_an_atomic_gives_what_was_there() -> None:
    """In thread order; to all lanes of a warp alike."""
    five = "%five: i32 = const() {value = 5}\nstore_point(%O, [%n0], [%P], %five)\n"
    assert outcome(f"{five}{atomic('thread', 'n1')}\n{PUT}") == [5 + t for t in T]
    assert outcome(f"{five}{atomic('warp', 'warp', 'max')}\n{PUT}") == [5] * THREADS


def test_an_atomic_under_a_condition_is_its_active_threads() -> None:
    assert outcome(under(atomic("thread", "n2")))[0] == -1 + 2 * 8
    with pytest.raises(InterpError, match=r'atomic of scope "cta" under divergent control flow'):
        outcome(under(atomic("cta", "n2")))
    with pytest.raises(InterpError, match=r"differs between the lanes of a warp"):
        outcome(atomic("warp", "lane"))
