"""Every diagnostic code, one line each; `docs/errors/<code>.md` explains it, a test provokes it.

PH1xx lexical and syntax, 2xx names, types and shapes, 3xx bounds and uniformity, 4xx layout and tensor cores,
5xx resources and launch, 6xx target and toolchain, 9xx internal. PRnnn mirrors the series for remarks.
"""

from __future__ import annotations

from .codes_backend import BACKEND
from .codes_syntax import SYNTAX
from .codes_types import TYPES

Code = str
CODES: dict[str, str] = {**SYNTAX, **TYPES, **BACKEND}
