"""The kernels that are mutated: which file, which run lines, which chip; and each one compiled, pass by pass.

Together they hold every kind of op that lowering gives. The lines of a case share their constants and, since facts are
denied by them, the remainders of their extents modulo 4; they are chosen so that edges, several trips, no trips and
several CTAs occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from phobos.codegen import compile_ptx, emit
from phobos.ir.kernel import Kernel
from phobos.ir.verify import check
from phobos.passes import Options
from phobos.passes.pipeline_table import PIPELINE
from phobos.runline import RunLine, parse_run_lines
from phobos.source import Source
from phobos.target import target
from tests.kernels.test_kernels import built

ROOT = Path(__file__).parents[2]
KERNELS = "tests/kernels"
DOTS, PIPELINES, SLICES = (f"{KERNELS}/{name}.ph" for name in ("contractions/dots", "contractions/pipelines", "slices"))
TILES, CONFORMED, MATMUL = (f"{KERNELS}/{name}.ph" for name in ("conformance/tiles", "conformance/slices", "matmul"))
LOOPS, BROADCAST, CONTROL = (f"{KERNELS}/{name}.ph" for name in ("loops", "broadcast", "control"))
FLOW, CASTS, MASKS = (f"{KERNELS}/{name}.ph" for name in ("conformance/flow", "casts", "masks"))
OWN = "tests/mutate/kernels.ph"
THREADS = f"{KERNELS}/threads/per_thread.ph"
ATOMICS = f"{KERNELS}/atomics/atomics_by_scope.ph"
FILLS = f"{KERNELS}/fills/fills.ph"
SHAPES = f"{KERNELS}/shapes"
REDUCTIONS = f"{KERNELS}/reductions/reductions.ph"
GEMM = "examples/gemm_fp32.ph"


@dataclass(frozen=True)
class Case:
    """A kernel of a file for a chip. lines: its run lines, without the kernel's name."""

    name: str
    file: str
    kernel: str
    chip: str
    lines: tuple[str, ...]

    @property
    def path(self) -> Path:
        return ROOT / self.file

    def run_lines(self) -> list[RunLine]:
        return parse_run_lines("\n".join(f"// run: {self.kernel} {line}" for line in self.lines), self.name)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A case after each pass, by the pass's name (`lower` first), and the PTX that it gives."""

    case: Case
    after: dict[str, Kernel]
    options: Options
    source: Source
    ptx: str

    @property
    def synced(self) -> Kernel:
        return self.after["sync"]


def finish(kernel: Kernel, after: str, options: Options) -> dict[str, Kernel]:
    """What the passes behind `after` make of a kernel, each form by its pass."""
    names = ["lower", *(step.name for step in PIPELINE)]
    found = {}
    for step in PIPELINE[names.index(after) :]:
        kernel = step.run(kernel, options).replace(form=step.gives)
        found[step.name] = kernel
    return found


@cache
def compiled(case: Case) -> Compiled:
    """A case, compiled and verified."""
    lines = case.run_lines()
    kernels = [built(case.path, line) for line in lines]
    assert len({k.denied for k in kernels}) == 1, f"{case.name}: the lines of a case must keep the same facts"
    options = Options(target=target(case.chip), index_bits=32)
    after = {"lower": kernels[0]} | finish(kernels[0], "lower", options)
    for name, kernel in after.items():
        check(kernel, name)
    source = kernels[0].span.source
    ptx = compile_ptx(emit(after["sync"], options.target, options.index_bits, source), options.target).ptx
    return Compiled(case, after, options, source, ptx)


