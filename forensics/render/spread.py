"""In what form the GPU's times of a run spread, read from its percentiles, its variance and its running averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.older_python import StrEnum
from trtforensics.render.headline import figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.log import Build
    from trtforensics.model.span import SourceSpan


class SpreadForm(StrEnum):
    """How the times of a run's calls lie."""

    STEP = "step"  # first on one level, then on another
    DRIFT = "drift"  # faster and faster, or slower and slower
    LEVELS = "levels"  # to and fro between two levels
    BROAD = "broad"  # far apart on both sides of the median
    TAIL = "tail"  # some of a hundred calls are far slower than the others
    FEW = "few"  # at most one of a hundred calls is far slower, the others are alike
    NARROW = "narrow"  # alike


@dataclass(frozen=True, slots=True)
class TimeSpread:
    """The form, what the log says of it, and the lines that state it.

    ``is_doubtful`` where mean and median say little of a call, ``is_wide`` where a finding is worth it without a
    warning of trtexec.
    """

    form: SpreadForm
    text: str
    spans: tuple[SourceSpan, ...]
    is_doubtful: bool
    is_wide: bool


_FAR = 1.25
"""How many times the median a percentile must be to be far from it."""
_WIDE = 1.5
_FAR_CALL = 3.0
"""How many times the median a call must be to be far slower."""
_SIDES = 0.15
"""How far the fastest call, and a tenth of the calls, must be from the median where the spread is broad."""
_OFF = 0.1
"""From where the mean is no figure of a usual call: its distance from the median, as a part of the median."""
_EXPLAINED = 0.5
"""The part of the variance, or of a slow call, that must be explained by what is named as its reason."""
_PART = 0.02
"""The least part of the calls on each side of a change, where the log has no variance."""
_TINY_MS = 0.02
"""Times below this spread because of launches and of the timer's resolution, about half a microsecond."""


def spread_of(build: Build) -> TimeSpread | None:
    """Return in what form the times of a build's calls spread; None where the log has no median and percentile."""
    run = build.result("gpu_compute_ms")
    values = run.figures if run is not None else {}
    percentiles = sorted((float(name[1:]), ms) for name, ms in values.items() if name[0] == "p")
    median, mean = values.get("median", 0.0), values.get("mean", 0.0)
    if run is None or not (median and mean) or not percentiles or percentiles[-1][1] < median:
        return None
    form, text, spans = _change(build, values, percentiles[-1][1]) or _by_percentiles(build, values, percentiles)
    slow = 100 - next((percent for percent, ms in percentiles if ms >= _FAR * median), 100)
    is_off = abs(mean - median) >= _OFF * median
    doubtful = is_off or form is SpreadForm.BROAD or (form is SpreadForm.TAIL and slow > 1)
    if median < _TINY_MS and form in {SpreadForm.BROAD, SpreadForm.TAIL}:
        doubtful, text = False, f"{text}; calls this short are near the timer's resolution"
    elif is_off:
        text += f"; the mean is {figure(mean)}"
    return TimeSpread(form, text, (run.span, *spans), doubtful, doubtful or percentiles[-1][1] >= _WIDE * median)


_Told = tuple[SpreadForm, str, "tuple[SourceSpan, ...]"]
_CHANGES = {
    SpreadForm.STEP: "step from {} to {} ms (line {}) after {:.0%} of the calls, as where a clock changes",
    SpreadForm.DRIFT: "go from {} to {} ms (from line {} on), as where the clock follows heat or load",
    SpreadForm.LEVELS: "go to and fro between {} and {} ms (line {}), {:.0%} of them on the higher level",
}


def _change(build: Build, values: Mapping[str, float], high: float) -> _Told | None:
    """Say where the running averages change, if that makes the spread; a few averages at the start do not."""
    deviation = (build.number("gpu_compute_cv_percent") or 0.0) / 100 * values["mean"]
    for form, words in _CHANGES.items():
        result = build.result(f"gpu_{form}_ms")
        held = result.figures if result is not None else {}
        part = held.get("part", 0.5 if form is SpreadForm.DRIFT else 0.0)
        if result is None or not part or (form is SpreadForm.LEVELS and high > (1 + _PART) * held["after"]):
            continue
        explained = (
            (held["after"] - held["before"]) ** 2 * part * (1 - part) * (1 / 3 if form is SpreadForm.DRIFT else 1)
        )
        if explained >= _EXPLAINED * deviation**2 if deviation else _PART <= part <= 1 - _PART:
            text = words.format(figure(held["before"]), figure(held["after"]), result.span.line, part)
            return form, f"the running averages {text}", (result.span,)
    return None


def _by_percentiles(build: Build, values: Mapping[str, float], percentiles: Sequence[tuple[float, float]]) -> _Told:
    """Tell the form by how far the percentiles and the slowest call are from the median."""
    (percent, high), median, slowest = percentiles[-1], values["median"], values.get("max", 0.0)
    tenth, fastest = dict(percentiles).get(90.0), values.get("min", median)
    wide = f"from {figure(fastest)} to {figure(high)} ms for {percent:g}% of the calls, median {figure(median)}"
    if tenth is not None and fastest <= (1 - _SIDES) * median and tenth >= (1 + _SIDES) * median:
        return SpreadForm.BROAD, f"{wide}, a tenth of them at {figure(tenth)} or more", ()
    if tenth is None and high >= _FAR * median and abs(values["mean"] - median) >= _OFF * median:
        return SpreadForm.BROAD, wide, ()
    most = f"{percent:g}% of the calls take at most {figure(high)} ms"
    if slowest >= _FAR_CALL * median and high < _WIDE * median:
        where, spans = _slowest(build, median, slowest)
        text = f"the median is {figure(median)}; the slowest took {figure(slowest)}, {slowest / median:.3g} times that"
        return SpreadForm.FEW, f"{most}, {text}{where}", spans
    if high >= _FAR * median:
        low, least = next((percent, ms) for percent, ms in percentiles if ms >= _FAR * median)
        text = f"{100 - low:g}% of the calls take {figure(least)} ms or more, {least / median:.2g} times the median of "
        return SpreadForm.TAIL, f"{text}{figure(median)}", ()
    return SpreadForm.NARROW, f"{most}, {high / median:.3g} times the median", ()


def _slowest(build: Build, median: float, slowest: float) -> tuple[str, tuple[SourceSpan, ...]]:
    """Say where the slowest call is, if it makes the slowest of the printed averages."""
    peak = build.result("gpu_peak_ms")
    held = peak.figures if peak is not None else {}
    excess = (held["average"] - median) * held["calls"] / (slowest - median) if held else 0.0
    if peak is None or not _EXPLAINED <= excess <= 1 / _EXPLAINED:
        return "", ()
    calls = f"{held['calls']:.0f} calls"
    place = f"the first {calls}" if not held["part"] else f"{calls} after {held['part']:.0%} of them"
    return f", in {place} (line {peak.span.line})", (peak.span,)
