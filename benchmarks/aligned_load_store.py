"""The three kernels of `examples/aligned_load_store.ph` and masked copies, against the device's copy bandwidth.

python -m benchmarks.aligned_load_store           # times, written to benchmarks/results/
python -m benchmarks.aligned_load_store --plot    # the plot from the results, no GPU needed
python -m benchmarks.aligned_load_store --dry sm_90a    # compile every choice, no GPU needed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import Result, Row, arguments, burst, compare, write
from benchmarks.tuning import Study, dry, dry_option, label

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PLOT = ROOT / "docs" / "guide" / "aligned-load-store.svg"
KERNELS = ("scalar_kernel", "unaligned_kernel", "aligned_kernel")
COPIES = (
    ("@aligned, 16384 x 16384", Study("copy2d.ph", "copy2d"), 16384),
    ("masked, 16380 x 16380", Study("copy2d.ph", "copy2d", without=("@aligned",)), 16380),
)


def main() -> None:
    options = arguments("scalar, unaligned and aligned accesses; masked and aligned copies")
    options.add_argument("--plot", action="store_true", help="draw the plot from the results instead of measuring")
    dry_option(options)
    args = options.parse_args()
    if args.plot:
        plot(args.out / "aligned_load_store.json")
    elif args.dry:
        dry([*(Study("aligned_load_store.ph", name) for name in KERNELS), *(study for _, study, _ in COPIES)], args.dry)
    else:
        results = [maps(20, args.rounds), maps(28, args.rounds), copies(args.rounds)]
        write("aligned_load_store", results, args.out, args.commit)


def maps(log2: int, rounds: int) -> Result:
    """out = a * 2 + 1 by each kernel; 8 bytes an element."""
    import torch

    import phobos
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


def copies(rounds: int) -> Result:
    """copy2d with `@aligned` at 16384 x 16384 and without it at 16380 x 16380, each the best of its choices; what
    every choice took in a first burst is noted."""
    import torch

    from phobos.runtime.launch import Prepared

    result = Result("copy2d, f32", "TB/s")
    contenders: list[tuple[str, Callable[[], Any]]] = []
    sizes: dict[str, int] = {}
    notes: dict[str, str] = {}
    for name, study, n in COPIES:
        a, b = torch.randn(n, n, device="cuda"), torch.empty(n, n, device="cuda")
        tried = []
        for handle in study.handles():
            prepared = Prepared(handle, (a, b))
            b.fill_(float("nan"))
            prepared.launch()
            torch.cuda.synchronize()
            assert torch.equal(a, b), f"{name}, {label(handle)}"
            tried.append((burst(prepared.launch), label(handle), prepared.launch))
        tried.sort(key=lambda each: each[0])
        result.notes += [f"{name}, {choice}: {ms:.4f} ms" for ms, choice, _ in tried]
        _, notes[name], launch = tried[0]
        contenders.append((name, launch))
        sizes[name] = n
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
