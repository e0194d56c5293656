"""A barrier taken out of the PTX of a contraction by hand: the race check names the source lines of both accesses."""

from __future__ import annotations

import re

import pytest

from phobos.sim import SimFault
from tests.mutate.cases import CASES, compiled
from tests.mutate.judges import simulator, trials

BARRIER = re.compile(r"^.*\bbar(?:rier)?(?:\.cta)?\.sync\b.*\n", re.MULTILINE)
