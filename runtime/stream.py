"""The stream of a launch: what the caller asks for, or the current stream of the library that the arrays come from.

Streams are the driver's handles as ints: 0 and 1 are the legacy default stream, 2 the per-thread one.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable
from typing import Any

from phobos.errors import ArgumentError

from .arrays import is_cupy, is_torch


def handle(stream: Any) -> int:
    """The handle behind a `stream=` argument: an int, torch's and CuPy's streams, and anything with __cuda_stream__."""
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        version, found = protocol() if callable(protocol) else protocol
        if version != 0:
            raise ArgumentError("stream", "version 0 of __cuda_stream__", str(version))
        return int(found)
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    try:
        return operator.index(stream)
    except TypeError:
        came = type(stream).__name__
        raise ArgumentError("stream", "an int, or an object with __cuda_stream__, cuda_stream or ptr", came) from None


def current(args: Iterable[Any]) -> int:
    """The stream to use for these arguments when none is asked for.

    torch's current stream where there is a torch tensor on a GPU, else CuPy's where there is a CuPy array, else the one
    that an array's interface names, else the default stream.
    """
    args = tuple(args)
    for value in args:
        if is_torch(value) and value.is_cuda:
            return int(sys.modules["torch"].cuda.current_stream(value.device).cuda_stream)
    for value in args:
        if is_cupy(value):
            return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    for value in args:
        face = getattr(value, "__cuda_array_interface__", None) if not is_torch(value) else None
        if face is not None and face.get("stream"):
            return int(face["stream"])
    return 0
