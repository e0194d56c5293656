"""What memory locations and fences carry between threads for the race check; `ordering` moves it."""

from __future__ import annotations

from .clocks import Knowledge


class Orderings:
    """The locations that carry knowledge, and what fences have prepared."""

    def __init__(self) -> None:
        self.at: dict[tuple[str, int], Knowledge] = {}  # by space and byte
        self.fenced: dict[int, Knowledge] = {}  # by thread of the grid: what its last fence published
        self.seen: dict[int, Knowledge] = {}  # by thread: what strong loads have seen since the last fence

    def begin(self) -> None:
        """A new wave: its shared memory is another one."""
        self.at = {key: knowledge for key, knowledge in self.at.items() if key[0] == "global"}
