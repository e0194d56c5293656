"""The body of an entry: scopes, declarations, labels and instructions."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import PtxError
from .stream import Stream
from .syntax import (
    Address,
    Entry,
    Instruction,
    LabelRef,
    Location,
    Module,
    Not,
    Operand,
    Pair,
    Reg,
    Sink,
    Special,
    Symbol,
    Variable,
    Vector,
)
from .tokens import Token, negative, number
from .types import TYPES

BRANCHES = ("bra", "brx", "call")
SPECIALS = frozenset(
    ("%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid",
     "%clusterid",
     "%is_explicit_cluster", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
     "%cluster_ctarank", "%cluster_nctarank",
     "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64",
     "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size",
     "WARP_SZ")
)  # fmt: skip


@dataclass
class _Scope:
    """The names of one `{ }`. `labels` maps what is written to what is unique in the entry."""

    parent: _Scope | None
    suffix: str
    registers: dict[str, Reg] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def register(self, name: str) -> Reg | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.registers:
                return scope.registers[name]
            scope = scope.parent
        return None

    def variable(self, name: str) -> Variable | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None

    def label(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None


class Body:
    """Reads the statements of one entry into it."""

    def __init__(self, stream: Stream, module: Module, entry: Entry) -> None:
        self.stream = stream
        self.module = module
        self.entry = entry
        self.params = {param.name for param in entry.params}
        self.loc: Location | None = None
        self.scopes = 0
        self._pending: list[tuple[int, _Scope]] = []

    def read(self) -> None:
        """The stream at the entry's `{`."""
        self.block(None)
        for index, scope in self._pending:
            self.entry.body[index] = self.resolved(self.entry.body[index], scope)

    def resolved(self, instruction: Instruction, scope: _Scope) -> Instruction:
        """A branch with the labels that its scope means by their names."""
        operands: list[Operand] = []
        for operand in instruction.operands:
            if isinstance(operand, LabelRef) and operand.name not in self.entry.tables:
                name = scope.label(operand.name)
                if name is None:
                    raise PtxError(instruction.line, f"there is no label '{operand.name}'")
                operand = LabelRef(name)
            operands.append(operand)
        return Instruction(
            instruction.opcode, instruction.modifiers, tuple(operands), instruction.line, instruction.loc,
            instruction.guard, instruction.negated,
        )  # fmt: skip

    def block(self, parent: _Scope | None) -> None:
        stream = self.stream
        stream.expect("{")
        scope = _Scope(parent, f"#{self.scopes}" if self.scopes else "")
        self.scopes += 1
        while not stream.accept("}"):
            token = stream.peek()
            if token.text == "{":
                self.block(scope)
            elif token.text == ";":
                stream.next()
            elif token.kind == "dotted":
                self.directive(scope)
            elif token.kind == "word" and stream.peek(1).text == ":" and token.text not in SPECIALS:
                self.label(scope)
            else:
                self.instruction(scope)

    def label(self, scope: _Scope) -> None:
        token = self.stream.next()
        self.stream.expect(":")
        if self.stream.peek().text == ".branchtargets":
            self.stream.next()
            names = [self.stream.word("a label")]
            while self.stream.accept(","):
                names.append(self.stream.word("a label"))
            self.stream.expect(";")
            self.entry.tables[token.text] = tuple(names)
            return
        name = token.text + scope.suffix
        if name in self.entry.labels:
            raise PtxError(token.line, f"the label '{token.text}' is defined twice")
        scope.labels[token.text] = name
        self.entry.labels[name] = len(self.entry.body)

    def directive(self, scope: _Scope) -> None:
        stream = self.stream
        token = stream.peek()
        if token.text == ".reg":
            self.registers(scope)
        elif token.text in (".shared", ".local", ".global", ".const", ".extern"):
            from .reader import variables

            extern = stream.accept(".extern")
            for variable in variables(stream, extern):
                unique = variable.name + scope.suffix
                if scope.suffix:
                    variable = Variable(
                        unique, variable.space, variable.type, variable.size, variable.align, variable.initial, extern
                    )
                scope.variables[variable.name.removesuffix(scope.suffix) if scope.suffix else unique] = variable
                self.entry.variables[unique] = variable
        elif token.text == ".loc":
            stream.next()
            self.loc = Location(stream.integer(), stream.integer(), stream.integer())
            stream.skip_line(token.line)
        elif token.text == ".pragma":
            stream.skip_past(";")
        elif token.text == ".file":
            stream.next()
            index = stream.integer()
            self.module.files[index] = stream.next().text.strip('"')
            stream.skip_line(token.line)
        else:
            raise PtxError(token.line, f"unknown directive '{token.text}'")

    def registers(self, scope: _Scope) -> None:
        stream = self.stream
        stream.next()
        token = stream.next()
        if token.text in (".v2", ".v4"):
            raise PtxError(token.line, "vector registers are not supported")
        if token.text[1:] not in TYPES:
            raise PtxError(token.line, f"unknown register type '{token.text}'")
        while True:
            name = stream.word("a register's name")
            names = [name]
            if stream.accept("<"):
                names = [f"{name}{i}" for i in range(stream.integer())]
                stream.expect(">")
            for each in names:
                register = Reg(each + scope.suffix, token.text[1:])
                scope.registers[each] = register
                self.entry.registers[register.name] = register
            if not stream.accept(","):
                break
        stream.expect(";")

    def instruction(self, scope: _Scope) -> None:
        stream = self.stream
        guard, negated = None, False
        if stream.accept("@"):
            negated = stream.accept("!")
            token = stream.peek()
            guard = scope.register(stream.word("a predicate"))
            if guard is None or guard.type != "pred":
                raise PtxError(token.line, f"'{token.text}' is not a predicate register")
        token = stream.next()
        if token.kind != "word":
            raise PtxError(token.line, f"expected an instruction, not '{token.text}'")
        modifiers = []
        while stream.peek().kind == "dotted":
            modifiers.append(stream.next().text[1:])
        operands: list[Operand] = []
        while not stream.accept(";"):
            operands.append(self.operand(scope, token.text in BRANCHES))
            if stream.peek().text != ";":
                stream.expect(",")
        if token.text in BRANCHES:
            self._pending.append((len(self.entry.body), scope))
        self.entry.body.append(
            Instruction(token.text, tuple(modifiers), tuple(operands), token.line, self.loc, guard, negated)
        )

    def operand(self, scope: _Scope, is_branch: bool = False) -> Operand:
        stream = self.stream
        if stream.accept("{"):
            items = []
            while not stream.accept("}"):
                items.append(self.operand(scope))
                stream.accept(",")
            return Vector(tuple(items))
        if stream.accept("["):
            return self.address(scope)
        if stream.accept("!"):
            return Not(self.operand(scope))
        first = self.atom(scope, is_branch)
        if stream.accept("|"):
            return Pair(first, self.atom(scope))
        return first

    def atom(self, scope: _Scope, is_branch: bool = False) -> Operand:
        stream = self.stream
        token = stream.next()
        if token.text == "-":
            return negative(number(self.number_token()))
        if token.text == "(":
            inner = self.atom(scope)
            stream.expect(")")
            return inner
        if token.kind == "number":
            return number(token)
        if token.kind != "word":
            raise PtxError(token.line, f"expected an operand, not '{token.text}'")
        if token.text == "_":
            return Sink()
        register = scope.register(token.text)
        if register is not None:
            return register
        if token.text in SPECIALS:
            name = token.text
            if stream.peek().kind == "dotted":
                name += stream.next().text
            return Special(name)
        if not is_branch and (
            scope.variable(token.text) is not None or token.text in self.module.variables or token.text in self.params
        ):
            variable = scope.variable(token.text)
            offset = 0
            if stream.peek().text in ("+", "-") and stream.peek(1).kind == "number":
                stream.accept("+")
                offset = stream.integer()
            return Symbol(variable.name if variable is not None else token.text, offset)
        if token.text.startswith("%"):
            what = "register" if token.text[1:2].islower() else "name"
            raise PtxError(token.line, f"the {what} '{token.text}' is not declared")
        return LabelRef(token.text)

    def number_token(self) -> Token:
        token = self.stream.next()
        if token.kind != "number":
            raise PtxError(token.line, f"expected a number, not '{token.text}'")
        return token

    def address(self, scope: _Scope) -> Address:
        stream = self.stream
        token = stream.peek()
        extra: list[Operand] = []
        if token.kind == "number" or token.text == "-":
            address = Address(None, stream.integer())
        else:
            base = self.atom(scope)
            offset = 0
            if isinstance(base, Symbol):
                offset, base = base.offset, Symbol(base.name)
            elif not isinstance(base, Reg):
                raise PtxError(token.line, f"'{token.text}' is neither a register nor a variable")
            if stream.accept("+") or stream.peek().text == "-":
                offset += stream.integer()
            address = Address(base, offset)
        while stream.accept(","):
            extra.append(self.operand(scope))
        stream.expect("]")
        return Address(address.base, address.offset, tuple(extra)) if extra else address
