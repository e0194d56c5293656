"""A progress bar that shows itself only when the work takes more than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_S = 1.0

Progress = Callable[[int, int], None]


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Gives a function to call with the pieces done and the pieces in all. The bar goes to stderr."""
    started = time.monotonic()
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None:
            if time.monotonic() - started < PATIENCE_S or done >= total:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            bar.start()
            task = bar.add_task(title, total=total)
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
