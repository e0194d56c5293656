"""`examples/saxpy_fp32.ph` against torch's axpy at 2^28 elements: 12 bytes moved for each.

python -m benchmarks.saxpy
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import phobos
from benchmarks.harness import Result, Row, arguments, compare, write
from phobos.runtime.launch import Prepared

SOURCE = Path(__file__).resolve().parent.parent / "examples" / "saxpy_fp32.ph"


def main() -> None:
    options = arguments("saxpy against torch")
    options.add_argument("--log2", type=int, default=28)
    args = options.parse_args()
    n = 1 << args.log2
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    before = y.clone()
    result = Result(f"2^{args.log2} elements, Y = a X + Y", "TB/s")
    kernel = phobos.compile(SOURCE).saxpy
    contenders: list[tuple[str, Callable[[], Any]]] = [("torch (Y.add_(X, alpha))", lambda: y.add_(x, alpha=0.5))]
    facts: dict[str, tuple[float | None, str]] = {"torch (Y.add_(X, alpha))": (None, "")}
    for block in kernel.choices["BLOCK"]:
        prepared = Prepared(kernel.configured(BLOCK=block), (x, y, 0.5))
        y.copy_(before)
        prepared.launch()
        torch.cuda.synchronize()
        error = float((y - torch.add(before, x, alpha=0.5)).abs().max())
        facts[f"BLOCK={block}"] = (error, f"{prepared.artifact.link.registers} registers")
        contenders.append((f"BLOCK={block}", prepared.launch))
    times = compare(contenders, args.rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, 12 * n / ms / 1e9, base / ms, *facts[name]))
    result.notes = ["error: the largest difference from torch's result, which fuses the same product"]
    write("saxpy", [result], args.out, args.commit)


if __name__ == "__main__":
    main()
