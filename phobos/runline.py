"""`// run:` lines: how a kernel in a `.ph` file is tried out, and who judges the result.

    // run: gemm M=64 N=96 K=32 alpha=1.0 beta=0.5 TILE_M=64 seed=1 tol=2e-5 grid=1,2,1

names a kernel, then extents, scalars and `@autotune` constants by their names, the `seed` and the `data` of the inputs
(`normal`, the default; `integers`: small ones also as floats, so that sums of products are exact; `ones`), the relative
tolerance (0: exact; without it, one for the element type), the tolerance `approx` where the hardware's approximate
functions computed, if that is larger, and, where it cannot be inferred, the grid. Tests, the
command line and the GPU tests all use it: `parse_run_lines` reads the lines of a file, `make_inputs` makes arrays for a
kernel, `load_reference` finds the formula in the `ref.py` beside the file and `judge` compares.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.util
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .interp import numbers
from .ir.kernel import GridAxis, Kernel
from .ir.types import Scalar, Tensor
from .source import Source, Span

Array = NDArray[Any]
Number = int | float | bool
Reference = Callable[..., Mapping[str, Any]]

START = re.compile(r"^[ \t]*//[ \t]*run:", re.MULTILINE)
NUMBER = re.compile(r"-?(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?|inf)|nan|true|false", re.IGNORECASE)
OPTIONS = ("seed", "data", "tol", "approx", "grid")
DATA = ("normal", "integers", "ones")

TOLERANCE = {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-6, "f64": 1e-12}
"""Relative tolerance for an element type when a line names none; other types are compared exactly."""


class RunLineError(ValueError):
    """A `// run:` line that cannot be read or does not fit its kernel; the text starts with the place."""

    def __init__(self, span: Span, message: str) -> None:
        self.span = span
        self.message = message
        super().__init__(f"{span}: {message}")


@dataclass(frozen=True)
class RunLine:
    """One line, read. `values` holds extents, scalars and constants: which is which, the kernel knows."""

    kernel: str
    span: Span
    values: dict[str, Number] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    seed: int = 0
    data: str = DATA[0]
    tolerance: float | None = None
    approx: float | None = None
    grid: tuple[int, int, int] | None = None

    def on_hardware(self) -> RunLine:
        """The line for a judge of what a chip computed: `approx` is the tolerance where it is given."""
        return self if self.approx is None else dataclasses.replace(self, tolerance=self.approx)

    def constants(self, choices: Iterable[str]) -> dict[str, int]:
        """The values of those names that are constants of the kernel."""
        chosen = {name: self.values[name] for name in choices if name in self.values}
        for name, value in chosen.items():
            if type(value) is not int:
                raise RunLineError(self.places[name], f"the constant {name} is an integer, not {value}")
        return {name: int(value) for name, value in chosen.items()}


@dataclass(frozen=True)
class Inputs:
    """Arguments for one launch, by name. Arrays are in the kernel's element types; outputs hold random values too."""

    tensors: dict[str, Array]
    dims: dict[str, int]
    scalars: dict[str, Number]


@dataclass(frozen=True)
class Verdict:
    """faults: one line for each tensor that is wrong. errors: the largest relative error of each tensor judged."""

    faults: tuple[str, ...]
    errors: dict[str, float]

    @property
    def ok(self) -> bool:
        return not self.faults


# ---- reading --------------------------------------------------------------------------------------------


def parse_run_lines(text: str, name: str = "<source>") -> list[RunLine]:
    """Every `// run:` line of a source text, in order. Raises `RunLineError` at the first that cannot be read."""
    source = Source(name, text)
    found = []
    for start in START.finditer(text):
        end = text.find("\n", start.end())
        found.append(_line(source, start.end(), end if end >= 0 else len(text)))
    return found


def _line(source: Source, start: int, end: int) -> RunLine:
    words = [
        (m.group(), Span(source, start + m.start(), start + m.end()))
        for m in re.finditer(r"\S+", source.text[start:end])
    ]
    if not words or not words[0][0].isidentifier():
        raise RunLineError(words[0][1] if words else Span(source, start, end), "a run line starts with a kernel's name")
    values: dict[str, Number] = {}
    places: dict[str, Span] = {}
    options: dict[str, Any] = {}
    for word, span in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise RunLineError(span, f"expected name=value, got `{word}`")
        if key in places:
            raise RunLineError(span, f"{key} is given twice")
        places[key] = span
        if key in OPTIONS:
            options[key] = _option(key, value, span)
        else:
            values[key] = _number(value, span)
    place = words[0][1].to(words[-1][1])
    seed, data = options.get("seed", 0), options.get("data", DATA[0])
    tolerance, approx, grid = (options.get(key) for key in ("tol", "approx", "grid"))
    return RunLine(words[0][0], place, values, places, seed, data, tolerance, approx, grid)


