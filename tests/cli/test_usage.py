"""The command line's grammar, exit codes of a wrong one, and `explain`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from phobos.cli import main
from phobos.cli.options import EMITS, PASSES, parse

ROOT = Path(__file__).parents[2]
CLI_DOC = ROOT / "docs" / "cli.md"


def test_all_options_are_read() -> None:
    argv = "build k.ph --kernel a,b --target sm_80,sm_90a --target sm_75 --index-bits 64 --set X=0x40,Y=-2 --set Z=1"
    read = parse([*argv.split(), "--emit", "ptx", "--emit", "llvm,plan", "-o", "out", "--stop-after", "stage", "-R"])
    assert read.kernels == ("a", "b")
    assert read.targets == ("sm_80", "sm_90a", "sm_75")
    assert read.constants == (("X", 64), ("Y", -2), ("Z", 1))
    assert read.emits == ("ptx", "llvm", "plan")
    assert (read.index_bits, str(read.out), read.stop_after, read.remarks) == (64, "out", "stage", True)
    assert not any((read.time, read.verify, read.strict))


def test_one_command_does_not_leak_into_the_next() -> None:
    parse(["build", "k.ph", "--target", "sm_90"])
    assert parse(["build", "k.ph"]).targets == ()


def test_names_of_forms_and_passes_are_the_pipeline_s() -> None:
    from phobos.passes import FORMS, PIPELINE

    assert tuple(p.name for p in PIPELINE) == PASSES
    assert EMITS[: len(FORMS)] == FORMS


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["build"], "FILE"),
        (["build", "k.ph", "--nonsense"], "--nonsense"),
        (["build", "k.ph", "--emit", "ptxx"], "nothing called 'ptxx' can be emitted; did you mean ptx?"),
        (["build", "k.ph", "--emit", "llvm,"], "empty name"),
        (["build", "k.ph", "--set", "TILE"], "'TILE' is not NAME=INTEGER"),
        (["build", "k.ph", "--set", "TILE=x"], "'TILE=x' is not NAME=INTEGER"),
        (["build", "k.ph", "--index-bits", "16"], "16"),
        (["build", "k.ph", "--stop-after", "nothing"], "nothing"),
        (["build", "no_such_file.ph"], "cannot read no_such_file.ph: No such file or directory"),
        (["check", "no_such_file.ph"], "cannot read"),
        (["run", "no_such_file.ph"], "cannot read"),
        (["run", "k.ph", "--target", "sm_80,sm_90"], "one target, not 2"),
        (["explain", "PH2O4"], "no diagnostic has the code 'PH2O4'"),
    ],
)
def test_a_wrong_command_line_exits_with_2(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.ph"
    file.write_bytes(b"kernel \xff")
    assert main(["check", str(file)]) == 2
    assert "byte 7 is not UTF-8" in capsys.readouterr().err


def test_usage_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "no_such_file.ph", "--diagnostics", "json"]) == 2
    assert json.loads(capsys.readouterr().err)["severity"] == "usage"


def test_help_and_version_exit_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert main(["build", "--help"]) == 0
    assert main(["--version"]) == 0
    assert "phobos" in capsys.readouterr().out


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ph401"]) == 0
    assert "PH401" in capsys.readouterr().out


def test_help_and_explain_load_little() -> None:
    """Neither NumPy nor LLVM nor a pass: they are for `build`, which loads what its products need."""
    heavy = ("numpy", "llvmlite", "rich", "cuda", "phobos.frontend", "phobos.passes", "phobos.codegen")
    program = f"""
import sys
from phobos.cli import main
assert main(["--help"]) == main(["explain", "PH401"]) == 0
print([m for m in {heavy!r} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_document_names_every_option() -> None:
    """docs/cli.md has a row for each option of `build` and each kind of `--emit`."""
    from phobos.cli.options import _parser

    text = CLI_DOC.read_text()
    commands = next(a for a in _parser()._actions if a.dest == "command").choices
    assert commands is not None
    options = [a.option_strings[-1] for a in commands["build"]._actions if a.option_strings and a.dest != "help"]
    assert len(options) > 8
    assert [o for o in options if f"| `{o}" not in text] == []
    assert [e for e in EMITS if f"`{e}`" not in text] == []
    assert [c for c in commands if f"\n## {c} " not in text] == []
