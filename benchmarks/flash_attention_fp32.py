"""`examples/flash_attention_fp32.ph` against torch's memory-efficient attention in IEEE f32: 4 x 16 heads of 4096 x 64.

python -m benchmarks.flash_attention_fp32
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import phobos
from benchmarks.harness import Result, Row, arguments, compare, write
from phobos.runtime.launch import Prepared

SOURCE = Path(__file__).resolve().parent.parent / "examples" / "flash_attention_fp32.ph"
CHOICES = (
    {"BR": 128, "BC": 128, "THREADS": 256},
    {"BR": 128, "BC": 32, "THREADS": 128},
    {"BR": 64, "BC": 64, "THREADS": 128},
    {"BR": 64, "BC": 32, "THREADS": 128},
)


def main() -> None:
    args = arguments("f32 flash attention").parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    results = [attention(4, 16, 4096, 64, causal, args.rounds) for causal in (False, True)]
    write("flash_attention_fp32", results, args.out, args.commit)


def attention(b: int, h: int, n: int, d: int, causal: bool, rounds: int) -> Result:
    q, k, v = (torch.randn(b, h, n, d, device="cuda") for _ in range(3))
    o = torch.empty_like(q)

    def peer() -> torch.Tensor:
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    want = peer()
    name = "flash_attention_causal" if causal else "flash_attention"
    title = f"{b} x {h} heads, {n} x {d}" + (", causal" if causal else "")
    result = Result(title, "TFLOP/s")
    contenders: list[tuple[str, Callable[[], Any]]] = [("torch, memory-efficient", peer)]
    facts: dict[str, tuple[float | None, str]] = {"torch, memory-efficient": (None, "")}
    for choice in CHOICES:
        kernel = phobos.compile(SOURCE, D=d, **choice)[name]
        prepared = Prepared(kernel, (q, k, v, o, d**-0.5))
        o.fill_(float("nan"))
        prepared.launch()
        torch.cuda.synchronize()
        error = float((o - want).abs().max())
        assert error < 1e-5, f"{choice}: {error}"
        link = prepared.artifact.link
        label = "Phobos " + " ".join(f"{key}={value}" for key, value in choice.items())
        facts[label] = (error, f"{link.registers} registers, {link.spill_stores} bytes spilled")
        contenders.append((label, prepared.launch))
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    work = 4 * b * h * n * n * d / (2 if causal else 1)
    for label, ms in times.items():
        result.rows.append(Row(label, ms, work / ms / 1e9, base / ms, *facts[label]))
    return result


if __name__ == "__main__":
    main()