def _number(text: str, span: Span) -> Number:
    if not NUMBER.fullmatch(text):
        raise RunLineError(span, f"`{text}` is not a number")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if re.fullmatch(r"-?[\d_]+", text) else float(text)


def _option(key: str, text: str, span: Span) -> Any:
    if key == "data":
        if text not in DATA:
            raise RunLineError(span, f"data is one of {', '.join(DATA)}, not `{text}`")
        return text
    if key == "grid":
        blocks = text.split(",")
        if len(blocks) > 3 or not all(re.fullmatch(r"[1-9]\d*", b) for b in blocks):
            raise RunLineError(span, f"a grid is one to three positive numbers such as 4,4,1, not `{text}`")
        return tuple(map(int, blocks + ["1"] * (3 - len(blocks))))
    value = _number(text, span)
    if value < 0 or isinstance(value, bool) or (key == "seed" and not isinstance(value, int)):
        what = "an integer that is not negative" if key == "seed" else "a number that is not negative"
        raise RunLineError(span, f"{key} is {what}, not `{text}`")
    return value


# ---- inputs ---------------------------------------------------------------------------------------------


def make_inputs(kernel: Kernel, line: RunLine) -> Inputs:
    """Seeded arguments for `kernel`, as the line's `data` says. Outputs get values like the others."""
    constants = [name for name, _ in kernel.constants]
    scalar_types = {v.name: v.type for v in kernel.scalars}
    known = [*(v.name for v in kernel.dims), *scalar_types, *constants]
    for name in line.values:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {close[0]}?" if close else f"; it has {', '.join(known) or 'no parameters'}"
            message = f"kernel {kernel.name} has no extent, scalar or constant called {name}{hint}"
            raise RunLineError(line.places[name], message)
    dims = {v.name: _extent(line, v.name) for v in kernel.dims}
    scalars: dict[str, Number] = {}
    for name, type_ in scalar_types.items():
        assert isinstance(type_, Scalar)
        scalars[name] = _scalar(line, name, type_)
    rng = np.random.default_rng(line.seed)
    tensors = {}
    for tensor in kernel.tensors:
        assert isinstance(tensor.type, Tensor)
        shape = tuple(dim if isinstance(dim, int) else dims[dim] for dim in tensor.type.dims)
        tensors[tensor.name] = _random(rng, tensor.type.elem, shape, line.data)
    return Inputs(tensors, dims, scalars)


def _extent(line: RunLine, name: str) -> int:
    value = line.values.get(name)
    if value is None:
        raise RunLineError(line.span, f"the extent {name} is missing")
    if type(value) is not int or value < 0:
        raise RunLineError(line.places[name], f"the extent {name} is an integer that is not negative, not {value}")
    return value


def _scalar(line: RunLine, name: str, type_: Scalar) -> Number:
    value = line.values.get(name)
    if value is None:
        raise RunLineError(line.span, f"the scalar {name} is missing")
    if type_.is_float and not isinstance(value, bool):
        return float(numbers.from_f64(float(value), type_))
    if (type_.is_int and type(value) is int) or (type_.kind == "bool" and isinstance(value, bool)):
        return value
    raise RunLineError(line.places[name], f"the scalar {name} is {type_}, not {value}")


def _random(rng: np.random.Generator, elem: Scalar, shape: tuple[int, ...], data: str) -> Array:
    """Normal floats, integers of small magnitude so that sums of products stay exact, fair bools; or ones."""
    if data == "ones":
        return np.asarray(numbers.to_stored(numbers.from_f64(np.ones(shape), elem), elem))
    if elem.is_float:
        chosen = rng.integers(-8, 8, shape).astype(np.float64) if data == "integers" else rng.standard_normal(shape)
        values: Array = numbers.to_stored(numbers.from_f64(chosen, elem), elem)
        return values
    if elem.kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if elem.kind == "uint" else -8
    return rng.integers(low, low + 16, shape).astype(numbers.stored(elem))


# ---- judging --------------------------------------------------------------------------------------------


