"""The op tables are complete: every op says what it means, is interpreted, and stands in docs/ir.md."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest

from phobos.interp.run import MEANING
from phobos.ir import tile_ops
from phobos.ir.core import OPS, Effect, Op, Role
from phobos.ir.parser import OP_MODULES, parse
from phobos.ir.printer import print_kernel, value_text
from phobos.ir.tile_ops import Yield
from phobos.ir.verify import FORM_RANGE, FORMS, verify

DOC = Path(__file__).parents[2] / "docs" / "ir.md"
START = "Each section below is generated"

KINDS = ("UNARY", "BINARY", "COMPARE", "GUARDS")

ALL = pytest.mark.parametrize("cls", OPS.values(), ids=list(OPS))


def forms(cls: type[Op]) -> tuple[str, ...]:
    """The forms in which an op may stand."""
    first, last = FORM_RANGE.get(cls, (FORMS[0], FORMS[-1]))
    return FORMS[FORMS.index(first) : FORMS.index(last) + 1]


@ALL
def test_an_op_has_a_docstring_of_its_own(cls: type[Op]) -> None:
    assert cls.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")  # what `dataclass` writes when there is none


@ALL
def test_an_op_is_interpreted(cls: type[Op]) -> None:
    assert cls in MEANING or cls is Yield  # the machine itself ends a block


def test_lists_name_real_ops() -> None:
    assert set(FORM_RANGE) <= set(OPS.values())


@ALL
def test_every_field_has_a_role(cls: type[Op]) -> None:
    assert [f.name for f in dataclasses.fields(cls) if "role" not in f.metadata] == ["span"]


def section(cls: type[Op]) -> str:
    """What docs/ir.md says of an op."""
    legal = forms(cls)
    where = f"`{legal[0]}` to `{legal[-1]}`" if len(legal) > 1 else f"`{legal[0]}`"
    where = "every form" if legal == FORMS else where
    effects = ", ".join(e.name.lower().replace("_", " ") for e in Effect if e in cls.declared_effects and e.name)
    effects = effects or "none"
    effects += " (shared when it is a buffer)" if cls.memory else ""
    lines = [f"### `{cls.name}`", "", inspect.getdoc(cls) or "", "", f"Forms: {where}. Effects: {effects}."]
    if rows := [row(f) for f in dataclasses.fields(cls) if "role" in f.metadata]:
        lines += ["", "| field | role | holds | default |", "|---|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def row(field: dataclasses.Field[object]) -> str:
    role: Role = field.metadata["role"]
    held = str(field.type).replace("|", "or")
    default = "" if field.default is dataclasses.MISSING else f"`{value_text(field.default)}`"
    return f"| `{field.name}` | {role.name.lower()} | {held} | {default} |"


def generated() -> str:
    parts = []
    for module in OP_MODULES:
        title = (inspect.getdoc(module) or "").split(".")[0].split(":")[0]
        parts.append(f"## {title}\n")
        if module is tile_ops:
            parts += [f"{name}: {', '.join(f'`{value_text(v)}`' for v in vars(module)[name])}.\n" for name in KINDS]
        parts += [section(cls) for cls in OPS.values() if cls.__module__ == module.__name__]
    return "\n".join(parts)


def test_the_document_has_every_op(bless: bool) -> None:
    head, mark, rest = DOC.read_text().partition(START)
    line, _, body = rest.partition("\n\n")
    if bless:
        DOC.write_text(f"{head}{mark}{line}\n\n{generated()}")
    else:
        assert body == generated(), "run pytest --bless tests/tidy/test_ops.py and read the difference"


def test_every_op_is_in_a_module_of_the_document() -> None:
    assert {c.__module__ for c in OPS.values()} == {m.__name__ for m in OP_MODULES}


def test_the_example_is_a_kernel() -> None:
    example = DOC.read_text().split("```text\nkernel scale")[1].split("```")[0]
    text = "kernel scale" + example
    kernel = parse(text)
    assert verify(kernel) == []
    assert print_kernel(kernel) == text
