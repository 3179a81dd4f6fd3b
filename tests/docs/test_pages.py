"""Every shell block of README and of the documentation runs, page by page, and prints what stands below it.

A page is one session in an empty folder that holds `testdata` and `tests`, as a clone does. A block with a title is a
file of that name. ``--update-docs`` writes what the blocks print into the pages; read the difference.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT, import_path, label
from tests.support.shell_blocks import Step, replaced, steps

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARKED_COMMANDS = {"tui", "test"}
"""README's installation commands: `.ci/run` runs the one of the tests; each makes an environment of its own."""

DEADLINE = 300.0
"""Seconds after which a hanging block fails its test."""

VARIES = re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|min|GB|MB|GiB|MiB)\b|\b[0-9a-f]{6,}\b")
"""Times, sizes on this machine's disk, and ids of runs: a page shows those of one run."""

PROGRESS = re.compile(r"^trtforensics: reading: .*\n", re.MULTILINE)
"""What a command prints where reading takes long, as it does on a busy machine."""

NEEDS = {"docs/how-to/many-logs.md": ("duckdb", "pyarrow")}
"""Packages of extras that a page needs; CI tries it where they are."""


def _runnable(page: Path) -> list[Step]:
    found = steps(page.read_text(encoding="utf-8"))
    return [step for step in found if step.block.marks.get("command") not in MARKED_COMMANDS]


def _parameters() -> list[object]:
    return [pytest.param(page, id=label(page), marks=_marks(label(page))) for page in PAGES if _runnable(page)]


def _marks(page: str) -> list[pytest.MarkDecorator]:
    lacking = [package for package in NEEDS.get(page, ()) if find_spec(package) is None]
    without = [pytest.mark.skip(reason=f"needs {', '.join(lacking)} of the extra `sql`")] if lacking else []
    return [*without, pytest.mark.slow]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A folder like a clone; beside it our command and this Python."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "testdata", folder / "testdata")
    (folder / "tests").symlink_to(ROOT / "tests", target_is_directory=True)
    (tmp_path / "bin").mkdir()
    for name, module in (("python", ""), ("trtforensics", "-m trtforensics")):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        program.chmod(0o755)
    return folder


def _run(session: Path, block: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{session.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": import_path(ROOT),
    }
    return subprocess.run(
        ["/bin/bash", "-e", "-o", "pipefail", "-c", block],
        cwd=session,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def _compared(text: str) -> list[str]:
    lines = PROGRESS.sub("", text).strip("\n").splitlines()
    return [VARIES.sub("#", line.rstrip()) for line in lines]


@pytest.mark.skipif(sys.platform != "linux", reason="pages show a Linux shell")
@pytest.mark.parametrize("page", _parameters())
def test_what_a_page_says_to_type_prints_what_it_shows(
    page: Path, session: Path, request: pytest.FixtureRequest
) -> None:
    printed, wrong = [], []
    for step in _runnable(page):
        block = step.block
        if block.title is not None:
            target = session / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            continue
        done = _run(session, block.text)
        assert done.returncode == int(block.marks.get("exit", "0")), f"{label(page)}:{block.first}: {done.stdout}"
        folder_is_shown = step.printed is not None and str(session) in done.stdout
        assert not folder_is_shown, f"{label(page)}:{block.first}: names a folder of this machine"
        if step.printed is not None:
            printed.append((step.printed, done.stdout.strip("\n")))
            if _compared(done.stdout) != _compared(step.printed.text):
                wrong.append(f"{label(page)}:{step.printed.first + 1}: prints\n{done.stdout}")
    if request.config.getoption("--update-docs", default=False):
        page.write_text(replaced(page.read_text(encoding="utf-8"), printed if wrong else []), encoding="utf-8")
    else:
        assert not wrong, "\n".join(wrong)


def test_every_shell_block_is_run_or_is_one_of_readmes_two_commands() -> None:
    marked = [
        step.block.marks["command"]
        for page in PAGES
        for step in steps(page.read_text(encoding="utf-8"))
        if step.block.marks.get("command") in MARKED_COMMANDS
    ]
    assert sorted(marked) == sorted(MARKED_COMMANDS)
    assert sum(step.block.runs for page in PAGES for step in _runnable(page)) >= 30
