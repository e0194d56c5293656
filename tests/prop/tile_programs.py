"""Random tile programs with their meaning, in NumPy.

`make(seed)` gives a `Program`: the source, the arrays, the scalars, the extents and a grid. Its `expected()` runs the
functions that were made with the text, in float64 and int64, block after block.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tests.prop.productions import LATER
from tests.prop.subscripts import FLOATS, MOST, Array, Cta, Made, Meaning, Piece, Scope, Shape, window
from tests.prop.thread_programs import Threads
from tests.prop.thread_values import ExitError

MOST_TRIPS = 24
"""A loop with more is too long to interpret: OverflowError."""
LEAVES = {"": ("return",), "while": ("break", "return"), "for": ("break", "continue", "continue", "return")}
"""How a block may be left, by the innermost loop around it. `continue` in a `while` would skip its counter."""


@dataclass
class Program:
    seed: int
    text: str
    arrays: dict[str, Array]
    elems: dict[str, str]
    scalars: dict[str, Any]
    dims: dict[str, int]
    grid: tuple[int, int, int]
    run: Meaning
    productions: Counter[str]

    def expected(self, grid: tuple[int, int, int]) -> tuple[dict[str, Array], bool]:
        """The tensors afterwards, and whether all numbers on the way were exact."""
        cta = Cta({n: a.astype(np.float64 if self.elems[n] in FLOATS else np.int64 if self.elems[n] != "bool" else bool)
                   for n, a in self.arrays.items()}, {})  # fmt: skip
        with np.errstate(all="ignore"):
            for z, y, x in product(*(range(n) for n in reversed(grid))):
                cta.values = {**self.scalars, **self.dims, "x": x, "y": y, "z": z}
                cta.values.update({f"g{a}": n for a, n in zip("xyz", grid, strict=True)})
                with suppress(ExitError):
                    self.run(cta)
        return cta.arrays, cta.exact


class Maker(Threads):
    """Makes one program."""

    # ---- statements ---------------------------------------------------------------------------------------------

    def shape(self, rank: int) -> Shape:
        r = self.rng
        while True:
            shape = tuple(r.choice((1, 2, 3)) if rank > 2 and r.random() < 0.5 else r.choice(self.sizes)
                          for _ in range(rank))  # fmt: skip
            if prod(shape) <= MOST:
                return shape

    def block(self, scope: Scope, count: int, depth: int, in_loop: str) -> tuple[list[str], Meaning]:
        lines: list[str] = []
        does: list[Meaning] = []
        for _ in range(count):
            before = self.productions.copy()
            try:
                text, do = self.statement(scope, depth, in_loop)
            except LookupError:
                self.productions = before
                continue
            lines += text
            does.append(do)

        def run(c: Cta) -> None:
            for do in does:
                do(c)

        return lines, run

    def statement(self, scope: Scope, depth: int, in_loop: str) -> tuple[list[str], Meaning]:
        r = self.rng
        roll = r.random()
        if depth > 0 and roll < 0.32:
            return self.loop(scope, depth)
        if depth > 0 and roll < 0.38:
            return self.while_(scope, depth)
        if depth > 0 and roll < 0.48:
            return self.if_(scope, depth, in_loop)
        if roll < 0.6:
            return self.let(scope)
        if roll < 0.72 and scope.mutable:
            return self.assign(scope)
        if roll < 0.76:
            return self.point_store(scope)
        if roll < 0.78 and "run-time length" not in LATER:
            return self.fill(scope)
        if roll < 0.9 and self.with_threads:
            return self.per_thread(scope)
        return self.store(scope)

    def let(self, scope: Scope) -> tuple[list[str], Meaning]:
        r = self.rng
        elem, shape = r.choice(self.kinds), self.shape(r.choice((1, 2, 2, 2, 3, 4)))
        value = self.tile(scope, elem, shape, r.choice((0, 1, 2, 2)))
        name = self.name("t")
        var = r.random() < 0.5
        word = "var" if var else "let"
        typed = f": tile<{elem}>[{', '.join(map(str, shape))}]" if r.random() < 0.5 else ""
        scope.tiles[name] = (elem, shape)
        if typed:
            scope.typed.add(name)
        if var:
            scope.mutable[name] = (elem, shape)

        def do(c: Cta) -> None:
            c.values[name] = np.broadcast_to(value.do(c), shape).copy()

        return [f"{word} {name}{typed} = {value.text}"], do

    def assign(self, scope: Scope) -> tuple[list[str], Meaning]:
        r = self.rng
        name = r.choice(sorted(scope.mutable))
        elem, shape = scope.mutable[name]
        if name in scope.outer:
            self.note(f"carried by {scope.kind}")
        op = r.choice(("=", "+=", "+=", "-="))
        if op == "=":
            value = self.tile(scope, elem, shape, r.choice((0, 1, 2, 2)))
            return [f"{name} = {value.text}"], lambda c: c.values.__setitem__(name, np.broadcast_to(value.do(c), shape))
        may_dot = len(shape) == 2 and elem in ("f32", "f64", "i32") and r.random() < 0.6
        made = self.dot(scope, elem, shape, 1) if may_dot else None
        value = made or self.operand(scope, elem, shape, 1)
        sign = 1 if op == "+=" else -1
        return [f"{name} {op} {value.text}"], lambda c: c.values.__setitem__(
            name, c.rounded(c.values[name] + sign * np.asarray(value.do(c)), elem)
        )

    def store(self, scope: Scope) -> tuple[list[str], Meaning]:
        r = self.rng
        for _ in range(8):
            made = r.choice(self.memories(scope, written=True))
            rank = len(made.dims)
            used = r.randint(max(1, rank - 2), rank) if rank > 2 else rank
            shape = self.shape(used)
            if scope.tiles and r.random() < 0.5:
                shape = r.choice(sorted(s for _, s in scope.tiles.values()))
            found = self.slice_of(scope, made, shape)
            if found is None:
                continue
            op = r.choice(("+=", "+=", "-=", "*=")) if r.random() < 0.2 else "="
            fill = r.random() < 0.08
            depth = r.choice((0, 1, 2, 2, 3))
            value = self.scalar(scope, made.elem) if fill else self.tile(scope, made.elem, shape, depth)
            self.note(f"store: rank {rank}", f"slice {op}", *(["fill"] if fill else []))
            if made not in self.tensors:
                self.note("tile slice " + ("=" if op == "=" else "op="))
            return self._stored(found, made, shape, value, op)
        raise LookupError

    def _stored(
        self, found: tuple[str, list[Meaning], Shape], made: Made, shape: Shape, value: Piece, op: str
    ) -> tuple[list[str], Meaning]:
        text, offsets, spans = found
        combine = {"+=": np.add, "-=": np.subtract, "*=": np.multiply}.get(op)

        def do(c: Cta) -> None:
            at, kept = window([o(c) for o in offsets], spans, made.shape)
            new = np.broadcast_to(value.do(c), shape).reshape(spans)[np.ix_(*kept)]
            array = c.to_write(made.name)
            if combine is not None:
                new = c.rounded(combine(array[np.ix_(*at)], new), made.elem)
            array[np.ix_(*at)] = new

        return [f"{text} {op} {value.text}"], do

    def fill(self, scope: Scope) -> tuple[list[str], Meaning]:
        """A scalar into a slice whose length is known at run time."""
        r = self.rng
        made = r.choice(self.memories(scope, written=True))
        ranges: list[tuple[str, Meaning, Meaning]] = []
        for dim, extent in zip(made.dims, made.shape, strict=True):
            roll = r.random()
            if extent and roll < 0.2:
                p = self.point_in(dim, extent)
                ranges.append((p.text, p.do, lambda c, p=p: p.do(c) + 1))  # type: ignore[misc]
            elif roll < 0.4:
                p = Piece(f"min(max(n, 0), {dim})", lambda c, e=extent: min(max(c.values["n"], 0), e))  # type: ignore[misc]
                ranges.append((f"{p.text}:", p.do, lambda c, e=extent: e))  # type: ignore[misc]
            elif roll < 0.5:
                ranges.append((":", lambda c: 0, lambda c, e=extent: e))  # type: ignore[misc]
            else:
                a, b = self.index(scope, 0), self.index(scope, 0)
                if not self.unlike(a, b):
                    raise LookupError
                ranges.append((f"{a.text} : {b.text}", a.do, b.do))
        texts = [text for text, _, _ in ranges]
        if not any(":" in text for text in texts) or all(re.fullmatch(r"[-\d: ]*", text) for text in texts):
            raise LookupError
        op = r.choice(("=", "=", "+=", "-="))
        value = self.scalar(scope, made.elem)
        self.note("run-time length", f"run-time length {'=' if op == '=' else 'op='}")

        def do(c: Cta) -> None:
            new = value.do(c)
            array = c.to_write(made.name)
            at = tuple(
                slice(max(int(lo(c)), 0), max(min(int(hi(c)), e), 0))
                for (_, lo, hi), e in zip(ranges, made.shape, strict=True)
            )
            if op != "=":
                new = c.rounded(array[at] + (new if op == "+=" else -new), made.elem)
            array[at] = new

        return [f"{made.name}[{', '.join(texts)}] {op} {value.text}"], do

    def unlike(self, a: Piece, b: Piece) -> bool:
        """Whether the distance of two index values is surely no constant."""
        names = [set(re.findall(r"[a-zA-Z]\w*", p.text)) for p in (a, b)]
        return not names[0] & names[1] and bool(names[0] | names[1])

    def point_store(self, scope: Scope) -> tuple[list[str], Meaning]:
        made = self.rng.choice(self.tensors if "tile point" in LATER else self.memories(scope, written=True))
        at = self.inside(made)
        if at is None:
            raise LookupError
        value = self.scalar(scope, made.elem)
        op = "+=" if self.rng.random() < 0.25 else "="
        self.note(f"point {op}" if made in self.tensors else "tile point =")

        def do(c: Cta) -> None:
            new, here = value.do(c), tuple(p.do(c) for p in at)
            array = c.to_write(made.name)
            array[here] = c.rounded(array[here] + new, made.elem) if op == "+=" else new

        return [f"{made.name}[{', '.join(p.text for p in at)}] {op} {value.text}"], do

    def accumulator(self, scope: Scope) -> tuple[list[str], Meaning]:
        """A tile for a loop to add to."""
        r = self.rng
        wide = [k for k in self.kinds if k in ("f32", "f64", "i32")] or ["f32"]
        elem = r.choice(wide if r.random() < 0.8 else self.kinds)
        shape = self.shape(2)
        name = self.name("acc")
        scope.tiles[name] = scope.mutable[name] = (elem, shape)
        scope.typed.add(name)
        text = f"var {name}: tile<{elem}>[{shape[0]}, {shape[1]}] = {'0.0' if elem in FLOATS else '0'}"
        return [text], lambda c: c.values.__setitem__(name, np.zeros(shape, np.float64 if elem in FLOATS else np.int64))

    def loop(self, scope: Scope, depth: int) -> tuple[list[str], Meaning]:
        r = self.rng
        head: list[str] = []
        before: list[Meaning] = []
        if r.random() < 0.7:
            text, do = self.accumulator(scope)
            head += text
            before.append(do)
        v = self.name("k")
        step = r.choice([*self.depth_sizes, *self.depth_sizes, *self.sizes, 1])
        lo = self.index(scope, 0) if r.random() < 0.4 else Piece("0", lambda c: 0)
        stop = self.index(scope, r.choice((0, 1)))
        d = ""
        if r.random() < 0.7:
            d = r.choice(sorted(self.dims))
            stop = Piece(d, lambda c: c.values[d])
        if depth > 1 or len(scope.loops) > 0:
            stop = Piece(
                f"min({stop.text}, {lo.text} + {3 * step})", lambda c, s=stop: min(s.do(c), lo.do(c) + 3 * step)
            )
        else:
            stop = Piece(stop.text, stop.do)
        inner = scope.inner("for")
        inner.loops[v] = step
        if lo.text != "0":
            self.note("loop: lo not 0")
        if d:
            self.note("loop: to an extent", *(["loop: extent 0"] if self.dims[d] == 0 else []))
            if 0 < self.dims[d] < step:
                self.note("loop: extent below the step")
        if scope.loops:
            self.note("loop: nested")
        with self.repeated():
            body, run = self.block(inner, r.randint(1, 3), depth - 1, "for")
        by = f", {step}" if step != 1 or r.random() < 0.5 else ""
        unroll = f"<unroll {r.choice((1, 2, 3, 4, 8))}>" if r.random() < 0.15 else ""
        if unroll:
            self.note(f"for{unroll}")
        lines = [*head, f"for{unroll} {v} in range({lo.text}, {stop.text}{by}) {{", *("  " + b for b in body), "}"]

        def do_loop(c: Cta) -> None:
            for do in before:
                do(c)
            trips = range(int(lo.do(c)), int(stop.do(c)), step)
            if len(trips) > MOST_TRIPS:
                raise OverflowError(f"{len(trips)} trips")
            for k in trips:
                c.values[v] = k
                try:
                    run(c)
                except ExitError as exit_:
                    if exit_.how == "break":
                        break
                    if exit_.how != "continue":
                        raise

        return lines, do_loop

    def while_(self, scope: Scope, depth: int) -> tuple[list[str], Meaning]:
        r = self.rng
        v, count, by = self.name("w"), r.choice((0, 1, 2, 3)), r.choice((1, 4, 16))
        inner = scope.inner("while")
        inner.counters.append(v)
        self.note("while")
        with self.repeated():
            body, run = self.block(inner, r.randint(1, 2), depth - 1, "while")
        lines = [f"var {v} = 0", f"while {v} < {count * by} {{", *("  " + b for b in body), f"  {v} += {by}", "}"]

        def do(c: Cta) -> None:
            c.values[v] = 0
            while c.values[v] < count * by:
                try:
                    run(c)
                except ExitError as exit_:
                    if exit_.how == "break":
                        break
                    raise
                c.values[v] += by

        return lines, do

    def if_(self, scope: Scope, depth: int, in_loop: str) -> tuple[list[str], Meaning]:
        r = self.rng
        a, b = self.index(scope, 0), self.index(scope, 0)
        op = r.choice(("<", ">=", "==", "!="))
        test = {"<": np.less, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}[op]
        with self.repeated():
            then, run_then = self.block(scope.inner("if"), r.randint(1, 2), depth - 1, in_loop)
        with self.repeated():
            orelse, run_else = self.block(scope.inner("if"), r.randint(0, 2), depth - 1, in_loop)
        how = ""
        if r.random() < (0.5 if in_loop else 0.3):
            how = r.choice(LEAVES[in_loop])
            self.note(how)
            then = [*then, how]
        lines = [f"if {a.text} {op} {b.text} {{", *("  " + t for t in then)]
        lines += ["} else {", *("  " + t for t in orelse), "}"] if orelse else ["}"]

        def do(c: Cta) -> None:
            if test(a.do(c), b.do(c)):
                run_then(c)
                if how:
                    raise ExitError(how)
            else:
                run_else(c)

        return lines, do

    # ---- the whole ----------------------------------------------------------------------------------------------

    def program(self) -> Program:
        r = self.rng
        scope = Scope()
        lines, run = self.block(scope, r.randint(2, 5), 2, "")
        if scope.tiles and r.random() < 0.9:  # let something be seen
            for _ in range(2):
                try:
                    text, last = self.store(scope)
                except LookupError:
                    continue
                lines += text
                run = _then(run, last)
        makes = [self.per_thread] * r.randint(1, 3) + [self.last_words] * r.choice((0, 1)) if self.with_threads else []
        for make_more in makes:
            before = self.productions.copy()
            try:
                text, last = make_more(scope)
            except LookupError:
                self.productions = before
                continue
            lines += text
            run = _then(run, last)
        attributes = [self.threads_attr]
        for dim in sorted({d for t in self.tensors for d in t.dims if isinstance(d, str)}):
            if self.dims[dim] and self.dims[dim] % self.tiles_of[dim] == 0 and r.random() < 0.4:
                attributes.append(f"@aligned({dim} = {self.tiles_of[dim]})")
                self.note("@aligned")
        if self.has_dot and r.random() < 0.5:
            attributes.append(r.choice(("@pipeline", "@pipeline(2)", "@pipeline(3)", "@pipeline(4)", "@pipeline(5)")))
        used = {d: n for d, n in self.dims.items() if any(d in t.dims for t in self.tensors)}
        params = [f"{t.name}: tensor<{t.elem}>[{', '.join(map(str, t.dims))}]" for t in self.tensors]
        missing = sorted(set(self.dims) - set(used))
        if missing:  # a dim name that no tensor has is made a scalar
            params += [f"{m}: i32" for m in missing]
        params += ["n: i32", "s: f32"]
        body = "\n".join("  " + line for line in lines)
        text = "\n".join([*self.fns, *attributes, f"kernel fuzz({', '.join(params)}) {{", body, "}"]) + "\n"
        rng = np.random.default_rng(self.seed)
        arrays = {}
        for t in self.tensors:
            low = 0 if t.elem == "u8" else -3
            arrays[t.name] = rng.integers(low, 4, t.shape).astype(np.int64)
        scalars = {**self.scalars, **{m: self.dims[m] for m in missing}}
        grid = tuple(r.choice((1, 1, 2, 3)) if a in self.axes else 1 for a in "xyz")
        elems = {t.name: t.elem for t in self.tensors}
        made = self.productions
        return Program(self.seed, text, arrays, elems, scalars, used, (grid[0], grid[1], grid[2]), run, made)


def _then(first: Meaning, second: Meaning) -> Meaning:
    def run(c: Cta) -> None:
        first(c)
        second(c)

    return run


def make(seed: int, host: bool = False) -> Program:
    """The program of a seed. host: only types that this machine's code generator has."""
    return Maker(seed, host).program()
