"""`run`: verdicts per kernel, what is wrong and where, exit codes. The interpreter judges, so that no GPU is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from phobos.cli import main, run

Captured = pytest.CaptureFixture[str]

KERNELS = """\
// run: scale M=64 N=128 alpha=3.0 seed=1 tol=0
// run: scale M=32 N=256 alpha=-0.5 TN=256 seed=2 tol=0
// run: wrong M=4 seed=3

@autotune(TM in [32], TN in [128, 256])
@aligned(M = TM, N = TN)
kernel scale(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], alpha: f32) {
  Y[ctx.block.x * TM :+ TM, ctx.block.y * TN :+ TN] = alpha * X[ctx.block.x * TM :+ TM, ctx.block.y * TN :+ TN]
}

kernel wrong(Y: tensor<f32>[M]) {
  Y[ctx.block.x * 32 :+ 32] = 1.0
}

kernel untried(Y: tensor<f32>[M]) {
  Y[ctx.block.x * 32 :+ 32] = 1.0
}
"""
REFERENCE = """\
import numpy as np


def scale(X, Y, alpha):
    return {"Y": (np.float32(alpha) * X.astype(np.float32)).astype(np.float64)}


def wrong(Y):
    return {"Y": 0 * Y + 2.0}
"""


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run, "at_hand", lambda: None)
    (tmp_path / "ref.py").write_text(REFERENCE)
    file = tmp_path / "k.ph"
    file.write_text(KERNELS)
    return file


def test_a_line_per_kernel(kernels: Path, capsys: Captured) -> None:
    assert main(["run", str(kernels)]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "scale kernel: passed"
    assert lines[1].startswith("wrong kernel: failed: Y[")
    assert "= 1.0, expected 2.0" in lines[1]
    assert lines[1].endswith("max error Y 0.5")
    assert lines[2] == f"  {kernels}:3: // run: wrong M=4 seed=3"
    assert lines[3] == "untried kernel: not run: no `// run: untried` line"
    assert err == "note: no GPU: the kernels run in the simulator, as PTX for sm_80\n"


@pytest.mark.parametrize("where", ["sim", "interp"])
def test_where_it_was_asked_for(kernels: Path, capsys: Captured, where: str) -> None:
    assert main(["run", str(kernels), "--kernel", "scale", "--on", where]) == 0
    assert capsys.readouterr() == ("scale kernel: passed\n", "")


def test_a_fault_that_the_simulator_finds(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "past.ph"
    file.write_text(
        "// run: past N=64\nkernel past(X: tensor<f32>[N], Y: tensor<f32>[N]) {\n  Y[0 :+ 32] = X[0 :+ 32] + X[N]\n}\n"
    )
    (tmp_path / "ref.py").write_text("def past(X, Y):\n    return {}\n")
    assert main(["run", str(file)]) == 1
    out = capsys.readouterr().out
    assert "past kernel: failed: " in out
    assert "past.ph:3" in out
    assert "outside of tensor X: element 64 of 64" in out


def test_one_kernel(kernels: Path, capsys: Captured) -> None:
    assert main(["run", str(kernels), "--kernel", "scale"]) == 0
    assert capsys.readouterr().out == "scale kernel: passed\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("// run: nobody M=4", "the file has no kernel nobody"),
        ("// run: scale M", "expected name=value"),
        ("// run: scale M=64 alpha=1.0", "the extent N is missing"),
        ("// run: scale M=64 N=128 alpha=1.0 Q=1", "no extent, scalar or constant called Q"),
        ("// run: untried M=4", "no function untried"),
    ],
)
def test_a_line_that_does_not_fit_is_a_usage_error(kernels: Path, line: str, said: str, capsys: Captured) -> None:
    kernels.write_text(f"{line}\n{KERNELS}")
    assert main(["run", str(kernels)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert f"{kernels}:1:" in err


def test_a_broken_promise_fails_the_kernel(kernels: Path, capsys: Captured) -> None:
    kernels.write_text(f"// run: scale M=36 N=128 alpha=1.0\n{KERNELS}")
    assert main(["run", str(kernels), "--kernel", "scale"]) == 1
    assert "scale kernel: failed: " in capsys.readouterr().out


def test_the_gpu_is_used_where_there_is_one(kernels: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A stand-in for the launch gets the arguments in the kernel's order, and its results are judged."""
    import numpy as np

    from phobos.api import KernelHandle
    from phobos.target import target

    seen = []

    def launch(self: KernelHandle, *args: object, grid: object = None) -> None:
        x, y, alpha = args
        assert isinstance(x, np.ndarray)
        assert isinstance(y, np.ndarray)
        assert isinstance(alpha, float)
        y[:] = np.float32(alpha) * x
        seen.append((self.target.name, self.constants, grid))

    monkeypatch.setattr(run, "at_hand", lambda: target("sm_90a"))
    monkeypatch.setattr(KernelHandle, "__call__", launch)
    assert main(["run", str(kernels), "--kernel", "scale"]) == 0
    assert seen == [("sm_90a", {"TM": 32, "TN": 128}, None), ("sm_90a", {"TM": 32, "TN": 256}, None)]
    assert "simulator" not in capsys.readouterr().err
