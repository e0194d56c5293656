"""`build` and `check`: files and texts that are written, diagnostics, exit codes; in process through `main`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phobos.cli import build, main
from phobos.cli.options import FORMS
from phobos.diagnostics import InternalError
from phobos.plan import Plan

Captured = pytest.CaptureFixture[str]

TWO = """\
@autotune(TM in [32, 64], TN in [128])
@aligned(M = TM, N = TN)
kernel scale(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], alpha: f32) {
  let row = ctx.block.x * TM
  let col = ctx.block.y * TN
  Y[row :+ TM, col :+ TN] = alpha * X[row :+ TM, col :+ TN]
}

@autotune(B in [1024])
kernel fill(Z: tensor<f32>[N], v: f32) {
  Z[ctx.block.x * B :+ B] = v
}
"""
GEMM = """\
@autotune(TM in [64], TN in [64], TK in [16])
@pipeline
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[TM, TN] = 0.0
  for k in range(0, K, TK) {
    acc += dot(A[ctx.block.x * TM :+ TM, k :+ TK], B[k :+ TK, ctx.block.y * TN :+ TN])
  }
  C[ctx.block.x * TM :+ TM, ctx.block.y * TN :+ TN] = acc
}
"""
WRONG = """\
kernel first(X: tensor<f32>[N]) {
  X[0 :+ 4] = missing
}
kernel second(X: tensor<f32>[N]) {
  X[0 :+ 4] = absent
}
"""


@pytest.fixture
def two(tmp_path: Path) -> str:
    file = tmp_path / "two.ph"
    file.write_text(TWO)
    return str(file)


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    file = tmp_path / "wrong.ph"
    file.write_text(WRONG)
    return str(file)


def test_report_is_what_build_prints(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--target", "sm_80"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"scale  {two}:1  sm_80, 32-bit indices\n")
    assert f"\n\nfill  {two}:9  sm_80, 32-bit indices\n" in out
    assert "constants     TM = 32, TN = 128" in out
    assert "no spills" in out
    assert "\x1b" not in out
    assert err == ""


def test_files(two: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "deep" / "out"
    kinds = "built,synced,report,plan,llvm,llvm-opt,ptx,cubin"
    argv = ["build", two, "--kernel", "scale", "--target", "sm_75,sm_90a", "--set", "TM=64", "--emit", kinds]
    assert main([*argv, "-o", str(out)]) == 0
    suffixes = ["built.tile", "synced.tile", "report.txt", "plan.json", "ll", "opt.ll", "ptx", "cubin"]
    names = {f"scale.{sm}.{suffix}" for sm in ("sm_75", "sm_90a") for suffix in suffixes}
    assert {p.name for p in out.iterdir()} == names
    printed, err = capsys.readouterr()
    assert set(err.splitlines()) == {f"note: wrote {out / name}" for name in names}
    assert printed == "\n".join((out / f"scale.{sm}.report.txt").read_text() for sm in ("sm_75", "sm_90a"))
    assert (out / "scale.sm_75.cubin").read_bytes()[:4] == b"\x7fELF"
    assert ".target sm_90a" in (out / "scale.sm_90a.ptx").read_text()
    assert (out / "scale.sm_75.ll").read_text() != (out / "scale.sm_75.opt.ll").read_text()
    plan = Plan.from_json((out / "scale.sm_90a.plan.json").read_text())
    assert [(c.name, c.value) for c in plan.constants] == [("TM", 64), ("TN", 128)]
    assert plan.linked is not None
    assert plan.linked.registers


def test_building_again_gives_the_same(tmp_path: Path, capsys: Captured) -> None:
    """No order of a set of objects reaches what is written; a split, pipelined loop has many choices."""
    gemm = tmp_path / "gemm.ph"
    gemm.write_text(GEMM)
    seen = set()
    for _ in range(4):
        assert main(["build", str(gemm), "--target", "sm_80", "--emit", "synced,plan,ptx"]) == 0
        seen.add(capsys.readouterr().out)
    assert len(seen) == 1


def test_files_without_emit(two: str, tmp_path: Path) -> None:
    assert main(["build", two, "--kernel", "fill", "--target", "sm_80", "-o", str(tmp_path / "o")]) == 0
    found = {p.name for p in (tmp_path / "o").iterdir()}
    assert found == {f"fill.sm_80.{s}" for s in ("report.txt", "plan.json", "ptx", "cubin")}


def test_texts_have_titles_where_there_are_several(two: str, capsys: Captured) -> None:
    argv = ["build", two, "--kernel", "fill", "--target", "sm_80", "--emit"]
    assert main([*argv, "ptx"]) == 0
    assert "// ----" not in capsys.readouterr().out
    assert main([*argv, "ptx,llvm"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("// ---- fill sm_80 ptx\n")
    assert "\n// ---- fill sm_80 llvm\n" in out


@pytest.mark.parametrize(("text", "target"), [(TWO, "sm_80"), (GEMM, "sm_80"), (GEMM, "sm_75")])
def test_forms_go_back_in(text: str, target: str, tmp_path: Path, capsys: Captured) -> None:
    """A `.tile` file of any form gives the PTX that the source gives, with a loop split and pipelined too."""
    file = tmp_path / "k.ph"
    file.write_text(text)
    name = "gemm" if text == GEMM else "scale"
    argv = ["--kernel", name, "--target", target, "--emit"]
    assert main(["build", str(file), *argv, "ptx"]) == 0
    want = _code(capsys.readouterr().out)
    assert main(["build", str(file), *argv, ",".join(FORMS), "-o", str(tmp_path)]) == 0
    capsys.readouterr()
    for form in FORMS:
        assert main(["build", str(tmp_path / f"{name}.{target}.{form}.tile"), *argv, "ptx"]) == 0, form
        assert _code(capsys.readouterr().out) == want, form


def _code(ptx: str) -> list[str]:
    """The instructions: no comments, and no line tables, which name the file that was compiled."""
    lines = [line.split("//")[0].strip() for line in ptx.partition(".section")[0].splitlines()]
    return [line for line in lines if line and not line.startswith((".loc", ".file", "$L__"))]


def test_tile_text_that_is_none(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "k.tile"
    file.write_text("kernel (\n")
    assert main(["build", str(file)]) == 2
    assert "k.tile" in capsys.readouterr().err


def test_stop_after(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--kernel", "fill", "--stop-after", "guard"]) == 0
    assert 'form "guarded"' in capsys.readouterr().out
    assert main(["build", two, "--kernel", "fill", "--stop-after", "guard", "--emit", "plan"]) == 0
    assert json.loads(capsys.readouterr().out)["form"] == "guarded"
    assert main(["build", two, "--stop-after", "guard", "--emit", "ptx"]) == 2
    assert "--stop-after guard leaves no ptx to emit" in capsys.readouterr().err
    assert main(["build", two, "--kernel", "fill", "--stop-after", "guard", "--emit", "synced"]) == 2
    assert "fill was not in form synced" in capsys.readouterr().err


def test_times_go_to_stderr(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--kernel", "fill", "--target", "sm_80", "--time"]) == 0
    out, err = capsys.readouterr()
    assert "ms" not in out
    assert [line.split()[0] for line in err.splitlines()[1:]] == [
        *("parse", "check", "lower", "passes", "emit", "llvm", "link", "describe", "total")
    ]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--kernel", "scal"], "has no kernel scal; did you mean scale?"),
        (["--emit", "cubin"], "a cubin is not text: say where to write it with -o DIR"),
    ],
)
def test_what_is_not_there_is_a_usage_error(two: str, argv: list[str], said: str, capsys: Captured) -> None:
    assert main(["build", two, *argv]) == 2
    assert said in capsys.readouterr().err


def test_a_value_outside_the_list_is_noted(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--kernel", "fill", "--set", "B=512", "--emit", "built"]) == 0
    assert "note: B = 512 is not among the values of @autotune: 1024" in capsys.readouterr().err


def test_an_unknown_target_is_an_error_with_a_code(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--target", "sm_81"]) == 1
    assert "error[PH601]: unknown target 'sm_81'" in capsys.readouterr().err


def test_an_unknown_constant_is_an_error_with_a_code(two: str, capsys: Captured) -> None:
    assert main(["build", two, "--set", "T_M=3"]) == 1
    err = capsys.readouterr().err
    assert "error[PH503]: no kernel declares the constant T_M" in err
    assert "did you mean TM?" in err
    assert main(["build", two, "--kernel", "fill", "--set", "TM=32"]) == 1


@pytest.mark.parametrize("command", ["build", "check", "run"])
def test_all_errors_of_a_file_come_at_once(wrong: str, command: str, capsys: Captured) -> None:
    assert main([command, wrong]) == 1
    out, err = capsys.readouterr()
    assert err.count("error[") == 2
    assert "X[0 :+ 4] = missing" in err
    assert "X[0 :+ 4] = absent" in err
    assert out == ""


def test_a_syntax_error_in_one_kernel_does_not_hide_the_errors_of_another(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "k.ph"
    file.write_text("kernel broken(X: tensor<f32>[N]) {\n  let y = )\n  X[0 :+ 4] = y + gone\n}\n" + WRONG)
    assert main(["check", str(file), "--diagnostics=json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(d["code"], d["span"]["line"]) for d in found] == [("PH102", 2), ("PH201", 6), ("PH201", 9)]


def test_a_lost_fn_is_not_called_unknown(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "k.ph"
    file.write_text("fn half(x) {\n  return x * )\n}\nkernel k(X: tensor<f32>[N]) {\n  X[0 :+ 4] = half(1.0)\n}\n")
    assert main(["check", str(file), "--diagnostics=json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(d["code"], d["span"]["line"]) for d in found] == [("PH102", 2)]


@pytest.mark.parametrize("command", ["build", "check"])
def test_warnings_are_shown_beside_errors(command: str, tmp_path: Path, capsys: Captured) -> None:
    """Those of the kernel that is wrong, and of the one that is not."""
    file = tmp_path / "k.ph"
    file.write_text("@bogus\n" + WRONG + "@odd\nkernel right(X: tensor<f32>[N]) {\n  X[0 :+ 4] = 1.0\n}\n")
    assert main([command, str(file), "--diagnostics=json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(d["severity"], d["span"]["line"]) for d in found] == [
        ("warning", 1),
        ("error", 3),
        ("error", 6),
        ("warning", 8),
    ]


def test_diagnostics_as_json(wrong: str, capsys: Captured) -> None:
    assert main(["check", wrong, "--diagnostics=json"]) == 1
    found: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(d["severity"], d["file"], d["span"]["line"]) for d in found] == [("error", wrong, 2), ("error", wrong, 5)]


def test_check_says_that_all_is_well(two: str, capsys: Captured) -> None:
    assert main(["check", two]) == 0
    assert capsys.readouterr().out == f"{two}: scale, fill: no errors\n"


def test_an_error_of_a_pass_leaves_the_forms_before_it(
    two: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error exits with 3, says where, and keeps the forms that were asked for and reached."""
    from phobos.ir.tile_ops import Store
    from phobos.passes import pipeline_table

    def broken(kernel: Any, options: Any) -> Any:
        op = next(op for op in kernel.walk() if isinstance(op, Store))
        raise InternalError(f"pass place: cannot place {op.value}")

    steps = tuple(
        pipeline_table.Pass(s.name, s.takes, s.gives, broken) if s.name == "place" else s
        for s in pipeline_table.PIPELINE
    )
    monkeypatch.setattr(pipeline_table, "PIPELINE", steps)
    argv = ["build", two, "--kernel", "fill", "--target", "sm_80", "--emit", "built,guarded,ptx", "-o", str(tmp_path)]
    assert main(argv) == 3
    err = capsys.readouterr().err
    assert "internal compiler error[PH901]: pass place: cannot place" in err
    assert "two.ph:11:3: store(%Z" in err
    assert "this is a fault of the compiler, not of your program" in err
    assert "Traceback" not in err
    assert {p.name for p in tmp_path.glob("*.tile")} == {"fill.sm_80.built.tile", "fill.sm_80.guarded.tile"}


def test_strict_turns_missed_fast_paths_into_errors(
    two: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    from phobos.cli import inputs
    from phobos.diagnostics import Diagnostic, Severity
    from phobos.source import NOWHERE

    remarks = tuple(Diagnostic(Severity.REMARK, code, code, NOWHERE) for code in ("PR303", "PR402", "PR403"))
    monkeypatch.setattr(inputs.Made, "remarks", remarks)
    argv = ["build", two, "--kernel", "fill", "--emit", "built"]
    assert main(argv) == 0
    assert "PR" not in capsys.readouterr().err
    assert main([*argv, "-R"]) == 0
    assert capsys.readouterr().err.count("remark[") == 3
    assert main([*argv, "--strict"]) == 1
    err = capsys.readouterr().err
    assert err.count("error[") == 1
    assert "error[PR403]" in err


def test_every_kind_has_a_file_name() -> None:
    from phobos.cli.options import EMITS

    assert set(EMITS) <= set(build.SUFFIX)
    assert len(set(build.SUFFIX.values())) == len(build.SUFFIX)
