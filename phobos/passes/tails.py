"""tails: warn of a maximum or minimum that sees the zeros of a masked load (spec 4.7).

Requires: form "guarded". Ensures: nothing but warnings. From the operand of each such reduction the tile is followed
back through elementwise ops, contractions and what control flow carries, to loads that are masked along the axis. A
`where` whose condition varies along the axis ends the search, and so does what makes zero harmless: a maximum of
numbers that are never negative and are zero where the load is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..diagnostics import Diagnostic, Label, Severity
from ..ir.core import Op, Value
from ..ir.kernel import Kernel
from ..ir.memory import axes_of
from ..ir.reduce_ops import Reduce, ReduceArg
from ..ir.shape_ops import Gather, Scan, Transpose
from ..ir.tile_ops import (
    Binary,
    Broadcast,
    Cast,
    Dot,
    Fma,
    For,
    If,
    Iota,
    Load,
    Reshape,
    Select,
    Splat,
    Unary,
    While,
    element,
    shape_of,
)
from ..ir.types import F16, Scalar
from ..source import NOWHERE
from .options import Options

Place = tuple[Value, int]
"""A tile and one of its axes."""


def run(kernel: Kernel, options: Options) -> Kernel:
    search = _Search(kernel)
    found = []
    for op in kernel.walk():
        if isinstance(op, ReduceArg) or (isinstance(op, Reduce) and op.kind != "sum"):
            tail = search.tail(op)
            if tail is not None and (warning := _warning(op, *tail, search)) not in kernel.remarks:
                found.append(warning)
    return kernel.replace(remarks=kernel.remarks + tuple(dict.fromkeys(found)))


@dataclass
class _Search:
    kernel: Kernel

    def __post_init__(self) -> None:
        self.end_to_end = False
        """Whether the last search went through rows laid end to end, whose axes are not the reduction's."""
        self.made: dict[Value, Op] = {}
        self.carried: dict[Value, tuple[Value, ...]] = {}
        for op in self.kernel.walk():
            self.made.update((v, op) for v in op.results())
            self._carry(op)

    def _carry(self, op: Op) -> None:
        """What a value that control flow hands on may have been."""
        if isinstance(op, For):
            again = op.body.ops[-1].operands()
            for init, param, back, out in zip(op.inits, op.body.params[1:], again, op.outs, strict=True):
                self.carried[param] = self.carried[out] = (init, back)
        elif isinstance(op, While):
            tested, again = op.cond.ops[-1].operands()[1:], op.body.ops[-1].operands()
            for i, init in enumerate(op.inits):
                self.carried[op.cond.params[i]] = (init, again[i])
                self.carried[op.body.params[i]] = self.carried[op.outs[i]] = (tested[i],)
        elif isinstance(op, If):
            for a, b, out in zip(op.then.ops[-1].operands(), op.orelse.ops[-1].operands(), op.outs, strict=True):
                self.carried[out] = (a, b)

    # ---- the masked load ----------------------------------------------------------------------------------------

    def tail(self, op: Reduce | ReduceArg) -> tuple[Load, int] | None:
        """A load that may fill the reduced axis with zeros, and the axis of the load."""
        if shape_of(op.a.type)[op.axis] == 1 or (op.kind == "max" and self._zero_is_least(op.a)):
            return None
        self.end_to_end = False
        seen: set[Place] = set()
        work = [(op.a, op.axis)]
        while work:
            place = work.pop()
            if place in seen:
                continue
            seen.add(place)
            v, axis = place
            made = self.made.get(v)
            if isinstance(made, Load) and made.guards[axis]:
                return made, axis
            work += reversed(self._sources(v, axis))
        return None

    def _sources(self, v: Value, axis: int) -> list[Place]:
        """Where the elements along an axis come from."""
        if v in self.carried:
            return [(x, axis) for x in self.carried[v]]
        op = self.made.get(v)
        if op is None or shape_of(v.type)[axis] == 1:
            return []
        if isinstance(op, Reshape):
            if op.keeps_axes:
                return [(op.a, _before(op, axis))]
            self.end_to_end = True
            return [(op.a, a) for a in range(len(shape_of(op.a.type)))]
        if isinstance(op, Transpose):
            return [(op.a, len(shape_of(v.type)) - 1 - axis)]
        if isinstance(op, Broadcast):
            return [(op.a, axis)] if shape_of(op.a.type)[axis] != 1 else []
        if isinstance(op, Dot):
            operand = (op.a, 0) if axis == 0 else (op.b, 0 if op.trans_b else 1)
            return [(op.acc, axis), operand]
        if isinstance(op, Select):
            return [] if self._varies(op.cond, axis) else [(op.a, axis), (op.b, axis)]
        if isinstance(op, Reduce | ReduceArg | Unary | Binary | Cast | Fma):
            return [(x, axis) for x in op.operands()]
        return []

    def _varies(self, v: Value, axis: int) -> bool:
        """Whether elements differ along an axis by more than the values of scalars."""
        op = self.made.get(v)
        if op is None or v in self.carried:
            return True
        if shape_of(v.type)[axis] == 1 or isinstance(op, Splat):
            return False
        if isinstance(op, Iota):
            return op.axis == axis
        if isinstance(op, Broadcast):
            return shape_of(op.a.type)[axis] != 1 and self._varies(op.a, axis)
        if isinstance(op, Load | Dot | Reduce | ReduceArg | Reshape | Transpose | Scan | Gather):
            return True
        return any(self._varies(x, axis) for x in op.operands())

    # ---- harmless zeros -----------------------------------------------------------------------------------------

    def _zero_is_least(self, v: Value) -> bool:
        """Whether a value is never negative, and zero where its load is masked."""
        op = self.made.get(v)
        if isinstance(op, Load):
            return element(v.type).kind == "uint"
        if isinstance(op, Cast | Reshape | Broadcast):
            return self._zero_is_least(op.a)
        if isinstance(op, Unary):
            return self._zero(op.a) if op.kind == "abs" else op.kind == "sqrt" and self._zero_is_least(op.a)
        if isinstance(op, Binary) and op.kind == "mul":
            return self._zero(op.a) and (op.a is op.b or (self._zero_is_least(op.a) and self._zero_is_least(op.b)))
        return False

    def _zero(self, v: Value) -> bool:
        """Whether a value is zero where its load is masked."""
        op = self.made.get(v)
        if isinstance(op, Cast | Reshape | Broadcast):
            return self._zero(op.a)
        if isinstance(op, Unary):
            return op.kind in ("neg", "abs", "sqrt", "tanh", "sin", "floor", "ceil", "round") and self._zero(op.a)
        if isinstance(op, Binary):
            both = op.kind in ("add", "sub", "max", "min") and self._zero(op.a) and self._zero(op.b)
            return both or (op.kind == "mul" and (self._zero(op.a) or self._zero(op.b)))
        return isinstance(op, Load)


