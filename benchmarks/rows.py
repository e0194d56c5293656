"""Row kernels against torch and Triton: softmax, RMS norm and layer norm in f16 at 8192^2, row sums in f32 at 16384^2.

python -m benchmarks.rows
python -m benchmarks.rows --dry sm_90a    # compile every choice, no GPU needed
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Result, arguments, write
from benchmarks.tuning import Peer, Problem, Study, dry, dry_option, measure

N, LONG, EPS = 8192, 16384, 1e-5
SOFTMAX = Study("softmax.ph", "softmax", {"COLS": [N], "ROWS": [1]})
RMS_NORM = Study("norms.ph", "rms_norm", {"COLS": [N]})
LAYER_NORM = Study("norms.ph", "layer_norm", {"COLS": [N]})
ROW_SUM = Study("row_sum.ph", "row_sum")
HALF = 2e-3
"""Allowed error of f16 results: rounding to f16 is 5e-4 of the largest element, torch's own steps may round twice."""


def main() -> None:
    options = arguments("softmax, norms and row sums")
    dry_option(options)
    args = options.parse_args()
    if args.dry:
        dry([SOFTMAX, RMS_NORM, LAYER_NORM, ROW_SUM], args.dry)
        return
    import torch

    torch.manual_seed(0)
    results = [kind(args.rounds) for kind in (softmax, rms_norm, layer_norm, row_sum)]
    write("rows", results, args.out, args.commit)


def triton_peers() -> Any:
    """Triton's kernels; without Triton there are no figures to compare with, so that its absence is an error."""
    from benchmarks import triton_peers

    return triton_peers


def copied(other: Any, x: Any) -> None:
    """The device's copy of the same bytes, which is no result."""
    other.copy_(x)


def softmax(rounds: int) -> Result:
    import torch

    kernels = triton_peers()
    x = torch.randn(N, N, device="cuda", dtype=torch.float16)
    y, other = torch.empty_like(x), torch.empty_like(x)

    def by_triton(warps: int) -> Any:
        kernels.softmax[(N,)](x, other, N, N, num_warps=warps)
        return other

    peers = [
        Peer("Triton, 8 warps", lambda: by_triton(8)),
        Peer("Triton, 16 warps", lambda: by_triton(16)),
        Peer("torch.softmax", lambda: torch.softmax(x, -1)),
        Peer("device copy", lambda: copied(other, x)),
    ]
    want = x.float().softmax(-1)
    problem = Problem(f"softmax, f16, {N} x {N}", "TB/s", 4 * N * N, (x, y), y, want, HALF)
    return measure(SOFTMAX, problem, peers, rounds)


def rms_norm(rounds: int) -> Result:
    import torch

    kernels, norm = triton_peers(), torch.nn.functional.rms_norm
    x = torch.randn(N, N, device="cuda", dtype=torch.float16)
    g = torch.randn(N, device="cuda", dtype=torch.float16)
    y, other = torch.empty_like(x), torch.empty_like(x)

    def by_triton(warps: int) -> Any:
        kernels.rms_norm[(N,)](x, g, other, N, EPS, N, num_warps=warps)
        return other

    peers = [
        Peer("torch", lambda: norm(x, (N,), g, EPS)),
        Peer("Triton, 8 warps", lambda: by_triton(8)),
        Peer("Triton, 16 warps", lambda: by_triton(16)),
        Peer("device copy", lambda: copied(other, x)),
    ]
    want = norm(x.float(), (N,), g.float(), EPS)
    problem = Problem(f"RMS norm, f16, {N} x {N}", "TB/s", 4 * N * N, (x, g, y, EPS), y, want, HALF)
    return measure(RMS_NORM, problem, peers, rounds)


def layer_norm(rounds: int) -> Result:
    import torch

    kernels, norm = triton_peers(), torch.nn.functional.layer_norm
    x = torch.randn(N, N, device="cuda", dtype=torch.float16)
    g, b = (torch.randn(N, device="cuda", dtype=torch.float16) for _ in range(2))
    y, other = torch.empty_like(x), torch.empty_like(x)

    def by_triton(warps: int) -> Any:
        kernels.layer_norm[(N,)](x, g, b, other, N, EPS, N, num_warps=warps)
        return other

    peers = [
        Peer("torch", lambda: norm(x, (N,), g, b, EPS)),
        Peer("Triton, 8 warps", lambda: by_triton(8)),
        Peer("Triton, 16 warps", lambda: by_triton(16)),
        Peer("device copy", lambda: copied(other, x)),
    ]
    want = norm(x.float(), (N,), g.float(), b.float(), EPS)
    problem = Problem(f"layer norm, f16, {N} x {N}", "TB/s", 4 * N * N, (x, g, b, y, EPS), y, want, HALF)
    return measure(LAYER_NORM, problem, peers, rounds)


def row_sum(rounds: int) -> Result:
    import torch

    kernels = triton_peers()
    x = torch.randn(LONG, LONG, device="cuda")
    y, other = (torch.empty(LONG, 1, device="cuda") for _ in range(2))

    def by_triton(cols: int) -> Any:
        kernels.row_sum[(LONG,)](x, other, LONG, cols, num_warps=8)
        return other

    peers = [
        Peer("torch", lambda: x.sum(1)),
        Peer("Triton, chunks of 4096", lambda: by_triton(4096)),
        Peer("Triton, chunks of 8192", lambda: by_triton(8192)),
    ]
    want = x.sum(1, keepdim=True, dtype=torch.float64)
    problem = Problem(f"row sum, f32, {LONG} x {LONG}", "TB/s", 4 * LONG * LONG, (x, y), y, want, 1e-5)
    return measure(ROW_SUM, problem, peers, rounds)


if __name__ == "__main__":
    main()
