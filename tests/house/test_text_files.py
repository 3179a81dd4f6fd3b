"""Text files are as readable as they are written: fences of Markdown end, and lines fit a page."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.repository import ROOT, files_of, label

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_LINE = 120
ENDINGS = {".css", ".lark", ".md", ".py", ".sh", ".tcss", ".toml", ".yml"}
SCRIPTS = {".ci/run"}
QUOTE_WHOLE_LINES = ("tests/golden/*", "testdata/logs/*", "tests/unit/findings/rules/examples.py")
"""What a program printed, and a table of log lines."""

FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([^`]*)$")
QUOTE = re.compile(r"^`{3,}(?:text\b|\w+ title=).*$")
"""A fence around what a program printed, or around a file that a page has its reader write."""

PRAGMA = re.compile(r"\s*# (?:noqa|type: ignore)\b.*$")


def texts() -> list[Path]:
    """Return the files of the repository whose lines people read."""
    return [path for path in files_of(ROOT) if path.suffix in ENDINGS or label(path) in SCRIPTS]


def markdown() -> list[Path]:
    """Return the documents."""
    return [path for path in texts() if path.suffix == ".md"]


def unclosed_fence(text: str) -> int | None:
    """Return the number of the line whose fence never ends, None where all do.

    A fence that opens a named block inside a block shows that the block around it was never closed.
    """
    opened, mark = None, ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened, mark = number, fence[1]
        elif fence[1].startswith(mark):
            if fence[2]:
                return opened
            opened = None
    return opened


def too_long(name: str, text: str) -> list[int]:
    """Return the numbers of the lines that go beyond the page and could be wrapped."""
    return [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if len(measured(name, line)) > LONGEST_LINE and " " in line.strip() and number not in quoted(name, text)
    ]


def quoted(name: str, text: str) -> set[int]:
    """Return the numbers of the lines of a page under docs/ that show a file or an output as it is."""
    found, inside = set(), False
    for number, line in enumerate(text.split("\n") if name.startswith("docs/") else (), 1):
        inside = not line.startswith("```") if inside else QUOTE.match(line) is not None
        if inside:
            found.add(number)
    return found


def measured(name: str, line: str) -> str:
    """Return the part of a line that counts.

    Directives to linters stand behind the code that they are about. A rule of a grammar is as long as the line of the
    log that it reads, and a row of a table as its values.
    """
    if name.endswith(".py"):
        return PRAGMA.sub("", line)
    if name.endswith(".tsv") or (name.endswith(".lark") and not line.startswith("//")):
        return ""
    return line


@for_each("path", markdown(), ids=label)
def test_every_fenced_block_ends(path: Path) -> None:
    assert unclosed_fence(path.read_text(encoding="utf-8")) is None


@for_each("path", texts(), ids=label)
def test_every_line_fits_the_page(path: Path) -> None:
    if any(fnmatch(label(path), pattern) for pattern in QUOTE_WHOLE_LINES):
        return
    assert too_long(label(path), path.read_text(encoding="utf-8")) == []


def test_the_documents_and_the_scripts_are_looked_at() -> None:
    names = {label(path) for path in texts()}
    assert names >= {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", *SCRIPTS}
    assert {path.suffix for path in texts()} >= ENDINGS - {".sh", ".yml"}


@for_each(
    ("text", "line"),
    [
        ("text\n```sh\ncommand\n```\nmore", None),
        ("```\na\n```\n\n```\nb\n```\n", None),
        ("```sh\na\n", 1),
        ("```toml\na\n\n# A title\n\n```jsonc\nb\n```\n", 1),
        ("````md\n```sh\na\n```\n````\n", None),
        ("~~~\n```\n~~~\n", None),
        ("1. item\n\n   ```sh\n   a\n   ```\n", None),
        ("`code` and ``` in a line\n", None),
    ],
)
def test_a_fence_that_never_ends_is_seen(text: str, line: int | None) -> None:
    assert unclosed_fence(text) == line


@for_each(
    ("name", "line", "long"),
    [
        pytest.param("a.py", "x" + " y" * 59, False, id="119 columns"),
        pytest.param("a.py", "xy " * 40 + "z", True, id="121 columns"),
        pytest.param("a.py", "x" * 200, False, id="one word"),
        pytest.param("a.py", "x = 1  # noqa: E501 - " + "why " * 60, False, id="directive to a linter"),
        pytest.param("a.py", "x = 1  # " + "why " * 60, True, id="comment"),
        pytest.param("a.md", "| cell " * 60, True, id="table"),
        pytest.param("a.md", "word " * 60, True, id="prose"),
        pytest.param("docs/a.md", "```text\n" + "word " * 60 + "\n```", False, id="output"),
        pytest.param("docs/a.md", '```json title="a"\n' + "word " * 60 + "\n```", False, id="file that a page shows"),
        pytest.param("docs/a.md", "```text\na\n```\n" + "word " * 60, True, id="prose behind an output"),
        pytest.param("docs/a.md", "```sh\n" + "word " * 60 + "\n```", True, id="command"),
        pytest.param("README.md", "```text\n" + "word " * 60 + "\n```", True, id="output in README"),
        pytest.param("a.lark", 'rule: "word " WORD ' * 60, False, id="rule of a grammar"),
        pytest.param("a.lark", "// word " * 60, True, id="comment of a grammar"),
    ],
)
def test_a_line_that_could_be_wrapped_is_seen(name: str, line: str, *, long: bool) -> None:
    assert bool(too_long(name, f"short\n{line}\n")) is long
