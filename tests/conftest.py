"""Options and fixtures of all tests. Markers, and what the default run leaves out, are in setup.cfg."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expectations of file tests")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bless") and os.environ.get("CI"):
        raise pytest.UsageError("--bless is for people who read the difference, not for CI")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether file tests rewrite their expectation."""
    return bool(request.config.getoption("--bless"))
