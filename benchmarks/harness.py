"""How the benchmarks measure and what they write down.

Every contender runs on the same arguments in the same process: bursts of back-to-back launches timed by CUDA events,
contenders alternated round by round with a pause before each burst, the median over all bursts. The card is power
limited and its clock drifts, so ratios within one run are the figures to quote. Correctness comes first and is the
caller's to check.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LAUNCHES = 30
PAUSE_S = 0.1


@dataclass(frozen=True)
class Row:
    """One contender: rate in the benchmark's unit, ratio to the first contender."""

    name: str
    median_ms: float
    rate: float
    ratio: float
    error: float | None = None
    note: str = ""


@dataclass
class Result:
    """What one benchmark found."""

    title: str
    unit: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder for the results")
    parser.add_argument("--commit", default="", help="commit to write down; without it, what git says")
    parser.add_argument("--rounds", type=int, default=5)
    return parser


def burst(launch: Callable[[], Any], launches: int = LAUNCHES) -> float:
    """Median milliseconds of a launch in one burst of back-to-back launches."""
    import torch

    for _ in range(3):
        launch()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(launches + 1)]
    marks[0].record()
    for mark in marks[1:]:
        launch()
        mark.record()
    torch.cuda.synchronize()
    return float(statistics.median(a.elapsed_time(b) for a, b in itertools.pairwise(marks)))


def compare(contenders: Sequence[tuple[str, Callable[[], Any]]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each contender, bursts alternated."""
    times: dict[str, list[float]] = {name: [] for name, _ in contenders}
    for i in range(rounds):
        first = i % len(contenders)
        for name, launch in [*contenders[first:], *contenders[:first]]:
            time.sleep(PAUSE_S)
            times[name].append(burst(launch))
    return {name: statistics.median(ts) for name, ts in times.items()}


def machine(commit: str) -> dict[str, str]:
    """What the figures belong to."""
    import torch

    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "gpu": torch.cuda.get_device_name(),
        "driver": driver,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": commit or git.stdout.strip() or "unknown",
        "command": shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}"]),
    }


def write(name: str, results: Sequence[Result], where: Path, commit: str) -> None:
    """Print the tables, and write them as text and as JSON."""
    info = machine(commit)
    lines = [f"# {name}", ""]
    lines += [f"{key}: {value}  " for key, value in info.items()]
    lines += ["", f"Bursts of {LAUNCHES} launches, contenders alternated, medians; ratios are to the first row.", ""]
    for r in results:
        lines += [
            f"## {r.title}",
            "",
            f"| | ms | {r.unit} | ratio | error | |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for row in r.rows:
            error = "" if row.error is None else f"{row.error:.1e}"
            lines.append(
                f"| {row.name} | {row.median_ms:.4f} | {row.rate:.2f} | {row.ratio:.3f} | {error} | {row.note} |"
            )
        lines += ["", *(f"- {note}" for note in r.notes), ""]
    text = "\n".join(lines)
    print(text)
    where.mkdir(parents=True, exist_ok=True)
    (where / f"{name}.md").write_text(text)
    data = {"machine": info, "results": [asdict(r) for r in results]}
    (where / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
