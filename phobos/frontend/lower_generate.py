"""`generate(f, R, C, args..)`: the fn's scalars become tiles, and the tile is computed where it is read.

    fn f(i, j, k) { let d = i - j; return where(d > k, A[i], 0.0) }        generate(f, 8, 16, k)

becomes the same statements with `i` and `j` as index tiles of `[8, 16]`: what depends on them is a tile, all else stays
a scalar. A point of a tensor or tile whose subscripts are tiles is a `gather`, unmasked as a point is. An `if` on a
tile runs both arms and chooses element by element, so no memory may be read there: it could lie outside the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..ir.types import I32, INDEX, Tile
from ..source import Span
from . import typed as t
from .lower_flow import structured
from .walk import expressions, reads_memory, statements

Stmts = list[t.TStmt]


class NotLiftedError(Exception):
    """What cannot be done element by element; `what` completes "not supported yet:"."""

    def __init__(self, span: Span, what: str) -> None:
        super().__init__(what)
        self.span, self.what = span, what


def lifted(call: t.Call) -> tuple[Stmts, t.TExpr]:
    """The statements that compute a `generate` and the tile that is its value."""
    lift = _Lift(t.tile_type(call).shape)
    attrs = call.attrs
    for axis, symbol in enumerate((attrs["i"], attrs["j"])):
        lift.index[symbol] = axis
    body = structured(attrs["body"], call.span)
    lift.find_varying(body)
    out = lift.block(body)
    return out, lift.tile(lift.expr(attrs["result"]))


class _Lift:
    """index: the symbols i and j with their axes. tiles: what each symbol that varies became."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.index: dict[t.Symbol, int] = {}
        self.tiles: dict[t.Symbol, t.Symbol] = {}

    # ---- which symbols vary -------------------------------------------------------------------------------------

    def find_varying(self, body: Stmts) -> None:
        """Give a tile symbol to each symbol that is assigned what varies, or is assigned where a condition varies."""
        before = -1
        while before != len(self.tiles):
            before = len(self.tiles)
            self._mark(body, varying=False)

    def _mark(self, body: Iterable[t.TStmt], varying: bool) -> None:
        for stmt in body:
            match stmt:
                case t.Declare(symbol=symbol, value=value):
                    if value is not None and self._varies(value):
                        self._vary(symbol)
                case t.Assign(symbol=symbol, value=value):
                    if varying or self._varies(value):
                        self._vary(symbol)
                case t.If(cond=cond):
                    here = varying or self._varies(cond)
                    self._mark(stmt.then, here)
                    self._mark(stmt.orelse, here)
                case t.For():
                    self._mark(stmt.body, varying)
                case t.While():
                    self._mark([*stmt.setup, *stmt.body], varying)
                case t.InlineBlock():
                    self._mark(stmt.body, varying)

    def _vary(self, symbol: t.Symbol) -> None:
        if symbol not in self.tiles:
            elem = t.elem_type(symbol.type)
            self.tiles[symbol] = t.Symbol(symbol.name, symbol.kind, Tile(elem, self.shape), symbol.span)

    def _varies(self, expr: t.TExpr) -> bool:
        return isinstance(self.expr(expr, checked=False).type, Tile)

    # ---- statements ---------------------------------------------------------------------------------------------

    def block(self, body: Iterable[t.TStmt]) -> Stmts:
        return [made for stmt in body for made in self._stmt(stmt)]

    def _stmt(self, stmt: t.TStmt) -> Stmts:
        match stmt:
            case t.Declare(symbol=symbol, value=value) if symbol in self.tiles:
                made = None if value is None else self.tile(self.expr(value))
                return [t.Declare(span=stmt.span, symbol=self.tiles[symbol], value=made)]
            case t.Declare(value=value):
                return [replace(stmt, value=None if value is None else self.expr(value))]
            case t.Assign(symbol=symbol, value=value) if symbol in self.tiles:
                return [t.Assign(span=stmt.span, symbol=self.tiles[symbol], value=self.tile(self.expr(value)))]
            case t.Assign(value=value):
                return [replace(stmt, value=self.expr(value))]
            case t.If(cond=cond):
                return self._if(stmt, self.expr(cond))
            case t.For():
                bounds = tuple(self.expr(e) for e in (stmt.start, stmt.stop, stmt.step))
                if any(isinstance(e.type, Tile) for e in bounds):
                    raise NotLiftedError(stmt.span, "a loop whose trips differ between elements")
                return [replace(stmt, start=bounds[0], stop=bounds[1], step=bounds[2], body=self.block(stmt.body))]
            case t.While():
                setup, cond = self.block(stmt.setup), self.expr(stmt.cond)
                if isinstance(cond.type, Tile):
                    raise NotLiftedError(stmt.span, "a loop whose trips differ between elements")
                return [replace(stmt, setup=setup, cond=cond, body=self.block(stmt.body))]
            case t.InlineBlock():
                return [replace(stmt, body=self.block(stmt.body))]
            case _:
                raise NotLiftedError(stmt.span, "this statement")

    def _if(self, stmt: t.If, cond: t.TExpr) -> Stmts:
        if not isinstance(cond.type, Tile):
            return [replace(stmt, cond=cond, then=self.block(stmt.then), orelse=self.block(stmt.orelse))]
        arms = (stmt.then, stmt.orelse)
        for inner in statements([*stmt.then, *stmt.orelse]):
            if any(reads_memory(e) for e in expressions(inner)):
                raise NotLiftedError(inner.span, "reading memory under a condition that differs between elements")
        held = t.Symbol("chosen", "let", cond.type, stmt.span)
        out: Stmts = [t.Declare(span=stmt.span, symbol=held, value=cond)]
        declared = {s.symbol for s in statements([*stmt.then, *stmt.orelse]) if isinstance(s, t.Declare)}
        written = dict.fromkeys(
            s.symbol
            for s in statements([*stmt.then, *stmt.orelse])
            if isinstance(s, t.Assign) and s.symbol not in declared
        )
        made: list[dict[t.Symbol, t.Symbol]] = []
        for arm in arms:
            outer = dict(self.tiles)
            copies = {s: replace(self.tiles[s], kind="var") for s in written}
            for s, copy in copies.items():
                out.append(t.Declare(span=stmt.span, symbol=copy, value=self._read(outer[s], stmt.span)))
            self.tiles.update(copies)
            out += self.block(arm)
            self.tiles = outer
            made.append(copies)
        for s in written:
            a, b = (self._read(copies[s], stmt.span) for copies in made)
            kind = self.tiles[s].type
            chosen = t.Select(type=kind, span=stmt.span, cond=self._read(held, stmt.span), a=a, b=b)
            out.append(t.Assign(span=stmt.span, symbol=self.tiles[s], value=chosen))
        return out

    def _read(self, symbol: t.Symbol, span: Span) -> t.TExpr:
        return t.SymbolRef(type=symbol.type, span=span, symbol=symbol)

    # ---- expressions --------------------------------------------------------------------------------------------

    def tile(self, e: t.TExpr) -> t.TExpr:
        """A lifted expression as a tile."""
        if isinstance(e.type, Tile):
            return e
        return t.Splat(type=Tile(t.elem_type(e.type), self.shape), span=e.span, operand=e)

    def expr(self, e: t.TExpr, checked: bool = True) -> t.TExpr:
        """The expression with tiles for what varies; the same one when nothing in it does. checked: raise what cannot
        be lifted, instead of only finding out whether it varies."""

        def lift(part: t.TExpr) -> t.TExpr:
            return self.expr(part, checked)

        match e:
            case t.SymbolRef(symbol=symbol) if symbol in self.index:
                index = Tile(I32, self.shape)
                iota = t.Iota(type=index, span=e.span, axis=self.index[symbol])
                return t.Convert(type=Tile(INDEX, self.shape), span=e.span, operand=iota)
            case t.SymbolRef(symbol=symbol):
                return self._read(self.tiles[symbol], e.span) if symbol in self.tiles else e
            case t.Unary() | t.Convert():
                return self._made(e, lambda a: replace(e, type=self._type(e), operand=a[0]), [lift(e.operand)])
            case t.Binary(op="land" | "lor" as op):
                parts = [lift(e.left), lift(e.right)]
                if checked and isinstance(parts[0].type, Tile) and reads_memory(e.right):
                    raise NotLiftedError(e.span, "reading memory under a condition that differs between elements")
                plain = op[1:]
                return self._made(e, lambda a: replace(e, type=self._type(e), op=plain, left=a[0], right=a[1]), parts)
            case t.Binary() | t.Compare():
                parts = [lift(e.left), lift(e.right)]
                return self._made(e, lambda a: replace(e, type=self._type(e), left=a[0], right=a[1]), parts)
            case t.Select():
                parts = [lift(e.cond), lift(e.a), lift(e.b)]
                return self._made(e, lambda a: replace(e, type=self._type(e), cond=a[0], a=a[1], b=a[2]), parts)
            case t.FmaExpr():
                parts = [lift(e.a), lift(e.b), lift(e.c)]
                return self._made(e, lambda a: replace(e, type=self._type(e), a=a[0], b=a[1], c=a[2]), parts)
            case t.PointLoad(base=base):
                subs = tuple(lift(sub.start) for sub in e.subs)
                if not any(isinstance(s.type, Tile) for s in subs):
                    return e
                return t.Call(type=self._type(e), span=e.span, name="gather", args=(base, *subs))
            case t.Call() if checked:
                parts = [lift(a) for a in e.args if isinstance(a, t.TExpr)]
                if any(isinstance(p.type, Tile) for p in parts):
                    raise NotLiftedError(e.span, f"the builtin `{e.name}` of an element")
                return e
            case _:
                return e

    def _type(self, e: t.TExpr) -> Tile:
        return Tile(t.elem_type(e.type), self.shape)

    def _made(self, e: t.TExpr, make: Callable[[list[t.TExpr]], t.TExpr], parts: list[t.TExpr]) -> t.TExpr:
        return make([self.tile(p) for p in parts]) if any(isinstance(p.type, Tile) for p in parts) else e
