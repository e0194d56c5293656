"""The three kernels of `examples/aligned_load_store.ph` and masked copies, against the device's copy bandwidth.

python -m benchmarks.aligned_load_store           # times, written to benchmarks/results/
python -m benchmarks.aligned_load_store --plot    # the plot from the results, no GPU needed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PLOT = ROOT / "docs" / "guide" / "aligned-load-store.svg"
KERNELS = ("scalar_kernel", "unaligned_kernel", "aligned_kernel")


def main() -> None:
    from benchmarks.harness import arguments

    options = arguments("scalar, unaligned and aligned accesses; masked and aligned copies")
    options.add_argument("--plot", action="store_true", help="draw the plot from the results instead of measuring")
    args = options.parse_args()
    if args.plot:
        plot(args.out / "aligned_load_store.json")
        return
    from benchmarks.harness import write

    write(
        "aligned_load_store", [maps(20, args.rounds), maps(28, args.rounds), copies(args.rounds)], args.out, args.commit
    )


def maps(log2: int, rounds: int) -> Any:
    """out = a * 2 + 1 by each kernel; 8 bytes an element."""
    import torch

    import phobos
    from benchmarks.harness import Result, Row, compare
    from phobos.runtime.launch import Prepared

    n = 1 << log2
    a, out = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
    want = torch.addcmul(torch.ones_like(a), a, torch.full_like(a, 2.0))
    module = phobos.compile(EXAMPLES / "aligned_load_store.ph")
    contenders: list[tuple[str, Callable[[], Any]]] = [("device copy (torch copy_)", lambda: out.copy_(a))]
    notes = {"device copy (torch copy_)": ""}
    for name in KERNELS:
        kernel = module[name]
        threads = n if name == "scalar_kernel" else n // 4
        prepared = Prepared(kernel, (out, a, n), grid=threads // 256)
        out.fill_(float("nan"))
        prepared.launch()
        torch.cuda.synchronize()
        assert torch.equal(out, want), name
        notes[name] = f"{prepared.artifact.link.registers} registers"
        contenders.append((name, prepared.launch))
    result = Result(f"out = a * 2 + 1 over 2^{log2} floats", "TB/s")
    times = compare(contenders, rounds)
    base = next(iter(times.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, 8 * n / ms / 1e9, base / ms, None, notes[name]))
    return result


def copies(rounds: int) -> Any:
    """copy2d with `@aligned` at 16384 x 16384 and without it at 16380 x 16380, each the best of its choices."""
    import torch

    import phobos
    from benchmarks.harness import Result, Row, compare
    from phobos.runtime.launch import Prepared

    text = (EXAMPLES / "copy2d.ph").read_text()
    masked = "\n".join(line for line in text.splitlines() if not line.startswith("@aligned"))
    contenders: list[tuple[str, Callable[[], Any]]] = []
    sizes: dict[str, int] = {}
    notes: dict[str, str] = {}
    for name, source, n in (("@aligned, 16384 x 16384", text, 16384), ("masked, 16380 x 16380", masked, 16380)):
        a, b = torch.randn(n, n, device="cuda"), torch.full((n, n), float("nan"), device="cuda")
        best = next(t for t in phobos.compile(source).copy2d.tune(a, b).trials if t.timing is not None)
        prepared = Prepared(best.kernel, (a, b))
        notes[name] = " ".join(f"{k}={v}" for k, v in best.constants.items())
        b.fill_(float("nan"))
        prepared.launch()
        torch.cuda.synchronize()
        assert torch.equal(a, b), name
        contenders.append((name, prepared.launch))
        sizes[name] = n
    result = Result("copy2d, f32", "TB/s")
    times = compare(contenders, rounds)
    rates = {name: 8 * sizes[name] ** 2 / ms / 1e9 for name, ms in times.items()}
    first = next(iter(rates.values()))
    for name, ms in times.items():
        result.rows.append(Row(name, ms, rates[name], rates[name] / first, None, notes[name]))
    return result


# ---- the plot -----------------------------------------------------------------------------------------------

WIDTH, BAR, GAP, LEFT = 640, 26, 14, 190


def plot(results: Path) -> None:
    """A bar chart of the rates at both sizes, as SVG, written by hand: no plotting library is needed."""
    data = json.loads(results.read_text())
    tables = data["results"][:2]
    top = max(row["rate"] for table in tables for row in table["rows"])
    y, parts = 40, []
    for table in tables:
        parts.append(f'<text x="10" y="{y}" font-weight="bold">{table["title"]}</text>')
        y += 14
        for row in table["rows"]:
            width = (WIDTH - LEFT - 90) * row["rate"] / top
            fill = "#888" if "copy" in row["name"] else "#3273a8"
            middle = y + BAR * 0.7
            parts.append(f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{row["name"]}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{fill}"/>')
            parts.append(f'<text x="{LEFT + width + 6:.1f}" y="{middle}">{row["rate"]:.2f} TB/s</text>')
            y += BAR + 6
        y += GAP + 16
    title = f"{data['machine']['gpu']}, commit {data['machine']['commit']}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="12">'
    )
    background = f'<rect width="{WIDTH}" height="{y}" fill="white"/><text x="10" y="18">{title}</text>'
    PLOT.write_text("\n".join([head, background, *parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
