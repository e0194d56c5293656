"""What the typed tree can say and lowering cannot do yet: one table and one walk that finds every place.

Takes a `TypedKernel`, gives `PH401` diagnostics in a sink; nothing is lowered before the walk finds the tree clean,
so the other `lower_*` modules meet supported nodes only. `NOT_YET` is the list's one home; `docs/spec.md` points here.
"""

from __future__ import annotations

from ..diagnostics import Sink
from ..source import Span
from . import typed as t
from .lower_generate import NotLiftedError, lifted
from .walk import ATOMICS, expressions, operands, statements

NOT_YET: dict[str, str] = {
    "builtin": "the builtin `{name}`",
    "slice": "`{name}` of a slice",
    "generate": "{name} in the fn of `generate`",
    "attribute": "the attribute `@{name}`",
}
"""Construct -> how a diagnostic names it. A row disappears with the change that lowers the construct."""

ATTRIBUTES = ("tensorcore", "swizzle")
REDUCTIONS = ("rowsum", "rowmax", "rowmin", "rowargmax", "colsum", "colmax", "colmin")
SHAPES = ("transpose", "tril", "cumsum", "flat", "gather")
LOWERED = ("elem", "store", "sum", "barrier", *ATOMICS, *REDUCTIONS, *SHAPES)
"""Builtins that are lowered."""
Node = t.TExpr | t.TStmt | t.Range


def report(kernel: t.TypedKernel, sink: Sink) -> None:
    """Put one PH401 into `sink` for every construct of `kernel` that cannot be lowered yet."""
    for attribute, span in kernel.attribute_spans.items():
        if attribute in ATTRIBUTES:
            _not_yet(sink, "attribute", attribute, span)
    for stmt in statements(kernel.body):
        nodes: list[Node] = [stmt]
        while nodes:
            node = nodes.pop()
            here = _unsupported(node)
            if here is None:
                nodes += _below(node)
                continue
            # What is below would only repeat the finding: the arguments of a reduction, the offsets of a slice.
            key, name = here
            _not_yet(sink, key, name, node.span)


def _not_yet(sink: Sink, key: str, name: str, span: Span) -> None:
    message = f"not supported yet: {NOT_YET[key].format(name=name)}"
    sink.error("PH401", message, span, "not compiled yet")


def _below(node: Node) -> list[Node]:
    """The subscripts and expressions directly below a node."""
    match node:
        case t.PointLoad(subs=subs) | t.SliceLoad(subs=subs):
            return [*subs]
        case t.PointStore(subs=subs, value=value) | t.SliceStore(subs=subs, value=value):
            return [*subs, value]
        case t.Range(start=start, length_expr=length):
            return [start] if length is None else [start, length]
        case t.TStmt():
            return [*expressions(node)]
        case t.TExpr():
            return [*operands(node)]


def _unsupported(node: Node) -> tuple[str, str] | None:
    """The row of NOT_YET that this one node falls under and the name to print, or None."""
    match node:
        case t.Call(name="generate"):
            return _not_lifted(node)
        case t.Call(name=name) if name not in LOWERED:
            return "builtin", name
        case t.Call(name=name, args=args) if name in ATOMICS and any(sub.kind != "point" for sub in args[0].subs):
            return "slice", name
        case _:
            return None


def _not_lifted(call: t.Call) -> tuple[str, str] | None:
    """What of a `generate` cannot be computed for a whole tile yet."""
    try:
        lifted(call)
    except NotLiftedError as found:
        return "generate", found.what
    return None
