"""How fast a log is read without start and output: by us, by plain Lark, and by a regex a kind tried in turn.

``python -m tests.benchmarks.rates READER LOG`` prints the rate in MB of text a processor second. Everything is read
twice and the second time counts: Lark builds its lexers when it first needs them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import reference_executor
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable

_MEGABYTE = 1_000_000
_LARK_LINES = 5_000
_LOOP_LINES = 20_000


def _alone(path: Path) -> float:
    """Read from the file to columns, its digest included."""

    def read() -> None:
        scanner = Scanner()
        with open_source(str(path)) as source:
            for window in source.windows():
                scanner.feed(window)
            source.info()

    return _rate(path.stat().st_size, read)


def _lark(path: Path) -> float:
    """Read lines with Lark's LALR parser and a contextual lexer."""
    return _by_line(path, _LARK_LINES, reference_executor.parse)


def _loop(path: Path) -> float:
    """Read lines with what anybody would write first: one regex a kind, tried in turn."""
    matches = [kind.match.fullmatch for kind in tables.kinds()]
    return _by_line(
        path, _LOOP_LINES, lambda body: next((found.groups() for match in matches if (found := match(body))), None)
    )


READERS = {"alone": _alone, "Lark": _lark, "loop": _loop}


def _by_line(path: Path, count: int, judge: Callable[[bytes], object]) -> float:
    """Read lines picked evenly from the file, prefixes taken off one by one."""
    lines = path.read_bytes().splitlines(keepends=True)
    sample = lines[:: max(1, len(lines) // count)]
    del lines

    def read() -> None:
        for line in sample:
            prefix = prefix_of(line)
            judge(line[prefix.end if prefix else 0 :].rstrip(b"\r\n"))

    return _rate(sum(map(len, sample)), read)


def _rate(size: int, read: Callable[[], None]) -> float:
    read()
    began = time.process_time()
    read()
    return size / _MEGABYTE / (time.process_time() - began)


if __name__ == "__main__":
    print(READERS[sys.argv[1]](Path(sys.argv[2])))
