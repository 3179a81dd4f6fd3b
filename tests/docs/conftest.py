"""The option that writes what pages show anew: ``pytest tests/docs --update-docs``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-docs", action="store_true", help="write what the blocks of pages print into the pages")
