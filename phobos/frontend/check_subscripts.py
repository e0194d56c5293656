"""Subscripts in all their forms: elements, tiles, a thread's runs, and the places that are stored to."""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Label
from ..ir.types import INDEX, Scalar, Tensor, Tile, Type, Vec
from ..source import Span
from . import ast
from . import typed as t
from .check_expressions import Expressions
from .joins import ERROR, VOID, elem_of, sum_type
from .linear import difference
from .scope import Binding


@dataclass(frozen=True, slots=True)
class Spot:
    """A subscripted name: what it belongs to and its subscripts, normalised."""

    binding: Binding
    base: t.Symbol
    subs: tuple[t.Range, ...]
    span: Span

    @property
    def elem(self) -> Scalar:
        return elem_of(self.base.type)

    @property
    def is_point(self) -> bool:
        return all(sub.kind == "point" for sub in self.subs)

    @property
    def open_axis(self) -> t.Range | None:
        """A subscript whose length is known only at run time."""
        return next((s for s in self.subs if s.kind in ("rest", "dynamic")), None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The tile's shape: a point among slices keeps its axis with extent 1."""
        return tuple(1 if sub.length is None else sub.length for sub in self.subs)

    def place(self) -> t.Place:
        return t.Place(base=self.base, subs=self.subs, span=self.span)


class Subscripts(Expressions):
    def subscript(self, e: ast.Subscript) -> t.TExpr:
        """The value of a subscripted name: an element, or a tile, or inside `sum` a thread's run."""
        if not isinstance(e.base, ast.Name):
            return self._of_value(e)
        spot = self.spot(e)
        if spot is None:
            return self.broken(e.span)
        self.note_read(spot.base, e.base.span)
        return self.load(spot)

    def load(self, spot: Spot) -> t.TExpr:
        if spot.is_point:
            return t.PointLoad(type=spot.elem, span=spot.span, base=spot.base, subs=spot.subs)
        if spot.open_axis is not None:
            return self.not_static(spot)
        if self.runs:
            return self.run_of(spot, {})
        return t.SliceLoad(type=Tile(spot.elem, spot.shape), span=spot.span, base=spot.base, subs=spot.subs)

    def _of_value(self, e: ast.Subscript) -> t.TExpr:
        """A subscript of something that has no name: it gets one."""
        base = self.value(e.base)
        if base.type == ERROR:
            return base
        if not isinstance(base.type, Tile | Vec):
            return self.no_subscripts(base.type, e)
        ref = self.bind(base)
        assert isinstance(ref, t.SymbolRef)
        binding = Binding("tmp", "let", e.base.span, ref.symbol)
        spot = self._spot(binding, e)
        return self.load(spot) if spot is not None else self.broken(e.span)

    def no_subscripts(self, kind: Type, e: ast.Subscript) -> t.TExpr:
        return self.error("PH229", f"{kind} has no subscripts", e.span, labels=(Label(e.base.span, f"of type {kind}"),))

    # ---- normalising ------------------------------------------------------------------------------------

    def spot(self, e: ast.Subscript) -> Spot | None:
        """A subscripted name; None when there is an error, which is reported."""
        if not isinstance(e.base, ast.Name):
            self.error("PH229", "only a name is subscripted here", e.base.span, help=("give it a name with `let`",))
            return None
        found = self.scope.find(e.base.name)
        if found is None:
            self.unknown_name(e.base)
            self._check_parts(e)
            return None
        if found.symbol is None or isinstance(found.symbol.type, Scalar):
            if found.symbol is not None and found.symbol.type == ERROR:
                self.broken(e.span)
            else:
                self.error(
                    "PH229",
                    f"`{found.name}` has no subscripts",
                    e.base.span,
                    f"{found.role} of type {found.symbol.type}" if found.symbol is not None else found.role,
                    labels=(Label(found.span, "declared here"),),
                )
            self._check_parts(e)
            return None
        return self._spot(found, e)

    def _check_parts(self, e: ast.Subscript) -> None:
        """Report what is wrong in the subscripts of something that is wrong itself."""
        for sub in e.subs:
            for part in (sub.start, sub.stop, sub.length):
                if part is not None:
                    self.expr(part)

    def _spot(self, found: Binding, e: ast.Subscript) -> Spot | None:
        assert found.symbol is not None
        base = found.symbol
        dims: tuple[int | str, ...]
        match base.type:
            case Tensor(dims=dims):
                pass
            case Tile(shape=dims):
                pass
            case Vec(n=n):
                return self._element_of_run(found, e, n)
            case _:
                raise AssertionError(base.type)
        if len(e.subs) != len(dims):
            self.error(
                "PH226",
                f"{len(e.subs)} subscript{'s' if len(e.subs) != 1 else ''} for `{found.name}`, which has {len(dims)}"
                f" {'axes' if len(dims) != 1 else 'axis'}",
                e.span,
                f"`{found.name}` is {base.type}",
                labels=(Label(found.span, "declared here"),),
                help=("an axis that is taken whole is written `:`",) if len(e.subs) < len(dims) else (),
            )
            self._check_parts(e)
            return None
        outer, self.runs = self.runs, False
        subs = [self._range(sub, dim, found) for sub, dim in zip(e.subs, dims, strict=True)]
        self.runs = outer
        if any(sub is None for sub in subs):
            return None
        return Spot(found, base, tuple(sub for sub in subs if sub is not None), e.span)

    def _element_of_run(self, found: Binding, e: ast.Subscript, n: int) -> Spot | None:
        assert found.symbol is not None
        if len(e.subs) != 1 or e.subs[0].kind != "point" or e.subs[0].start is None:
            self.error("PH226", f"`{found.name}` is a run: one point picks an element of it", e.span, "not a point")
            return None
        c = self.constant(e.subs[0].start, "the index of a run's element")
        if c is None:
            return None
        if not 0 <= c < n:
            self.error("PH226", f"element {c} of a run of {n}", e.subs[0].span, f"the elements are 0 to {n - 1}")
            return None
        start = self.index_constant(c, e.subs[0].span)
        return Spot(found, found.symbol, (t.Range("point", start, None, e.subs[0].span),), e.span)

    def _range(self, sub: ast.Sub, dim: int | str, found: Binding) -> t.Range | None:
        if sub.kind == "point":
            assert sub.start is not None
            start = self.integer(self.expr(sub.start), "a subscript")
            return None if start.type == ERROR else t.Range("point", start, None, sub.span)
        if sub.kind == "span":
            return self._span(sub)
        start = self.index_constant(0, sub.span)
        if sub.start is not None:
            start, stop = self._bounds(sub.start, sub.stop)
        elif sub.stop is not None:
            stop = self.integer(self.expr(sub.stop), "the end of a slice")
        else:
            stop = None
        if start.type == ERROR or (stop is not None and stop.type == ERROR):
            return None
        if stop is None:
            return self._rest(sub, start, dim)
        length = difference(stop, start)
        if length is not None:
            return self._sized(sub, start, length)
        if not self.simple(start):
            start = self.bind(start, "start")  # it stands in the length too
        extent = t.Binary(type=INDEX, span=sub.span, op="sub", left=stop, right=start)
        return t.Range("dynamic", start, None, sub.span, length_expr=extent if sub.start is not None else stop)

    def _bounds(self, start: ast.Expr, stop: ast.Expr | None) -> tuple[t.TExpr, t.TExpr | None]:
        """Both bounds of a slice."""
        a = self.integer(self.expr(start), "the start of a slice")
        return a, None if stop is None else self.integer(self.expr(stop), "the end of a slice")

    def _span(self, sub: ast.Sub) -> t.Range | None:
        assert sub.start is not None
        assert sub.length is not None
        start = self.integer(self.expr(sub.start), "the start of a slice")
        length = self.integer(self.expr(sub.length), "the length of a slice")
        if ERROR in (start.type, length.type):
            return None
        if isinstance(length, t.Const):
            return self._sized(sub, start, int(length.value))
        return t.Range("dynamic", start, None, sub.span, length_expr=length)

    def _rest(self, sub: ast.Sub, start: t.TExpr, dim: int | str) -> t.Range | None:
        """`A[s:]` and `A[:]`: known when the extent and the start are."""
        if isinstance(dim, int) and isinstance(start, t.Const):
            made = self._sized(sub, start, dim - int(start.value))
            if made is not None:
                made.whole = sub.start is None
            return made
        return t.Range("rest", start, None, sub.span)

    def _sized(self, sub: ast.Sub, start: t.TExpr, length: int) -> t.Range | None:
        if length > 0:
            return t.Range("span", start, length, sub.span)
        values = self.constant_values(sub.span)
        self.error(
            "PH228",
            f"a slice of length {length}",
            sub.span,
            "nothing is selected" + (f" ({values})" if values else ""),
            notes=("a slice holds at least one element",),
        )
        return None

    # ---- uses -------------------------------------------------------------------------------------------

    def not_static(self, spot: Spot) -> t.TExpr:
        """A slice of run-time length where a tile is needed."""
        axis = spot.open_axis
        assert axis is not None
        text = axis.span.text
        start = text.split(":")[0].strip()
        example = f"{start} :+ 64" if start else "s :+ 64"
        labels: tuple[Label, ...] = ()
        if isinstance(spot.base.type, Tensor):
            labels = (Label(spot.binding.span, f"`{spot.base.name}` is {spot.base.type}"),)
        return self.error(
            "PH227",
            "the length of this slice is known only at run time",
            axis.span,
            "no constant length",
            labels=labels,
            notes=(
                "a tile's shape is constant; only a fill with a scalar and a compound assignment with a scalar"
                " may go through a slice of run-time length",
            ),
            help=(f"state the length: {example}",),
        )

    def run_of(self, spot: Spot, attrs: dict[str, object]) -> t.TExpr:
        """A thread's own run, `elem(A[i, j :+ n])`; inside `sum` it is read in the type of the sum."""
        ranged = [s for s in spot.subs if s.kind != "point"]
        if len(ranged) != 1 or ranged[0].length is None:
            bad = ranged[1] if len(ranged) > 1 else (ranged[0] if ranged else None)
            return self.error(
                "PH243",
                "a thread's run has one ranged axis of constant length",
                bad.span if bad is not None else spot.span,
                "a second range" if len(ranged) > 1 else "not a run",
                help=("the other subscripts are points: A[i, j :+ 4]",),
            )
        kind = Vec(spot.elem, ranged[0].length)
        value: t.TExpr = t.Call(type=kind, span=spot.span, name="elem", args=(spot.place(),), attrs=attrs)
        return self.in_sum(value) if self.runs else value

    def in_sum(self, value: t.TExpr) -> t.TExpr:
        """A leaf of the expression in `sum(..)`: taken in the type of the sum, so that products are exact."""
        elem = elem_of(value.type)
        if isinstance(value.type, Vec) and (elem.is_float or elem.is_int):
            return self.as_elem(value, sum_type(elem))
        return value

    def place_of(self, e: ast.Expr, what: str) -> Spot | None:
        """A subscripted name as an argument."""
        if isinstance(e, ast.Subscript):
            return self.spot(e)
        v = self.expr(e)
        if v.type not in (ERROR, VOID):
            self.error("PH242", f"{what} needs a subscripted name", e.span, "not a place", help=("write A[i, j :+ 4]",))
        return None
