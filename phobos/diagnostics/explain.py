"""The page of a diagnostic code: a failing example, why it fails, and the example put right.

The pages are `pages/<code>.md` beside this file, so that an installed package has them too.
"""

from __future__ import annotations

import difflib
from importlib import resources

from .codes import CODES


class UnknownCodeError(LookupError):
    """There is no such code; the message offers the nearest ones."""


def explain(code: str) -> str:
    """The page of `code`, in Markdown; the case of the code does not matter."""
    name = code.strip().upper()
    if name not in CODES:
        near = [known for known in CODES if len(name) > 2 and known.startswith(name)]
        near = (near or difflib.get_close_matches(name, CODES, 3, 0.7))[:3]
        offer = f"; did you mean {', '.join(near)}?" if near else "; a code looks like PH204"
        raise UnknownCodeError(f"no diagnostic has the code {code.strip()!r}{offer}")
    page = resources.files(__package__) / "pages" / f"{name}.md"
    if not page.is_file():
        return f"# {name}: {CODES[name]}\n\nThis code has no page yet.\n"
    return page.read_text(encoding="utf-8")
