"""Random expressions over tiles: each piece of text is made together with a function that does it in NumPy.

`Expressions` makes tile expressions over the tensors and slices of `subscripts`; statements are added by
`thread_programs` and `tile_programs`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tests.prop.subscripts import (
    BITS,
    FLOATS,
    MOST_WORK,
    Cta,
    Made,
    Meaning,
    Piece,
    Scope,
    Shape,
    Subscripts,
    convert,
    window,
)


class Expressions(Subscripts):
    """Makes the expressions of one program."""

    def literal(self, elem: str) -> Piece:
        n = self.rng.choice((0, 1, 2, 3, 1, 2) if elem == "u8" else (0, 1, 2, 3, -1, -2))
        text = f"{n}.0" if elem in FLOATS else str(n)
        return Piece(text if n >= 0 else f"({text})", lambda c: n)

    def scalar(self, scope: Scope, elem: str) -> Piece:
        """A scalar of a type."""
        r = self.rng
        roll = r.random()
        if roll < 0.3:
            return self.literal(elem)
        if roll < 0.5:
            made = r.choice(self.tensors)
            at = self.inside(made)
            if at is not None and made.elem != "bool":
                subs = ", ".join(p.text for p in at)

                def point(c: Cta) -> Any:
                    return convert(c, c.arrays[made.name][tuple(p.do(c) for p in at)], made.elem, elem)

                return Piece(f"{elem}({made.name}[{subs}])", point)
        if roll < 0.65 and scope.loops:
            v = r.choice(sorted(scope.loops))
            return Piece(f"{elem}({v})", lambda c: convert(c, c.values[v], "i64", elem))
        if roll < 0.85 and elem in FLOATS:
            return Piece(f"{elem}(s)", lambda c: convert(c, c.values["s"], "f32", elem))
        return Piece(f"{elem}(n)", lambda c: convert(c, c.values["n"], "i32", elem))

    def leaf(self, scope: Scope, elem: str, shape: Shape) -> Piece:
        r = self.rng
        roll = r.random()
        same = [n for n, (e, s) in scope.tiles.items() if s == shape and (e == elem or r.random() < 0.2)]
        if same and roll < 0.4:
            n = r.choice(same)
            e = scope.tiles[n][0]
            if e == elem:
                return Piece(n, lambda c: c.values[n])
            if e != "bool":
                return Piece(f"{elem}({n})", lambda c: convert(c, c.values[n], e, elem))
        if roll < 0.9:
            for _ in range(4):
                made = r.choice(self.memories(scope))
                found = self.slice_of(scope, made, shape)
                if found is None:
                    continue
                text, offsets, spans = found
                if len(spans) > len(shape) and (shape[0] == 1 or self.with_iota):
                    continue  # iota would count another axis

                def load(c: Cta, made: Made = made, offsets: list[Meaning] = offsets, spans: Shape = spans) -> Any:
                    array = c.memory(made.name)
                    out = np.zeros(spans, array.dtype)
                    at, kept = window([o(c) for o in offsets], spans, array.shape)
                    out[np.ix_(*kept)] = array[np.ix_(*at)]
                    return convert(c, out.reshape(shape), made.elem, elem)

                self.note(f"load: rank {len(made.dims)}")
                if made not in self.tensors:
                    self.note("tile slice")
                return Piece(text if made.elem == elem else f"{elem}({text})", load)
        s = self.full(scope, elem, shape)
        if not self.with_iota and s is not None:
            return s
        long = [a for a, n in enumerate(shape) if n > 1]  # along others the whole expression may be longer
        if not long:
            raise LookupError
        axis = r.choice(long)
        grid = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        if elem == "i32" and s is not None:
            return Piece(f"({s.text} + iota({axis}))", lambda c: c.rounded(s.do(c) + grid, elem))
        if s is not None:
            return Piece(
                f"({s.text} + {elem}(iota({axis})))", lambda c: c.rounded(s.do(c) + c.rounded(grid, elem), elem)
            )
        raise LookupError

    def full(self, scope: Scope, elem: str, shape: Shape) -> Piece | None:
        """A tile of exactly this shape and type that stands in scope."""
        same = [n for n, (e, s) in scope.tiles.items() if s == shape and e == elem]
        if not same:
            return None
        n = self.rng.choice(same)
        return Piece(n, lambda c: c.values[n])

    def smaller(self, shape: Shape) -> Shape:
        """A shape that broadcasts to this one."""
        if self.rng.random() < 0.6:
            return shape
        return tuple(1 if self.rng.random() < 0.5 else n for n in shape)

    def tile(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """An expression of a type and shape."""
        r = self.rng
        if depth <= 0 or r.random() < 0.15:
            return self.leaf(scope, elem, shape)
        roll = r.random()
        if roll < 0.12 and len(shape) == 2 and elem in ("f32", "f64", "i32"):
            made = self.dot(scope, elem, shape, depth)
            if made is not None:
                return made
        if roll < 0.2:
            e = r.choice(self.kinds)
            a = self.tile(scope, e, shape, depth - 1)
            return Piece(f"{elem}({a.text})", lambda c: convert(c, a.do(c), e, elem))
        if roll < 0.3:
            e = r.choice(self.kinds)
            x, y = self.tile(scope, e, shape, depth - 1), self.scalar(scope, e)
            op = r.choice(("<", "<=", ">", ">=", "==", "!="))
            a, b = self.tile(scope, elem, shape, depth - 1), self.operand(scope, elem, shape, depth - 1)
            test = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                    "!=": np.not_equal}[op]  # fmt: skip
            return Piece(f"where({x.text} {op} {y.text}, {a.text}, {b.text})",
                         lambda c: np.where(test(x.do(c), y.do(c)), a.do(c), b.do(c)))  # fmt: skip
        if roll < 0.38:
            a = self.tile(scope, elem, shape, depth - 1)
            if elem == "u8":
                return a
            return self.negated(a, elem)
        if roll < 0.44:
            a, b = self.tile(scope, elem, shape, depth - 1), self.operand(scope, elem, shape, depth - 1)
            which = r.choice(("min", "max"))
            do = np.minimum if which == "min" else np.maximum
            return Piece(f"{which}({a.text}, {b.text})", lambda c: do(a.do(c), b.do(c)))
        if roll < 0.5 and self.inexact and elem in FLOATS:
            a, b = self.tile(scope, elem, shape, depth - 1), self.operand(scope, elem, shape, depth - 1)

            def divide(c: Cta) -> Any:
                c.exact = False
                return np.asarray(a.do(c), np.float64) / b.do(c)

            return Piece(f"({a.text} / {b.text})", divide)
        if roll < 0.56:
            return self.called(
                self.tile(scope, elem, shape, depth - 1), self.operand(scope, elem, shape, depth - 1), elem
            )
        a, b = self.tile(scope, elem, shape, depth - 1), self.operand(scope, elem, shape, depth - 1)
        if r.random() < 0.3:
            a, b = b, a
        op = r.choice("++-*")
        do2 = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        return Piece(f"({a.text} {op} {b.text})", lambda c: c.rounded(do2(a.do(c), b.do(c)), elem))

    def negated(self, a: Piece, elem: str) -> Piece:
        if self.rng.random() < 0.5:
            return Piece(f"(-{a.text})", lambda c: c.rounded(np.negative(a.do(c)), elem))
        return Piece(f"abs({a.text})", lambda c: c.rounded(np.abs(a.do(c)), elem))

    def called(self, a: Piece, b: Piece, elem: str) -> Piece:
        """A call of a fn."""
        f = self.name("call")
        if self.rng.random() < 0.5:
            self.fns.append(f"fn {f}(a, b) {{\n  let d = a - b\n  return d + b * b\n}}")

            def do(c: Cta) -> Any:
                x, y = a.do(c), b.do(c)
                return c.rounded(c.rounded(x - y, elem) + c.rounded(y * y, elem), elem)
        else:
            self.fns.append(
                f"fn {f}(a, b) {{\n  var t = a\n  t += b\n  if 3 > 2 {{\n    return t\n  }}\n  return t - b\n}}"
            )

            def do(c: Cta) -> Any:
                return c.rounded(np.asarray(a.do(c)) + b.do(c), elem)

        return Piece(f"{f}({a.text}, {b.text})", do)

    def operand(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece:
        """A second operand: a tile that broadcasts to the shape, or a scalar."""
        if self.rng.random() < 0.3:
            return self.scalar(scope, elem)
        given = self.smaller(shape)
        if len(shape) == 2 and given != shape:
            self.note("broadcast: a column" if given == (shape[0], 1) else "broadcast: a row or one element")
        return self.tile(scope, elem, given, depth)

    def dot(self, scope: Scope, elem: str, shape: Shape, depth: int) -> Piece | None:
        r = self.rng
        k = r.choice([*self.depth_sizes, *scope.loops.values()])
        if k > 100 or k * prod(shape) > MOST_WORK:
            return None
        legal = {"f32": ("f16", "bf16", "f32"), "f64": ("f64",), "i32": ("i8", "u8", "i32")}[elem]
        e = r.choice([x for x in self.kinds if x in legal] or [elem])
        self.has_dot = True
        if r.random() < 0.1 and shape[0] == shape[1] == k:
            p = self.full(scope, e, shape)
            if p is not None:
                return Piece(f"dot({p.text}, {p.text})", lambda c: self.product(c, p.do(c), p.do(c), elem))
        a = self.tile(scope, e, (shape[0], k), r.choice((0, 0, depth - 1)))
        if r.random() < 0.4:
            b = self.tile(scope, e, (shape[1], k), r.choice((0, 0, 0, depth - 1)))
            return Piece(f"dot_t({a.text}, {b.text})", lambda c: self.product(c, a.do(c), np.asarray(b.do(c)).T, elem))
        b = self.tile(scope, e, (k, shape[1]), r.choice((0, 0, 0, depth - 1)))
        return Piece(f"dot({a.text}, {b.text})", lambda c: self.product(c, a.do(c), b.do(c), elem))

    def product(self, c: Cta, a: Any, b: Any, elem: str) -> Any:
        kind = np.float64 if elem in FLOATS else np.int64
        if elem in FLOATS:  # partial sums of whole numbers are exact while the sum of magnitudes has few bits
            most = np.abs(np.asarray(a, kind)) @ np.abs(np.asarray(b, kind))
            c.exact = c.exact and bool(np.all(most < 2 ** BITS[elem])) and bool(np.all(most == np.rint(most)))
        return c.rounded(np.asarray(a, kind) @ np.asarray(b, kind), elem)
