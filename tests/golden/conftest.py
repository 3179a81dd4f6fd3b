"""The option that writes the goldens anew: ``pytest tests/golden --update-golden``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest import Config, Parser  # noqa: PT013 - only their types


def pytest_addoption(parser: Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew, from what is printed now"
    )


@pytest.fixture(scope="session")
def update_golden(pytestconfig: Config) -> bool:
    """Whether the goldens are to be written anew."""
    return bool(pytestconfig.getoption("--update-golden", default=False))
