"""The import graph: downwards by rank, phobos.runtime lazily and in one place, nothing heavy at import."""

from __future__ import annotations

import ast
import configparser
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# A unit imports units of lower ranks and itself, never a peer. Ranks follow docs/architecture.md.
RANKS = (
    {"source", "errors", "log"},
    {"diagnostics"},
    {"target"},
    {"layout"},
    {"ir"},
    {"frontend", "passes"},
    {"interp", "plan", "codegen", "sim"},
    {"view", "artifact", "runline"},
    {"compiler"},
    {"api"},
    {"runtime"},
    {"cli"},
    {"", "__main__"},  # phobos/__init__.py itself
)
RANK = {unit: rank for rank, units in enumerate(RANKS) for unit in units}

# The one module of phobos that imports phobos.runtime, inside a function.
RUNTIME_IMPORTER = "phobos.api"


def modules() -> dict[str, Path]:
    """Every module of the distribution by its installed name."""
    found = {}
    for folder, package in (("phobos", "phobos"), ("runtime", "phobos.runtime")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join((package, *parts))
            found[name.removesuffix(".__init__")] = path
    return found


def imports(name: str, path: Path) -> list[tuple[str, int, bool]]:
    """(imported module, line, at module level) for every import of phobos in a module, relative ones resolved."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text())
    lazy = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    found: list[tuple[str, int, bool]] = []
    for node in ast.walk(tree):
        top = id(node) not in lazy
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                stem = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*stem, base] if base else stem)
            # `from package import name` may mean the submodule of that name.
            found += [(f"{base}.{alias.name}", node.lineno, top) for alias in node.names]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ):
            found.append((str(node.args[0].value), node.lineno, top))
    return [item for item in found if item[0].split(".")[0] == "phobos"]


def unit(module: str) -> str:
    """The part of phobos that a module belongs to; names of phobos/__init__.py itself belong to the root."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in RANK else ""


def test_every_unit_has_a_rank() -> None:
    units = {name.split(".")[1] for name in modules() if "." in name}
    assert units <= set(RANK), f"give these a rank in RANKS: {sorted(units - set(RANK))}"


def test_imports_go_downwards() -> None:
    wrong = []
    for name, path in modules().items():
        here = unit(name)
        for target, line, _ in imports(name, path):
            there = unit(target)
            if there not in (here, "runtime") and RANK[there] >= RANK[here]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {here or 'phobos'} imports {there or 'phobos'}")
    assert not wrong, "\n".join(wrong)


def test_runtime_is_imported_lazily_in_one_place() -> None:
    wrong = []
    for name, path in modules().items():
        for target, line, top in imports(name, path):
            if unit(target) == "runtime" and unit(name) != "runtime" and (name != RUNTIME_IMPORTER or top):
                wrong.append(
                    f"{path.relative_to(ROOT)}:{line}: {'at module level' if top else 'not in ' + RUNTIME_IMPORTER}"
                )
    assert not wrong, "\n".join(wrong)


def test_no_module_is_called_utils() -> None:
    assert [name for name in modules() if name.rpartition(".")[2] in ("utils", "util", "helpers", "misc")] == []


def test_import_brings_in_nothing_heavy() -> None:
    heavy = ("llvmlite", "rich", "cuda", "pynvjitlink", "torch", "phobos.runtime")
    program = f"import sys, phobos; print([m for m in {heavy!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_package_is_listed_for_installation() -> None:
    """setup.cfg names the packages one by one, because runtime/ is installed under another name."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    present = {name for name, path in modules().items() if path.name == "__init__.py"}
    without_init = {n.rpartition(".")[0] for n in modules() if "." in n} - present
    assert not without_init, f"packages without an __init__.py: {sorted(without_init)}"
    assert present == listed, "setup.cfg [options] packages differs from the tree"
