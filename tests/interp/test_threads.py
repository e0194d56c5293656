"""Per-thread code in the interpreter: values that differ, and control flow that parts threads."""

from __future__ import annotations

import numpy as np
import pytest

from phobos.interp import InterpError, TrapError, bf16_from_f32, run
from phobos.interp.machine import Machine
from tests.interp.per_thread import MP, OUT, PUT, THREADS, XO, Array, T, i32, kernel, outcome, under

# ---- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "expected"), [("thread", T), ("warp", T // 32), ("lane", T % 32)])
def test_thread_indices(kind: str, expected: Array) -> None:
    assert outcome(f"{i32('out', kind)}\n{PUT}") == expected.tolist()


def test_what_is_alike_stays_one_value() -> None:
    k = kernel(
        """%a: index = binary(%n2, %n3) {kind = "mul"}
        %b: index = binary(%a, %lane) {kind = "add"}
        %v: vec<i32, 4> = load_run(%X, [%a], [%P]) {axis = 0}
        %w: vec<i32, 4> = load_run(%X, [%b], [%P]) {axis = 0}
        %s: vec<i32, 4> = binary(%v, %w) {kind = "add"}
        %p: i32 = element(%v) {index = 1}""",
        tensors="%X: tensor<i32>[P]",
    )
    m = Machine({k.tensors[0]: np.arange(99, dtype=np.int32)}, (0, 0, 0), (1, 1, 1), 32, thread_count=THREADS)
    m.values[k.dims[0]] = np.asarray(99, np.int32)
    m.run(k.body)
    shapes = {v.name: np.shape(now) for v, now in m.values.items()}
    assert {n: shapes[n] for n in "abvwsp"} == {"a": (), "b": (64,), "v": (4,), "w": (64, 4), "s": (64, 4), "p": ()}
    s = next(now for v, now in m.values.items() if v.name == "s")
    assert s[40].tolist() == [6 + 14, 7 + 15, 8 + 16, 9 + 17]


def test_vecs_of_as_many_elements_as_threads_are_not_mixed_up() -> None:
    """A varying scalar and a uniform vec then have one shape."""
    k = kernel(
        """%u: vec<f32, 32> = load_run(%X, [%n0], [%M]) {axis = 0}
        %x: f32 = load_point(%X, [%lane], [%M]) {scope = "thread"}
        %w: vec<f32, 32> = splat(%x)
        %d: vec<f32, 32> = fma(%u, %w, %u)
        store_run(%O, [%lane, %n0], [%P, %M], %d) {axis = 1}""",
        tensors="%X: tensor<f32>[M], %O: tensor<f32>[P, M]",
        dims="%P: index, %M: index",
        threads=32,
    )
    x, out = np.arange(1, 33, dtype=np.float32) / 8, np.zeros((32, 32), np.float32)
    run(k, {"X": x, "O": out}, {}, (1, 1, 1))
    assert np.array_equal(out, x[None, :] * x[:, None] + x[None, :])


