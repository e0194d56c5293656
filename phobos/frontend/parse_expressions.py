"""The half of the parser that reads expressions, subscripts, arguments and types: one method per grammar rule.

Each method stands at the first token of its rule, takes the rule's tokens and gives its node. The expression
methods also leave the height of the tree in `height`, so that no tree grows deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

from ..diagnostics import Label
from ..ir.types import SCALARS
from ..source import Span
from . import ast
from .cursor import MAX_DEPTH, Cursor, nearest
from .lexer import Token

LEVELS = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6, "!=": 6,
    "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8,
    "+": 9, "-": 9,
    "*": 10, "/": 10, "%": 10,
}  # fmt: skip
"""How tight each binary operator binds, 1 loosest."""

COMPARISONS = (6, 7)
PREFIX = ("-", "!", "~")
ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
TEXT_CALLS = ("print", "assert")
FOREIGN_TYPES = {"half": "f16", "float": "f32", "double": "f64", "char": "i8", "int": "i32", "long": "i64"}
TYPE_NAMES = tuple(name for name, scalar in SCALARS.items() if scalar.kind != "index")
CTX_PATHS = tuple((grid, axis) for grid in ("block", "grid") for axis in "xyz") + tuple(
    (name,) for name in ("thread", "threads", "warp", "warps", "lane", "lanes")
)

Operand = tuple[ast.Expr, int, int, int]
"""An operand, its first and last character with the brackets around it, and its height."""


class ExprParser(Cursor):
    """Reads expressions and types."""

    height = 0  # of the tree that the last expression method gave

    def expr(self, target: bool = False) -> ast.Expr:
        """expr = or; levels, loosest first: || && | ^ & (== !=) (< <= > >=) (<< >>) (+ -) (* / %) unary postfix

        All binary levels in one loop over a stack of operators and a stack of operands, so that a level costs no
        call; all associate to the left. `target`: an assignment operator may follow.
        """
        self.enter()
        operands = [self.operand()]
        ops: list[tuple[Token, int]] = []
        chained = False
        while level := LEVELS.get(self.kind):
            while ops and ops[-1][1] >= level:
                if ops[-1][1] == level and level in COMPARISONS and not chained:
                    chained = True
                    self.comparison_chain(ops[-1][0], operands[-1])
                self.reduce(ops, operands)
            ops.append((self.advance(), level))
            operands.append(self.operand())
        while ops:
            self.reduce(ops, operands)
        if self.kind in ASSIGN and not target:
            help = ["`==` compares"] if self.kind == "=" else []
            self.fail("PH116", "an assignment is a statement, not an expression", self.here(), help=help)
        self.depth -= 1
        node, _, _, self.height = operands[0]
        return node

    def operand(self) -> Operand:
        """One operand of a binary operator."""
        start = self.tok.start
        node = self.unary()
        return node, start, self.prev_end, self.height

    def reduce(self, ops: list[tuple[Token, int]], operands: list[Operand]) -> None:
        """Make one node of the last operator and the last two operands."""
        op, _ = ops.pop()
        right, _, end, right_height = operands.pop()
        left, start, _, left_height = operands.pop()
        height = max(left_height, right_height) + 1
        if self.depth + height > MAX_DEPTH:
            self.too_deep(self.span(op))
        node = ast.Binary(Span(self.source, start, end), op.kind, left, right, self.span(op))
        operands.append((node, start, end, height))

    def comparison_chain(self, first: Token, middle: Operand) -> None:
        """Report `a < b < c`, standing at the second operator."""
        text = self.source.text[middle[1] : middle[2]]
        help = "join two comparisons with `&&`"
        if len(text) <= 30 and "\n" not in text:
            help += f": `.. {first.kind} {text} && {text} {self.kind} ..`"
        label = Label(self.span(first), "the first comparison")
        self.error("PH110", "comparisons cannot be chained", self.here(), "a second comparison", [label], help=[help])

    def unary(self) -> ast.Expr:
        """unary = { "-" | "!" | "~" } postfix"""
        prefix: list[Token] = []
        while self.kind in PREFIX or self.kind == "+":
            if self.kind == "+":
                help = ["leave it out; `i += 1` adds to a variable"]
                self.fail("PH117", "there is no unary plus", self.here(), "expected an operand", help=help)
            prefix.append(self.advance())
            if self.depth + len(prefix) > MAX_DEPTH:
                self.too_deep(self.span(prefix[-1]))
        node = self.postfix()
        for op in reversed(prefix):
            node = ast.Unary(self.since(op.start), op.kind, node)
        self.height += len(prefix)
        return node

    def postfix(self) -> ast.Expr:
        """postfix = primary { "[" subs "]" | "(" args ")" }; the "." of ctx belongs to the primary"""
        first = self.tok
        node = self.primary()
        height = self.height
        while True:
            if self.kind == "[":
                subs = self.subs()
                node = ast.Subscript(self.since(first.start), node, subs)
            elif self.kind == "(":
                callee = node.name if isinstance(node, ast.Name) and first.kind == "name" else None
                if callee is None:
                    self.error("PH124", "only a name can be called", self.since(first.start), "not a name")
                args = self.args(callee or "")
                node = ast.Call(self.since(first.start), callee or "", self.span(first), args)
            elif self.kind == ".":
                self.no_field(first.start)
            else:
                break
            height = max(height, self.height) + 1
            if self.depth + height > MAX_DEPTH:
                self.too_deep(self.span(first))
        self.height = height
        return node

    def no_field(self, start: int) -> None:
        """Report a `.name` on something other than ctx, and take it."""
        help = nearest(self.source.text[start : self.prev_end], ["ctx"])
        self.error("PH122", "only `ctx` has fields", self.here(), "no field of this value can be named", help=help)
        self.advance()
        self.take("name")
        if self.kind == "(":
            self.args("")

    def primary(self) -> ast.Expr:
        """primary = int | float | "true" | "false" | string | name | ctx | "(" expr ")" """
        tok, kind = self.tok, self.kind
        self.height = 1
        if kind == "name":
            if tok.value == "ctx":
                return self.ctx()
            self.advance()
            return ast.Name(self.span(tok), str(tok.value))
        if kind == "int":
            self.advance()
            assert isinstance(tok.value, int)
            return ast.IntLit(self.span(tok), tok.value)
        if kind == "float":
            self.advance()
            assert isinstance(tok.value, float)
            return ast.FloatLit(self.span(tok), tok.value)
        if kind == "(":
            self.advance()
            self.open.append(tok)
            node = self.expr()
            if self.kind != ")":
                self.unexpected("`)`")
            self.advance()
            self.open.pop()
            return node
        if kind in ("true", "false"):
            self.advance()
            return ast.BoolLit(self.span(tok), kind == "true")
        if kind == "string":
            note = "text is an argument of print and of assert and nothing else"
            self.error("PH113", "a string cannot stand here", self.here(), "not a value", notes=[note])
            self.advance()
            return ast.StrLit(self.span(tok), str(tok.value))
        return self.unexpected("an expression")

    def ctx(self) -> ast.Expr:
        """ctx = "ctx" "." name [ "." name ]; the paths are those of `CTX_PATHS`"""
        start = self.advance().start
        path: list[str] = []
        while self.kind == "." and self.peek() == "name":
            self.advance()
            path.append(str(self.advance().value))
        if self.kind == ".":
            self.advance()
            self.unexpected("a name after `.`")
        if tuple(path) not in CTX_PATHS:
            self.unknown_ctx(path, self.since(start))
            path = ["thread"]  # the program is in error; a known path spares the stages after us a case
        return ast.Ctx(self.since(start), tuple(path))

    def unknown_ctx(self, path: list[str], span: Span) -> None:
        shown = ".".join(["ctx", *path])
        note = "ctx has block and grid (each with .x .y .z), thread, threads, warp, warps, lane and lanes"
        if not path:
            message, help = "`ctx` alone is not a value", []
        elif path in (["block"], ["grid"]):
            message, help = f"`{shown}` needs an axis", [f"write `{shown}.x`, `.y` or `.z`"]
        else:
            message, help = f"unknown ctx path `{shown}`", nearest(shown, [".".join(["ctx", *p]) for p in CTX_PATHS])
        self.error("PH121", message, span, notes=[note], help=help)

    def subs(self) -> tuple[ast.Sub, ...]:
        """ "[" sub { "," sub } "]" """
        self.open.append(self.advance())
        if self.kind == "]":
            self.unexpected("a subscript")
        subs = [self.sub()]
        height = self.height
        while self.take(","):
            subs.append(self.sub())
            height = max(height, self.height)
        if self.kind != "]":
            help = ["a slice has no step"] if self.kind in (":", ":+") else []
            self.unexpected("`,` or `]`", help)
        self.advance()
        self.open.pop()
        self.height = height
        return tuple(subs)

    def sub(self) -> ast.Sub:
        """sub = ":" | expr | expr ":" | ":" expr | expr ":" expr | expr ":+" expr"""
        begin = self.tok.start
        self.height = 1
        if self.kind == ":+":
            self.unexpected("the start of the slice", ["`0 :+ n` starts at the first element"])
        start = None if self.kind == ":" else self.expr()
        height = self.height
        if self.take(":+"):
            length = self.expr()
            self.height = max(height, self.height)
            return ast.Sub(self.since(begin), "span", start, None, length)
        if self.take(":"):
            stop = None if self.kind in (",", "]") else self.expr()
            self.height = max(height, self.height)
            return ast.Sub(self.since(begin), "range", start, stop)
        return ast.Sub(self.since(begin), "point", start)

    def args(self, callee: str) -> tuple[ast.Argument, ...]:
        """ "(" [ arg { "," arg } ] ")" """
        self.open.append(self.advance())
        args: list[ast.Argument] = []
        height = 1
        while self.kind != ")" or args:
            args.append(self.arg(callee))
            height = max(height, self.height)
            if not self.take(","):
                break
        if self.kind != ")":
            self.unexpected("`,` or `)`")
        self.advance()
        self.open.pop()
        self.height = height
        return tuple(args)

    def arg(self, callee: str) -> ast.Argument:
        """arg = [ name "=" ] ( expr | string ), the string in print and assert only"""
        start = self.tok.start
        name = None
        if self.kind == "name" and self.peek() == "=":
            name = str(self.advance().value)
            self.advance()
        value: ast.Expr
        if self.kind == "string" and callee in TEXT_CALLS:
            text = self.advance()
            value = ast.StrLit(self.span(text), str(text.value))
            self.height = 1
        else:
            value = self.expr()
        return ast.Argument(self.since(start), name, value)

    # ---- types ------------------------------------------------------------------------------------------

    def type(self) -> ast.TypeExpr:
        """type = scalar | "tensor" "<" scalar ">" "[" dims "]" | "tile" "<" scalar ">" "[" dims "]" """
        start = self.tok.start
        if self.kind != "name":
            self.unexpected("a type")
        head = self.advance()
        if head.value not in ("tensor", "tile"):
            if self.kind != "<":
                self.known_type(head, (*TYPE_NAMES, "tensor", "tile"), "not a type")
                return ast.TypeExpr(self.since(start), str(head.value))
            self.known_type(head, ("tensor", "tile"), "only these have an element type")
        self.expect("<", "and the element type")
        if self.kind != "name":
            self.unexpected("an element type")
        elem = self.advance()
        self.known_type(elem, TYPE_NAMES, "not an element type")
        self.expect(">", "after the element type")
        dims = self.dims()
        return ast.TypeExpr(self.since(start), str(head.value), str(elem.value), self.span(elem), dims)

    def dims(self) -> tuple[ast.Expr, ...]:
        """ "[" dim { "," dim } "]"; dim = expr"""
        if self.kind != "[":
            self.unexpected("`[` and the dimensions")
        self.open.append(self.advance())
        if self.kind == "]":
            self.unexpected("a dimension")
        dims = [self.expr()]
        while self.take(","):
            dims.append(self.expr())
        if self.kind != "]":
            self.unexpected("`,` or `]`")
        self.advance()
        self.open.pop()
        return tuple(dims)

    def known_type(self, name: Token, known: tuple[str, ...], label: str) -> None:
        """Report a type name that is not known."""
        if name.value not in known:
            notes = [f"the types here are {', '.join(known)}"]
            foreign = FOREIGN_TYPES.get(str(name.value))
            help = [f"write `{foreign}`"] if foreign else nearest(str(name.value), known)
            self.error("PH125", f"unknown type `{name.value}`", self.span(name), label, notes=notes, help=help)
