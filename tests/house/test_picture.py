"""The pictures in the docs are what the TUI and a report look like."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def screenshot() -> ModuleType:
    """The script that makes the README's picture."""
    spec = importlib.util.spec_from_file_location("screenshot", ROOT / "docs" / "screenshot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_picture_in_the_docs_is_what_the_app_looks_like_now(screenshot: ModuleType) -> None:
    made = screenshot.picture()
    stored = (ROOT / "docs" / "tui.svg").read_text(encoding="utf-8")
    assert texts_of(made) == texts_of(stored), "run python docs/screenshot.py"
    assert any("10 of 10 layers timed" in text for text in texts_of(made))
    assert str(ROOT) not in made


def test_the_picture_of_a_report_is_what_report_says_of_a_real_log_and_loads_nothing(screenshot: ModuleType) -> None:
    made = screenshot.report_picture()
    stored = (ROOT / "docs" / "report.svg").read_text(encoding="utf-8")
    assert texts_of(made) == texts_of(stored), "run python docs/screenshot.py"
    assert any("ENGINE BUILT" in text for text in texts_of(made))
    assert "url(http" not in made


@pytest.mark.slow
def test_the_picture_is_the_same_bytes_each_time(screenshot: ModuleType) -> None:
    assert screenshot.picture() == screenshot.picture()


def texts_of(svg: str) -> list[str]:
    """Return what a picture says, which other versions of Rich wrap in other ids."""
    root = ET.fromstring(svg)  # noqa: S314 - our own file
    return [(element.text or "").replace("\xa0", " ") for element in root.iter("{http://www.w3.org/2000/svg}text")]