@pytest.mark.parametrize("elem", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("op", ['binary(%x, %y) {kind = "div"}', 'unary(%x) {kind = "exp"}', "fma(%x, %y, %x)"])
def test_a_thread_rounds_as_a_tile_does(elem: str, op: str) -> None:
    rng = np.random.default_rng(7)
    x, y = (rng.standard_normal(THREADS).astype(np.float32) for _ in range(2))
    lanes, tile = np.zeros((2, THREADS), np.uint16 if elem == "bf16" else elem.replace("f", "float"))
    tensors = ", ".join(f"%{n}: tensor<{elem}>[P]" for n in "XYO")
    arrays = {n: bf16_from_f32(a) if elem == "bf16" else a.astype(lanes.dtype) for n, a in (("X", x), ("Y", y))}
    points = [f'%{n.lower()}: {elem} = load_point(%{n}, [%thread], [%P]) {{scope = "thread"}}' for n in "XY"]
    run(kernel("\n".join([*points, f"%out: {elem} = {op}", PUT]), tensors), {**arrays, "O": lanes}, {}, (1, 1, 1))
    loads = [f'%{n.lower()}: tile<{elem}>[64] = load(%{n}, [%n0], [%P]) {{guards = [""]}}' for n in "XY"]
    store = 'store(%O, [%n0], [%P], %out) {guards = [""]}'
    run(
        kernel("\n".join([*loads, f"%out: tile<{elem}>[64] = {op}", store]), tensors),
        {**arrays, "O": tile},
        {},
        (1, 1, 1),
    )
    assert lanes.any()
    assert np.array_equal(lanes.view(np.uint8), tile.view(np.uint8))


# ---- control ----------------------------------------------------------------------------------------------------

NESTED = """
%c0: i32 = const() {value = 0}
%c10: i32 = const() {value = 10}
%t: i32 = cast(%thread)
%half: bool = compare(%thread, %n32) {kind = "lt"}
%rest: index = binary(%thread, %n3) {kind = "rem"}
%third: bool = compare(%rest, %n0) {kind = "eq"}
[%out: i32, %same: i32] = if(%half) then {
  [%a: i32] = if(%third) then {
    %b: i32 = binary(%t, %c10) {kind = "mul"}
    yield([%b])
  } orelse {
    yield([%c10])
  }
  yield([%a, %c10])
} orelse {
  %d: i32 = unary(%t) {kind = "neg"}
  if(%third) then {
    store_point(%O, [%thread], [%P], %c0) {scope = "thread"}
    yield([])
  } orelse {
    yield([])
  }
  yield([%d, %c10])
}
"""


def test_nested_ifs_part_threads_and_join_their_results() -> None:
    assert outcome(NESTED + PUT) == [(t * 10 if t % 3 == 0 else 10) if t < 32 else -t for t in T]
    assert outcome(NESTED) == [0 if t >= 32 and t % 3 == 0 else -1 for t in T]  # the inner store alone
    assert outcome(NESTED.replace("%out:", "%other:").replace("%same:", "%out:") + PUT) == [10] * THREADS


def test_an_arm_that_no_thread_takes_is_not_run() -> None:
    """It would not end, and its access is outside."""
    body = """
    %none: bool = compare(%thread, %n0) {kind = "lt"}
    %yes: bool = const() {value = true}
    %t: i32 = cast(%thread)
    [%out: i32] = if(%none) then {
      while([]) cond { yield([%yes]) } body { yield([]) }
      %x: i32 = load_point(%O, [%P], [%P]) {scope = "thread"}
      yield([%x])
    } orelse { yield([%t]) }
    """
    body = body.replace("while([])", "[] = while([])")
    assert outcome(body + PUT) == T.tolist()


SUM_TO = """
%z: i32 = const() {value = 0}
%times: index = binary(%thread, %n3) {kind = "rem"}
%stop: index = binary(%thread, %times) {kind = "mul"}
[%out: i32] = for(%start, %stop, %step, [%z]) body(%i: index, %acc: i32) {
  %j: i32 = cast(%i)
  %next: i32 = binary(%acc, %j) {kind = "add"}
  yield([%next])
}
"""


@pytest.mark.parametrize("start", ["%thread", "%n4", "%lane"])
@pytest.mark.parametrize("step", ["%n1", "%times", "%n0"])
def test_loops_with_trips_of_their_own(start: str, step: str) -> None:
    """Bounds that differ in every way; a step that is 0 in some threads gives those no trips."""

    def number(name: str, t: int) -> int:
        return {"%thread": t, "%lane": t % 32, "%times": t % 3}[name] if name[1] != "n" else int(name[2:])

    body = SUM_TO.replace("%start", start).replace("%step", step)
    expected = [sum(range(number(start, t), t * (t % 3), s)) if (s := number(step, t)) else 0 for t in map(int, T)]
    assert outcome(body + PUT) == expected
    assert len(set(expected)) > 3 or step == "%n0"


def test_a_loop_of_equal_trips_under_an_if_stays_in_its_threads() -> None:
    body = """
    %z: i32 = const() {value = 5}
    %one: i32 = const() {value = 1}
    %low: bool = compare(%lane, %n4) {kind = "lt"}
    [%out: i32] = if(%low) then {
      [%sum: i32] = for(%n0, %n3, %n1, [%z]) body(%i: index, %acc: i32) {
        store_point(%O, [%thread], [%P], %acc) {scope = "thread"}
        %next: i32 = binary(%acc, %one) {kind = "add"}
        yield([%next])
      }
      yield([%sum])
    } orelse { yield([%one]) }
    """
    assert outcome(body) == [7 if t % 32 < 4 else -1 for t in T]
    assert outcome(body + PUT) == [8 if t % 32 < 4 else 1 for t in T]


def test_the_loop_variable_does_not_wrap() -> None:
    body = SUM_TO.replace("%next: i32 = binary(%acc, %j)", "%next: i32 = binary(%acc, %one)")
    body = '%one: i32 = const() {value = 1}\n%from: index = binary(%far, %lane) {kind = "sub"}\n' + body
    body = body.replace("%start, %stop, %step", "%from, %far, %n2")
    assert outcome(body + PUT, far=2**31 - 1) == [(t % 32 + 1) // 2 for t in T]


def test_a_remainder_loop_may_not_run_twice_in_any_thread() -> None:
    loop = SUM_TO.replace("%start, %stop, %step", "%n0, %limit, %n1").replace(") body", ') {part = "remainder"} body')
    first = '%limit: index = binary(%lane, %n1) {kind = "min"}\n'
    assert outcome(first + loop + PUT) == [0] * THREADS
    with pytest.raises(InterpError, match="second trip"):
        outcome(first.replace("%n1", "%n2") + loop + PUT)


COLLATZ = """
%z: index = const() {value = 0}
%from: index = binary(%thread, %n1) {kind = "add"}
[%last: index, %steps: index] = while([%from, %z]) cond(%a: index, %n: index) {
  %more: bool = compare(%a, %n1) {kind = "ne"}
  yield([%more, %a, %n])
} body(%b: index, %k: index) {
  %odd: index = binary(%b, %n1) {kind = "and"}
  %is: bool = compare(%odd, %n1) {kind = "eq"}
  [%c: index] = if(%is) then {
    %d: index = fma(%b, %n3, %n1)
    yield([%d])
  } orelse {
    %e: index = binary(%b, %n2) {kind = "div"}
    yield([%e])
  }
  %k1: index = binary(%k, %n1) {kind = "add"}
  yield([%c, %k1])
}
"""


def steps_of(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = 3 * n + 1 if n % 2 else n // 2, steps + 1
    return steps


def test_while_runs_as_long_as_each_thread_wants() -> None:
    assert outcome(COLLATZ + i32("out", "steps") + PUT) == [steps_of(t + 1) for t in range(THREADS)]
    assert outcome(COLLATZ + i32("out", "last") + PUT) == [1] * THREADS


def test_a_while_that_parts_after_some_trips_and_hands_on_what_its_condition_gave() -> None:
    """The condition is alike in the first trips; it also changes what it passes on and has an effect."""
    body = """
    %z: index = const() {value = 0}
    [%n: index] = while([%z]) cond(%a: index) {
      %b: index = binary(%a, %n1) {kind = "add"}
      %seen: i32 = cast(%b)
      store_point(%O, [%thread], [%P], %seen) {scope = "thread"}
      %early: bool = compare(%b, %n4) {kind = "lt"}
      [%go: bool] = if(%early) then { yield([%early]) } orelse {
        %mine: bool = compare(%b, %lane) {kind = "lt"}
        yield([%mine])
      }
      yield([%go, %b])
    } body(%c: index) { yield([%c]) }
    """
    expected = [max(4, t % 32) for t in T]
    assert outcome(body) == expected
    assert outcome(body + i32("out", "n") + PUT) == expected


def test_a_flag_that_breaks() -> None:
    """`for i in range(M) { if X[i] == lane { found = i; break } }`, as lowering writes it."""
    body = """
    %no: bool = const() {value = false}
    %yes: bool = const() {value = true}
    %none: i32 = const() {value = 99}
    [%broken: bool, %out: i32] = for(%n0, %M, %n1, [%no, %none]) body(%i: index, %b: bool, %f: i32) {
      %on: bool = unary(%b) {kind = "not"}
      [%b1: bool, %f1: i32] = if(%on) then {
        %x: i32 = load_point(%X, [%i], [%M]) {scope = "thread"}
        %me: i32 = cast(%lane)
        %hit: bool = compare(%x, %me) {kind = "eq"}
        [%b2: bool, %f2: i32] = if(%hit) then {
          %at: i32 = cast(%i)
          yield([%yes, %at])
        } orelse { yield([%b, %f]) }
        yield([%b2, %f2])
      } orelse { yield([%b, %f]) }
      yield([%b1, %f1])
    }
    """
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], np.int32)
    out = np.zeros(THREADS, np.int32)
    k = kernel(body + PUT, f"{OUT}, %X: tensor<i32>[M]", "%P: index, %M: index")
    run(k, {"O": out, "X": x}, {}, (1, 1, 1))
    assert out.tolist() == [x.tolist().index(t % 32) if t % 32 in x else 99 for t in T]


def test_require_holds_in_every_active_thread() -> None:
    body = """
    %small: bool = compare(%thread, %n32) {kind = "lt"}
    %ok: bool = compare(%thread, %bound) {kind = "lt"}
    if(%small) then {
      require(%ok) {text = "few"}
      yield([])
    } orelse { yield([]) }
    """
    outcome(body, bound=32)
    with pytest.raises(TrapError, match="trap in thread 31: few"):
        outcome(body, bound=31)


# ---- the same program, thread by thread -------------------------------------------------------------------------


class Programs:
    """Random structured programs over i32 scalars, all control on conditions that may differ.

    A thread keeps a number in memory too, at its own place: a step in a thread that is not active would show there.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, known: list[str]) -> str:
        return known[int(self.rng.integers(len(known)))]

    def block(self, known: list[str], depth: int) -> tuple[str, list[str]]:
        """Text, and what is known after it."""
        text, before, known = "", len(known), list(known)
        for _ in range(int(self.rng.integers(2, 5))):
            a, b, out = self.pick(known), self.pick(known), self.name()
            choice = self.rng.integers(7) if depth else self.rng.integers(3)
            if choice == 0:
                text += f'{out}: i32 = load_point(%O, [%thread], [%P]) {{scope = "thread"}}\n'
                text += f'store_point(%O, [%thread], [%P], {a}) {{scope = "thread"}}\n'
            elif choice < 4:
                kind = ("add", "sub", "mul", "xor", "min", "rem")[int(self.rng.integers(6))]
                text += f'{out}: i32 = binary({a}, {b}) {{kind = "{kind}"}}\n'
            elif choice == 4:
                cond, arms = self.name(), [self.block(known, depth - 1) for _ in range(2)]
                then, orelse = (f"{t} yield([{k[-1]}])" for t, k in arms)
                text += f'{cond}: bool = compare({a}, {b}) {{kind = "lt"}}\n'
                text += f"[{out}: i32] = if({cond}) then {{\n{then} }} orelse {{\n{orelse} }}\n"
            else:
                limits = [self.name() for _ in range(3)]
                for limit in limits:
                    text += f'{limit}: i32 = binary({self.pick(known)}, %c7) {{kind = "rem"}}\n'
                text += self.loop(known, depth, limits, out, choice == 5)
            known.append(out)
        for seen in known[before:]:  # the last value depends on all of them
            known.append(self.name())
            text += f"{known[-1]}: i32 = fma({known[-2]}, %c7, {seen})\n"
        return text, known

    def loop(self, known: list[str], depth: int, limits: list[str], out: str, counted: bool) -> str:
        i, acc = self.name(), self.name()
        body, inner = self.block([*known, i, acc], depth - 1)
        if counted:
            head = f"[{out}: i32] = for({', '.join(limits)}, [{limits[0]}]) body({i}: i32, {acc}: i32)"
            return f"{head} {{\n{body} yield([{inner[-1]}])\n}}\n"
        a, b, go, n, left = (self.name() for _ in range(5))
        cond = f'{go}: bool = compare({a}, %c0) {{kind = "gt"}}\nyield([{go}, {a}, {b}])'
        body += f'{n}: i32 = binary({i}, %c1) {{kind = "sub"}}\nyield([{n}, {inner[-1]}])'
        head = f"[{left}: i32, {out}: i32] = while([{limits[0]}, {limits[1]}]) cond({a}: i32, {b}: i32)"
        return f"{head} {{\n{cond} }} body({i}: i32, {acc}: i32) {{\n{body} }}\n"


@pytest.mark.parametrize("seed", range(12))
def test_threads_do_together_what_each_does_alone(seed: int) -> None:
    """Against the same program on one value at a time, where no control flow parts."""
    consts = "".join(f"%c{n}: i32 = const() {{value = {n}}}\n" for n in (0, 1, 7))
    text, known = Programs(seed).block(["%me", "%c7"], 3)
    text = consts + text + f"%out: i32 = fma({known[-1]}, {known[-1]}, %me)\n"
    together = outcome(i32("me", "thread") + "\n" + text + PUT)
    one = (i32("me", "thread") + "\n" + text + PUT).replace("%thread", "%who")
    alone = kernel(one, scalars="%who: index", threads=32)
    out = np.full(THREADS, -1, np.int32)
    for t in range(THREADS):
        run(alone, {"O": out}, {"who": t}, (1, 1, 1))
    assert together == out.tolist()


# ---- the CTA together -------------------------------------------------------------------------------------------

TILE = '%tile: tile<f32>[4] = load(%X, [%n0], [%M]) {guards = [""]}\n'


def whole(body: str) -> list[float]:
    out = np.zeros(9, np.float32)
    run(kernel(body, XO, MP), {"X": np.arange(1, 10, dtype=np.float32), "O": out}, {}, (1, 1, 1))
    return list(map(float, out))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("barrier()", "barrier"),
        (TILE, "load"),
        ('%d: tile<f32>[4] = binary(%tile, %tile) {kind = "add"}', "binary"),
        ('store(%O, [%n0], [%P], %tile) {guards = [""]}', "store"),
        ("[%d: tile<f32>[4]] = for(%n0, %n1, %n1, [%tile]) body(%i: index, %c: tile<f32>[4]) { yield([%c]) }", "for"),
    ],
)
def test_the_whole_cta_must_be_there(text: str, what: str) -> None:
    before = "" if text == TILE else TILE
    whole(before + under(text, '%low: bool = compare(%n0, %n4) {kind = "lt"}'))
    with pytest.raises(InterpError, match=f"{what} under divergent control flow"):
        whole(before + under(text))
    with pytest.raises(InterpError, match=f"{what} under divergent control flow"):  # though all threads are there
        whole(before + under(text, '%low: bool = compare(%lane, %n0) {kind = "ge"}'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%f: f32 = cast(%lane)\n%s: tile<f32>[4] = splat(%f)", "%f differs between threads; splat"),
        ('%t: tile<f32>[4] = load(%X, [%warp], [%M]) {guards = [""]}', "%warp differs between threads; load"),
        ('store(%O, [%lane], [%P], %tile) {guards = ["hi"]}', "%lane differs between threads; store"),
        (
            '%c: bool = compare(%lane, %n1) {kind = "eq"}\n'
            "[%s: tile<f32>[4]] = if(%c) then { yield([%tile]) } orelse { yield([%tile]) }",
            "the condition %c differs between threads; if gives the tile %s",
        ),
        (
            "[%s: tile<f32>[4]] = for(%n0, %warp, %n1, [%tile]) body(%i: index, %c: tile<f32>[4]) { yield([%c]) }",
            "the bound %warp differs between threads; for gives the tile %s",
        ),
        (
            "[%s: tile<f32>[4]] = while([%tile]) cond(%a: tile<f32>[4]) {\n"
            '%go: bool = compare(%lane, %n1) {kind = "eq"}\nyield([%go, %a]) } body(%b: tile<f32>[4]) { yield([%b]) }',
            "the condition differs between threads; while gives the tile %s",
        ),
    ],
)
def test_a_tile_takes_nothing_that_differs(text: str, message: str) -> None:
    with pytest.raises(InterpError, match=message):
        whole(TILE + text)


def test_a_loop_carries_a_tile_and_what_differs_side_by_side() -> None:
    body = """
    %z: f32 = const() {value = 1.0}
    [%s: tile<f32>[4], %f: f32] = for(%n0, %n2, %n1, [%tile, %z]) body(%i: index, %c: tile<f32>[4], %g: f32) {
      %c1: tile<f32>[4] = binary(%c, %c) {kind = "mul"}
      %l: f32 = cast(%lane)
      %g1: f32 = fma(%g, %l, %l)
      barrier()
      yield([%c1, %g1])
    }
    store(%O, [%n0], [%P], %s) {guards = [""]}
    %low: bool = compare(%thread, %n3) {kind = "lt"}
    if(%low) then {
      %at: index = binary(%thread, %n4) {kind = "add"}
      store_point(%O, [%at], [%P], %f) {scope = "thread"}
      yield([])
    } orelse { yield([]) }
    """
    assert whole(TILE + body) == [1, 16, 81, 256, 0, 3, 10, 0, 0]  # lane: (1 * l + l) * l + l


def test_threads_of_a_grid_and_of_64_bit_indices() -> None:
    body = """
    %b: index = program_id() {axis = 0}
    %size: index = binary(%n32, %n2) {kind = "mul"}
    %i: index = fma(%b, %size, %thread)
    %in: bool = compare(%i, %P) {kind = "lt"}
    if(%in) then {
      %out: i32 = cast(%i)
      store_point(%O, [%i], [%P], %out) {scope = "thread"}
      yield([])
    } orelse { yield([]) }
    """
    out = np.full(150, -1, np.int32)
    run(kernel(body), {"O": out}, {}, (3, 1, 1), index_bits=64)
    assert out.tolist() == list(range(150))
