"""The checker: the syntax tree of a kernel and a choice of constants -> its typed tree, or errors.

`constants_of` gives the constants that a kernel declares, `check_kernel` the typed tree for one choice of them,
`check_program` only the findings of a file, `check_declarations` those that belong to no kernel. Findings go to the
sink; all errors of a kernel come out of one run.
"""

from __future__ import annotations

from ..diagnostics import Label, Sink
from ..ir.types import INDEX, Tensor
from ..source import Source, Span
from . import ast
from . import typed as t
from .attributes import AttributeReader, constants_of
from .builtins import Builtins
from .check_base import TooDeepError
from .fn_names import check_fns
from .joins import ERROR, SOURCE_SCALARS
from .scope import Binding
from .variance import check_variance

__all__ = ["check_declarations", "check_kernel", "check_program", "constants_of"]


def check_kernel(
    program: ast.Program, kernel: ast.Kernel, constants: dict[str, int], sink: Sink
) -> t.TypedKernel | None:
    """The typed tree of one kernel. `constants` override the defaults, the first value of each list.

    None when the kernel has errors. Constants that the kernel does not declare are ignored.
    """
    own = Sink()
    checked = KernelChecker(program, kernel, own).run(constants)
    for finding in own.diagnostics:
        sink.add(finding)
    return None if own.errors else checked


def check_program(program: ast.Program, source: Source, sink: Sink) -> None:
    """All findings of a file at the default constants."""
    check_declarations(program, sink)
    for kernel in program.kernels:
        check_kernel(program, kernel, {}, sink)


def check_declarations(program: ast.Program, sink: Sink) -> None:
    """What concerns the file and no kernel of it: names declared twice, and `fn`s that no kernel calls."""
    seen: dict[str, Span] = {}
    declarations: list[ast.Fn | ast.Kernel] = [*program.fns, *program.kernels]
    for declaration in sorted(declarations, key=lambda d: d.span.start):
        if declaration.name in seen:
            sink.error(
                "PH205",
                f"`{declaration.name}` is declared twice",
                declaration.name_span,
                "declared again",
                labels=(Label(seen[declaration.name], "first declared here"),),
            )
        seen.setdefault(declaration.name, declaration.name_span)
    check_fns(program, sink)


class KernelChecker(Builtins):
    """Checks one kernel for one choice of constants."""

    def run(self, overrides: dict[str, int]) -> t.TypedKernel | None:
        choices = constants_of(self.kernel, self.sink)
        self.constants = {name: overrides.get(name, values[0]) for name, values in choices.items()}
        for name, value in overrides.items():
            if name in choices and value not in choices[name]:
                self.outside(name, value, choices[name])
        for attribute in self.kernel.attributes:
            for arg in attribute.args:
                if attribute.name == "autotune" and arg.name in self.constants and arg.name not in self.scope.names:
                    value_ = self.index_constant(self.constants[arg.name], arg.span)
                    self.scope.add(Binding(arg.name, "constant", arg.span, value=value_))
        dims = self.dim_names()
        static = {name: self.constants.get(name) for name in dims}
        reader = AttributeReader(self.kernel, self.constants, static, self.sink)
        self.attributes = reader.read()
        params = self.parameters(dims)
        try:
            self.statements(self.kernel.body)
        except TooDeepError:
            return None
        kernel = t.TypedKernel(
            name=self.kernel.name,
            span=self.kernel.span,
            params=params,
            tensors=tuple(p for p in params if p.kind == "tensor"),
            scalars=tuple(p for p in params if p.kind == "scalar"),
            dims=tuple(name for name in dims if name not in self.constants),
            constants=dict(self.constants),
            choices=choices,
            attributes=self.attributes,
            body=self.out,
            attribute_spans=dict(reader.seen),
        )
        if self.failed or self.sink.errors:
            return None
        check_variance(kernel, self.sink)
        return kernel

    def outside(self, name: str, value: int, values: tuple[int, ...]) -> None:
        """A constant that is set to a value that its list does not have."""
        span = next(
            (a.span for at in self.kernel.attributes if at.name == "autotune" for a in at.args if a.name == name),
            self.kernel.name_span,
        )
        self.sink.remark(
            "PR202", f"{name} = {value} is not in its list", span, f"the values are {', '.join(map(str, values))}"
        )

    def dim_names(self) -> dict[str, Span]:
        """The names that stand as dims of the tensors, in order, with the first place of each."""
        names: dict[str, Span] = {}
        for param in self.kernel.params:
            if param.type is not None and param.type.head == "tensor":
                for dim in param.type.dims:
                    if isinstance(dim, ast.Name):
                        names.setdefault(dim.name, dim.span)
        return names

    def parameters(self, dims: dict[str, Span]) -> tuple[t.Symbol, ...]:
        """Enter the dims and the parameters."""
        for name, span in dims.items():
            if name not in self.constants:
                self.scope.add(Binding(name, "dim", span, value=t.DimRef(type=INDEX, span=span, name=name)))
        made = []
        for param in self.kernel.params:
            assert param.type is not None
            if param.name in dims:
                self.error(
                    "PH225",
                    f"`{param.name}` is both a parameter and a dim",
                    param.name_span,
                    "the parameter",
                    labels=(Label(dims[param.name], "the dim"),),
                    help=("a dim reads as an integer already: leave the parameter out, or rename one of them",),
                )
                continue
            symbol = self.parameter_symbol(param.name, param.name_span, param.type)
            self.declare(Binding(param.name, symbol.kind, param.name_span, symbol))
            made.append(symbol)
        return tuple(made)

    def parameter_symbol(self, name: str, span: Span, written: ast.TypeExpr) -> t.Symbol:
        if written.head == "tensor":
            elem = SOURCE_SCALARS[written.elem or ""]
            dims = [self.tensor_dim(dim) for dim in written.dims] if self.rank_fits(written) else [1]
            return t.Symbol(name, "tensor", Tensor(elem, tuple(dims)), span)
        if written.head == "tile":
            self.error(
                "PH221",
                "a parameter of a kernel cannot be a tile",
                written.span,
                notes=("tiles live inside a kernel; what it is given is in tensors and scalars",),
                help=("take a tensor<..>[..] and read a slice of it",),
            )
            return t.Symbol(name, "scalar", ERROR, span)
        return t.Symbol(name, "scalar", SOURCE_SCALARS[written.head], span)

    def tensor_dim(self, dim: ast.Expr) -> int | str:
        if isinstance(dim, ast.Name) and dim.name not in self.constants:
            return dim.name
        value = self.constant(dim, "an extent of a tensor")
        if value is not None and value <= 0:
            self.bad_extent(value, dim.span)
        return 1 if value is None else value
