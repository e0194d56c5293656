"""Random calls of the functions on whole tiles: reductions, scans, shapes, tables, generated tiles and typed `fn`s.

`ShapeExpressions` mixes them into the tile expressions. An argument is often batched (`[1, 1, R, C]`, a slice of a
tensor of rank 4), which must mean the same as rank 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tests.prop.subscripts import (
    BITS,
    FLOATS,
    INTS,
    SUMS,
    Array,
    Cta,
    Made,
    Meaning,
    Piece,
    Scope,
    Shape,
    convert,
    window,
)
from tests.prop.tile_expressions import Expressions

LEAST_WORK = 1500
"""Elements of the argument of a reduction or `flat`, so that small ones are common."""
BATCHED = re.compile(r"\w+\[[^\[\]]*,[^\[\]]*,[^\[\]]*\]$")
"""A slice of a tensor of rank 3 or more."""
EXTREMES: dict[str, Callable[..., Any]] = {"max": np.fmax.reduce, "min": np.fmin.reduce}


def summed(c: Cta, a: Array, elem: str, total: Callable[[Array], Array]) -> Any:
    """A sum in any order: exact where the magnitudes have few bits."""
    if elem in FLOATS:
        c.exact = c.exact and bool(np.all(total(np.abs(a)) < 2 ** BITS[elem])) and bool(np.all(a == np.rint(a)))
    return c.rounded(total(a), elem)


class ShapeExpressions(Expressions):
    """Makes the expressions of one program, those of the functions on whole tiles too."""

    def tile(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        if depth > 0 and not self.host and self.rng.random() < 0.55:
            before = self.productions.copy()
            try:
                return self.shaped(scope, elem, shape, depth - 1)
            except LookupError:
                self.productions = before
        return super().tile(scope, elem, shape, depth)

    def shaped(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """One of the functions with a result of a type and shape."""
        makes = [self.through_a_type, self.gathered, self.counted]
        if len(shape) == 2:
            makes += [self.transposed, self.lower, self.scanned, self.generated, self.generated, self.typed_call]
            makes += [self.reduced_beside] * 9 if 1 not in shape else [self.reduced] * 6
            makes += [self.flattened] * 3 if shape[0] == 1 else []
        return self.rng.choice(makes)(scope, elem, shape, depth)

    # ---- arguments ----------------------------------------------------------------------------------------------

    def as_elem(self, text: str, have: str, elem: str, do: Meaning) -> Piece:
        return Piece(text if have == elem else f"{elem}({text})", lambda c: convert(c, do(c), have, elem))

    def argument(self, scope: Scope, elem: str, shape: Shape, depth: int, of: str) -> Piece:
        """A tile for a function that needs rank 2: of that shape, or with axes of extent 1 more."""
        r, (rows, columns) = self.rng, shape
        given: Shape = shape
        if r.random() < 0.6:
            given = r.choice(((1, 1, rows, columns), (1, rows, 1, columns), (1, rows, columns)))
        a = self.tile(scope, elem, given, depth)
        self.note(of)
        if given != shape or BATCHED.match(a.text):
            self.note(f"{of}, batched")
        return Piece(a.text, lambda c: np.broadcast_to(a.do(c), given).reshape(shape))

    def extent_for(self, other: int) -> int:
        """The extent that a reduction takes away."""
        r = self.rng
        sizes = [*self.sizes, *self.depth_sizes, r.choice((1, 3, 6, 33, 65, 96, 128, 130, 200, 257))]
        n = r.choice(sizes)
        return n if n * other <= LEAST_WORK else r.choice((1, 2, 3, 5))

    # ---- reductions and scans -----------------------------------------------------------------------------------

    def reduced(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A row or column function, for a shape with an axis of extent 1."""
        r = self.rng
        axis = r.choice([a for a in (0, 1) if shape[a] == 1])
        source = r.choice(self.kinds)
        kind = r.choice(("sum", "sum", "max", "min", "argmax") if axis else ("sum", "sum", "max", "min"))
        name = ("row" if axis else "col") + kind
        n = self.extent_for(shape[1 - axis])
        a = self.argument(scope, source, (shape[0], n) if axis else (n, shape[1]), depth, name)
        if kind == "argmax":

            def first(c: Cta) -> Any:
                return np.argmax(a.do(c), axis=1, keepdims=True)

            return self.as_elem(f"{name}({a.text})", "i32", elem, first)
        if kind == "sum":
            have = SUMS[source]

            def total(c: Cta) -> Any:
                return summed(c, a.do(c), have, lambda x: np.sum(x, axis=axis, keepdims=True))

            return self.as_elem(f"{name}({a.text})", have, elem, total)

        def extreme(c: Cta) -> Any:
            return EXTREMES[kind](a.do(c), axis=axis, keepdims=True)

        return self.as_elem(f"{name}({a.text})", source, elem, extreme)

    def reduced_beside(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A tile and a row or column that was reduced, which is broadcast."""
        r = self.rng
        axis = r.choice((0, 1))
        a = self.tile(scope, elem, shape, depth)
        b = self.reduced(scope, elem, (shape[0], 1) if axis else (1, shape[1]), depth)
        self.note("broadcast: a column" if axis else "broadcast: a row")
        op, do = r.choice((("+", np.add), ("-", np.subtract), ("*", np.multiply)))
        return Piece(f"({a.text} {op} {b.text})", lambda c: c.rounded(do(a.do(c), b.do(c)), elem))

    def scanned(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        source = self.rng.choice(self.kinds)
        have = SUMS[source]
        a = self.argument(scope, source, shape, depth, "cumsum")

        def do(c: Cta) -> Any:
            return summed(c, a.do(c), have, lambda x: np.cumsum(x, axis=0))

        return self.as_elem(f"cumsum({a.text})", have, elem, do)

    # ---- shapes -------------------------------------------------------------------------------------------------

    def transposed(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        a = self.argument(scope, elem, shape[::-1], depth, "transpose")
        return Piece(f"transpose({a.text})", lambda c: a.do(c).T)

    def lower(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        a = self.argument(scope, elem, shape, depth, "tril")
        return Piece(f"tril({a.text})", lambda c: np.tril(a.do(c)))

    def flattened(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """`flat` of any rank; its argument is never a slice."""
        r, n = self.rng, shape[1]
        factors = [f for f in range(1, n + 1) if n % f == 0]
        first = r.choice(factors)
        second = r.choice([f for f in factors if n // first % f == 0])
        given = r.choice(((first, n // first), (n,), (first, second, n // first // second)))
        whole = self.full(scope, elem, given)
        if whole is None or r.random() < 0.5:
            a, b = self.tile(scope, elem, given, depth), self.operand(scope, elem, given, depth)
            whole = Piece(f"min({a.text}, {b.text})", lambda c: np.minimum(a.do(c), b.do(c)))
        made = whole
        self.note("flat", *(["flat of rank 3"] if len(given) == 3 else []))
        return Piece(f"flat({made.text})", lambda c: np.broadcast_to(made.do(c), given).reshape(shape))

    def through_a_type(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A conversion to any type and back."""
        r = self.rng
        source, between = r.choice(self.kinds), r.choice((*FLOATS, *INTS))
        if between in (source, elem):
            raise LookupError
        a = self.tile(scope, source, shape, depth)
        self.note(
            f"convert: from {source}", f"convert: to {between}", f"convert: from {between}", f"convert: to {elem}"
        )
        return Piece(
            f"{elem}({between}({a.text}))",
            lambda c: convert(c, convert(c, a.do(c), source, between), between, elem),
        )

    def counted(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A `where` on an element's place."""
        r = self.rng
        long = [a for a, n in enumerate(shape) if n > 1]
        if not self.with_iota or not long:
            raise LookupError
        axis, at = r.choice(long), self.index(scope, r.choice((0, 1)))
        a, b = self.tile(scope, elem, shape, depth), self.operand(scope, elem, shape, 0)
        grid = np.arange(shape[axis]).reshape([-1 if x == axis else 1 for x in range(len(shape))])
        op, test = r.choice((("<", np.less), (">=", np.greater_equal), ("==", np.equal)))
        self.note("where on iota")
        return Piece(
            f"where(iota({axis}) {op} {at.text}, {a.text}, {b.text})",
            lambda c: np.where(test(grid, at.do(c)), a.do(c), b.do(c)),
        )

    # ---- tables and generated tiles -----------------------------------------------------------------------------

    def table(self, scope: Scope, depth: int) -> tuple[str, str, str, Meaning]:
        """(text, element type, the last place as text, what it holds) of a table."""
        r = self.rng
        found = [m for m in self.memories(scope) if prod(m.shape) and m.dims[:-1] in ((), (1,)) and len(m.dims) < 3]
        if found and r.random() < 0.7:
            kept = [m for m in found if m not in self.tensors]
            made = r.choice(kept if kept and r.random() < 0.5 else found)
            self.note("gather: a tensor" if made in self.tensors else "gather: a kept tile")
            dim = made.dims[-1]
            last = str(dim - 1) if isinstance(dim, int) else f"{dim} - 1"
            return made.name, made.elem, last, lambda c: c.memory(made.name).reshape(-1)
        elem, n = r.choice(self.kinds), r.choice(self.sizes)
        a = self.flattened(scope, elem, (1, n), depth)
        self.note("gather: a tile")
        return a.text, elem, str(n - 1), lambda c: np.broadcast_to(a.do(c), (1, n)).reshape(-1)

    def gathered(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        r = self.rng
        text, have, last, held = self.table(scope, depth)
        source = r.choice(self.kinds)
        at = self.tile(scope, source, shape, depth)
        index = at.text if source in INTS and r.random() < 0.7 else f"i32({at.text})"
        kind = source if index == at.text else "i32"

        def do(c: Cta) -> Any:
            table = held(c)
            return table[np.clip(convert(c, at.do(c), source, kind), 0, len(table) - 1).astype(np.int64)]

        return self.as_elem(f"gather({text}, min(max({index}, 0), {last}))", have, elem, do)

    def generated(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        r = self.rng
        f, (rows, columns) = self.name("gen"), shape
        i, j = np.arange(rows)[:, None], np.arange(columns)[None, :]
        form = r.choice(("numbers", "band", "memory", "memory", "branches", "loop"))
        k = self.index(scope, r.choice((0, 0, 1)))
        args, params, do = k.text, "i, j, k", None
        if form == "numbers":
            a, b = r.randint(-2, 3), r.randint(-2, 3)
            body = f"return {elem}(i * {a} + j * {b} + k)" if a >= 0 and b >= 0 else f"return {elem}(i - j + k)"
            x, y = (a, b) if a >= 0 and b >= 0 else (1, -1)

            def numbers(c: Cta) -> Array:
                return convert(c, i * x + j * y + k.do(c), "i64", elem)

            do = numbers
        elif form == "band":
            n = self.literal(elem)
            body = f"let d = i - j\n  return where(d < k && d > -3, {elem}(d), {elem}({n.text}))"

            def do(c: Cta) -> Any:
                d = i - j
                return np.where((d < k.do(c)) & (d > -3), convert(c, d, "i64", elem), n.do(c))
        elif form == "branches":
            other = "x + x" if elem == "u8" else "-x"
            body = f"if i == j {{ return {elem}(k) }}\n  var x = {elem}(i)\n"
            body += f"  if i > j {{ x = x + x }} else {{ x = {other} }}\n  return x"

            def do(c: Cta) -> Any:
                x = convert(c, i + 0 * j, "i64", elem)
                x = c.rounded(np.where(i > j, x + x, x + x if elem == "u8" else -x), elem)
                return np.where(i == j, convert(c, k.do(c), "i64", elem), x)
        elif form == "loop":
            trips = r.choice((0, 1, 3))
            params, args = "i, j, n", str(trips)
            body = f"var s = {elem}(j)\n  for q in range(0, n) {{\n    s += {elem}(i + q)\n  }}\n  return s"

            def do(c: Cta) -> Any:
                s = convert(c, j + 0 * i, "i64", elem)
                for q in range(trips):
                    s = c.rounded(s + convert(c, i + q, "i64", elem), elem)
                return s
        else:
            params, args, body, do = self.generated_points(scope, elem, shape)
        self.note(f"generate: {form}")
        self.fns.append(f"fn {f}({params}) {{\n  {body}\n}}")
        return Piece(f"generate({f}, {rows}, {columns}, {args})", do)

    def generated_points(self, scope: Scope, elem: str, shape: Shape) -> tuple[str, str, str, Meaning]:
        """(parameters, arguments, body, meaning) of a fn of points, of a tensor whose extents it reads or of a tile."""
        r = self.rng
        found = [m for m in self.memories(scope) if prod(m.shape) and len(m.dims) < 3 and m.elem != "bool"]
        if not found:
            raise LookupError
        made = r.choice(found)
        i, j = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
        if made in self.tensors:
            names = ["DA", "DB"][: len(made.dims)]
            params = f"i, j, A: tensor<{made.elem}>[{', '.join(names)}]"
        else:
            names, params = [str(n) for n in made.shape], "i, j, A"
            self.note("generate: of a tile")
        if len(names) == 1:
            at, turn = f"(i + j) % {names[0]}", False
        else:
            turn = r.random() < 0.5
            at = ", ".join(f"min({x}, {n} - 1)" for x, n in zip("ji" if turn else "ij", names, strict=True))

        def do(c: Cta) -> Any:
            held = c.memory(made.name)
            if held.ndim == 1:
                return convert(c, held[(i + j) % len(held)], made.elem, elem)
            places = [np.minimum(x, n - 1) for x, n in zip((j, i) if turn else (i, j), held.shape, strict=True)]
            return convert(c, held[tuple(places)], made.elem, elem)

        return params, made.name, f"return {elem}(A[{at}])", do

    # ---- functions with types -----------------------------------------------------------------------------------

    def typed_call(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A `fn` of a tile, a tensor and a scalar, all with types."""
        r = self.rng
        found: list[Made] = [m for m in self.tensors if 0 not in m.shape and m.elem != "bool" and len(m.dims) <= 2]
        if not found:
            raise LookupError
        made, f, k = r.choice(found), self.name("fun"), self.index(scope, 0)
        t = self.argument(scope, elem, shape, depth, "fn: a tile, a tensor and a scalar")
        names = ["DA", "DB"][: len(made.dims)]
        point = ", ".join(f"min(max(k, 0), {n} - 1)" for n in names)
        rank = len(made.dims)
        as_slice = rank == 2 and r.random() < 0.6
        value = f"{elem}(A[{'k :+ R, 0 :+ C' if as_slice else point}])"
        tile = f"tile<{elem}>[R, C]"
        lines = [
            f"fn {f}(t: {tile}, A: tensor<{made.elem}>[{', '.join(names)}], k: i32) -> {tile} {{",
            "  var u = t",
            "  if k > 2 {",
            f"    u = u + {value}",
            f"    if k > 7 {{ return u + {elem}(R) }}",
            "  }",
            f"  return u - {value}",
            "}",
        ]
        self.fns.append("\n".join(lines))

        def read(c: Cta, n: int) -> Any:
            held = c.memory(made.name)
            if not as_slice:
                return convert(c, held[tuple(min(max(n, 0), e - 1) for e in held.shape)], made.elem, elem)
            padded = np.zeros(shape, held.dtype)
            at, kept = window((n, 0), shape, made.shape)
            padded[np.ix_(*kept)] = held[np.ix_(*at)]
            return convert(c, padded, made.elem, elem)

        def do(c: Cta) -> Any:
            u, n = t.do(c), int(k.do(c))
            if n <= 2:
                return c.rounded(u - read(c, n), elem)
            u = c.rounded(u + read(c, n), elem)
            if n > 7:
                return c.rounded(u + convert(c, shape[0], "i64", elem), elem)
            return c.rounded(u - read(c, n), elem)

        return Piece(f"{f}({t.text}, {made.name}, {k.text})", do)
