"""Random expressions over tiles: each piece of text is made together with a function that does it in NumPy.

`Expressions` makes the tensors of a program, index values, slices and tile expressions; statements are added by
`tile_programs`.
Numbers are small integers, so that most programs are exact whatever is fused or reordered; `Cta.exact` says whether
this one was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Meaning = Callable[["Cta"], Any]
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "u8", "i32", "i64")
BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LIMITS = {"i8": (-128, 127), "u8": (0, 255), "i32": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1)}
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 24, 31, 32, 36, 40, 48, 50, 64, 65, 80, 96, 100)
SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 16, 16, 24, 32, 32, 32, 48, 64, 64, 80, 96)
DEPTHS = (1, 2, 3, 4, 4, 5, 8, 8, 16, 16, 17, 24, 32)
MOST = 4096
"""Elements of a tile."""
MOST_WORK = 40_000
"""Multiply-adds of a contraction."""


@dataclass
class Cta:
    """What one block knows while its functions run."""

    arrays: dict[str, Array]
    values: dict[str, Any]
    exact: bool = True

    def rounded(self, value: Any, elem: str) -> Any:
        """A result in its type; notes when a float was not exact."""
        if elem in FLOATS:
            value = np.asarray(value, np.float64)
            scaled = np.ldexp(value, BITS[elem] - np.frexp(value)[1])
            largest = 60000 if elem == "f16" else 1e30
            if not np.all(np.isfinite(value) & (np.abs(value) < largest) & (scaled == np.rint(scaled))):
                self.exact = False
            return value
        if elem == "bool":
            return np.asarray(value, bool)
        low, high = LIMITS[elem]
        if elem == "i64":
            return np.asarray(value, np.int64)
        return (np.asarray(value, np.int64) - low) % (high - low + 1) + low


@dataclass(frozen=True)
class Piece:
    """An expression: its text and what it gives."""

    text: str
    do: Meaning


@dataclass(frozen=True)
class Made:
    """A tensor. extents are numbers or dim names."""

    name: str
    elem: str
    dims: tuple[int | str, ...]
    shape: Shape


def window(offsets: Sequence[int], spans: Shape, extents: Shape) -> tuple[list[Array], list[Array]]:
    """For each axis the places in the tensor, and in the tile, of what lies inside."""
    at = [o + np.arange(n) for o, n in zip(offsets, spans, strict=True)]
    kept = [np.flatnonzero((a >= 0) & (a < e)) for a, e in zip(at, extents, strict=True)]
    return [a[k] for a, k in zip(at, kept, strict=True)], kept


def convert(cta: Cta, value: Any, source: str, to: str) -> Any:
    """A conversion call."""
    if source in FLOATS and to in INTS:
        low, high = LIMITS[to]
        return np.clip(np.trunc(np.nan_to_num(value, posinf=2e18, neginf=-2e18)), low, min(high, 2**62)).astype(
            np.int64
        )
    return cta.rounded(value, to)


@dataclass
class Scope:
    """Names that a statement may use."""

    tiles: dict[str, tuple[str, Shape]] = field(default_factory=dict)
    mutable: dict[str, tuple[str, Shape]] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    """Loop variables and their steps."""
    counters: list[str] = field(default_factory=list)

    def inner(self) -> Scope:
        return Scope(dict(self.tiles), dict(self.mutable), dict(self.loops), list(self.counters))


class Expressions:
    """Makes the expressions of one program."""

    def __init__(self, seed: int, host: bool = False) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.host = host
        self.names = 0
        self.inexact = self.rng.random() < 0.15
        self.with_iota = self.rng.random() < 0.5
        r = self.rng
        self.threads = r.choice((32, 64, 96, 128, 160) if host else (32, 64, 64, 96, 128, 128, 256, 256, 512, 1024))
        kinds = ["f32"] * 6 + ["f64", "f16", "bf16", "i32", "i32", "i8", "u8", "i64"]
        if host:
            kinds = ["f32"] * 6 + ["f64", "i32", "i32", "i8", "u8", "i64"]
        self.kinds = r.sample(kinds, r.randint(1, 3)) if r.random() < 0.8 else ["f32"]
        self.sizes = r.sample(SIZES, 3)
        self.depth_sizes = r.sample(DEPTHS, 2)
        self.dims = {n: r.choice(EXTENTS) for n in r.sample("MNKP", r.randint(1, 4))}
        self.threads_attr = f"@launch({self.threads})"
        self.tiles_of = {n: r.choice(self.sizes) for n in self.dims}
        if r.random() < 0.3:  # a dim that has the promise it can be given
            name = r.choice(sorted(self.dims))
            self.dims[name] = self.tiles_of[name] * r.randint(1, 3)
        if r.random() < 0.1 and "K" in self.dims:
            self.dims["K"] = 0
        self.axes: dict[str, str] = {}
        for axis in r.sample("xyz", r.choice((0, 1, 1, 2, 2, 3))):
            name = r.choice(sorted(self.dims))
            if name not in self.axes.values():
                self.axes[axis] = name
        self.tensors = [self.tensor(f"T{i}") for i in range(r.randint(2, 5))]
        self.scalars: dict[str, Any] = {"n": r.choice((-3, 0, 1, 2, 5, 8, 16, 17, 33)), "s": float(r.randint(-3, 3))}
        self.fns: list[str] = []
        self.has_dot = False

    # ---- tensors ------------------------------------------------------------------------------------------------

    def tensor(self, name: str) -> Made:
        r = self.rng
        rank = r.choice((1, 2, 2, 2, 2, 3, 4, 5))
        while True:
            dims: list[int | str] = []
            for _ in range(rank):
                small = rank > 2 and r.random() < 0.6
                if small:
                    dims.append(r.choice((1, 1, 2, 3)))
                elif r.random() < 0.75:
                    dims.append(r.choice(sorted(self.dims)))
                else:
                    dims.append(r.choice(EXTENTS))
            shape = tuple(d if isinstance(d, int) else self.dims[d] for d in dims)
            if prod(shape) <= 12_000:
                return Made(name, r.choice(self.kinds), tuple(dims), shape)
            rank = max(1, rank - 1)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    # ---- index values -------------------------------------------------------------------------------------------

    def offset(self, scope: Scope, dim: int | str, span: int) -> Piece:
        """A start for a span along a dim: anything, since the span is masked."""
        r = self.rng
        for axis, name in self.axes.items():
            if name == dim and self.tiles_of[name] == span and r.random() < 0.7:
                return Piece(f"ctx.block.{axis} * {span}", lambda c, axis=axis: c.values[axis] * span)  # type: ignore[misc]
        fitting = [v for v, step in scope.loops.items() if step == span]
        if fitting and r.random() < 0.75:
            v = r.choice(fitting)
            return Piece(v, lambda c: c.values[v])
        return self.index(scope, r.choice((0, 0, 1)))

    def index(self, scope: Scope, depth: int) -> Piece:
        r = self.rng
        roll = r.random()
        if depth > 0 and roll < 0.8:
            a, b = self.index(scope, depth - 1), self.index(scope, 0)
            op = r.choice("++--*m")
            if op == "+":
                return Piece(f"({a.text} + {b.text})", lambda c: a.do(c) + b.do(c))
            if op == "-":
                return Piece(f"({a.text} - {b.text})", lambda c: a.do(c) - b.do(c))
            if op == "*":
                return Piece(f"({a.text} * {b.text})", lambda c: a.do(c) * b.do(c))
            return Piece(f"min({a.text}, {b.text})", lambda c: min(a.do(c), b.do(c)))
        if roll < 0.35:
            n = r.choice((0, 0, 1, 2, 3, 4, 8, 16, 5, -1, -2, -3, -8, 17))
            return Piece(str(n), lambda c: n)
        if roll < 0.6 and scope.loops:
            v = r.choice(sorted(scope.loops))
            return Piece(v, lambda c: c.values[v])
        if roll < 0.7 and scope.counters:
            v = r.choice(scope.counters)
            return Piece(v, lambda c: c.values[v])
        if roll < 0.8 and self.axes:
            axis = r.choice(sorted(self.axes))
            step = self.tiles_of[self.axes[axis]] if r.random() < 0.5 else r.choice((1, 4, 16))
            return Piece(f"ctx.block.{axis} * {step}", lambda c: c.values[axis] * step)
        if roll < 0.9:
            v = r.choice(sorted(self.dims))
            return Piece(v, lambda c: c.values[v])
        return Piece("i32(n)" if r.random() < 0.5 else "n", lambda c: c.values["n"])

    def inside(self, made: Made) -> list[Piece] | None:
        """A point that surely lies in the tensor."""
        if 0 in made.shape:
            return None
        out = []
        for dim, extent in zip(made.dims, made.shape, strict=True):
            if isinstance(dim, int) or self.rng.random() < 0.5:
                n = self.rng.randrange(extent) if isinstance(dim, int) else 0
                out.append(Piece(str(n), lambda c, n=n: n))  # type: ignore[misc]
            else:
                out.append(Piece(f"min(max(n, 0), {dim} - 1)",
                                 lambda c, d=dim: min(max(c.values["n"], 0), c.values[d] - 1)))  # type: ignore[misc]  # fmt: skip
        return out

    def slice_of(
        self, scope: Scope, made: Made, shape: Shape, written: bool
    ) -> tuple[str, list[Meaning], Shape] | None:
        """(subscripts, offsets, spans) of a slice whose shape is `shape`, perhaps with unit axes more in front."""
        r = self.rng
        extra = len(made.dims) - len(shape)
        if extra < 0 or 0 in made.shape[:extra]:
            return None
        texts: list[str] = []
        offsets: list[Meaning] = []
        for axis, (dim, extent) in enumerate(zip(made.dims, made.shape, strict=True)):
            span = 1 if axis < extra else shape[axis - extra]
            if span == 1 and extent > 0 and (axis < extra or r.random() < 0.3):
                if isinstance(dim, int):
                    at = r.randrange(extent)
                    texts.append(str(at))
                    offsets.append(lambda c, at=at: at)  # type: ignore[misc]
                    continue
                if axis < extra:
                    texts.append(f"min(max(n, 0), {dim} - 1)")
                    offsets.append(lambda c, d=dim: min(max(c.values["n"], 0), c.values[d] - 1))  # type: ignore[misc]
                    continue
            if isinstance(dim, int) and dim == span and r.random() < 0.6:
                texts.append(r.choice((":", f"0:{span}", "0:", f":{span}")))
                offsets.append(lambda c: 0)
                continue
            if isinstance(dim, int) and dim > span and r.random() < 0.15:
                texts.append(f"{dim - span}:")
                offsets.append(lambda c, at=dim - span: at)  # type: ignore[misc]
                continue
            start = self.offset(scope, dim, span)
            if start.text.lstrip("-").isdigit() and r.random() < 0.3:
                texts.append(f"{start.text} : {int(start.text) + span}")
            else:
                texts.append(f"{start.text} :+ {span}")
            offsets.append(start.do)
        if not any(":" in text for text in texts):
            return None  # points alone are one element, no tile
        spans = (*(1,) * extra, *shape)
        return f"{made.name}[{', '.join(texts)}]", offsets, spans

    # ---- expressions --------------------------------------------------------------------------------------------

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
                made = r.choice(self.tensors)
                found = self.slice_of(scope, made, shape, False)
                if found is None:
                    continue
                text, offsets, spans = found
                if len(spans) > len(shape) and (shape[0] == 1 or self.with_iota):
                    continue  # iota would count another axis

                def load(c: Cta, made: Made = made, offsets: list[Meaning] = offsets, spans: Shape = spans) -> Any:
                    array = c.arrays[made.name]
                    out = np.zeros(spans, array.dtype)
                    at, kept = window([o(c) for o in offsets], spans, array.shape)
                    out[np.ix_(*kept)] = array[np.ix_(*at)]
                    return convert(c, out.reshape(shape), made.elem, elem)

                return Piece(text if made.elem == elem else f"{elem}({text})", load)
        s = self.full(scope, elem, shape)
        if not self.with_iota and s is not None:
            return s
        axis = r.randrange(len(shape))
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
        return self.tile(scope, elem, self.smaller(shape), depth)

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
        a = self.tile(scope, e, (shape[0], k), r.choice((0, 0, 0, depth - 1)))
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
