"""Lines of the conformance list that need more than a code: what an error names, attributes, choices of constants."""

from __future__ import annotations

import pytest

from phobos.diagnostics import Diagnostic, Sink
from phobos.frontend.attributes import constants_of
from tests.check.helpers import HEAD, findings, parsed, type_of, typed

EMPTY = "kernel k(A: tensor<f32>[M, N]) { }\n"


def the_finding(text: str) -> Diagnostic:
    (found,) = findings(text).diagnostics
    return found


def in_kernel(statements: str) -> Diagnostic:
    return the_finding(f"{HEAD}{statements}\n}}\n")


def test_b030_b032_names_functions_and_tensors_are_told_apart() -> None:
    assert in_kernel("let y = zz").message == "unknown name `zz`"
    assert in_kernel("let y = zz(x)").message == "unknown function `zz`"
    tensor = in_kernel("let y = A")
    assert tensor.message == "tensor `A` used as a value"
    assert tensor.help == ("subscript it: A[i, j] is one element",)


@pytest.mark.parametrize(
    ("statement", "role"),
    [
        ("let y = V[x]", "a subscript"),
        ("let y = V[x :+ 4]", "the start of a slice"),
        ("let y = V[0 : x]", "the end of a slice"),
        ("let y = V[0 :+ x]", "the length of a slice"),
        ("for i in range(x, 4) { }", "the start of a loop"),
        ("for i in range(0, x) { }", "the end of a loop"),
        ("for i in range(0, 4, x) { }", "the step of a loop"),
    ],
)
def test_b043_what_is_no_integer_is_named_by_its_role(statement: str, role: str) -> None:
    assert in_kernel(statement).message == f"{role} must be an integer, not an f32"


def test_b049_bool_is_no_conversion() -> None:
    assert in_kernel("let c = bool(n)").help == ("compare: n != 0",)


def test_b051_a_parameter_is_no_tile() -> None:
    found = the_finding("kernel k(t: tile<f32>[4]) { }")
    assert (found.code, found.span.text) == ("PH221", "tile<f32>[4]")


def test_b052_a_tile_dimension_is_a_constant() -> None:
    assert in_kernel("var t: tile<f32>[N, 4] = 0.0").code == "PH222"
    assert in_kernel("var t: tile<f32>[n, 4] = 0.0").code == "PH223"


def test_b086_a_promise_has_a_known_positive_divisor() -> None:
    assert the_finding("@aligned(N = 0)\n" + EMPTY).code == "PH272"
    unknown = the_finding("@aligned(N = TILE)\n" + EMPTY)
    assert (unknown.code, unknown.span.text) == ("PH222", "TILE")
    assert the_finding("@aligned(Q = 4)\n" + EMPTY).code == "PH272"


def test_b112_shapes_that_do_not_fit_are_both_printed() -> None:
    assert in_kernel("let t = A[0 :+ 4, 0 :+ 8] + A[0 :+ 8, 0 :+ 4]").message == "`+` of tiles [4, 8] and [8, 4]"


def test_b134_integers_are_reduced_and_rank_1_counts_as_a_row() -> None:
    assert type_of("rowsum(I[0 :+ 8])") == "tile<i32>[1, 1]"
    assert type_of("cumsum(Q[0 :+ 4, 0 :+ 8])") == "tile<i32>[4, 8]"
    assert type_of("tril(Q[0 :+ 4, 0 :+ 8])") == "tile<i8>[4, 8]"


def test_b151_a_dot_has_two_ranks_static_shapes_and_one_inner_extent() -> None:
    inner = in_kernel("let t = dot(A[0 :+ 4, 0 :+ 8], A[0 :+ 4, 0 :+ 8])")
    assert inner.message == "dot contracts 8 with 4"
    assert in_kernel("var t: tile<f32>[2, 4, 8] = 0.0\nlet u = dot(t, A[0 :+ 8, 0 :+ 4])").code == "PH219"
    assert in_kernel("let t = dot(A[0 :+ 4, 0 :+ n], A[0 :+ 8, 0 :+ 4])").code == "PH227"


