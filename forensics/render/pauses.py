"""Where the time of a run passes without a line: the longest gaps between the time stamps of TensorRT's loggers."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.render.names import shortened
from trtforensics.render.time_rows import TimeRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.sources.quoting import QuotedLog

_STAMP = re.compile(r"^.{0,40}?\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\]\s*(.*)")
_SAMPLES, _SHOWN, _TEXT = 200, 3, 90
"""Lines that are read first, pauses that are named, and characters of the line behind one."""
_SHORTEST, _PART = 2, 0.1
"""The least pause that is named: in s, and as a part of the whole."""


def pauses(read: QuotedLog) -> Iterator[TimeRow]:
    """Say from when to when a log goes, and before which lines it paused; only lines around long gaps are all read."""
    last = read.log.source.lines
    stamped = [*_stamped(read, {*range(1, last + 1, max(last // _SAMPLES, 1)), last})]
    whole = (stamped[-1][1] - stamped[0][1]).total_seconds() if stamped else 0.0
    if whole < _SHORTEST:
        return
    wide = sorted(pairwise(stamped), key=lambda pair: pair[0][1] - pair[1][1])[:_SHOWN]
    gaps = [gap for (first, *_), (behind, *_) in wide for gap in pairwise(_stamped(read, range(first, behind + 1)))]
    seconds = {second: (second[1] - first[1]).total_seconds() for first, second in gaps}
    long = sorted(
        (each for each in seconds.items() if each[1] >= max(_SHORTEST, _PART * whole)), key=lambda each: -each[1]
    )
    named = "".join(
        f"; {time:.0f} s before line {line}: {shortened(text, _TEXT)}" for (line, _, text), time in long[:_SHOWN]
    )
    yield TimeRow("clock", f"from {stamped[0][1]:%H:%M:%S} to {stamped[-1][1]:%H:%M:%S}, {whole:.0f} s{named}", ())


def _stamped(read: QuotedLog, lines: Iterable[int]) -> Iterator[tuple[int, datetime, str]]:
    for line, text in sorted(read.quote({*lines}).items()):
        if (match := _STAMP.match(text)) is not None:
            yield line, datetime.strptime(match[1], "%m/%d/%Y-%H:%M:%S"), match[2]  # noqa: DTZ007 - a log tells no zone
