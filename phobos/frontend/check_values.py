"""Giving a value another element type, shape or resting place: conversions, splats, broadcasts and stores."""

from __future__ import annotations

from ..diagnostics import Label
from ..ir.types import BOOL, INDEX, Scalar, Tile, Type, Vec
from ..source import Span
from . import ast
from . import typed as t
from .check_base import Base
from .joins import (
    ERROR,
    FLOAT_LITERAL,
    VOID,
    Pending,
    as_rank2,
    broadcast,
    elem_of,
    fitted,
    int_range,
    is_literal,
    is_number,
    may_store,
    same_but_units,
    settled,
    shape_text,
    with_elem,
    wrapped,
)


class Values(Base):
    # ---- element types ----------------------------------------------------------------------------------

    def as_elem(self, e: t.TExpr, elem: Scalar, *, wrap: bool = False) -> t.TExpr:
        """The value with another element type. A literal must fit; wrap: a constant integer wraps silently."""
        have = elem_of(e.type)
        if have == elem or ERROR in (have, elem):
            return e
        if isinstance(e, t.Const) and is_literal(have):
            return self._literal(e, elem)
        if isinstance(e, t.Const) and have.is_int and is_number(elem):
            value = int(e.value)
            if elem.is_int and (wrap or fitted(value, elem) is not None):
                return t.Const(type=elem, span=e.span, value=wrapped(value, elem))
            as_float = fitted(value, elem) if elem.is_float else None
            if as_float is not None:
                return t.Const(type=elem, span=e.span, value=float(as_float))
        return t.Convert(type=with_elem(e.type, elem), span=e.span, operand=e)

    def _literal(self, e: t.Const, elem: Scalar) -> t.TExpr:
        value = fitted(e.value, elem)
        if value is not None:
            return t.Const(type=elem, span=e.span, value=float(value) if elem.is_float else value)
        if elem.is_int and isinstance(e.value, float):
            return self.error(
                "PH214",
                f"a float literal cannot become {elem} by itself",
                e.span,
                "a float",
                help=(f"write {int(e.value)}" if abs(e.value) < 2**63 else f"convert it: {elem}({e.span.text})",),
            )
        help_: tuple[str, ...] = ()
        if elem.is_int:
            low, high = int_range(elem)
            note = f"{elem} holds {low} to {high}"
            if e.span.text.lower().startswith("0x") and 0 <= e.value < 1 << elem.bits:
                help_ = (f"the {elem} with these bits is {wrapped(int(e.value), elem)}",)
        else:
            note = f"rounded to {elem} it would be infinite"
        return self.error("PH215", f"{e.value} does not fit in {elem}", e.span, notes=(note,), help=help_)

    def settle(self, e: t.TExpr) -> t.TExpr:
        """The value as it stands alone: literals take their own type, and an open shape is an error."""
        if isinstance(e.type, Pending):
            return self.fill(e, e.type.shape) if e.type.shape else self._shapeless(e)
        if is_literal(e.type):
            return self.as_elem(e, settled(elem_of(e.type)))
        return e

    def _shapeless(self, e: t.TExpr) -> t.TExpr:
        from .walk import tree

        iota = next((n for n in tree(e) if isinstance(n, t.Iota)), e)
        return self.error(
            "PH230",
            "iota has no shape here",
            iota.span,
            notes=("iota takes the shape of the elementwise expression that it stands in",),
            help=("combine it with a tile, or store it into one: var i: tile<i32>[R, C] = iota(1)",),
        )

    # ---- shapes -----------------------------------------------------------------------------------------

    def fill(self, e: t.TExpr, shape: tuple[int, ...]) -> t.TExpr:
        """Give every open `iota` below an elementwise expression this shape, and every other operand too."""
        if not isinstance(e.type, Pending):
            return self.shaped(e, shape)
        e.type = Tile(e.type.elem, shape)
        match e:
            case t.Iota():
                if e.axis >= len(shape):
                    return self.error(
                        "PH230",
                        f"iota({e.axis}) asks for axis {e.axis} of a tile {shape_text(shape)}",
                        e.span,
                        f"the axes are 0 to {len(shape) - 1}",
                    )
            case t.Unary() | t.Convert():
                e.operand = self.fill(e.operand, shape)
            case t.Binary() | t.Compare():
                e.left, e.right = self.fill(e.left, shape), self.fill(e.right, shape)
            case t.Select():
                e.cond, e.a, e.b = self.fill(e.cond, shape), self.fill(e.a, shape), self.fill(e.b, shape)
            case t.FmaExpr():
                e.a, e.b, e.c = self.fill(e.a, shape), self.fill(e.b, shape), self.fill(e.c, shape)
            case _:
                raise AssertionError(f"{type(e).__name__} with an open shape")
        return e

    def shaped(self, e: t.TExpr, shape: tuple[int, ...]) -> t.TExpr:
        """A scalar or tile as a tile of a shape that it stretches to."""
        if isinstance(e.type, Scalar):
            return t.Splat(type=Tile(e.type, shape), span=e.span, operand=e)
        assert isinstance(e.type, Tile)
        elem, have = e.type.elem, e.type.shape
        if len(have) != len(shape):
            have = have[len(have) - len(shape) :]
            e = t.Reshape(type=Tile(elem, have), span=e.span, operand=e)
        if have != shape:
            e = t.Broadcast(type=Tile(elem, shape), span=e.span, operand=e)
        return e

    def reshaped(self, e: t.TExpr, shape: tuple[int, ...]) -> t.TExpr:
        """A tile with axes of extent 1 added or dropped."""
        assert isinstance(e.type, Tile)
        if e.type.shape == shape:
            return e
        return t.Reshape(type=Tile(e.type.elem, shape), span=e.span, operand=e)

    def rank2(self, e: t.TExpr, what: str) -> t.TExpr:
        """A tile of rank 2, for what needs one."""
        e = self.settle(e)
        if e.type == ERROR:
            return e
        if not isinstance(e.type, Tile):
            return self.error("PH220", f"{what} needs a tile, not {self.describe(e)}", e.span, self.describe(e))
        shape = as_rank2(e.type.shape)
        if shape is None:
            return self.error(
                "PH219",
                f"{what} needs a tile of rank 2, not {shape_text(e.type.shape)}",
                e.span,
                self.describe(e),
                notes=("axes of extent 1 may be dropped or added",),
            )
        return self.reshaped(e, shape)

    def elementwise(self, parts: list[t.TExpr], what: str, span: Span) -> tuple[list[t.TExpr], Type] | None:
        """Operands in one shape, and a type of that shape to put the result's element type into (`with_elem`).

        None when there is an error, which is reported.
        """
        if any(p.type == ERROR for p in parts):
            return None
        runs = [p for p in parts if isinstance(p.type, Vec)]
        tiles = [p for p in parts if isinstance(p.type, Tile | Pending)]
        if runs:
            return self._over_runs(parts, runs, tiles, what, span)
        if not tiles:
            return parts, elem_of(parts[0].type)
        shape: tuple[int, ...] = ()
        first = tiles[0]
        for p in tiles:
            assert isinstance(p.type, Tile | Pending)
            if not p.type.shape:
                continue
            met = broadcast(shape, p.type.shape) if shape else p.type.shape
            if met is None:
                self._shapes_differ(first, p, what, span)
                return None
            if not shape:
                first = p
            shape = met
        if any(isinstance(p.type, Pending) for p in tiles):
            return parts, Pending(elem_of(first.type), shape)
        return [self.shaped(p, shape) for p in parts], Tile(elem_of(first.type), shape)

    def _over_runs(
        self, parts: list[t.TExpr], runs: list[t.TExpr], tiles: list[t.TExpr], what: str, span: Span
    ) -> tuple[list[t.TExpr], Type] | None:
        first = runs[0].type
        assert isinstance(first, Vec)
        other = next((r for r in runs if isinstance(r.type, Vec) and r.type.n != first.n), None)
        if tiles or other is not None:
            odd = tiles[0] if tiles else other
            assert odd is not None
            self.error(
                "PH217",
                f"{what} of {self.describe(runs[0])} and {self.describe(odd)}",
                span,
                labels=(Label(runs[0].span, self.describe(runs[0])), Label(odd.span, self.describe(odd))),
                notes=("a thread's runs go with runs of the same length and with scalars",),
            )
            return None
        out = []
        for p in parts:
            if isinstance(p.type, Scalar):
                p = t.Splat(type=Vec(p.type, first.n), span=p.span, operand=p)
            out.append(p)
        return out, first

    def _shapes_differ(self, a: t.TExpr, b: t.TExpr, what: str, span: Span) -> None:
        shapes = " and ".join(shape_text(p.type.shape) for p in (a, b) if isinstance(p.type, Tile | Pending))
        self.error(
            "PH217",
            f"{what} of tiles {shapes}",
            span,
            labels=(
                Label(a.span, self.describe(a)),
                Label(b.span, self.describe(b)),
                *self.origins(a),
                *self.origins(b),
            ),
            notes=("extents must be equal, or 1 in one of the tiles; leading 1s do not count",),
        )

    # ---- stores -----------------------------------------------------------------------------------------

    def stored(self, e: t.TExpr, target: Type, what: str, *, memory: bool, because: tuple[Label, ...] = ()) -> t.TExpr:
        """The value as something of the target's type holds it, with the implicit conversions of a store.

        what: the target in words. because: labels that show where its type was decided.
        """
        if e.type == ERROR or elem_of(target) == ERROR:
            return e
        if e.type == VOID:
            return self.no_value(e)
        if isinstance(target, Tile) and isinstance(e.type, Pending):
            e = self.fill(e, e.type.shape or target.shape)
            if e.type == ERROR:
                return e
        elem, have = elem_of(target), elem_of(e.type)
        if isinstance(e, t.Const) and is_literal(e.type) and is_number(elem):
            if have == FLOAT_LITERAL and elem.is_int:
                return self._not_storable(e, elem, what, because)
            e = self.as_elem(e, elem)
            if e.type == ERROR:
                return e
        if not self._shapes_fit(e, target, what, because):
            return self.broken(e.span)
        if not may_store(elem_of(e.type), elem, memory=memory):
            return self._not_storable(e, elem, what, because)
        e = self.as_elem(e, elem, wrap=True)
        if isinstance(target, Tile):
            return self.shaped(e, target.shape) if isinstance(e.type, Scalar) else self.reshaped(e, target.shape)
        if isinstance(target, Vec) and isinstance(e.type, Scalar):
            return t.Splat(type=target, span=e.span, operand=e)
        return e

    def _shapes_fit(self, e: t.TExpr, target: Type, what: str, because: tuple[Label, ...]) -> bool:
        match target, e.type:
            case (_, Scalar()):
                return True
            case (Tile(), Tile()) if same_but_units(target.shape, e.type.shape):
                return True
            case (Vec(), Vec()) if target.n == e.type.n:
                return True
        notes: tuple[str, ...] = ("axes of extent 1 may be dropped or added; the others must be the same, in order",)
        help_: tuple[str, ...] = ()
        if isinstance(target, Scalar) and isinstance(e.type, Tile):
            help_ = ("a subscript with only points gives one element",)
            notes = ()
        self.error(
            "PH218",
            f"{what} is {target} and cannot hold {self.describe(e)}",
            e.span,
            self.describe(e),
            labels=because + self.origins(e),
            notes=notes if isinstance(target, Tile) and isinstance(e.type, Tile) else (),
            help=help_,
        )
        return False

    def _not_storable(self, e: t.TExpr, elem: Scalar, what: str, because: tuple[Label, ...]) -> t.TExpr:
        have = elem_of(e.type)
        if elem == BOOL:
            help_ = "compare it: x != 0"
        elif have == BOOL:
            help_ = f"convert it: {elem}({e.span.text})" if len(e.span.text) < 40 else f"convert it with {elem}(..)"
        elif elem == INDEX:
            help_ = "give the variable a type: i64"
        else:
            help_ = f"convert it: {elem}({e.span.text})" if len(e.span.text) < 40 else f"convert it with {elem}(..)"
        rule = "a store converts an integer to a wider integer or a float, and a float to another float"
        if have.is_int and elem.is_int:
            rule += "; integers narrow only into tensors and tiles"
        return self.error(
            "PH214",
            f"{what} is {elem} and cannot hold {settled(have)} without a conversion",
            e.span,
            self.describe(e),
            labels=because,
            notes=(rule,),
            help=(help_,),
        )

    # ---- roles ------------------------------------------------------------------------------------------

    def integer(self, e: t.TExpr, role: str) -> t.TExpr:
        """A scalar integer as an index; role: what it is for."""
        e = self.settle(e)
        if e.type == ERROR:
            return e
        if not isinstance(e.type, Scalar) or not e.type.is_int:
            help_: tuple[str, ...] = ()
            if isinstance(e.type, Scalar) and e.type.is_float:
                help_ = (f"convert it: i32({e.span.text})",) if len(e.span.text) < 40 else ("convert it with i32(..)",)
            return self.error(
                "PH213", f"{role} must be an integer, not {self.describe(e)}", e.span, self.describe(e), help=help_
            )
        return self.as_elem(e, INDEX)

    def condition(self, e: t.TExpr, what: str) -> t.TExpr:
        """A scalar bool."""
        e = self.settle(e)
        if e.type in (ERROR, BOOL):
            return e
        help_ = ("compare it: x != 0",) if isinstance(e.type, Scalar) and is_number(e.type) else ()
        return self.error(
            "PH212", f"{what} must be a bool, not {self.describe(e)}", e.span, self.describe(e), help=help_
        )

    def constant(self, e: ast.Expr, role: str) -> int | None:
        """The value of a constant expression; None when there is an error, which is reported."""
        value = self.settle(self.expr(e))
        if value.type == ERROR:
            return None
        if not isinstance(value.type, Scalar) or not value.type.is_int:
            self.integer(value, role)
            return None
        if isinstance(value, t.Const):
            return int(value.value)
        self.not_constant(value, role)
        return None

    def not_constant(self, value: t.TExpr, role: str) -> t.TExpr:
        what = "a run-time extent" if isinstance(value, t.DimRef) else "known only at run time"
        return self.error(
            "PH223",
            f"{role} must be a constant expression",
            value.span,
            what,
            notes=("constants are literals, @autotune names, ctx.threads, ctx.warps, ctx.lanes and `let`s of such",),
        )

    def no_value(self, e: t.TExpr) -> t.TExpr:
        name = e.span.text.split("(")[0].strip()
        return self.error("PH231", f"`{name}` gives no value", e.span, "used as a value here")

    # ---- words ------------------------------------------------------------------------------------------

    def describe(self, e: t.TExpr) -> str:
        """The type of a value as messages say it."""
        if isinstance(e.type, Tile):
            return str(e.type)
        article = "an" if str(e.type)[0] in "fi" else "a"
        return f"{article} {e.type}"

    def origin(self, e: t.TExpr, axis: int) -> Span | None:
        """The piece of source that decided one extent of a tile."""
        while isinstance(e, t.Convert | t.Reshape):
            if isinstance(e, t.Reshape) and isinstance(e.operand.type, Tile):
                axis += len(e.operand.type.shape) - len(t.tile_type(e).shape)
            e = e.operand
        if isinstance(e, t.SliceLoad):
            return e.subs[axis].span if 0 <= axis < len(e.subs) else None
        if isinstance(e, t.SymbolRef) and e.symbol in self.declared:
            written, value = self.declared[e.symbol]
            if written is not None and written.dims:
                return written.dims[axis].span if 0 <= axis < len(written.dims) else None
            if value is not None and not isinstance(value, t.SymbolRef):
                return self.origin(value, axis)
        return None

    def origins(self, e: t.TExpr) -> tuple[Label, ...]:
        """Labels that show where a tile's extents came from."""
        if not isinstance(e.type, Tile):
            return ()
        labels = []
        for axis, extent in enumerate(e.type.shape):
            span = self.origin(e, axis)
            if span is not None and not (e.span.start <= span.start and span.end <= e.span.end):
                labels.append(self.extent_label(span, extent))
        return tuple(labels)

    def extent_label(self, span: Span, extent: int) -> Label:
        values = self.constant_values(span)
        return Label(span, f"extent {extent}" + (f" ({values})" if values else ""))
