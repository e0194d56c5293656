"""The typed tree as text, for tests and for people who look at what the checker made.

Every node has its own form, so that an implicit conversion, splat, broadcast or reshape can be seen. Element types are
written where they change: at conversions, constants and declarations.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import typed as t

OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
OPERATORS |= {"shl": "<<", "shr": ">>", "land": "&&", "lor": "||"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def dump(kernel: t.TypedKernel) -> str:
    """A kernel, one statement a line."""
    params = ", ".join(f"{p.name}: {p.type}" for p in kernel.params)
    lines = [f"kernel {kernel.name}({params})"]
    if kernel.constants:
        lines.append("constants " + ", ".join(f"{n} = {v}" for n, v in kernel.constants.items()))
    if kernel.dims:
        lines.append("dims " + ", ".join(kernel.dims))
    return "\n".join([*lines, *_block(kernel.body, 1)]) + "\n"


def _block(body: list[t.TStmt], depth: int) -> Iterator[str]:
    for stmt in body:
        yield from _statement(stmt, depth)


def _statement(stmt: t.TStmt, depth: int) -> Iterator[str]:
    pad = "  " * depth
    match stmt:
        case t.Declare():
            value = " uninitialised" if stmt.value is None else f" = {text(stmt.value)}"
            yield f"{pad}{stmt.symbol.kind} {stmt.symbol.name}: {stmt.symbol.type}{value}"
        case t.Assign():
            yield f"{pad}{stmt.symbol.name} = {text(stmt.value)}"
        case t.SliceStore():
            yield f"{pad}{stmt.base.name}{_subs(stmt.subs)} {OPERATORS.get(stmt.op, '')}= {text(stmt.value)}"
        case t.PointStore():
            yield f"{pad}{stmt.base.name}{_subs(stmt.subs)} = {text(stmt.value)}"
        case t.For():
            unroll = f" unroll {stmt.unroll}" if stmt.unroll else ""
            bounds = f"{text(stmt.start)} .. {text(stmt.stop)} step {text(stmt.step)}"
            yield f"{pad}for {stmt.symbol.name} in {bounds}{unroll}"
            yield from _block(stmt.body, depth + 1)
        case t.While():
            yield f"{pad}while"
            yield from _block(stmt.setup, depth + 1)
            yield f"{pad}  test {text(stmt.cond)}"
            yield from _block(stmt.body, depth + 1)
        case t.If():
            yield f"{pad}if {text(stmt.cond)}"
            yield from _block(stmt.then, depth + 1)
            if stmt.orelse:
                yield f"{pad}else"
                yield from _block(stmt.orelse, depth + 1)
        case t.Evaluate():
            yield f"{pad}{text(stmt.expr)}"
        case t.InlineBlock():
            yield f"{pad}inline {stmt.name}"
            yield from _block(stmt.body, depth + 1)
        case _:
            yield pad + type(stmt).__name__.lower()


def text(e: t.TExpr) -> str:
    """An expression on one line."""
    match e:
        case t.Const():
            return f"{str(e.value).lower() if isinstance(e.value, bool) else e.value}:{e.type}"
        case t.SymbolRef():
            return e.symbol.name
        case t.DimRef():
            return e.name
        case t.CtxRef():
            return f"ctx.{e.name}"
        case t.Unary():
            return f"{e.op}({text(e.operand)})"
        case t.Binary():
            if e.op in OPERATORS:
                return f"({text(e.left)} {OPERATORS[e.op]} {text(e.right)})"
            return f"{e.op}({text(e.left)}, {text(e.right)})"
        case t.Compare():
            return f"({text(e.left)} {COMPARISONS[e.op]} {text(e.right)})"
        case t.Select():
            return f"where({text(e.cond)}, {text(e.a)}, {text(e.b)})"
        case t.FmaExpr():
            return f"fma({text(e.a)}, {text(e.b)}, {text(e.c)})"
        case t.Convert():
            return f"{t.elem_type(e.type)}({text(e.operand)})"
        case t.Splat() | t.Broadcast() | t.Reshape():
            return f"{type(e).__name__.lower()}{_shape(e)}({text(e.operand)})"
        case t.Iota():
            return f"iota{_shape(e)}({e.axis})"
        case t.PointLoad() | t.SliceLoad():
            return f"{e.base.name}{_subs(e.subs)}"
        case t.Dot():
            return f"dot{'_t' if e.trans_b else ''}<{t.elem_type(e.type)}>({text(e.a)}, {text(e.b)})"
        case t.Call():
            return _call(e)
    return type(e).__name__


def _shape(e: t.TExpr) -> str:
    shape = getattr(e.type, "shape", None) or (getattr(e.type, "n", "?"),)
    return f"[{', '.join(map(str, shape))}]"


def _call(e: t.Call) -> str:
    if e.name == "generate":
        body = "; ".join(line.strip() for line in _block(e.attrs["body"], 0))
        head = f"{e.attrs['i'].name}, {e.attrs['j'].name} -> "
        return f"generate{_shape(e)}({head}{body + '; ' if body else ''}{text(e.attrs['result'])})"
    args = []
    for arg in e.args:
        if isinstance(arg, t.TExpr):
            args.append(text(arg))
        elif isinstance(arg, t.Place):
            args.append(f"{arg.base.name}{_subs(arg.subs)}")
        else:
            args.append(arg.name)
    args += [f"{name} = {value!r}" for name, value in e.attrs.items()]
    return f"{e.name}<{e.type}>({', '.join(args)})"


def _subs(subs: tuple[t.Range, ...]) -> str:
    return f"[{', '.join(map(_range, subs))}]"


def _range(sub: t.Range) -> str:
    start = text(sub.start)
    match sub.kind:
        case "point":
            return start
        case "span":
            return ":" if sub.whole else f"{start} :+ {sub.length}"
        case "rest":
            return f"{start}:"
    assert sub.length_expr is not None
    return f"{start} :+ {text(sub.length_expr)}"
