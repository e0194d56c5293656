"""Small PTX kernels for the tests: one instruction over vectors of values, and kernels from a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos.sim import Checks, SimFault, SimResult, simulate

Array = NDArray[Any]
DTYPES = {
    "pred": np.uint32, "u8": np.uint8, "s8": np.int8, "b8": np.uint8, "u16": np.uint16, "s16": np.int16,
    "b16": np.uint16,
    "u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


def kernel(body: str, params: Sequence[str] = ("out",), extra: str = "", target: str = "sm_90") -> str:
    """A module with one entry `k`: pointers `params` are in %rd registers of their names, %tid.x is in %t."""
    declared = ",\n".join(f"  .param .u64 p_{name}" for name in params)
    loads = "\n".join(f"  ld.param.u64 %{name}, [p_{name}];" for name in params)
    registers = "".join(f"  .reg .b64 %{name};\n" for name in params)
    return f"""
.version 8.8
.target {target}
.address_size 64
{extra}
.visible .entry k(
{declared}
)
{{
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b32 %t;
  .reg .f32 %f<16>; .reg .f64 %fd<16>;
{registers}  mov.u32 %t, %tid.x;
{loads}
{body}
  ret;
}}
"""


def launch(
    ptx: str, args: list[Any], block: int = 32, grid: int = 1, checks: Checks | None = None, **options: Any
) -> SimResult:
    """Run `k`."""
    return simulate(ptx, "k", args, (grid,), (block,), checks=checks, **options)


def fault(ptx: str, args: list[Any], block: int = 32, grid: int = 1, **options: Any) -> SimFault:
    """Run `k`, which must fail; gives the fault."""
    try:
        launch(ptx, args, block, grid, **options)
    except SimFault as error:
        return error
    raise AssertionError("the kernel ran without a finding")


def _width(type_: str) -> int:
    return 32 if type_ == "pred" else int(type_.lstrip("subf"))


def _register(type_: str, at: int) -> str:
    return {16: "%h", 32: "%r", 64: "%rd", 8: "%h"}[_width(type_)] + str(at)


def apply(instruction: str, inputs: Sequence[tuple[str, Sequence[Any]]], result: str) -> Array:
    """One instruction (or several lines) over vectors. Operands are `a`, `b`, `c`, `d` of the given types, the result
    goes to `x`, of type `result`; `pred` operands are numbers that count as true when they are not zero."""
    count = len(inputs[0][1])
    body, args = [f"  mul.wide.u32 %rd15, %t, {np.dtype(DTYPES[result]).itemsize};"], []
    names = {}
    for at, (type_, values) in enumerate(inputs):
        letter = "abcd"[at]
        dtype = DTYPES[type_]
        with np.errstate(invalid="ignore"):  # NaN without a meaning in an integer type is for `same` to refuse
            args.append(np.array(list(values)).astype(dtype))
        size = np.dtype(dtype).itemsize
        register = _register(type_, at)
        body += [
            f"  mul.wide.u32 %rd14, %t, {size};",
            f"  add.s64 %rd14, %{letter}p, %rd14;",
            f"  ld.global.{'b' if _width(type_) > 8 or type_[0] != 's' else 's'}{_width(type_)} {register}, [%rd14];",
        ]
        if type_ == "pred":
            body.append(f"  setp.ne.u32 %p{at}, {register}, 0;")
            register = f"%p{at}"
        names[letter] = register
    target = "%p7" if result == "pred" else _register(result, 7)
    names["x"] = target
    text = instruction
    for letter, register in names.items():
        text = text.replace(f"${letter}", register)
    body.append(f"  {text}")
    if result == "pred":
        body.append("  selp.u32 %r7, 1, 0, %p7;")
        target = "%r7"
    body += ["  add.s64 %rd15, %out, %rd15;", f"  st.global.b{_width(result)} [%rd15], {target};"]
    params = ["out", *(f"{'abcd'[at]}p" for at in range(len(inputs)))]
    text = kernel("\n".join(body), params)
    out = np.zeros(count, DTYPES[result])
    launch(text, [out, *args], block=count)
    # A whole warp takes another way through the machine than part of one.
    wide = np.zeros(-(-count // 32) * 32, DTYPES[result])
    launch(text, [wide, *(np.resize(each, wide.shape) for each in args)], block=len(wide))
    assert wide[:count].tobytes() == out.tobytes(), "full and masked execution differ"
    return out


def bits32(values: Sequence[float]) -> list[int]:
    """The bits of f32 values."""
    return [int(v) for v in np.array(values, np.float32).view(np.uint32)]


def same(got: Array, want: Sequence[Any]) -> None:
    """Equal, NaN to NaN, and zeros of the same sign."""
    with np.errstate(invalid="ignore"):
        expected = np.array(list(want)).astype(got.dtype) if got.dtype.kind != "f" else np.array(want, got.dtype)
    assert got.shape == expected.shape
    equal = (got == expected) | ((got != got) & (expected != expected))
    if got.dtype.kind == "f":
        equal &= (np.signbit(got) == np.signbit(expected)) | (got != got)
    assert equal.all(), f"got {got.tolist()}, want {expected.tolist()}"
