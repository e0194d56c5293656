"""Logging as `PHOBOS_LOG` asks: off (the default), info, debug or trace, on stderr, under the logger "phobos".

A program that configures logging itself is left alone: without PHOBOS_LOG nothing is installed.
"""

from __future__ import annotations

import logging
import os
import sys

TRACE = 5
LEVELS = {"off": logging.CRITICAL + 1, "info": logging.INFO, "debug": logging.DEBUG, "trace": TRACE}

_root = logging.getLogger("phobos")
_root.addHandler(logging.NullHandler())


class _Stderr(logging.Handler):
    """Writes to whatever sys.stderr is when the record comes."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


_handler = _Stderr()
_handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))


def logger(area: str) -> logging.Logger:
    """The logger of a part of the compiler, brought in line with PHOBOS_LOG."""
    configure()
    return logging.getLogger(f"phobos.{area}")


def configure() -> None:
    """Follow PHOBOS_LOG, which may have changed. An unknown level counts as info and says so."""
    asked = os.environ.get("PHOBOS_LOG", "")
    if not asked:
        if _handler in _root.handlers:
            _root.removeHandler(_handler)
            _root.setLevel(logging.NOTSET)
        return
    if _handler not in _root.handlers:
        _root.addHandler(_handler)
    level = LEVELS.get(asked.lower())
    _root.setLevel(logging.INFO if level is None else level)
    if level is None:
        _root.info("PHOBOS_LOG is '%s', not one of %s; taken as info", asked, ", ".join(LEVELS))
