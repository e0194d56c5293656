"""Attributes of a kernel: the `@autotune` constants, and the rest evaluated for one choice of them (spec section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..diagnostics import Label, Sink
from ..source import Span
from . import ast
from .scope import nearest
from .typed import Aligned, Attributes, Launch

TENSORCORE_FORMS = ("sync", "wmma", "tf32", "f16acc")
REPEATABLE = ("autotune", "aligned")
MAX_STAGES = 16


def doubled(values: tuple[int, ...]) -> tuple[int, ...]:
    """The values that an `@autotune` list stands for: an ascending pair is walked by doubling, both ends included."""
    if len(values) != 2 or not 0 < values[0] < values[1]:
        return values
    low, high = values
    walked = []
    while low < high:
        walked.append(low)
        low *= 2
    return (*walked, high)


def constants_of(kernel: ast.Kernel, sink: Sink) -> dict[str, tuple[int, ...]]:
    """Every `@autotune` constant of a kernel with the values to try; the first is the default."""
    found: dict[str, tuple[int, ...]] = {}
    places: dict[str, Span] = {}
    for attribute in kernel.attributes:
        if attribute.name != "autotune":
            continue
        if not attribute.args:
            sink.error(
                "PH270",
                "@autotune declares no constant",
                attribute.span,
                help=("write @autotune(TILE in [32, 64])",),
            )
        for arg in attribute.args:
            if arg.kind != "in" or arg.name is None:
                sink.error(
                    "PH270",
                    "@autotune takes constants with their values",
                    arg.span,
                    "not a list of values",
                    help=(f"write {arg.name or 'TILE'} in [32, 64]",),
                )
                continue
            if arg.name in found:
                sink.error(
                    "PH205",
                    f"the constant `{arg.name}` is declared twice",
                    arg.span,
                    "declared again",
                    labels=(Label(places[arg.name], "first declared here"),),
                )
                continue
            values = tuple(v.value for v in arg.values if isinstance(v, ast.IntLit))
            large = next((v for v in arg.values if isinstance(v, ast.IntLit) and v.value >= 1 << 31), None)
            if large is not None:
                sink.error("PH270", "a constant that does not fit in 32 bits", large.span, "too large")
                values = (1,)
            found[arg.name] = doubled(values) or (1,)
            places[arg.name] = arg.span
    return found


@dataclass(slots=True)
class AttributeReader:
    """Reads the attributes of one kernel; `dims` are the names that its tensors use, with their values if static."""

    kernel: ast.Kernel
    constants: dict[str, int]
    dims: dict[str, int | None]
    sink: Sink
    made: Attributes = field(default_factory=Attributes)
    seen: dict[str, Span] = field(default_factory=dict)

    def read(self) -> Attributes:
        for attribute in self.kernel.attributes:
            reader = READERS.get(attribute.name)
            if attribute.name == "autotune":
                continue
            if reader is None:
                self.unknown(attribute)
                continue
            if attribute.name in self.seen and attribute.name not in REPEATABLE:
                self.error(
                    "PH277",
                    f"@{attribute.name} is given twice",
                    attribute.span,
                    "given again",
                    labels=(Label(self.seen[attribute.name], "first given here"),),
                )
                continue
            self.seen[attribute.name] = attribute.span
            reader(self, attribute)
        return self.made

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: tuple[str, ...] = (),
    ) -> None:
        self.sink.error(code, message, span, label, labels, notes, help)

    def unknown(self, attribute: ast.Attribute) -> None:
        close = nearest(attribute.name, READERS)
        self.sink.warning(
            "PR201",
            f"unknown attribute @{attribute.name}",
            attribute.name_span,
            "ignored",
            help=(f"did you mean @{close}?",) if close else (),
        )

    # ---- arguments --------------------------------------------------------------------------------------

    def integer(self, arg: ast.AttrArg, code: str, what: str) -> int | None:
        """An argument that is an integer literal or a constant."""
        if arg.kind != "value":
            self.error(code, f"{what} has no argument called `{arg.name}`", arg.span, "give the value alone")
            return None
        return self.value(arg.value, code, what)

    def value(self, value: ast.Expr | None, code: str, what: str) -> int | None:
        assert value is not None
        if isinstance(value, ast.IntLit):
            return value.value
        if isinstance(value, ast.Name):
            if value.name in self.constants:
                return self.constants[value.name]
            close = nearest(value.name, self.constants)
            self.error(
                "PH222",
                f"unknown constant `{value.name}`",
                value.span,
                "not an @autotune constant",
                help=(f"did you mean `{close}`?",) if close else (f"declare it: @autotune({value.name} in [64])",),
            )
            return None
        self.error(code, f"{what} takes integers", value.span, "not an integer")
        return None

    def shown(self, value: ast.Expr | None) -> str:
        """`TILE = 24` for a constant's name."""
        return f"{value.name} = {self.constants.get(value.name)}" if isinstance(value, ast.Name) else ""

    # ---- each attribute ---------------------------------------------------------------------------------

    def launch(self, attribute: ast.Attribute) -> None:
        if not 1 <= len(attribute.args) <= 3:
            self.error(
                "PH271",
                f"@launch takes 1 to 3 arguments, not {len(attribute.args)}",
                attribute.span,
                notes=("@launch(threads, min_blocks, max_regs); the last two may be left out",),
            )
            return
        values = [self.integer(arg, "PH271", "@launch") for arg in attribute.args]
        rules: tuple[tuple[str, Callable[[int], bool], str], ...] = (
            ("threads", lambda n: n > 0 and n % 32 == 0 and n <= 1024, "a positive multiple of 32 up to 1024"),
            ("min_blocks", lambda n: 1 <= n <= 32, "1 to 32"),
            ("max_regs", lambda n: 16 <= n <= 255, "16 to 255"),
        )
        for arg, value, (name, good, text) in zip(attribute.args, values, rules, strict=False):
            if value is not None and not good(value):
                self.error(
                    "PH271",
                    f"@launch with {name} = {value}",
                    arg.span,
                    self.shown(arg.value) or f"not {text}",
                    notes=(f"{name} is {text}",),
                )
                return
        if None in values:
            return
        threads, blocks, regs = (*values, None, None)[:3]
        assert threads is not None
        self.made = replace(self.made, launch=Launch(threads, blocks, regs, explicit=True))

    def aligned(self, attribute: ast.Attribute) -> None:
        if not attribute.args:
            self.error("PH272", "@aligned promises nothing", attribute.span, help=("write @aligned(M = TILE_M)",))
        for arg in attribute.args:
            if arg.kind != "set" or arg.name is None:
                self.error(
                    "PH272",
                    "@aligned takes dims with their tiles",
                    arg.span,
                    "not DIM = tile",
                    help=("write @aligned(M = 64)",),
                )
                continue
            divisor = self.value(arg.value, "PH272", "@aligned")
            if divisor is not None:
                self.promise(arg, arg.name, divisor)

    def promise(self, arg: ast.AttrArg, dim: str, divisor: int) -> None:
        if divisor <= 0:
            self.error(
                "PH272",
                f"@aligned divides `{dim}` by {divisor}",
                arg.span,
                self.shown(arg.value) or "not positive",
                notes=("a tile is positive",),
            )
            return
        if dim not in self.dims:
            close = nearest(dim, self.dims)
            self.error(
                "PH272",
                f"@aligned names `{dim}`, which is a dim of no tensor",
                arg.span,
                "no tensor has it",
                help=(f"did you mean `{close}`?",) if close else (),
            )
            return
        static = self.dims[dim]
        if static is None:
            entry = Aligned(dim, divisor, arg.span)
            self.made = replace(self.made, aligned=(*self.made.aligned, entry))
        elif static % divisor:
            self.error(
                "PH279",
                f"`{dim}` = {static} is not a whole number of tiles of {divisor}",
                arg.span,
                self.shown(arg.value),
                help=("choose a tile that divides it, or drop the promise",),
            )

    def pipeline(self, attribute: ast.Attribute) -> None:
        stages: int | None = 2
        if len(attribute.args) > 1:
            self.error("PH273", f"@pipeline takes one number, not {len(attribute.args)}", attribute.span)
            return
        if attribute.args:
            stages = self.integer(attribute.args[0], "PH273", "@pipeline")
        if stages is None:
            return
        if not 1 <= stages <= MAX_STAGES:
            self.error(
                "PH273",
                f"@pipeline with {stages} stages",
                attribute.args[0].span,
                self.shown(attribute.args[0].value),
                notes=(f"stages are 1 to {MAX_STAGES}",),
            )
            return
        self.made = replace(self.made, pipeline=stages, pipeline_span=attribute.span)

    def tensorcore(self, attribute: ast.Attribute) -> None:
        form = "plain"
        if attribute.args:
            value = attribute.args[0].value
            form = value.name if isinstance(value, ast.Name) and attribute.args[0].kind == "value" else ""
        if len(attribute.args) > 1 or form not in ("plain", *TENSORCORE_FORMS) or (attribute.args and form == "plain"):
            close = nearest(form, TENSORCORE_FORMS)
            self.error(
                "PH274",
                "unknown form of @tensorcore",
                attribute.args[min(len(attribute.args), 2) - 1].span,
                notes=(f"the forms are @tensorcore and {', '.join(f'@tensorcore({f})' for f in TENSORCORE_FORMS)}",),
                help=(f"did you mean @tensorcore({close})?",) if close else (),
            )
            return
        self.made = replace(self.made, tensorcore=form)

    def number(self, attribute: ast.Attribute, low: int, high: int) -> int | None:
        """The one number of `@registers(n)` and `@swizzle(n)`."""
        name = f"@{attribute.name}"
        if len(attribute.args) != 1:
            self.error("PH275", f"{name} takes one number, not {len(attribute.args)}", attribute.span)
            return None
        value = self.integer(attribute.args[0], "PH275", name)
        if value is None or low <= value <= high:
            return value
        self.error(
            "PH275",
            f"{name}({value})",
            attribute.args[0].span,
            self.shown(attribute.args[0].value),
            notes=(f"{name} takes {low} to {high}",),
        )
        return None

    def registers(self, attribute: ast.Attribute) -> None:
        self.made = replace(self.made, registers=self.number(attribute, 16, 255))

    def swizzle(self, attribute: ast.Attribute) -> None:
        self.made = replace(self.made, swizzle=self.number(attribute, 1, 1024))

    def flag(self, attribute: ast.Attribute) -> bool:
        if attribute.args:
            self.error(
                "PH276",
                f"@{attribute.name} takes no arguments",
                attribute.args[0].span,
                help=(f"write @{attribute.name}",),
            )
        return True

    def dynshared(self, attribute: ast.Attribute) -> None:
        self.made = replace(self.made, dynshared=self.flag(attribute))

    def persistent(self, attribute: ast.Attribute) -> None:
        self.made = replace(self.made, persistent=self.flag(attribute))

    def precise(self, attribute: ast.Attribute) -> None:
        self.made = replace(self.made, precise=self.flag(attribute))


READERS: dict[str, Callable[[AttributeReader, ast.Attribute], None]] = {
    "autotune": lambda reader, attribute: None,
    "launch": AttributeReader.launch,
    "aligned": AttributeReader.aligned,
    "pipeline": AttributeReader.pipeline,
    "tensorcore": AttributeReader.tensorcore,
    "dynshared": AttributeReader.dynshared,
    "persistent": AttributeReader.persistent,
    "registers": AttributeReader.registers,
    "swizzle": AttributeReader.swizzle,
    "precise": AttributeReader.precise,
}
