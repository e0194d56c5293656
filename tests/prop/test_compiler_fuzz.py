"""A program that checks clean gives a cubin or an error with a code, on every chip: no fault, no dead process.

Kernels of the repository with words exchanged are compiled for a chip and an index width drawn at random, with LLVM in
a child process (`PHOBOS_ISOLATE=1`), whose crash is an `InternalError`, and with the verifier after each pass. The
default run takes a hundred, `-m slow` thousands.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from math import prod

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phobos.compiler import Unit
from phobos.diagnostics import CompileError
from phobos.ir.types import Tile
from phobos.source import Source
from phobos.target import TARGETS
from tests.prop.test_checker_fuzz import CLASSES, ROOT, WORD

FOLDERS = (ROOT / "examples", ROOT / "tests" / "kernels")
KERNEL = re.compile(r"^(?:@[^\n]*\n)*kernel .*?^}$", re.MULTILINE | re.DOTALL)
TEXTS = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in sorted(folder.rglob("*.ph"))]
SEEDS = [kernel[0] for text in TEXTS for kernel in KERNEL.finditer(text)]
NUMBERS = ["0", "1", "2", "3", "4", "7", "8", "12", "16", "24", "32", "48", "64", "96", "128", "256"]
MOST_ELEMS = 1 << 14
"""Of a tile: larger ones unroll into code that takes LLVM seconds and tells nothing new."""


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHOBOS_ISOLATE", "1")
        yield


def compiles(text: str, rng: random.Random) -> bool:
    """Did some kernel give a cubin? Everything but `CompileError` is a failure of the test."""
    target, bits = rng.choice(list(TARGETS.values())), rng.choice((32, 64))
    try:
        unit = Unit(Source("fuzz.ph", text), verify=True)
        unit.check()
    except CompileError:
        return False
    made = False
    for kernel in unit.kernels:
        try:
            if all(tile <= MOST_ELEMS for tile in tile_sizes(unit, kernel)):
                made |= unit.compile(kernel, target, bits).cubin[:4] == b"\x7fELF"
        except CompileError:
            continue
    return made


def tile_sizes(unit: Unit, kernel: str) -> list[int]:
    types = [value.type for op in unit.built(kernel).walk() for value in op.results()]
    return [prod(t.shape) for t in types if isinstance(t, Tile)]


def mutated(rng: random.Random) -> str:
    """A kernel with one to three words exchanged for others of their class."""
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 3)):
        found = rng.choice(list(WORD.finditer(text)))
        classes = [c for c in CLASSES if found[0] in c] or [[found[0]]]
        put = rng.choice(NUMBERS) if found[0].isdigit() else rng.choice(rng.choice(classes))
        text = text[: found.start()] + put + text[found.end() :]
    return text


few = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
many = settings(few, max_examples=5_000, derandomize=False)
seeds = st.integers(0, 2**48)


@few
@given(seeds)
def test_exchanged_words(seed: int) -> None:
    rng = random.Random(seed)
    compiles(mutated(rng), rng)


@pytest.mark.slow
@many
@given(seeds)
def test_exchanged_words_at_length(seed: int) -> None:
    rng = random.Random(seed)
    compiles(mutated(rng), rng)


def test_enough_of_them_compile() -> None:
    rng = random.Random(1)
    assert sum(compiles(mutated(rng), rng) for _ in range(40)) > 10
