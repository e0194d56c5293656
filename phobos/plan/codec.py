"""Frozen records to JSON-able values and back, derived from the records' fields and their annotations.

A record is an object with its fields in order; a tuple is a list; int, str, bool, float and None are themselves.
Decoding is strict: an unknown, missing or ill-typed field is a ValueError that names its path.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import cache
from typing import Any


def encode(value: Any) -> Any:
    """The JSON-able form of a record, a tuple or a plain value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    assert value is None or isinstance(value, bool | int | float | str), value
    return value


@cache
def _hints(record: type) -> dict[str, Any]:
    return typing.get_type_hints(record)


def decode(wanted: Any, data: Any, path: str) -> Any:
    """The value of annotation `wanted` whose encoding is `data`; `path` names it in errors."""
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        return _record(wanted, data, path)
    origin = typing.get_origin(wanted)
    if origin is tuple:
        if not isinstance(data, list):
            raise ValueError(f"{path}: expected a list, found {type(data).__name__}")
        element = typing.get_args(wanted)[0]
        return tuple(decode(element, item, f"{path}[{i}]") for i, item in enumerate(data))
    if origin in (types.UnionType, typing.Union):
        if data is None:
            return None
        (inner,) = (a for a in typing.get_args(wanted) if a is not type(None))
        return decode(inner, data, path)
    # bool is an int in Python, but not here.
    if type(data) is not wanted:
        raise ValueError(f"{path}: expected {wanted.__name__}, found {type(data).__name__}")
    return data


def _record(wanted: type, data: Any, path: str) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{path}: expected an object, found {type(data).__name__}")
    hints = _hints(wanted)
    wrong = sorted(set(data) ^ set(hints))
    if wrong:
        raise ValueError(f"{path}: unknown or missing {', '.join(wrong)}")
    return wanted(**{name: decode(hint, data[name], f"{path}.{name}") for name, hint in hints.items()})
