"""`examples/gemm_fp32.ph` against cuBLAS in IEEE f32: the best of its `@autotune` space, at 4096^3 and ragged sizes.

python -m benchmarks.gemm_fp32
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import phobos
from benchmarks.harness import Result, Row, arguments, compare, write
from phobos.runtime.launch import Prepared

SOURCE = Path(__file__).resolve().parent.parent / "examples" / "gemm_fp32.ph"


def relative(c: torch.Tensor, reference: torch.Tensor) -> float:
    return float((c.double() - reference).norm() / reference.norm())


def without_promise() -> str:
    """The example with `@aligned` dropped."""
    return "\n".join(line for line in SOURCE.read_text().splitlines() if not line.startswith("@aligned"))


def main() -> None:
    options = arguments("f32 GEMM against cuBLAS")
    options.add_argument("--size", type=int, default=4096)
    args = options.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    results = [square(args.size, args.rounds), ragged(args.rounds)]
    write("gemm_fp32", results, args.out, args.commit)


def operands(m: int, n: int, k: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    return a, b, torch.full((m, n), float("nan"), device="cuda"), a.double() @ b.double()


def square(n: int, rounds: int) -> Result:
    a, b, c, reference = operands(n, n, n)
    result = Result(f"{n} x {n} x {n}, alpha 1, beta 0", "TFLOP/s")
    kernel = phobos.compile(SOURCE).gemm
    c.zero_()
    table = kernel.tune(a, b, c, 1.0, 0.0)
    contenders: list[tuple[str, Callable[[], Any]]] = [("cuBLAS (torch.mm)", lambda: torch.mm(a, b, out=c))]
    facts: dict[str, tuple[float, str]] = {}
    torch.mm(a, b, out=c)
    facts["cuBLAS (torch.mm)"] = (relative(c, reference), "")
    for trial in [t for t in table.trials if t.timing is not None][:4]:
        name = " ".join(f"{k}={v}" for k, v in trial.constants.items())
        prepared = Prepared(trial.kernel, (a, b, c, 1.0, 0.0))
        c.zero_()
        prepared.launch()
        torch.cuda.synchronize()
        facts[name] = (relative(c, reference), f"{trial.registers} registers, {trial.spill_bytes} bytes spilled")
        contenders.append((name, prepared.launch))
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, 2 * n**3 / ms / 1e9, base / ms, *facts[name]))
    result.notes = [str(t) for t in table.trials]
    return result


def ragged(rounds: int) -> Result:
    m, n, k = 4100, 4100, 1000
    a, b, c, reference = operands(m, n, k)
    c.zero_()
    result = Result(f"{m} x {n} x {k} without @aligned", "TFLOP/s")
    contenders: list[tuple[str, Callable[[], Any]]] = [("cuBLAS (torch.mm)", lambda: torch.mm(a, b, out=c))]
    facts = {"cuBLAS (torch.mm)": (0.0, "")}
    for tiles in ({"TILE_M": 128, "TILE_N": 128, "TILE_K": 16}, {"TILE_M": 128, "TILE_N": 128, "TILE_K": 32}):
        kernel = phobos.compile(without_promise(), **tiles).gemm
        prepared = Prepared(kernel, (a, b, c, 1.0, 0.0))
        c.zero_()
        prepared.launch()
        torch.cuda.synchronize()
        name = " ".join(f"{k}={v}" for k, v in tiles.items())
        link = prepared.artifact.link
        facts[name] = (relative(c, reference), f"{link.registers} registers, {link.spill_stores} bytes spilled")
        contenders.append((name, prepared.launch))
    torch.mm(a, b, out=c)
    facts["cuBLAS (torch.mm)"] = (relative(c, reference), "")
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, 2 * m * n * k / ms / 1e9, base / ms, *facts[name]))
    return result


if __name__ == "__main__":
    main()
