"""`// run:` lines: what they may say, what is said when they are wrong, and that the judge can object."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phobos.interp import numbers
from phobos.ir.core import Block, Value
from phobos.ir.kernel import Attributes, Kernel
from phobos.ir.types import BF16, BOOL, F32, I8, INDEX, Scalar, Tensor
from phobos.runline import RunLine, RunLineError, expected, judge, load_reference, make_inputs, parse_run_lines
from phobos.source import NOWHERE


def kernel(*elems: Scalar) -> Kernel:
    """A kernel without a body that has a tensor [M, 3] of each type, `T0` and so on, and a scalar alpha."""
    return Kernel(
        name="k",
        form="built",
        tensors=tuple(Value(f"T{i}", Tensor(elem, ("M", 3))) for i, elem in enumerate(elems)),
        dims=(Value("M", INDEX),),
        scalars=(Value("alpha", F32),),
        body=Block(),
        attributes=Attributes(),
        constants=(("TILE", 4),),
        span=NOWHERE,
    )


def line(text: str) -> RunLine:
    (found,) = parse_run_lines(f"// run: {text}\n")
    return found


def test_every_field_is_read() -> None:
    found = line("gemm M=256 alpha=-1.5e-1 TILE=64 flag=true seed=7 tol=2e-5 grid=4,2")
    assert found.kernel == "gemm"
    assert found.values == {"M": 256, "alpha": -0.15, "TILE": 64, "flag": True}
    assert (found.seed, found.tolerance, found.grid) == (7, 2e-5, (4, 2, 1))
    assert found.constants(["TILE", "OTHER"]) == {"TILE": 64}


def test_lines_are_found_in_order_and_default_options_are_plain() -> None:
    text = "// a comment about run: nothing\n// run: a N=1\nkernel a() {\n}\n  //run: b\n"
    found = parse_run_lines(text)
    assert [(f.kernel, f.values, f.seed, f.tolerance, f.grid) for f in found] == [
        ("a", {"N": 1}, 0, None, None),
        ("b", {}, 0, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.ph:1:8: a run line starts with a kernel's name"),
        (" M=4", "x.ph:1:9: a run line starts with a kernel's name"),
        (" k M", "x.ph:1:11: expected name=value, got `M`"),
        (" k M=4 M=5", "x.ph:1:15: M is given twice"),
        (" k M=four", "x.ph:1:11: `four` is not a number"),
        (" k M=4 seed=1.5", "x.ph:1:15: seed is an integer that is not negative, not `1.5`"),
        (" k tol=-1", "x.ph:1:11: tol is a number that is not negative, not `-1`"),
        (" k data=zeros", "x.ph:1:11: data is one of normal, integers, ones, not `zeros`"),
        (" k grid=0,1", "x.ph:1:11: a grid is one to three positive numbers such as 4,4,1, not `0,1`"),
    ],
)
def test_wrong_lines_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(RunLineError) as caught:
        parse_run_lines(f"// run:{text}\n", "x.ph")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k M=8 alpha=1.0 Alph=2", "kernel k has no extent, scalar or constant called Alph, did you mean alpha?"),
        ("k alpha=1.0", "the extent M is missing"),
        ("k M=8", "the scalar alpha is missing"),
        ("k M=-8 alpha=1", "the extent M is an integer that is not negative, not -8"),
        ("k M=8 alpha=true", "the scalar alpha is f32, not True"),
    ],
)
def test_lines_that_do_not_fit_their_kernel_are_refused(text: str, message: str) -> None:
    with pytest.raises(RunLineError, match=r"^<source>:1:") as caught:
        make_inputs(kernel(F32), line(text))
    assert caught.value.message == message


def test_a_constant_is_an_integer() -> None:
    with pytest.raises(RunLineError, match=r"TILE is an integer, not 1\.5"):
        line("k TILE=1.5").constants(["TILE"])


def test_inputs_are_seeded_and_in_the_element_types() -> None:
    types = (F32, I8, BOOL, BF16)
    first = make_inputs(kernel(*types), line("k M=8 alpha=0.1 TILE=4 seed=3"))
    again = make_inputs(kernel(*types), line("k M=8 alpha=0.1 seed=3"))
    other = make_inputs(kernel(*types), line("k M=8 alpha=0.1 seed=4"))
    assert first.dims == {"M": 8}
    assert first.scalars == {"alpha": float(np.float32(0.1))}
    for name, elem in zip(first.tensors, types, strict=True):
        assert first.tensors[name].shape == (8, 3)
        assert first.tensors[name].dtype == numbers.stored(elem)
        assert np.array_equal(first.tensors[name], again.tensors[name])
    assert not np.array_equal(first.tensors["T0"], other.tensors["T0"])


@pytest.mark.parametrize("elem", [F32, BF16, I8])
def test_data_that_is_not_random_normal(elem: Scalar) -> None:
    whole = make_inputs(kernel(elem), line("k M=8 alpha=0 data=integers seed=3")).tensors["T0"]
    held = numbers.to_held(whole, elem).astype(float)
    assert np.array_equal(held, np.rint(held))
    assert 1 < np.abs(held).max() <= 8
    ones = make_inputs(kernel(elem), line("k M=8 alpha=0 data=ones")).tensors["T0"]
    assert np.array_equal(numbers.to_held(ones, elem).astype(float), np.ones((8, 3)))


def test_the_judge_objects_to_each_kind_of_fault() -> None:
    k, run = kernel(F32, F32), line("k M=4 alpha=2 tol=1e-6")
    inputs = make_inputs(k, run)
    want = expected(k, lambda T0, T1, alpha: {"T1": alpha * T0}, inputs)  # noqa: N803
    right = {"T0": inputs.tensors["T0"], "T1": (2 * inputs.tensors["T0"]).astype(np.float32)}
    assert judge(k, run, want, inputs, right).ok

    def faults(**changed: float) -> tuple[str, ...]:
        results = {name: array.copy() for name, array in right.items()}
        for name, value in changed.items():
            results[name][2, 1] = value
        return judge(k, run, want, inputs, results).faults

    at = float(right["T1"][2, 1])
    assert faults(T1=at + 1e-5)[0].startswith("T1[2, 1] = ")
    assert faults(T1=np.nan)
    assert faults(T1=np.inf)
    assert faults(T0=0.0) == ("T0 was to be left as it was and changed",)
    assert not faults(T1=at + 1e-7)


def test_the_judge_wants_nan_and_infinity_in_their_places() -> None:
    k, run = kernel(F32), line("k M=1 alpha=2")
    inputs = make_inputs(k, run)
    want = {"T0": np.array([[np.nan, np.inf, 1.0]])}
    assert judge(k, run, want, inputs, {"T0": np.array([[np.nan, np.inf, 1.0]], np.float32)}).ok
    for wrong in ([0.0, np.inf, 1.0], [np.nan, -np.inf, 1.0], [np.nan, np.inf, np.nan]):
        assert not judge(k, run, want, inputs, {"T0": np.array([wrong], np.float32)}).ok


def test_exact_means_every_bit_of_an_integer() -> None:
    i64 = Scalar("i64", "int", 64)
    k, run = kernel(i64), line("k M=1 alpha=2")
    want = {"T0": np.array([[2**60, 1, 1]])}
    inputs = make_inputs(k, run)
    assert judge(k, run, want, inputs, {"T0": want["T0"].copy()}).ok
    assert not judge(k, run, want, inputs, {"T0": want["T0"] + [[1, 0, 0]]}).ok


def test_a_reference_is_found_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "ref.py").write_text("def k(T0, alpha):\n    return {'T0': T0 * alpha}\n")
    reference = load_reference(tmp_path / "k.ph", "k")
    assert reference(T0=3.0, alpha=2.0) == {"T0": 6.0}
    with pytest.raises(AttributeError, match="no function other"):
        load_reference(tmp_path / "k.ph", "other")
    with pytest.raises(FileNotFoundError, match="no reference beside"):
        load_reference(tmp_path / "nowhere" / "k.ph", "k")


def test_a_reference_may_only_give_tensors_of_the_kernel() -> None:
    k = kernel(F32)
    inputs = make_inputs(k, line("k M=1 alpha=2"))
    with pytest.raises(ValueError, match="gives X, which is no tensor"):
        expected(k, lambda T0, alpha: {"X": T0}, inputs)  # noqa: N803
    with pytest.raises(ValueError, match="gives T0 shape"):
        expected(k, lambda T0, alpha: {"T0": T0[:, :2]}, inputs)  # noqa: N803
