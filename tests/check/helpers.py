"""Checking pieces of programs: a kernel with one tensor of each kind around a few statements."""

from __future__ import annotations

from phobos.diagnostics import Sink
from phobos.frontend.ast import Program
from phobos.frontend.check import check_kernel, check_program
from phobos.frontend.parser import parse
from phobos.frontend.typed import Declare, TypedKernel
from phobos.frontend.walk import statements
from phobos.source import Source

HEAD = """\
@autotune(T in [32], R in [16], C in [64])
@launch(128)
@persistent
kernel k(A: tensor<f32>[M, N], V: tensor<f32>[N], H: tensor<f16>[M, N], B: tensor<bf16>[M, N], I: tensor<i32>[N],
         L: tensor<i64>[N], Q: tensor<i8>[M, N], W: tensor<u8>[N], S: tensor<f32>[30, 64], F: tensor<bool>[N],
         bar: tensor<i32>[2], Q4: tensor<f32>[M, 4, N, 64], n: i32, x: f32, h: f16, d: f64, l: i64, p: bool) {
"""


def parsed(text: str) -> tuple[Program, Source]:
    sink = Sink()
    source = Source("test.ph", text)
    program = parse(source, sink)
    assert not sink.diagnostics, [d.message for d in sink.diagnostics]
    return program, source


def findings(text: str) -> Sink:
    """What the checker says about a file."""
    program, source = parsed(text)
    sink = Sink()
    check_program(program, source, sink)
    return sink


def codes(body: str, fns: str = "") -> list[str]:
    """Codes of the findings for statements in the kernel of `HEAD`, in order of the source."""
    return [d.code for d in findings(f"{HEAD}{body}\n}}\n{fns}").diagnostics]


def typed(text: str, **constants: int) -> TypedKernel:
    """The typed tree of the first kernel of a file."""
    program, _ = parsed(text)
    sink = Sink()
    kernel = check_kernel(program, program.kernels[0], constants, sink)
    assert kernel is not None, [f"{d.code} {d.message} at {d.span.text!r}" for d in sink.diagnostics]
    return kernel


def body(text: str, fns: str = "") -> TypedKernel:
    """The typed tree of statements in the kernel of `HEAD`."""
    return typed(f"{HEAD}{text}\n}}\n{fns}")


def type_of(expr: str, before: str = "", fns: str = "") -> str:
    """The type of an expression in the kernel of `HEAD`."""
    kernel = body(f"{before}\nlet result_ = {expr}", fns)
    found = [s.symbol.type for s in statements(kernel.body) if isinstance(s, Declare) and s.symbol.name == "result_"]
    return str(found[-1])
