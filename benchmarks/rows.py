"""Row kernels against torch and Triton: softmax and norms in f16 at 8192^2, row sums in f32 at 16384^2; a transpose.

python -m benchmarks.rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

import phobos
from benchmarks.harness import Result, Row, arguments, compare, write
from phobos.runtime.launch import Prepared

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
Peer = tuple[str, Callable[[], Any]]


@triton.jit
def triton_softmax(x, y, n, cols: tl.constexpr):  # type: ignore[no-untyped-def]
    """A row of at most `cols` elements per program, as Triton's tutorial has it."""
    row = tl.program_id(0)
    at = tl.arange(0, cols)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * n + at, (values / tl.sum(values, 0)).to(tl.float16), mask=inside)


def main() -> None:
    args = arguments("row kernels and a transpose").parse_args()
    torch.manual_seed(0)
    results = [softmax(args.rounds), *norms(args.rounds), row_sum(args.rounds), transpose(args.rounds)]
    write("rows", results, args.out, args.commit)


def measured(
    title: str,
    bytes_: int,
    peers: Sequence[Peer],
    kernel: Any,
    arguments: tuple[Any, ...],
    out: torch.Tensor,
    want: torch.Tensor,
    tolerance: float,
    rounds: int,
) -> Result:
    """The best three of the kernel's choices beside its peers; each is right first."""
    result = Result(title, "TB/s")
    contenders = list(peers)
    facts: dict[str, tuple[float | None, str]] = {name: (None, "") for name, _ in peers}
    table = kernel.tune(*arguments)
    for trial in [t for t in table.trials if t.timing is not None][:3]:
        name = "Phobos " + " ".join(f"{k}={v}" for k, v in trial.constants.items())
        prepared = Prepared(trial.kernel, arguments)
        out.fill_(float("nan"))
        prepared.launch()
        torch.cuda.synchronize()
        error = float((out.double() - want.double()).abs().max() / want.double().abs().max())
        assert error <= tolerance, f"{title}, {name}: {error}"
        facts[name] = (error, f"{trial.registers} registers, {trial.spill_bytes} bytes spilled")
        contenders.append((name, prepared.launch))
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, bytes_ / ms / 1e9, base / ms, *facts[name]))
    return result


def softmax(rounds: int) -> Result:
    n = 8192
    x = torch.randn(n, n, device="cuda", dtype=torch.float16)
    y, other = torch.empty_like(x), torch.empty_like(x)
    peers: list[Peer] = [
        (f"Triton, {w} warps", lambda w=w: triton_softmax[(n,)](x, other, n, n, num_warps=w)) for w in (8, 16)
    ]
    peers += [("torch.softmax", lambda: torch.softmax(x, -1)), ("device copy", lambda: other.copy_(x))]
    kernel = phobos.compile(EXAMPLES / "softmax.ph", COLS=n).softmax
    return measured(
        f"softmax, f16, {n} x {n}", 4 * n * n, peers, kernel, (x, y), y, x.float().softmax(-1), 2e-3, rounds
    )


def norms(rounds: int) -> list[Result]:
    n, eps = 8192, 1e-5
    x = torch.randn(n, n, device="cuda", dtype=torch.float16)
    g, b = (torch.randn(n, device="cuda", dtype=torch.float16) for _ in range(2))
    y = torch.empty_like(x)
    module = phobos.compile(EXAMPLES / "norms.ph", COLS=n)
    rms, layer = torch.nn.functional.rms_norm, torch.nn.functional.layer_norm
    return [
        measured(
            f"RMS norm, f16, {n} x {n}", 4 * n * n, [("torch", lambda: rms(x, (n,), g, eps))],
            module.rms_norm, (x, g, y, eps), y, rms(x.float(), (n,), g.float(), eps), 2e-3, rounds,
        ),
        measured(
            f"layer norm, f16, {n} x {n}", 4 * n * n, [("torch", lambda: layer(x, (n,), g, b, eps))],
            module.layer_norm, (x, g, b, y, eps), y, layer(x.float(), (n,), g.float(), b.float(), eps), 2e-3, rounds,
        ),
    ]  # fmt: skip


def row_sum(rounds: int) -> Result:
    n = 16384
    x, y = torch.randn(n, n, device="cuda"), torch.empty(n, 1, device="cuda")
    kernel = phobos.compile(EXAMPLES / "row_sum.ph").row_sum
    want = x.sum(1, keepdim=True, dtype=torch.float64)
    return measured(
        f"row sum, f32, {n} x {n}", 4 * n * n, [("torch", lambda: x.sum(1))], kernel, (x, y), y, want, 1e-5, rounds
    )


def transpose(rounds: int) -> Result:
    n = 8192
    x, y = torch.randn(n, n, device="cuda"), torch.empty(n, n, device="cuda")
    other = torch.empty_like(x)
    peers: list[Peer] = [("torch", lambda: x.t().contiguous()), ("device copy", lambda: other.copy_(x))]
    kernel = phobos.compile(EXAMPLES / "transpose.ph").transpose_fp32
    return measured(f"transpose, f32, {n} x {n}", 8 * n * n, peers, kernel, (x, y), y, x.t(), 0.0, rounds)


if __name__ == "__main__":
    main()
