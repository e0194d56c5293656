"""Arguments against a signature: each error names the parameter, what was expected and what came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import phobos
from phobos.artifact import Signature
from phobos.errors import AlignedPromiseError, ArgumentError
from phobos.runtime.bind import bf16_bits, bind, check_aligned

from .fakes import POINTER, Interface

SOURCE = """\
@aligned(K = 16)
kernel mix(A: tensor<f32>[M, K], B: tensor<bf16>[K, 8], C: tensor<f32>[M, 8], x: f32, n: i32, k: u8, h: f16, b: bool) {
  let i = ctx.block.x * 16
  if b {
    C[i :+ 16, :] = dot(A[i :+ 16, 0 :+ 16], f32(B[0 :+ 16, :])) * x + f32(n + i32(k)) + f32(h)
  }
}
"""


@pytest.fixture(scope="module")
def signature() -> Signature:
    return phobos.compile(SOURCE, target="sm_80").mix.signature


GOOD: dict[str, Any] = {
    "A": Interface((32, 16), pointer=POINTER),
    "B": Interface((16, 8), "<u2", POINTER + 0x10000),
    "C": Interface((32, 8), pointer=POINTER + 0x20000),
    "x": 1.5,
    "n": -3,
    "k": 255,
    "h": 0.5,
    "b": True,
}


def test_good_arguments(signature: Signature) -> None:
    bound = bind("mix", signature, tuple(GOOD.values()))
    assert bound.dims == {"M": 32, "K": 16}
    assert bound.scalars == {"x": 1.5, "n": -3, "k": 255, "h": 0.5, "b": True}
    assert {n: a.pointer - POINTER for n, a in bound.arrays.items()} == {"A": 0, "B": 0x10000, "C": 0x20000}
    assert bound.written == {"C"}


# "transposed" is E23. Rows of 16 f32 are 64 bytes.
BAD = {
    "no array": ("A", [1.0], "A: expected a tensor<f32>[M, K], got list, which has no __cuda_array_interface__"),
    "type": ("A", Interface((32, 16), "<f2"), "[M, K], got a tests array of f16, shape (32, 16)"),
    "conversion": ("A", np.zeros((32, 16)), "; convert it with .astype('float32')"),
    "bits": ("B", np.zeros((16, 8), np.float32), "; give its bits as uint16"),
    "bits for f32": ("C", Interface((32, 8), "<u4"), "got a tests array of u32"),
    "rank": ("A", Interface((512,)), "A: expected a tensor<f32>[M, K], with 2 axes, got a"),
    "dim": ("C", Interface((31, 8)), "[M, 8] with M = 32, the extent that A has, got M = 31 in"),
    "static": ("C", Interface((32, 9)), "C: expected extent 8 on axis 1 of tensor<f32>[M, 8], got shape (32, 9)"),
    "transposed": ("A", Interface((32, 16), strides=(4, 128)), "A: expected stride 1 on axis 1, the innermost, got "
        "stride 32 in shape (32, 16) with strides (1, 32); pass a contiguous copy, such as x.copy()"),
    "transposed output": ("C", Interface((32, 8), strides=(4, 128)), "C: expected stride 1 on axis 1, the innermost, "
        "got stride 32 in shape (32, 8) with strides (1, 32); pass a contiguous tensor and copy the result from it"),
    "every other": ("A", np.zeros((32, 32), np.float32)[:, ::2], "a contiguous copy, such as numpy.ascontiguousarray"),
    "broadcast columns": ("A", Interface((32, 16), strides=(4, 0)), "stride 1 on axis 1, the innermost, got stride 0"),
    "upside down": ("A", Interface((32, 16), strides=(-64, 4)), "expected a stride of axis 0 that is not negative, "
        "got stride -16 in shape (32, 16) with strides (-16, 1)"),
    "broadcast output": ("C", Interface((32, 8), strides=(0, 4)), "C: expected elements that share no memory, since "
        "the kernel writes them, got stride 0 on axis 0, in shape (32, 8)"),
    "windows as output": ("C", Interface((32, 8), strides=(16, 4)), "elements that share no memory, since the kernel "
        "writes them, got shape (32, 8) with strides (4, 1)"),
    "read-only": ("C", Interface((32, 8), readonly=True), "C: expected a tensor that can be written, got a read-only"),
    "float": ("x", "one", "x: expected a number for f32, got 'one' of type str"),
    "array for a number": ("x", np.ones(1, np.float32), "f32, got an array of type ndarray; pass a Python"),
    "too large a float": ("x", 1e300, "got 1e+300; pass float('inf') if it is meant"),
    "too large an int": ("x", 10**400, "x: expected a number that fits f32, got 1000"),
    "f16": ("h", 70000.0, "h: expected a number that fits f16, got 70000.0"),
    "int": ("n", 2**31, "n: expected an integer that fits i32, from -2147483648 to 2147483647, got 2147483648"),
    "u8": ("k", -1, "k: expected an integer that fits u8, from 0 to 255, got -1"),
    "float for int": ("n", 1.0, "n: expected an integer for i32, got 1.0 of type float"),
    "bool": ("b", 1, "b: expected True or False, got 1 of type int"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(signature: Signature, case: str) -> None:
    parameter, value, message = BAD[case]
    with pytest.raises(ArgumentError) as caught:
        bind("mix", signature, tuple((GOOD | {parameter: value}).values()))
    assert message in str(caught.value)
    assert caught.value.parameter == parameter


def test_the_count(signature: Signature) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind("mix", signature, (1, 2))
    assert str(caught.value) == "mix: expected 8 arguments (A, B, C, x, n, k, h, b), got 2"


@pytest.mark.parametrize("strides", [(4, 4), (0, 4), (-64, 4), (1 << 40, 4)])
def test_axes_of_extent_one_match_any_stride(signature: Signature, strides: tuple[int, int]) -> None:
    """E10."""
    one = Interface((1, 16), strides=strides)
    bound = bind("mix", signature, tuple((GOOD | {"A": one, "C": Interface((1, 8), strides=(0, 4))}).values()))
    assert bound.arrays["A"].is_dense
    assert bound.arrays["A"].bytes == (POINTER, POINTER + 64)


def test_strided_views_fit(signature: Signature) -> None:
    view = Interface((32, 16), strides=(160, 4))
    bound = bind("mix", signature, tuple((GOOD | {"A": view}).values()))
    assert bound.arrays["A"].steps == (40, 1)
    assert bound.arrays["A"].reach == 31 * 40 + 16
    rows = Interface((32, 16), strides=(0, 4))
    assert bind("mix", signature, tuple((GOOD | {"A": rows}).values())).arrays["A"].reach == 16
    bind("mix", signature, tuple((GOOD | {"C": Interface((0, 8), strides=(-4, 0)), "A": Interface((0, 16))}).values()))


@pytest.mark.parametrize("value", [1, np.float32(1.0), np.int64(1), True, math.inf, math.nan])
def test_what_is_a_float(signature: Signature, value: Any) -> None:
    bound = bind("mix", signature, tuple((GOOD | {"x": value}).values()))
    assert bound.scalars["x"] == float(value) or math.isnan(value)


def test_a_read_only_tensor_may_be_read(signature: Signature) -> None:
    bind("mix", signature, tuple((GOOD | {"A": Interface((32, 16), readonly=True)}).values()))


def test_a_broken_promise_is_found_before_the_launch(signature: Signature) -> None:
    kernel = phobos.compile(SOURCE, target="sm_80").mix
    promises = kernel.meaning.attributes.aligned
    args = GOOD | {"A": Interface((32, 20)), "B": Interface((20, 8), "<u2", POINTER + 0x10000)}
    bound = bind("mix", signature, tuple(args.values()))
    with pytest.raises(AlignedPromiseError) as caught:
        check_aligned("mix", promises, bound, signature)
    assert str(caught.value) == (
        "mix: @aligned(K = 16) promises that K is a multiple of 16, and A and B have K = 20; the kernel would trap"
    )
    check_aligned("mix", promises, bind("mix", signature, tuple(GOOD.values())), signature)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0, 0x3F80),
        (-2.0, 0xC000),
        (1.00390625, 0x3F80),  # half way between two bfloat16: to even
        (1.01171875, 0x3F82),
        (math.inf, 0x7F80),
        (3.4e38, 0x7F80),
        (0.0, 0),
    ],
)
def test_bf16_bits(value: float, bits: int) -> None:
    assert bf16_bits(value) == bits


def test_bf16_nan_stays_nan() -> None:
    assert bf16_bits(math.nan) & 0x7FFF > 0x7F80
