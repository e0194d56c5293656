"""The Plan's JSON: round trip, order of keys, strictness, and that docs/plan.md names every record and field."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from phobos.ir.kernel import Kernel
from phobos.plan import Linked, Plan, describe, schema
from phobos.target import target

DOC = Path(__file__).parents[2] / "docs" / "plan.md"


@pytest.fixture(scope="session")
def plan(gemm: Kernel) -> Plan:
    return describe(gemm, target("sm_80"), 32, Linked("nvJitLink", "12.9", registers=40))


def test_round_trip(plan: Plan) -> None:
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()
    assert hash(again) == hash(plan)


def test_round_trip_without_a_linker(gemm: Kernel) -> None:
    plan = describe(gemm, target("sm_80"), 64)
    assert Plan.from_json(plan.to_json()) == plan


def test_keys_stand_in_the_order_of_the_fields(plan: Plan) -> None:
    data = json.loads(plan.to_json())
    assert list(data) == [f.name for f in dataclasses.fields(Plan)]
    assert list(data["accesses"][0]) == [f.name for f in dataclasses.fields(schema.Access)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 0}, "schema 0"),
        ({"kernel": 3}, "plan.kernel: expected str, found int"),
        ({"index_bits": True}, "plan.index_bits: expected int, found bool"),
        ({"loops": {}}, "plan.loops: expected a list"),
        ({"colour": 1}, "unknown or missing colour"),
        ({"linked": []}, "plan.linked: expected an object"),
    ],
)
def test_what_does_not_fit_is_named(plan: Plan, change: dict[str, object], message: str) -> None:
    data = {**json.loads(plan.to_json()), **change}
    with pytest.raises(ValueError, match=message):
        Plan.from_json(json.dumps(data))


def test_the_document_names_every_field() -> None:
    text = DOC.read_text()
    records = [r for r in vars(schema).values() if isinstance(r, type) and dataclasses.is_dataclass(r)]
    assert len(records) > 15
    missing = []
    for record in records:
        _, _, section = text.partition(f"\n## {record.__name__}\n")
        section = section.partition("\n## ")[0]
        missing += [
            f"{record.__name__}.{f.name}" for f in dataclasses.fields(record) if f"| `{f.name}` |" not in section
        ]
    assert missing == []
