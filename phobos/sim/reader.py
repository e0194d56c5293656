"""The PTX parser: text to `Module`.

Takes the text of a module. Gives its entries with registers, variables and instructions; names are resolved through
the scopes, so that a register of an inner `{ }` gets a name of its own. Anything unknown is a `PtxError` with its line.
Follows the PTX ISA's chapters on syntax, state spaces, directives and the `.loc` and `.file` debugging directives.
"""

from __future__ import annotations

from .errors import PtxError
from .statements import Body
from .stream import Stream
from .syntax import Entry, Module, Param, Variable
from .tokens import constant_bytes, negative, number
from .types import TYPES

LINKAGE = (".visible", ".extern", ".weak", ".common")
SPACES = (".global", ".const", ".shared", ".local")
# Directives of an entry and whether they take numbers.
PERFORMANCE = {
    ".maxntid": True, ".reqntid": True, ".minnctapersm": True, ".maxnctapersm": True, ".maxnreg": True,
    ".reqnctapercluster": True, ".maxclusterrank": True, ".explicitcluster": False, ".blocksareclusters": False,
    ".noreturn": False,
}  # fmt: skip


def read(text: str) -> Module:
    """Parse a PTX module."""
    return _Reader(text).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self.stream = Stream(text)

    def module(self) -> Module:
        module, stream = Module(), self.stream
        while not stream.at_end:
            token = stream.peek()
            if token.text == ".version":
                stream.next()
                major, _, minor = stream.number_text().partition(".")
                module.version = (int(major), int(minor or "0"))
            elif token.text == ".target":
                module.target = stream.rest_of_line()
            elif token.text == ".address_size":
                stream.next()
                module.address_size = stream.integer()
                if module.address_size != 64:
                    raise PtxError(token.line, "only 64-bit addresses are supported")
            elif token.text == ".file":
                self.file(module)
            elif token.text == ".section":
                self.section()
            elif token.text == ".pragma":
                stream.skip_past(";")
            elif token.text in LINKAGE or token.text in SPACES or token.text in (".entry", ".func"):
                self.definition(module)
            elif token.text == ";":
                stream.next()
            else:
                raise PtxError(token.line, f"unknown directive '{token.text}'")
        return module

    def file(self, module: Module) -> None:
        self.stream.next()
        index = self.stream.integer()
        name = self.stream.next()
        if name.kind != "string":
            raise PtxError(name.line, f"expected a file name, not '{name.text}'")
        module.files[index] = name.text[1:-1]
        self.stream.skip_line(name.line)

    def section(self) -> None:
        while self.stream.peek().text != "{":
            self.stream.next()
        self.stream.skip_braces()

    def definition(self, module: Module) -> None:
        stream = self.stream
        extern = False
        while stream.peek().text in LINKAGE:
            extern |= stream.next().text == ".extern"
        token = stream.peek()
        if token.text == ".entry":
            entry = self.entry(module)
            module.entries[entry.name] = entry
        elif token.text in SPACES:
            for variable in variables(stream, extern):
                module.variables[variable.name] = variable
        elif token.text == ".func":
            raise PtxError(token.line, "functions other than entries are not supported; LLVM should have inlined them")
        else:
            raise PtxError(token.line, f"expected a definition, not '{token.text}'")

    def entry(self, module: Module) -> Entry:
        stream = self.stream
        line = stream.next().line
        entry = Entry(stream.word("a kernel's name"), line)
        if stream.accept("("):
            offset = 0
            while not stream.accept(")"):
                param = self.param(offset)
                entry.params.append(param)
                offset = param.offset + param.size
                stream.accept(",")
        while stream.peek().text != "{":
            token = stream.next()
            if token.text == ".pragma":
                stream.skip_past(";")
            elif token.text in PERFORMANCE:
                entry.directives[token.text[1:]] = self.numbers() if PERFORMANCE[token.text] else ()
            else:
                raise PtxError(token.line, f"unknown directive '{token.text}' of entry {entry.name}")
        Body(stream, module, entry).read()
        return entry

    def numbers(self) -> tuple[int, ...]:
        values = [self.stream.integer()]
        while self.stream.accept(","):
            values.append(self.stream.integer())
        return tuple(values)

    def param(self, offset: int) -> Param:
        stream = self.stream
        stream.expect(".param")
        align, type_name, pointer = 0, "", False
        while stream.peek().kind == "dotted":
            token = stream.next()
            if token.text == ".align":
                align = stream.integer()
            elif token.text == ".ptr":
                pointer = True
            elif pointer and token.text in (".global", ".shared", ".const", ".local"):
                continue
            elif token.text[1:] in TYPES:
                type_name = token.text[1:]
            else:
                raise PtxError(token.line, f"unknown parameter attribute '{token.text}'")
        # After .ptr, .align is that of what is pointed at.
        token = stream.peek()
        name = stream.word("a parameter's name")
        if not type_name:
            raise PtxError(token.line, f"parameter {name} has no type")
        type_ = TYPES[type_name]
        size, is_array = type_.bytes, False
        if stream.accept("["):
            size, is_array = type_.bytes * stream.integer(), True
            stream.expect("]")
        own = max(align, type_.bytes) if is_array else type_.bytes
        start = -(-offset // own) * own
        return Param(name, type_name, size, own, start, is_array, pointer)


def variables(stream: Stream, extern: bool) -> list[Variable]:
    """The variables of one declaration, the stream at its state space."""
    space = stream.next().text[1:]
    align, type_name, lanes = 0, "", 1
    while stream.peek().kind == "dotted":
        token = stream.next()
        if token.text == ".align":
            align = stream.integer()
        elif token.text in (".v2", ".v4"):
            lanes = int(token.text[2:])
        elif token.text.startswith(".attribute"):
            stream.skip_past(")")
        elif token.text[1:] in TYPES:
            type_name = token.text[1:]
        else:
            raise PtxError(token.line, f"unknown attribute '{token.text}' of a variable")
    if not type_name:
        raise PtxError(stream.peek().line, "a variable has no type")
    type_ = TYPES[type_name]
    found = []
    while True:
        name = stream.word("a variable's name")
        count, open_end = lanes, False
        while stream.accept("["):
            if stream.peek().text == "]":
                open_end = True
            else:
                count *= stream.integer()
            stream.expect("]")
        initial = None
        if stream.accept("="):
            initial = _initial(stream, type_.bits, type_.kind == "f")
            if open_end:
                count, open_end = len(initial) // type_.bytes, False
            initial = initial.ljust(count * type_.bytes, b"\0")
        size = 0 if open_end else count * type_.bytes
        found.append(Variable(name, space, type_name, size, align or type_.bytes * lanes, initial, extern))
        if not stream.accept(","):
            break
    stream.expect(";")
    return found


def _initial(stream: Stream, bits: int, is_float: bool) -> bytes:
    if stream.accept("{"):
        parts = []
        while not stream.accept("}"):
            parts.append(_initial(stream, bits, is_float))
            stream.accept(",")
        return b"".join(parts)
    negate = stream.accept("-")
    token = stream.next()
    if token.kind != "number":
        raise PtxError(token.line, f"only numbers initialise a variable, not '{token.text}'")
    imm = number(token)
    return constant_bytes(negative(imm) if negate else imm, bits, is_float)
