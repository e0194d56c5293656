"""`examples/transpose.ph` against torch and the device's copy: f32, 8192 x 8192 and a ragged size.

python -m benchmarks.transpose
python -m benchmarks.transpose --dry sm_90a    # compile every choice, no GPU needed
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Result, arguments, write
from benchmarks.tuning import Peer, Problem, Study, dry, dry_option, measure

STUDY = Study("transpose.ph", "transpose_fp32")


def main() -> None:
    options = arguments("transpose against torch")
    dry_option(options)
    args = options.parse_args()
    if args.dry:
        dry([STUDY], args.dry)
        return
    import torch

    torch.manual_seed(0)
    results = [transpose(m, n, args.rounds) for m, n in ((8192, 8192), (8188, 8156))]
    write("transpose", results, args.out, args.commit)


def transpose(m: int, n: int, rounds: int) -> Result:
    import torch

    x, y = torch.randn(m, n, device="cuda"), torch.empty(n, m, device="cuda")
    other = torch.empty_like(x)

    def copied() -> Any:
        other.copy_(x)

    peers = [Peer("torch (x.t().contiguous())", lambda: x.t().contiguous()), Peer("device copy", copied)]
    problem = Problem(f"transpose, f32, {m} x {n}", "TB/s", 8 * m * n, (x, y), y, x.t(), 0.0)
    return measure(STUDY, problem, peers, rounds)


if __name__ == "__main__":
    main()
