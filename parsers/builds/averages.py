"""How the running averages of the GPU's time go: in a step, a slope, on two levels, one far slower than the rest.

trtexec prints an average for every ``--avgRuns`` calls. Of a long run it prints the first and the last 200 of them, and
between them ``... Omitting N lines``, where N counts calls (logs of 10.14 to 10.16).
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from trtforensics.parsers.builds.views import LinesView

_FEWEST = 8
_SIDE = 2
"""Fewest averages on a level: one alone is a slow call."""
_EXPLAINED = 0.8
"""The part of the averages' variance that a step or a slope must explain; a step explains 3/4 of a slope's."""
_ON_LEVELS = 0.85
"""The part that two levels in any order must explain: of one normal level they explain 0.64, of a uniform one 0.75."""
_LEAST_ON_LEVEL = 0.1
"""The part of the averages that each of two levels must hold."""
_HIGH = 0.02
"""Least difference worth a word, as a part of the time."""
_PEAK = 1.15
"""How many times the averages' median the slowest must be to be told."""


_Found = tuple[int, str, "Mapping[str, float]"]


def levels(view: LinesView) -> Iterator[_Found]:
    """Read the form of the running averages.

    ``gpu_step_ms``, ``gpu_drift_ms`` and ``gpu_levels_ms`` give the times before and after, or on the lower and the
    higher level, and in ``part`` what part of all calls lies before the change, or on the higher level. A change among
    calls that are not printed has no ``part``. ``gpu_peak_ms`` is the slowest average with its number of calls and the
    part of all calls before it, where it stands out.
    """
    columns = view.columns(("average",), "count", "ms")
    stated = (columns[1] > 0) & ~np.isnan(columns[2])
    lines, counts, times = (column[stated] for column in columns)
    if len(lines) < _FEWEST:
        return
    omitted, gap = 0, len(lines)
    for line, count in view.each("omitted", "count"):
        omitted, gap = omitted + count, int(np.searchsorted(lines, line))
    starts = np.cumsum(counts) - counts + np.where(np.arange(len(lines)) >= gap, omitted, 0)
    whole = float(counts.sum() + omitted)
    peak = int(np.argmax(times))
    ordered = np.sort(times)  # np.median imports numpy.ma, which takes longer than all averages of a log
    usual = (ordered[(len(times) - 1) // 2] + ordered[len(times) // 2]) / 2
    if times[peak] >= _PEAK * usual:
        part = round(float(starts[peak]) / whole, 6)
        slowest = {"average": float(times[peak]), "calls": float(counts[peak]), "part": part}
        yield int(lines[peak]), "gpu_peak_ms", slowest
    place, before, after, explained = _split(times)
    places = np.arange(len(times)) - (len(times) - 1) / 2
    drift = times.mean() + places * ((places * times).sum() / (places * places).sum())  # the least-squares line
    on_line = 1 - _variance(times - drift) / (_variance(times) or 1.0)
    if on_line >= max(_EXPLAINED, explained) and not omitted:
        yield from _told(lines[0], "gpu_drift_ms", drift[0], drift[-1])
    elif explained >= _EXPLAINED:
        known = {} if place == gap else {"part": round(float(starts[place]) / whole, 6)}
        yield from _told(lines[place], "gpu_step_ms", before, after, **known)
    else:
        order = np.argsort(times, kind="stable")
        place, before, after, explained = _split(times[order])
        part = 1 - place / len(lines)
        if explained >= _ON_LEVELS and _LEAST_ON_LEVEL <= part <= 1 - _LEAST_ON_LEVEL:
            yield from _told(lines[order[place:].min()], "gpu_levels_ms", before, after, part=round(part, 6))


def _told(line: int, key: str, before: float, after: float, **part: float) -> Iterator[_Found]:
    """Give two levels that are far enough from each other."""
    if abs(after - before) >= _HIGH * before:
        yield int(line), key, {"before": round(float(before), 6), "after": round(float(after), 6), **part}


def _variance(times: NDArray[np.float64]) -> float:
    return float(((times - times.mean()) ** 2).sum())


def _split(times: NDArray[np.float64]) -> tuple[int, float, float, float]:
    """Split times where the means on both sides explain most of the variance: place, both means, what they explain."""
    counts = np.arange(1, len(times))
    before = np.cumsum(times)[:-1] / counts
    after = (times.sum() - before * counts) / (len(times) - counts)
    between = counts * (before - times.mean()) ** 2 + (len(times) - counts) * (after - times.mean()) ** 2
    place = int(np.argmax(between[_SIDE - 1 : 1 - _SIDE])) + _SIDE - 1
    return place + 1, float(before[place]), float(after[place]), float(between[place]) / (_variance(times) or 1.0)
