"""What a log lets one judge, over all of its builds, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.log import Coverage
from trtforensics.model.profile import TimeSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Build, BuildLog


def coverage_of(log: BuildLog) -> Coverage:
    """Return what a log says about all of its builds together: nothing where it holds none; its lines are added up."""
    each = [build.coverage for build in log.builds]
    return Coverage(
        verdict=bool(each) and all(map(_ended, log.builds)),
        engine_layers=bool(each) and all(one.engine_layers for one in each),
        tactics=bool(each) and all(one.tactics for one in each),
        times=_times([one.times for one in each]),
        options=bool(each) and all(one.options for one in each),
        model=bool(each) and all(one.model for one in each),
        own_lines=sum(one.own_lines for one in each),
        other_lines=sum(one.other_lines for one in each),
    )


ENGINE_MADE = "engine_made"
"""The cause by which a program says that it has the engine."""


def _ended(build: Build) -> bool:
    """Whether the log says how a build ended: TensorRT and its tools do, or a program that has the engine."""
    return build.coverage.verdict or any(note.kind == ENGINE_MADE for note in build.notes)


def _times(each: Sequence[TimeSource | None]) -> TimeSource | None:
    """Return where the times of all builds are at least from; None where a build has none."""
    if None in each or not each:
        return None
    return TimeSource.TUNED if TimeSource.TUNED in each else TimeSource.MEASURED


def in_words(coverage: Coverage, builds: int = 1) -> str:
    """Return what a log says about all of its ``builds``, and what it leaves out for some; or that it has none."""
    if not builds:
        return "the source holds no build: there is nothing to judge"
    facts = {
        "verdict": coverage.verdict,
        "engine layers": coverage.engine_layers,
        "tactics": coverage.tactics,
        "measured times": coverage.times is TimeSource.MEASURED,
        "tuned times": coverage.times is TimeSource.TUNED,
        "options": coverage.options,
        "model": coverage.model,
    }
    known = [name for name, is_known in facts.items() if is_known]
    missing = [name for name, is_known in facts.items() if not is_known]
    if coverage.times is not None:
        missing.remove("tuned times" if coverage.times is TimeSource.MEASURED else "measured times")
    else:
        missing.remove("tuned times")
        missing[missing.index("measured times")] = "times"
    every = " of every build" if builds > 1 else ""
    tells = f"the log tells{every}: {', '.join(known)}" if known else f"the log tells nothing{every}"
    lacks = f"; not: {', '.join(missing)}" if missing else ""
    others = f"; {coverage.other_lines:,} of its lines are another program's" if coverage.other_lines else ""
    return tells + lacks + others
