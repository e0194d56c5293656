"""What a command line names, found: the file's text, kernels of it, targets."""

from __future__ import annotations

import difflib
from pathlib import Path

from ..source import Source
from ..target import DEFAULT, Target, target
from .options import UsageError


def read(path: Path) -> Source:
    """The file's text under the name that was given."""
    try:
        return Source(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: byte {error.start} is not UTF-8") from None


def selected(there: tuple[str, ...], asked: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The kernels asked for, all of them without a choice, in the file's order."""
    for name in asked:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(there) or 'none'}"
            raise UsageError(f"{where} has no kernel {name}; {hint}")
    if not there:
        raise UsageError(f"{where} has no kernel")
    return tuple(name for name in there if not asked or name in asked)


def targets(names: tuple[str, ...]) -> tuple[Target, ...]:
    """The targets asked for, each once; without a choice the GPU at hand, else the default."""
    if names:
        return tuple(dict.fromkeys(target(name) for name in names))
    return (at_hand() or target(DEFAULT),)


def at_hand() -> Target | None:
    """The target of this machine's GPU; None without one that Phobos knows."""
    from ..api import target_at_hand
    from ..errors import CudaError, LaunchError

    try:
        return target_at_hand()
    except (CudaError, LaunchError):
        return None
