"""`explain CODE`: the page of a diagnostic's code."""

from __future__ import annotations

from .console import Console
from .options import Command, UsageError


def explain(options: Command, console: Console) -> int:
    """Print the page. An unknown code is a usage error with the nearest ones."""
    from ..diagnostics.explain import UnknownCodeError
    from ..diagnostics.explain import explain as page

    try:
        console.markdown(page(options.code))
    except UnknownCodeError as error:
        raise UsageError(str(error)) from None
    return 0