def _cases() -> dict[str, Case]:
    exact = "tol=0 data=integers"
    found: dict[str, Case] = {}

    def case(file: str, kernel: str, chips: str, *lines: str, tag: str = "") -> None:
        for chip in chips.split():
            name = f"{kernel}{tag}-{chip}"
            assert name not in found, name
            found[name] = Case(name, file, kernel, chip, lines)

    both = "sm_80 sm_75"
    # The examples.
    case(
        GEMM, "gemm", both,
        f"M=64 N=96 K=12 alpha=1.0 beta=2.0 seed=1 {exact}", f"M=32 N=32 K=4 alpha=-2.0 beta=0.0 seed=2 {exact}",
    )  # fmt: skip
    large = f"M=128 N=64 K=24 alpha=1.0 beta=1.0 TILE_M=64 TILE_N=64 TILE_K=8 seed=3 {exact}"
    case(GEMM, "gemm", both, large, tag="_64")
    case("examples/copy2d.ph", "copy2d", "sm_80", "M=128 N=192 seed=1 tol=0")
    case("examples/scale.ph", "scale", "sm_75", "M=64 N=256 alpha=3.0 seed=1 tol=1e-6")
    case("examples/saxpy_fp32.ph", "saxpy", "sm_80", "N=2500 a=2.5 seed=1 tol=1e-6")
    case("examples/saxpy_fp32.ph", "saxpy", "sm_80", "N=2501 a=2.5 seed=1 tol=1e-6", tag="_odd")
    # Pipelines: stages, trips, ragged ends, two loops that share bytes, tiles in turn.
    for stages in (2, 3, 4):
        lines = [f"K={k} STAGES={stages} seed=1 {exact}" for k in (44, 36, 28, 24, 8, 4, 0)]
        case(PIPELINES, "few_trips", both if stages == 2 else "sm_80", *lines, tag=f"_{stages}")
    case(PIPELINES, "whole_and_rest", both, *(f"K={k} seed=2 {exact}" for k in (84, 68, 80, 16, 4, 0)))
    case(PIPELINES, "sums_beside_products", both, *(f"K={k} seed=4 {exact}" for k in (100, 92, 84, 24, 0)))
    case(PIPELINES, "filled_with_ones", "sm_80", *(f"K={k} seed=5 {exact}" for k in (37, 69)))
    case(PIPELINES, "overwritten_operand", both, f"seed=7 {exact}")
    case(PIPELINES, "bias_and_relu", both, *(f"K={k} seed=8 {exact}" for k in (44, 36, 8)))
    for stages in (2, 3):
        lines = [
            f"K={k} L={n} STAGES={stages} seed=9 {exact}" for k, n in ((44, 28), (36, 44), (28, 60), (8, 40), (0, 16))
        ]
        case(PIPELINES, "two_loops", both if stages == 2 else "sm_80", *lines, tag=f"_{stages}")
    case(
        OWN,
        "rows_in_turn",
        both,
        *(f"M={m} K={k} seed=10 grid=1 {exact}" for m, k in ((44, 20), (36, 24), (32, 16), (12, 4))),
    )
    case(PIPELINES, "index_of_each_trip", "sm_80", f"N=8 seed=3 n=1 {exact}")
    case(PIPELINES, "written_name", "sm_80", *(f"K={k} seed=12 {exact}" for k in (32, 28, 20)))
    # Contractions without a pipeline.
    case(DOTS, "sizes", "sm_80", f"M=20 N=36 K=68 seed=1 {exact}", f"M=16 N=16 K=64 seed=1 {exact}")
    case(
        MATMUL, "gemm_ragged", both,
        f"M=68 N=36 K=20 alpha=1.0 beta=2.0 seed=1 {exact}", f"M=4 N=4 K=4 alpha=1.0 beta=1.0 seed=2 {exact}",
    )  # fmt: skip
    case(MATMUL, "gemm_ragged", "sm_80", f"M=33 N=7 K=13 alpha=1.0 beta=1.0 seed=4 {exact}", tag="_odd")
    case(MATMUL, "gemm_t", "sm_75", *(f"M={m} N={n} K=36 seed=5 {exact}" for m, n in ((32, 48), (20, 28))))
    case(MATMUL, "gemm_f16", "sm_80", *(f"M={m} N={n} K=36 seed=6 {exact}" for m, n in ((32, 32), (20, 28))))
    case(MATMUL, "gemm_i8", "sm_80", "M=15 N=13 K=45 seed=8 tol=0")
    case(MATMUL, "gemm_f64", "sm_75", f"M=12 N=12 K=20 seed=9 {exact}")
    case(MATMUL, "two_dots", "sm_80", f"M=12 N=12 K=36 seed=10 {exact}")
    case(MATMUL, "square", "sm_75", f"N=16 seed=11 {exact}", f"N=12 seed=11 {exact}")
    case(MATMUL, "rank_one", "sm_80", f"M=16 N=16 K=8 seed=12 {exact}", f"M=12 N=12 K=4 seed=12 {exact}")
    case(
        DOTS,
        "one_product",
        "sm_80",
        f"N=24 K=48 seed=2 {exact}",
        f"N=20 K=44 seed=2 {exact}",
        f"N=20 K=8 seed=2 {exact}",
    )
    case(DOTS, "epilogues", "sm_75", f"s=2.0 t=-3.0 seed=4 {exact}")
    case(DOTS, "scaled_accumulator", "sm_80", f"K=44 seed=7 {exact}")
    case(DOTS, "stored_operand", both, f"seed=8 {exact}")
    case(DOTS, "into_one_accumulator", "sm_75", *(f"K={k} seed=15 {exact}" for k in (44, 40)))
    case(DOTS, "masked_on_three_sides", "sm_80", f"M=8 N=8 K=8 seed=17 {exact}", f"M=8 N=4 K=12 seed=17 {exact}")
    case(DOTS, "mean_key", "sm_80", f"D=16 seed=9 {exact}", f"D=12 seed=9 {exact}")
    # A slice of run-time length: whole tiles and a rest, both ended by the slice.
    case(FILLS, "from_on", "sm_75", *(f"N={n} s={s} grid=1 seed=2 {exact}" for n, s in ((2051, 1), (51, 49))))
    case(THREADS, "mixed_signs", "sm_80", "M=33 seed=17 grid=1 tol=0")
    # Atomics: what one thread found goes round, in a loop too; order between them and tiles.
    case(ATOMICS, "queue", "sm_75", "grid=1 seed=3 tol=0")
    case(ATOMICS, "between_tiles", "sm_80", "grid=1 seed=6 tol=0")
    # Slices: every guard, shifted copies in place, snapshots.
    case(SLICES, "ragged_copy", "sm_80", "M=44 N=52 seed=1 tol=0", "M=4 N=4 seed=2 tol=0")
    case(SLICES, "ragged_copy", "sm_75", "M=3 N=7 seed=3 tol=0", tag="_odd")
    case(SLICES, "static_edge", "sm_80", "seed=4 tol=0")
    case(
        SLICES,
        "range_forms",
        "sm_80",
        *(f"M={m} N={n} seed=5 tol=0" for m, n in ((16, 40), (12, 36), (12, 28), (4, 28))),
    )
    case(SLICES, "negative_start", "sm_80", *(f"N={n} seed=7 tol=0" for n in (64, 28, 20)))
    case(SLICES, "past_end", "sm_80", "N=40 seed=8 tol=0")
    case(SLICES, "shifted", both, *(f"N={n} seed=9 tol=0" for n in (64, 24, 20, 4)))
    case(SLICES, "overrun", "sm_80", "M=8 N=20 seed=11 tol=0", "M=8 N=12 seed=11 tol=0")
    case(SLICES, "snapshot", "sm_80", "N=64 seed=12 tol=0", "N=40 seed=12 tol=0")
    case(
        CONFORMED,
        "negative_corner",
        "sm_80",
        *(f"M={m} N={n} seed=9 {exact}" for m, n in ((64, 128), (64, 132), (32, 132), (4, 8), (36, 4))),
    )
    case(CONFORMED, "tail_keeps", "sm_80", *(f"M={m} N={n} seed=2 tol=0" for m, n in ((10, 22), (9, 21), (7, 7))))
    case(CONFORMED, "let_and_var", "sm_80", f"N=40 seed=1 {exact}")
    case(CONFORMED, "other_axis", "sm_80", f"M=20 K=36 seed=5 {exact}")
    case(CONFORMED, "into_ragged", "sm_80", f"M=20 N=28 K=12 seed=7 {exact}", f"M=20 N=28 K=8 seed=7 {exact}")
    case(CONFORMED, "column_maximum", "sm_80", "N=49 seed=8 tol=0")
    case(CONFORMED, "short_then_full", "sm_80", *(f"N={n} seed=14 {exact}" for n in (100, 228, 36)))
    case(CONFORMED, "small_beside_large", "sm_80", f"N=8 seed=13 {exact}", f"N=4 seed=13 {exact}")
    case(CONFORMED, "three_masked", "sm_75", f"N=41 seed=17 {exact}")
    case(CONFORMED, "swapped_halves", both, *(f"N={n} seed=20 tol=0" for n in (64, 44, 20)))
    case(CONFORMED, "unit_extents", "sm_80", f"M=1 N=40 seed=15 {exact}")
    case(CONFORMED, "five_by_five", "sm_75", f"seed=10 {exact}")
    # Broadcasts, loops that carry tiles, `while`, `if`, points, casts, masks.
    case(BROADCAST, "stretch_ragged", "sm_80", "M=20 N=36 seed=2 tol=1e-6")
    case(BROADCAST, "where_pairs", "sm_75", "M=16 N=32 seed=3 tol=0", "M=12 N=28 seed=3 tol=0")
    case(BROADCAST, "units", "sm_80", *(f"M={m} N={n} seed=4 tol=0" for m, n in ((16, 32), (12, 28))))
    case(BROADCAST, "unit_added", "sm_80", *(f"M=4 N={n} seed=7 tol=0" for n in (8, 4)))
    case(TILES, "two_broadcasts", "sm_75", f"seed=9 {exact}")
    case(DOTS, "units_dropped", "sm_80", *(f"D={d} seed=3 {exact}" for d in (8, 4)))
    case(LOOPS, "sum_k", "sm_80", *(f"M=28 K={k} seed=1 {exact}" for k in (100, 12, 16, 0)))
    case(LOOPS, "past_extent", "sm_80", *(f"M=12 K=44 hi={hi} seed=6 {exact}" for hi in (100, 33)))
    bounds = ((21, 91), (16, 200), (50, 40), (-19, 35), (-40, 140), (-40, -10))
    case(LOOPS, "sum_from", "sm_75", *(f"M=12 K=100 lo={lo} hi={hi} seed=5 {exact}" for lo, hi in bounds))
    case(LOOPS, "nested", "sm_80", "M=16 K=24 n=3 seed=8 tol=1e-5", "M=12 K=20 n=2 seed=8 tol=1e-5")
    case(LOOPS, "causal", "sm_75", *(f"M={m} K={k} seed=11 {exact}" for m, k in ((32, 64), (28, 28), (44, 12))))
    case(CONTROL, "while_load", "sm_80", "N=32 seed=3 tol=0")
    case(CONTROL, "choose", "sm_80", *(f"N=40 n={n} seed=1 tol=0" for n in (3, 0, -3)))
    case(FLOW, "while_tiles", "sm_80", f"N=64 seed=3 {exact}", f"N=40 seed=3 {exact}")
    case(FLOW, "two_ifs", "sm_75", "N=4 seed=6 tol=0")
    case(FLOW, "first_block", "sm_80", f"N=16 seed=10 {exact}")
    case(CASTS, "halves", "sm_80", "N=100 seed=2 tol=0")
    case(MASKS, "fill_outside", "sm_80", "M=12 N=49 seed=3 tol=0")
    case(MASKS, "lower_triangle", "sm_80", "N=32 seed=2 tol=0", "N=28 seed=2 tol=0")
    # Reductions: within a warp and across warps, values with their indices, under control flow.
    case(REDUCTIONS, "reduced_twice", "sm_80", f"M=48 N=40 seed=26 {exact}", f"M=44 N=36 seed=26 {exact}")
    case(
        REDUCTIONS,
        "in_flow",
        "sm_75",
        *(f"M=16 N=64 n={n} p={p} seed=23 {exact}" for n, p in ((3, "true"), (2, "false"))),
    )
    # Shapes: exchanged, scanned, gathered.
    case(f"{SHAPES}/transpose.ph", "twice", "sm_80", f"R=32 C=24 seed=10 {exact}", f"R=28 C=20 seed=10 {exact}")
    case(f"{SHAPES}/scan.ph", "down", "sm_80", f"R=64 C=40 seed=3 {exact}", f"R=48 C=36 seed=4 {exact}")
    case(f"{SHAPES}/gather.ph", "guarded_index", "sm_80", *(f"N={n} M=40 seed=8 tol=0" for n in (64, 16)))
    # What single threads do: points, runs, barriers of the kernel's own.
    case(THREADS, "grid_stride", "sm_80", "N=300 grid=2 seed=1 tol=0")
    case(THREADS, "dot_runs", "sm_80", f"M=40 K=24 seed=7 grid=1 {exact}")
    case(THREADS, "tails", "sm_75", f"N=100 n=95 seed=9 grid=1 {exact}")
    case(THREADS, "through_barrier", "sm_75", "N=64 seed=11 grid=1 tol=0")
    case(THREADS, "across_rows", "sm_80", f"M=16 N=8 seed=12 grid=1 {exact}")
    case(THREADS, "shared_run", "sm_80", f"N=16 seed=14 grid=1 {exact}")
    return found


CASES = _cases()