def load_reference(path: Path, kernel: str) -> Reference:
    """The function called like the kernel in the `ref.py` beside the `.ph` file at `path`."""
    file = path.with_name("ref.py")
    if not file.exists():
        raise FileNotFoundError(f"{file}: no reference beside {path.name}")
    spec = importlib.util.spec_from_file_location(f"phobos_reference_{path.parent.name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, kernel, None)
    if not callable(found):
        raise AttributeError(f"{file}: no function {kernel}")
    return found  # type: ignore[no-any-return]


def expected(kernel: Kernel, reference: Reference, inputs: Inputs) -> dict[str, Array]:
    """What the tensors that the kernel writes hold afterwards, in the reference's own precision."""
    wide = {name: widened(inputs.tensors[name], elem) for name, elem in _elements(kernel)}
    given = {name: np.asarray(array) for name, array in reference(**wide, **inputs.scalars).items()}
    for name, array in given.items():
        if name not in inputs.tensors:
            raise ValueError(f"the reference for {kernel.name} gives {name}, which is no tensor of the kernel")
        if array.shape != inputs.tensors[name].shape:
            raise ValueError(f"the reference gives {name} shape {array.shape}, not {inputs.tensors[name].shape}")
    return given


def judge(
    kernel: Kernel, line: RunLine, reference: Mapping[str, Array], inputs: Inputs, results: Mapping[str, Array]
) -> Verdict:
    """Compare what a run left in the tensors with what was expected.

    An element is right when it is within `tolerance * max(|expected|, rms)` of the expected one, rms over the tensor's
    finite elements; infinities and NaN must stand where they are expected. A tensor that the reference does not give
    must hold the very bits that it held before.
    """
    faults: list[str] = []
    errors: dict[str, float] = {}
    for name, elem in _elements(kernel):
        got = results[name]
        if name not in reference:
            changed = np.argwhere(got.view(np.uint8) != inputs.tensors[name].view(np.uint8)) if got.size else ()
            if len(changed):
                faults.append(f"{name} was to be left as it was and changed")
            continue
        tolerance = TOLERANCE.get(elem.name, 0.0) if line.tolerance is None else line.tolerance
        errors[name], fault = _compare(reference[name], widened(got, elem), tolerance if elem.is_float else 0.0)
        faults += [f"{name}{fault}"] if fault else []
    return Verdict(tuple(faults), errors)


def _compare(want: Array, got: Array, tolerance: float) -> tuple[float, str]:
    """(the largest relative error, what is wrong or "")."""
    if not want.size:
        return 0.0, ""
    finite = np.isfinite(want) & np.isfinite(got)
    same = (want == got) | (_is_nan(want) & _is_nan(got))
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(np.asarray(want, np.float64) - np.asarray(got, np.float64))
    sizes = np.abs(np.asarray(want, np.float64))
    rms = float(np.sqrt(np.mean(np.square(sizes[np.isfinite(sizes)])))) if np.isfinite(sizes).any() else 0.0
    scale = np.maximum(sizes, max(rms, np.finfo(np.float64).tiny))
    error = np.where(same, 0.0, np.where(finite, distance / np.where(finite, scale, 1.0), np.inf))
    wrong = np.argwhere(~same & ~(error <= tolerance) if tolerance else ~same)
    if not len(wrong):
        return float(error.max()), ""
    at = tuple(int(i) for i in wrong[np.argmax(error[tuple(wrong.T)])])
    place = ", ".join(map(str, at))
    many = f"{len(wrong)} of {want.size} elements wrong, the worst"
    return float(error.max()), f"[{place}] = {got[at]}, expected {want[at]}, tolerance {tolerance:g} ({many})"


def _is_nan(array: Array) -> Array:
    return np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)


def _elements(kernel: Kernel) -> list[tuple[str, Scalar]]:
    return [(v.name, v.type.elem) for v in kernel.tensors if isinstance(v.type, Tensor)]


def widened(array: Array, elem: Scalar) -> Array:
    """A copy in float64, int64 or bool, exact."""
    if elem.kind == "bool":
        return array.astype(bool)
    return numbers.to_held(array, elem).astype(np.float64 if elem.is_float else np.int64)  # type: ignore[no-any-return]


# ---- launching ------------------------------------------------------------------------------------------


def launch_grid(kernel: Kernel, line: RunLine, dims: Mapping[str, int]) -> tuple[int, int, int]:
    """The line's grid, else the inferred one; `kernel` has been through the pass that infers it."""
    if line.grid is not None:
        return line.grid
    x, y, z = (_blocks(axis, line, dims) for axis in kernel.grid)
    return x, y, z


def _blocks(axis: GridAxis, line: RunLine, dims: Mapping[str, int]) -> int:
    if axis.unknown:
        raise RunLineError(line.span, f"the grid cannot be inferred: {axis.unknown}; say grid=")
    extent = axis.extent if isinstance(axis.extent, int) else dims[axis.extent]
    return -(-extent // axis.tile)
