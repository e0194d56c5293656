"""The subscripts of random programs: tensors, index values, and every form of a slice, each with its meaning in NumPy.

Numbers are small integers, so that most programs are exact whatever is fused or reordered; `Cta.exact` says whether
this one was.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tests.prop.productions import LATER

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Meaning = Callable[["Cta"], Any]
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "u8", "i32", "i64")
BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32", "u8": "i32", "i32": "i32", "i64": "i64"}
"""What the elements of each type are summed in."""
LIMITS = {"i8": (-128, 127), "u8": (0, 255), "i32": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1)}
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 24, 31, 32, 36, 40, 48, 50, 64, 65, 80, 96, 100)
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 16, 16, 20, 24, 32, 32, 32, 33, 48, 64, 64, 80, 96)
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

    def memory(self, name: str) -> Array:
        """What a tensor or a tile holds."""
        return self.arrays[name] if name in self.arrays else np.asarray(self.values[name])

    def to_write(self, name: str) -> Array:
        """The same, to be written in place: another name for the tile keeps what it holds."""
        if name not in self.arrays:
            self.values[name] = np.array(self.values[name])
        return self.memory(name)

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
    """A tensor, or a tile that is sliced like one. dims are numbers or dim names."""

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
    typed: set[str] = field(default_factory=set)
    """Tiles whose declaration says the shape; that of others may have unit axes more in front."""
    kind: str = ""
    """The statement whose block this is, and the names from outside that it may assign."""
    outer: frozenset[str] = frozenset()

    def inner(self, kind: str) -> Scope:
        names = frozenset(self.mutable)
        mine = dict(self.tiles), dict(self.mutable), dict(self.loops), list(self.counters), set(self.typed)
        return Scope(*mine, kind, names)


class Subscripts:
    """Makes the tensors of one program and what stands in brackets."""

    def __init__(self, seed: int, host: bool = False) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.host = host
        self.names = 0
        self.productions: Counter[str] = Counter()
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
        if r.random() < 0.15 and "K" in self.dims:
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

    def note(self, *productions: str) -> None:
        self.productions.update(productions)

    def memories(self, scope: Scope, written: bool = False) -> list[Made]:
        """The tensors, and the tiles that may be sliced, of which there are about as many."""
        tiles = scope.mutable if written else scope.tiles
        some = sorted((name, t) for name, t in tiles.items() if name in scope.typed)[-len(self.tensors) :]
        found = [Made(name, elem, shape, shape) for name, (elem, shape) in some]
        return self.tensors if "tile slice" in LATER else [*self.tensors, *found]

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    # ---- index values -------------------------------------------------------------------------------------------

    def offset(self, scope: Scope, dim: int | str, span: int) -> Piece:
        """A start for a span along a dim: anything, since the span is masked."""
        r = self.rng
        for axis, name in self.axes.items():
            if name == dim and self.tiles_of[name] == span and r.random() < 0.7:
                self.note("start: block")
                return Piece(f"ctx.block.{axis} * {span}", lambda c, axis=axis: c.values[axis] * span)  # type: ignore[misc]
        fitting = [v for v, step in scope.loops.items() if step == span]
        if fitting and r.random() < 0.75:
            v = r.choice(fitting)
            self.note("start: loop")
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

    def slice_of(self, scope: Scope, made: Made, shape: Shape) -> tuple[str, list[Meaning], Shape] | None:
        """(subscripts, offsets, spans) of a slice whose shape is `shape`, perhaps with unit axes more in front."""
        r = self.rng
        extra = len(made.dims) - len(shape)
        if extra < 0 or 0 in made.shape[:extra]:
            return None
        before = self.productions.copy()
        spans = (*(1,) * extra, *shape)
        subscripts = [
            self.point_in(dim, extent)
            if span == 1 and extent > 0 and (axis < extra or r.random() < 0.3)
            else self.range_in(scope, dim, span)
            for axis, (dim, extent, span) in enumerate(zip(made.dims, made.shape, spans, strict=True))
        ]
        texts = [p.text for p in subscripts]
        if not any(":" in text for text in texts):
            self.productions = before
            return None  # points alone are one element, no tile
        if not all(":" in text for text in texts):
            self.note("point beside slices")
        if any(t.startswith("ctx") for t in texts) and any(t.split(" :")[0] in scope.loops for t in texts):
            self.note("starts: block and loop")
        return f"{made.name}[{', '.join(texts)}]", [p.do for p in subscripts], spans

    def point_in(self, dim: int | str, extent: int) -> Piece:
        """A point that surely lies in an axis."""
        if isinstance(dim, int):
            at = self.rng.randrange(extent)
            return Piece(str(at), lambda c: at)
        return Piece(f"min(max(n, 0), {dim} - 1)", lambda c: min(max(c.values["n"], 0), c.values[dim] - 1))

    def range_in(self, scope: Scope, dim: int | str, span: int) -> Piece:
        """A range of a constant length; its meaning is the start."""
        r = self.rng
        if isinstance(dim, int) and dim == span and r.random() < 0.6:
            form, text = r.choice(((":", ":"), ("s : e", f"0:{span}"), ("s:", "0:"), (":e", f":{span}")))
            self.note(f"range: {form}")
            return Piece(text, lambda c: 0)
        if isinstance(dim, int) and dim > span and r.random() < 0.15:
            self.note("range: s:")
            return Piece(f"{dim - span}:", lambda c: dim - span)
        if r.random() < 0.06:
            self.note("range: :e")
            return Piece(f":{span}", lambda c: 0)
        start = self.offset(scope, dim, span)
        if start.text.startswith("-"):
            self.note("start: negative")
        if start.text.lstrip("-").isdigit() and r.random() < 0.3:
            self.note("range: s : e")
            return Piece(f"{start.text} : {int(start.text) + span}", start.do)
        if re.fullmatch(r"k\d+|n|ctx\.block\.\w \* \d+", start.text) and r.random() < 0.15:
            self.note("range: s : s + n")
            return Piece(f"{start.text} : {start.text} + {span}", start.do)
        self.note("range: s :+ n")
        return Piece(f"{start.text} :+ {span}", start.do)
