"""What is promised of flash attention: scores, maximum, sum and output live in registers, and the plan proves it.

Shared memory holds the operands of the two products and nothing else: q, K, V, and p, the weights that the second
product takes. Whatever else were kept there would be a buffer, and whatever went to local memory a spill.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import phobos
from phobos.compiler import Unit
from phobos.passes import Options, run
from phobos.plan import describe
from phobos.source import Source
from phobos.target import target

EXAMPLES = Path(__file__).parents[2] / "examples"
OPERANDS = {"q", "K", "p", "V"}
DEFAULT: dict[str, int] = {}
TALL = {"BR": 128, "BC": 32, "THREADS": 128}
"""One of the two fastest choices in f32 on an H200: 64 elements of the output to a thread, and 255 registers."""
CASES = [
    ("flash_attention_fp32", "flash_attention", "sm_75", DEFAULT),
    ("flash_attention_fp32", "flash_attention_causal", "sm_90a", DEFAULT),
    ("flash_attention_fp32", "flash_attention", "sm_90a", TALL),
    ("flash_attention_fp16", "flash_attention_causal", "sm_80", DEFAULT),
]


@pytest.mark.parametrize(("file", "name", "chip", "constants"), CASES)
def test_only_operands_are_in_shared_memory_and_nothing_in_local_memory(
    file: str, name: str, chip: str, constants: dict[str, int]
) -> None:
    handle = phobos.compile(EXAMPLES / f"{file}.ph", target=chip, **constants)[name]
    plan, here = handle.plan, handle.constants
    threads = plan.launch.threads

    # No local memory: the assembler spilled nothing, the kernel has no stack, and the code names no local address.
    assert plan.linked is not None
    assert (plan.linked.spill_store_bytes, plan.linked.spill_load_bytes, plan.linked.stack_bytes) == (0, 0, 0)
    assert ".local" not in handle.ptx
    assert "per thread, no spills" in handle.report
    # No shared memory but for operands: those of the first product and those of the second.
    assert {b.label for b in plan.shared.buffers} == OPERANDS
    assert {c.a for c in plan.contractions} | {c.b for c in plan.contractions} == OPERANDS
    assert plan.linked.shared_bytes in (plan.shared.total_bytes, 0)  # 0 where it is asked for at launch
    assert {a.tensor for a in plan.accesses if a.space == "shared"} == set()
    assert not {r.code for r in plan.remarks} & {"PR408", "PR409"}
    # Each thread holds its share of the scores and of the output, once.
    assert plan.contractions
    for product in plan.contractions:
        m, n = product.thread_tile
        assert m * n * threads == product.m * product.n
    # What goes from trip to trip is registers, in the loop over whole blocks of keys and in its rest.
    assert {loop.part for loop in plan.loops} >= {"whole"}
    for loop in plan.loops:
        carried = {c.name: c for c in loop.carried}
        assert set(carried) == {"top", "total", "o"}
        assert carried["o"].registers == here["BR"] * here["D"] // threads
        assert 0 < carried["top"].registers == carried["total"].registers <= 8


def test_keys_and_values_are_staged_in_each_trip_and_queries_once() -> None:
    plan = phobos.compile(EXAMPLES / "flash_attention_fp32.ph", target="sm_90a").flash_attention.plan
    loads = {(a.tensor, a.loop.partition(" ")[0] != "") for a in plan.accesses if a.kind in ("load", "async copy")}
    assert loads == {("Q", False), ("K", True), ("V", True)}
    assert {r.message for r in plan.remarks if r.code == "PR503"} == {"q is staged once, before the loop"}


def test_an_accumulator_that_does_not_fit_is_seen() -> None:
    """64 x 128 elements of output in 32 threads are 256 registers each: they are kept in shared memory, as a buffer."""
    text = (EXAMPLES / "flash_attention_fp32.ph").read_text().replace("@launch(THREADS)", "@launch(32)")
    unit = Unit(Source("flash_attention.ph", text))
    built = unit.built("flash_attention", {"BR": 64, "BC": 32, "D": 128})
    plan = describe(run(built, Options(target=target("sm_90a"))), target("sm_90a"), 32)
    assert "o" in {b.label for b in plan.shared.buffers} - OPERANDS
    assert "o" not in {c.name for loop in plan.loops for c in loop.carried}
