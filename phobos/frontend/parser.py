"""The parser: tokens to the syntax tree, by recursive descent with one method per grammar rule.

Takes a `Source`, gives an `ast.Program`; findings go to the sink. After an error it goes on with the next
statement, so that one run shows all errors of a file; the tree is then incomplete and must not be compiled.
"""

from __future__ import annotations

from ..diagnostics import Label, Sink
from ..source import Source, Span
from . import ast
from .cursor import PanicError, TooDeepError
from .lexer import KEYWORDS, Token
from .parse_expressions import ASSIGN, ExprParser


def parse(source: Source, sink: Sink) -> ast.Program:
    """The syntax tree of a file; complete when the sink got no error."""
    return Parser(source, sink).program()


class Parser(ExprParser):
    """Reads declarations and statements."""

    # ---- declarations -----------------------------------------------------------------------------------

    def program(self) -> ast.Program:
        """program = { fn | kernel }"""
        fns: list[ast.Fn] = []
        kernels: list[ast.Kernel] = []
        while True:
            while self.kind in ("newline", ";"):
                self.advance()
            if self.kind == "eof":
                return ast.Program(Span(self.source, 0, len(self.source.text)), tuple(fns), tuple(kernels))
            try:
                declaration = self.declaration()
            except PanicError:
                self.restore(0)
                self.skip_to_declaration()
                continue
            if isinstance(declaration, ast.Fn):
                fns.append(declaration)
            else:
                kernels.append(declaration)

    def declaration(self) -> ast.Fn | ast.Kernel:
        """A kernel with its attributes, or a fn."""
        attributes = self.attributes()
        if self.kind == "kernel":
            return self.kernel(attributes)
        if attributes:
            where = self.span(self.tok)
            label = Label(where, "this is not a kernel")
            self.error("PH127", "an attribute stands before a kernel", attributes[0].span, labels=[label])
        if self.kind == "fn":
            return self.fn()
        message = f"expected `kernel` or `fn`, found {self.found()}"
        return self.fail("PH128", message, self.here(), notes=["a file holds kernels and fns and nothing else"])

    def attributes(self) -> tuple[ast.Attribute, ...]:
        """{ attribute }, on one line or on several"""
        attributes: list[ast.Attribute] = []
        while self.kind == "@":
            try:
                attributes.append(self.attribute())
            except PanicError:
                self.restore(0)
                while not self.at_end() and not self.at_declaration():
                    self.advance()
            while self.take("newline"):
                pass
        return tuple(attributes)

    def attribute(self) -> ast.Attribute:
        """attribute = "@" name [ "(" attr_arg { "," attr_arg } ")" ]"""
        at = self.advance()
        if self.kind != "name":
            self.unexpected("the name of an attribute")
        name = self.advance()
        args: list[ast.AttrArg] = []
        has_parens = self.kind == "("
        if has_parens:
            self.open.append(self.advance())
            if self.kind == ")":
                self.unexpected("an argument", ["an attribute without arguments has no brackets"])
            args.append(self.attr_arg())
            while self.take(","):
                args.append(self.attr_arg())
            if self.kind != ")":
                self.unexpected("`,` or `)`")
            self.advance()
            self.open.pop()
        return ast.Attribute(self.since(at.start), str(name.value), self.span(name), tuple(args), has_parens)

    def attr_arg(self) -> ast.AttrArg:
        """attr_arg = name "in" "[" int { "," int } "]" | name "=" literal | literal"""
        first = self.tok
        if self.kind == "name" and self.peek() == "in":
            name = str(self.advance().value)
            self.advance()
            self.open.append(self.expect("[", "and the values to try"))
            values = [self.candidate()]
            while self.take(","):
                values.append(self.candidate())
            if self.kind != "]":
                self.unexpected("`,` or `]`")
            self.advance()
            self.open.pop()
            return ast.AttrArg(self.since(first.start), "in", name, None, tuple(values))
        if self.kind == "name" and self.peek() == "=":
            name = str(self.advance().value)
            self.advance()
            value = self.literal()
            return ast.AttrArg(self.since(first.start), "set", name, value)
        value = self.literal()
        return ast.AttrArg(self.since(first.start), "value", None, value)

    def literal(self) -> ast.Expr:
        """literal = int | float | "true" | "false" | name"""
        if self.kind in ("int", "float", "true", "false") or (self.kind == "name" and self.tok.value != "ctx"):
            value = self.primary()
            if self.kind in (",", ")", "eof", "newline"):
                return value
        elif self.kind in (")", "]", ",", "eof"):
            self.unexpected("a literal or a name")
        return self.bad_argument("an attribute argument is a literal or a name", ")")

    def candidate(self) -> ast.Expr:
        """One of the values of `N in [..]`: int"""
        if self.kind == "int":
            value = self.primary()
            if self.kind in (",", "]", "eof"):
                return value
        elif self.kind in (")", "]", ",", "eof"):
            self.unexpected("an integer")
        return self.bad_argument("the values to try are integer literals", "]")

    def bad_argument(self, message: str, closer: str) -> ast.Expr:
        """Report an argument that is an expression or of the wrong kind, and skip it."""
        label = "negative numbers are not literals here" if self.kind == "-" else "not allowed here"
        note = "an attribute computes nothing; `@autotune(N in [..])` names a value that others use"
        self.error("PH126", message, self.here(), label, notes=[note])
        start = self.tok.start
        self.skip_within(closer)
        return ast.IntLit(self.since(start), 1)

    def kernel(self, attributes: tuple[ast.Attribute, ...]) -> ast.Kernel:
        """kernel = { attribute } "kernel" name "(" [ params ] ")" block"""
        start = attributes[0].span.start if attributes else self.tok.start
        self.advance()
        name = self.new_name("kernel")
        params: tuple[ast.Param, ...] = ()
        try:
            params = self.params("kernel")
            self.block_follows()
        except PanicError:
            self.restore(0)
            if not self.skip_to_block():
                raise
        body = self.block()
        return ast.Kernel(self.since(start), str(name.value), self.span(name), attributes, params, body)

    def fn(self) -> ast.Fn:
        """fn = "fn" name "(" [ fnparams ] ")" [ "->" type ] block"""
        start = self.advance().start
        name = self.new_name("fn")
        params: tuple[ast.Param, ...] = ()
        result: ast.TypeExpr | None = None
        try:
            params = self.params("fn")
            result = self.type() if self.take("->") else None
            self.block_follows()
        except PanicError:
            self.restore(0)
            if not self.skip_to_block():
                raise
        body = self.block()
        return ast.Fn(self.since(start), str(name.value), self.span(name), params, result, body)

    def params(self, of: str) -> tuple[ast.Param, ...]:
        """ "(" [ param { "," param } [ "," ] ] ")" """
        self.open.append(self.expect("(", f"after the name of the {of}"))
        params: list[ast.Param] = []
        while self.kind != ")":
            params.append(self.param(of))
            if not self.take(","):
                break
        if self.kind != ")":
            self.unexpected("`,` or `)`")
        self.advance()
        self.open.pop()
        return tuple(params)

    def param(self, of: str) -> ast.Param:
        """param = name ":" type; the type may be left out in a fn"""
        name = self.new_name("parameter")
        type = None
        if self.take(":"):
            type = self.type()
        elif of == "kernel" and self.kind in (",", ")"):
            help = [f"write `{name.value}: f32` or `{name.value}: tensor<f32>[N]`"]
            message = f"the kernel parameter `{name.value}` has no type"
            self.error("PH130", message, self.span(name), notes=["only a fn may leave types out"], help=help)
        return ast.Param(self.since(name.start), str(name.value), self.span(name), type)

    def new_name(self, what: str) -> Token:
        """The name that a declaration gives; ctx and keywords are taken."""
        if self.kind in KEYWORDS:
            self.fail("PH123", f"`{self.kind}` is a keyword, not a name", self.here(), f"expected the {what}'s name")
        if self.kind != "name":
            self.unexpected(f"the name of a {what}")
        if self.tok.value == "ctx":
            self.error("PH123", "the name `ctx` is taken", self.here(), "ctx says where a thread runs")
        return self.advance()

    # ---- blocks and statements --------------------------------------------------------------------------

    def block_follows(self) -> None:
        """Check that a block begins here, on the line of its header."""
        if self.kind == "newline" and self.peek() == "{":
            brace = self.span(self.tokens[self.pos + 1])
            help = ["put it at the end of the line before"]
            self.error("PH112", "`{` stands on the line of its header", brace, "on a line of its own", help=help)
            self.advance()
        elif self.kind != "{":
            self.unexpected("`{`")

    def block(self) -> ast.Block:
        """block = "{" { stmt } "}" """
        self.block_follows()
        self.enter()
        brace = self.advance()
        outer, self.open = self.open, []
        depth = self.depth
        stmts: list[ast.Stmt] = []
        while True:
            while self.kind in ("newline", ";"):
                self.advance()
            if self.kind == "}":
                break
            if self.kind == "eof" or self.at_declaration():
                self.open.append(brace)
                self.unexpected("`}`")
            try:
                if stmt := self.stmt():
                    stmts.append(stmt)
                if not self.at_end():
                    self.two_statements()
            except PanicError:
                self.restore(depth)
                self.skip_statement()
        self.advance()
        self.open = outer
        self.depth -= 1
        return ast.Block(self.since(brace.start), tuple(stmts))

    def two_statements(self) -> None:
        """Fail at what stands behind a complete statement."""
        help = ["end the statement with a newline or `;`"]
        if self.kind == "name" and self.tok.value in ("and", "or"):
            help = ["write `&&`" if self.tok.value == "and" else "write `||`"]
        elif self.kind in KEYWORDS and self.kind not in ("else", "in"):
            help = ["put it on a line of its own, or write `;` before it"]
        elif self.kind != "name":
            self.unexpected("the end of the statement")
        self.fail("PH129", f"expected the end of the statement, found {self.found()}", self.here(), help=help)

    def stmt(self) -> ast.Stmt | None:
        """stmt = let | var | assign | for | while | if | "break" | "continue" | return | call"""
        match self.kind:
            case "let":
                return self.let()
            case "var":
                return self.var()
            case "for":
                return self.for_()
            case "while":
                return self.while_()
            case "if":
                return self.if_()
            case "break":
                return ast.Break(self.span(self.advance()))
            case "continue":
                return ast.Continue(self.span(self.advance()))
            case "return":
                return self.return_()
            case "@":
                span = self.attribute().span
                self.error("PH127", "an attribute stands before a kernel", span, "this is inside a block")
                return None
            case "else":
                return self.fail("PH102", "`else` without an `if` before it", self.here())
            case _:
                return self.assign_or_call()

    def let(self) -> ast.Let | None:
        """ "let" name [ ":" type ] "=" expr"""
        start = self.advance().start
        name = self.new_name("variable")
        type = self.type() if self.take(":") else None
        if self.at_end():
            self.no_value(name, f"write `let {name.value} = ..`")
            return None
        self.expect("=", "and the value")
        value = self.expr()
        return ast.Let(self.since(start), str(name.value), self.span(name), type, value)

    def var(self) -> ast.Var | None:
        """ "var" name ( "=" expr | ":" type [ "=" expr ] ); only a tile may lack its value"""
        start = self.advance().start
        name = self.new_name("variable")
        type = self.type() if self.take(":") else None
        if self.at_end():
            if type is None or type.elem is None:
                zero = "0.0" if type is not None and type.head in ("f16", "bf16", "f32", "f64") else "0"
                self.no_value(name, f"give it a value, such as `= {zero}`")
                return None
            return ast.Var(self.since(start), str(name.value), self.span(name), type, None)
        self.expect("=", "and the value")
        value = self.expr()
        return ast.Var(self.since(start), str(name.value), self.span(name), type, value)

    def no_value(self, name: Token, help: str) -> None:
        note = "only `var t: tile<..>[..]` may stand without a value"
        self.error("PH120", f"`{name.value}` has no initial value", self.span(name), notes=[note], help=[help])

    def for_(self) -> ast.For:
        """ "for" [ "<" "unroll" int ">" ] name "in" "range" "(" expr "," expr [ "," expr ] ")" block"""
        start = self.advance().start
        unroll: ast.Expr | None = None
        var = self.tok
        bounds: list[ast.Expr] = []
        depth = self.depth
        try:
            if self.kind == "<":
                unroll = self.unroll()
            var = self.new_name("loop variable")
            self.expect("in", "after the loop variable")
            bounds = self.range()
            self.block_follows()
        except PanicError as panic:
            self.restore(depth)
            if isinstance(panic, TooDeepError) or not self.skip_to_block():
                raise
        body = self.block()
        if len(bounds) < 2:  # an error was reported; any bounds do
            bounds = [ast.IntLit(self.span(var), 0)] * 2
        step = bounds[2] if len(bounds) > 2 else None
        return ast.For(self.since(start), str(var.value), self.span(var), bounds[0], bounds[1], step, unroll, body)

    def unroll(self) -> ast.Expr:
        """ "<" "unroll" int ">" """
        self.advance()
        if self.kind != "name" or self.tok.value != "unroll":
            self.unexpected("`unroll`", ["an unrolled loop is written `for<unroll 4> i in range(..)`"])
        self.advance()
        if self.kind != "int":
            note = "the count is an integer literal, as in `for<unroll 4>`"
            self.fail("PH131", f"expected an unroll count, found {self.found()}", self.here(), notes=[note])
        count = self.primary()
        self.expect(">", "after the unroll count")
        return count

    def range(self) -> list[ast.Expr]:
        """ "range" "(" expr "," expr [ "," expr ] ")" """
        first = self.tok
        if self.kind != "name" or self.tok.value != "range" or self.peek() != "(":
            help = ["write `range(start, stop)` or `range(start, stop, step)`"]
            self.fail("PH118", "only `range` can be iterated", self.here(), "not a range", help=help)
        self.advance()
        bounds = self.args("range")
        span = self.since(first.start)
        if not 2 <= len(bounds) <= 3:
            text = bounds[0].span.text if bounds and "\n" not in bounds[0].span.text else "n"
            help = [f"write `range(0, {text})`"] if len(bounds) < 2 else []
            message = f"range takes a start, a stop and perhaps a step, not {len(bounds)} arguments"
            self.fail("PH119", message.replace("1 arguments", "1 argument"), span, help=help)
        for bound in bounds:
            if bound.name is not None:
                self.fail("PH102", "the arguments of range have no names", bound.span)
        return [bound.value for bound in bounds]

    def condition(self) -> ast.Expr:
        """The condition of an `if` or a `while`; one that cannot be read is reported and skipped."""
        start = self.tok.start
        depth = self.depth
        try:
            cond = self.expr()
            self.block_follows()
        except PanicError as panic:
            self.restore(depth)
            if isinstance(panic, TooDeepError) or not self.skip_to_block():
                raise
            cond = ast.BoolLit(self.since(start), False)
        return cond

    def while_(self) -> ast.While:
        """ "while" expr block"""
        start = self.advance().start
        cond = self.condition()
        body = self.block()
        return ast.While(self.since(start), cond, body)

    def if_(self) -> ast.If:
        """ "if" expr block [ "else" ( block | if ) ]"""
        start = self.advance().start
        cond = self.condition()
        then = self.block()
        if self.kind == "newline" and self.peek() == "else":
            help = ["write `} else {`"]
            label = Label(self.here(), "the block ends here")
            at = self.span(self.tokens[self.pos + 1])
            self.error("PH111", "`else` stands on the line of the `}` before it", at, labels=[label], help=help)
            self.advance()
        orelse: ast.Block | ast.If | None = None
        if self.take("else"):
            if self.kind == "if":
                self.enter()
                orelse = self.if_()
                self.depth -= 1
            else:
                orelse = self.block()
        return ast.If(self.since(start), cond, then, orelse)

    def return_(self) -> ast.Return:
        """ "return" [ expr ]"""
        start = self.advance().start
        value = None if self.at_end() else self.expr()
        return ast.Return(self.since(start), value)

    def assign_or_call(self) -> ast.Stmt | None:
        """place ( "=" | "+=" | .. ) expr | call; place = name [ "[" subs "]" ]"""
        first = self.tok
        target = self.target()
        if self.kind in ASSIGN:
            if not _is_place(target, first):
                self.not_a_place(target)
            op = self.advance().kind
            value = self.expr()
            return ast.Assign(self.since(first.start), op, target, value)
        if isinstance(target, ast.Call) and first.kind == "name":
            return ast.CallStmt(self.since(first.start), target)
        if not self.at_end():
            if self.kind == ":" and isinstance(target, ast.Name):
                self.unexpected("a statement", ["a new variable begins with `let` or `var`"])
            if self.kind == "name" or self.kind in KEYWORDS:
                self.two_statements()
            self.unexpected("an assignment")
        help = ["`=` assigns, `==` compares"] if isinstance(target, ast.Binary) and target.op == "==" else []
        note = "a statement is a declaration, an assignment, a loop, an if or a call"
        self.error("PH115", "an expression is not a statement", self.since(first.start), notes=[note], help=help)
        return None

    def target(self) -> ast.Expr:
        """The expression that a statement begins with."""
        if self.kind in (")", "]", ",", "in", "{"):
            self.unexpected("a statement")
        return self.expr(target=True)

    def not_a_place(self, target: ast.Expr) -> None:
        help: list[str] = []
        if isinstance(target, ast.Subscript) and isinstance(target.base, ast.Subscript):
            help = ["write all subscripts in one pair of brackets, `A[i, j]`"]
        note = "a place is a name, or a name with subscripts"
        self.error("PH114", "this cannot be assigned to", target.span, "not a place", notes=[note], help=help)


def _is_place(node: ast.Expr, first: Token) -> bool:
    """Whether an expression that begins at `first` is a name or a subscripted name, without brackets around."""
    base = node.base if isinstance(node, ast.Subscript) else node
    return isinstance(base, ast.Name) and first.kind == "name"
