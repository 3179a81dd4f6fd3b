"""The manual page says what the parsers say, and is shipped."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.house.test_packaging import SETUPTOOLS
from tests.support.man_page import PAGE, page
from tests.support.repository import ROOT
from trtforensics.cli import COMMANDS


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.support.man_page`"


def test_the_page_names_every_command_and_its_options() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"\n.SH {name.upper()}\n" in text for name in COMMANDS)
    assert "\\fB\\-\\-builder\\-python\\fR \\fIPYTHON\\fR" in text


def test_the_page_is_in_the_wheel() -> None:
    assert SETUPTOOLS["data-files"] == {"share/man/man1": [PAGE.relative_to(ROOT).as_posix()]}


def test_troff_has_nothing_to_say_against_the_page() -> None:
    program = shutil.which("groff")
    if program is None:
        pytest.skip("groff is not installed")
    line = [program, "-man", "-ww", "-z", "-Kutf8", str(PAGE)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert not done.stderr