def _before(op: Reshape, axis: int) -> int:
    """The axis that an axis of extent above 1 was before a reshape."""
    old, new = shape_of(op.a.type), shape_of(op.out.type)
    place = sum(n != 1 for n in new[:axis])
    return [a for a, n in enumerate(old) if n != 1][place]


# ---- the words --------------------------------------------------------------------------------------------------


def _warning(op: Reduce | ReduceArg, load: Load, axis: int, search: _Search) -> Diagnostic:
    called, inside = _call(op)
    given, at = op.a, op.axis
    made = search.made.get(given)
    if isinstance(made, Reshape) and made.keeps_axes and made.span.text == inside:
        # The call dropped unit axes of what it was given; `iota` counts the axes of that.
        given, at = made.a, _before(made, at)
    tested = _condition(load, axis, at)
    fill = _fill(op.kind, element(op.a.type))
    line = f"where({tested}, {inside or op.a.name}, {fill})"
    tensor = load.tensor.name
    worse = "greater" if op.kind == "max" else "less"
    label = Label(load.span, f"masked along axis {axis}: {load.why[axis] if load.why else 'it may not fit'}")
    return Diagnostic(
        Severity.WARNING,
        "PR305",
        f"`{called}` may see the zeros that are read past the edge of {tensor}",
        op.span,
        f"0 counts here where it is {worse} than the elements",
        (label,) if load.span is not NOWHERE and load.span != op.span else (),
        ("elements past the edge of a tensor read as 0 and take part in a reduction",),
        (f"mask them: {line}",) if not search.end_to_end else ("mask the tile with `where` before it is laid flat",),
    )


def _call(op: Reduce | ReduceArg) -> tuple[str, str]:
    """The reduction's name, and its argument as the source has it; "" where the place is a call that was inlined, of
    more than a name."""
    called = ("row" if op.axis else "col") + ("arg" if isinstance(op, ReduceArg) else "") + op.kind
    found = re.fullmatch(r"(\w+)\s*\((.*)\)", " ".join(op.span.text.split()))
    given = found is not None and (found[1] == called or found[2].isidentifier())
    return called, found[2].strip() if found and given else ""


def _condition(load: Load, axis: int, at: int) -> str:
    """What holds where elements are inside the tensor; in the source's words."""
    dim = axes_of(load.tensor.type)[axis]
    start = _start(load, axis)
    guard = load.guards[axis]
    tests = []
    if guard in ("lo", "both"):
        tests.append(f"iota({at}) >= -{_grouped(start)}")
    if guard in ("hi", "both"):
        tests.append(f"iota({at}) < {dim}" + (f" - {_grouped(start)}" if start != "0" else ""))
    return " && ".join(tests)


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _start(load: Load, axis: int) -> str:
    """Where the slice starts along an axis, as the source says it; the value's name where it is not a slice there."""
    text = " ".join(load.span.text.split())
    if text.endswith("]") and "[" in text:
        subs = _split(text[text.index("[") + 1 : -1], ",")
        if len(subs) == len(load.offsets):
            return _split(subs[axis], ":")[0].strip() or "0"
    return load.offsets[axis].name


def _split(text: str, mark: str) -> list[str]:
    """At a mark that stands outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == mark and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _fill(kind: str, elem: Scalar) -> str:
    """A literal of the type that no element is beyond, or hardly any."""
    sign = "-" if kind == "max" else ""
    if elem.is_float:
        return f"{sign}65504.0" if elem == F16 else f"{sign}1.0e30"
    if elem.kind == "uint":
        return "0" if kind == "max" else str((1 << elem.bits) - 1)
    return f"{sign}{(1 << (min(elem.bits, 64) - 1)) - 1}"