def test_b157_operands_of_a_dot_are_both_floats_or_both_integers() -> None:
    assert in_kernel("let t = dot(Q[0 :+ 4, 0 :+ 8], A[0 :+ 8, 0 :+ 4])").code == "PH210"
    assert type_of("dot(f32(Q[0 :+ 4, 0 :+ 8]), A[0 :+ 8, 0 :+ 4])") == "tile<f32>[4, 4]"


def test_b186_b203_an_unknown_attribute_is_a_warning() -> None:
    for name in ("padstage", "unheard(1, N = 2)"):
        found = the_finding(f"@{name}\n{EMPTY}")
        assert (found.code, found.severity.value) == ("PR201", "warning")
    assert "pipeline" in str(the_finding("@pipelin\n" + EMPTY).help)


@pytest.mark.parametrize(
    "arguments",
    ["0", "100", "2048", "128, 0", "128, 2, 15", "128, 2, 256", "128, 1, 64, 1", "1.5", "true"],
)
def test_b201_launch_bounds_that_are_none(arguments: str) -> None:
    assert the_finding(f"@launch({arguments})\n{EMPTY}").code == "PH271"


@pytest.mark.parametrize("arguments", ["32", "1024", "128, 2", "128, 2, 64", "96, 1, 255"])
def test_b200_b201_launch_bounds(arguments: str) -> None:
    launch = typed(f"@launch({arguments})\n{EMPTY}").attributes.launch
    numbers = tuple(int(number) for number in arguments.split(","))
    assert launch is not None
    assert (launch.threads, launch.min_blocks, launch.max_regs) == (*numbers, *(None,) * (3 - len(numbers)))


@pytest.mark.parametrize(
    ("values", "walked"),
    [
        ("16, 256", (16, 32, 64, 128, 256)),
        ("64, 100", (64, 100)),
        ("64, 200", (64, 128, 200)),
        ("16, 32, 48", (16, 32, 48)),
        ("32, 16", (32, 16)),
        ("64", (64,)),
    ],
)
def test_b202_two_ascending_values_are_walked_by_doubling(values: str, walked: tuple[int, ...]) -> None:
    program, _ = parsed(f"@autotune(X in [{values}])\n{EMPTY}")
    assert constants_of(program.kernels[0], Sink()) == {"X": walked}


def test_b227_a_fn_that_calls_itself_is_an_error() -> None:
    direct = "fn f(x) { return f(x) }\nkernel k(A: tensor<f32>[N]) { A[0] = f(1.0) }"
    assert the_finding(direct).code == "PH244"
    around = "fn f(x) { return g(x) }\nfn g(x) { return f(x) }\nkernel k(A: tensor<f32>[N]) { A[0] = f(1.0) }"
    assert {d.code for d in findings(around).diagnostics} == {"PH244"}


@pytest.mark.parametrize("value", ["99999999999", "-2147483649", "0x80000000"])
def test_n13_an_integer_too_large_for_its_type_is_an_error(value: str) -> None:
    assert in_kernel(f"let c: i32 = {value}").code == "PH215"


def test_n14_a_float_literal_takes_the_tile_s_type() -> None:
    assert type_of("H[0 :+ 4, 0 :+ 8] * 2.5") == "tile<f16>[4, 8]"
    assert type_of("A[0 :+ 4, 0 :+ 8] + 0.1") == "tile<f32>[4, 8]"
    assert type_of("x * 0.1") == "f32"


def test_b095_d17_tiles_are_sliced_like_tensors() -> None:
    before = "var t: tile<f32>[16, 32] = 0.0"
    assert type_of("dot(t[0 :+ 16, 16 :+ 16], t[0 :+ 16, 0 :+ 16])", before) == "tile<f32>[16, 16]"


def test_a09_a_variable_of_a_loop_s_body_ends_with_it() -> None:
    assert in_kernel("for i in range(0, n) { var y = 1.0 }\nV[0] = y").code == "PH201"
