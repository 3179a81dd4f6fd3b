"""Where the time of a run passes without a line: the longest gaps between the times that its lines begin with."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.parsers.notation.clocks import clock_in, moment_in, seconds_of
from trtforensics.render.names import shortened
from trtforensics.render.time_rows import TimeRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.sources.quoting import QuotedLog

_SAMPLES, _RUNS, _SHOWN, _TEXT = 100, 8, 3, 110
"""Lines of a run that are read first, runs, pauses of each that are named, characters of the line behind a pause."""
_TIMED = "Warmup completed"
"""What trtexec prints behind its timed inferences, which are no pause."""
_SHORTEST, _PART, _LONGEST, _DAY = 2, 0.1, 4 * 3600, 24 * 3600
"""The least pause that is named: in s, and as a part of the whole; the longest that is one; a day."""


def pauses(read: QuotedLog) -> Iterator[TimeRow]:
    """Say from when to when each run goes, and before which lines it paused; nothing where clocks are mixed.

    Only lines around long gaps are all read.
    """
    for run in read.log.runs[:_RUNS]:
        step = max((run.last_line - run.first_line) // _SAMPLES, 1)
        stamped = [*_stamped(read, {*range(run.first_line, run.last_line + 1, step), run.last_line})]
        times = [seconds for _, seconds, _ in stamped]
        if not stamped or times != sorted(times) or times[-1] - times[0] < _SHORTEST:
            continue
        wide = sorted(pairwise(stamped), key=lambda pair: pair[0][1] - pair[1][1])[:_SHOWN]
        gaps = [gap for first, behind in wide for gap in pairwise(_stamped(read, range(first[0], behind[0] + 1)))]
        long = sorted(((after[1] - before[1], after) for before, after in gaps), key=lambda gap: -gap[0])[:_SHOWN]
        whole = times[-1] - times[0]
        words = [
            f"{seconds:.0f} s before line {line}: {shortened(text.strip(), _TEXT)}"
            for seconds, (line, _, text) in long
            if seconds >= max(_SHORTEST, _PART * whole) and _TIMED not in text
        ]
        if not long or long[0][0] < _LONGEST:
            place = f"run {run.index + 1}: " * (len(read.log.runs) > 1)
            ends = " to ".join(clock_in(text) or "" for _, _, text in (stamped[0], stamped[-1]))
            yield TimeRow("clock", "; ".join([f"{place}from {ends}, {whole:.0f} s", *words]), ())


def _stamped(read: QuotedLog, lines: Iterable[int]) -> Iterator[tuple[int, float, str]]:
    for line, text in sorted(read.quote({*lines}).items()):
        if (clock := clock_in(text)) is not None:
            moment = moment_in(text)
            days = date.fromisoformat(moment[:10]).toordinal() if moment is not None else 0
            yield line, days * _DAY + seconds_of(clock), text
