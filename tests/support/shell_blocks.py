"""The fenced blocks of a Markdown page that a test runs: files, commands, and what the commands print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,})(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\s*$")
_COMMENT = re.compile(r"^ *<!-- (?P<name>[a-z]+)(?:: (?P<value>.+?))? -->$")
_SHELL = {"sh", "bash", "shell", "console", "zsh"}


@dataclass(frozen=True)
class Block:
    """A fenced block; ``first`` and ``after`` are the indexes of its first line inside, and of its closing fence."""

    language: str
    title: str | None
    marks: dict[str, str]
    """The comments ``<!-- NAME: VALUE -->`` directly above the block."""
    first: int
    after: int
    indent: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block's text, with a line feed at its end."""
        return "".join(f"{line[self.indent :]}\n" for line in self.lines)

    @property
    def runs(self) -> bool:
        """Whether a shell is to run the block."""
        return self.language in _SHELL and self.title is None


class Step(NamedTuple):
    """What to do next on a page: write a file, or run a block whose output, if any, stands in the block below it."""

    block: Block
    printed: Block | None


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    found, lines = [], page.split("\n")
    marks: dict[str, str] = {}
    place = 0
    while place < len(lines):
        comment, fence = _COMMENT.match(lines[place]), _FENCE.match(lines[place])
        if comment is not None:
            marks[comment["name"]] = comment["value"] or ""
        elif fence is not None:
            first = place + 1
            place = next(
                after for after in range(first, len(lines)) if lines[after].strip() == fence["marks"]
            )  # a fence that never ends is a failure of tests/house
            inside = tuple(lines[first:place])
            found.append(Block(fence["language"], fence["title"], marks, first, place, len(fence["indent"]), inside))
            marks = {}
        elif lines[place].strip():
            marks = {}
        place += 1
    return found


def steps(page: str) -> list[Step]:
    """Return the files to write and the commands to run, in the order of the page."""
    lines, every = page.split("\n"), blocks(page)
    found = []
    for block, below in zip_longest(every, every[1:]):
        adjacent = below is not None and not "".join(lines[block.after + 1 : below.first - 1]).strip()
        if block.title is not None:
            found.append(Step(block, None))
        elif block.runs:
            is_output = adjacent and below is not None and below.language == "text" and below.title is None
            found.append(Step(block, below if is_output else None))
    return found


def replaced(page: str, printed: list[tuple[Block, str]]) -> str:
    """Return a page with other texts in these blocks."""
    lines = page.split("\n")
    for block, text in sorted(printed, key=lambda each: each[0].first, reverse=True):
        lines[block.first : block.after] = [f"{' ' * block.indent}{line}".rstrip() for line in text.splitlines()]
    return "\n".join(lines)
