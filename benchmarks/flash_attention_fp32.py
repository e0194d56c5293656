"""`examples/flash_attention_fp32.ph` against torch's memory-efficient attention in IEEE f32: 4 x 16 heads of 4096 x 64.

python -m benchmarks.flash_attention_fp32
python -m benchmarks.flash_attention_fp32 --every         # every choice that the example lists, which takes minutes
python -m benchmarks.flash_attention_fp32 --dry sm_90a    # compile the choices, no GPU needed
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Result, arguments, write
from benchmarks.tuning import Peer, Problem, Study, dry, dry_option, measure

BATCH, HEADS, LENGTH, DEPTH = 4, 16, 4096, 64
FEW = {"BR": [64, 128], "BC": [32, 128]}
"""The choices that were ahead when all were measured, and the default; the others mostly cost time to compile."""


def studies(every: bool) -> list[Study]:
    choices = {"D": [DEPTH]} if every else {"D": [DEPTH], **FEW}
    return [Study("flash_attention_fp32.ph", f"flash_attention{end}", choices) for end in ("", "_causal")]


def main() -> None:
    options = arguments("f32 flash attention")
    options.add_argument("--every", action="store_true", help="try every choice that the example lists")
    dry_option(options)
    args = options.parse_args()
    kernels = studies(args.every)
    if args.dry:
        dry(kernels, args.dry)
        return
    import torch

    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    results = [attention(study, study.kernel.endswith("_causal"), args.rounds) for study in kernels]
    write("flash_attention_fp32", results, args.out, args.commit)


def attention(study: Study, causal: bool, rounds: int) -> Result:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(BATCH, HEADS, LENGTH, DEPTH, device="cuda") for _ in range(3))
    o, scale = torch.empty_like(q), DEPTH**-0.5

    def peer() -> Any:
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

    # The operations that the scores that are seen ask for: a causal kernel need not touch the other half.
    work = 4 * BATCH * HEADS * LENGTH * LENGTH * DEPTH / (2 if causal else 1)
    title = f"{BATCH} x {HEADS} heads, {LENGTH} x {DEPTH}, f32" + (", causal" if causal else "")
    problem = Problem(title, "TFLOP/s", work, (q, k, v, o, scale), o, reference(q, k, v, scale, causal), 2e-5)
    return measure(study, problem, [Peer("torch, memory-efficient", peer)], rounds)


def reference(q: Any, k: Any, v: Any, scale: float, causal: bool) -> Any:
    """In f64, head by head, since all scores at once are gigabytes."""
    import torch

    out = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = scale * (q[b, h].double() @ k[b, h].double().t())
            if causal:
                scores.masked_fill_(hidden, -torch.inf)
            out[b, h] = scores.softmax(-1) @ v[b, h].double()
    return out


if __name__ == "__main__":
    main()
