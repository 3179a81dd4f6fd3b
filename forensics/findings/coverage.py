"""What a log lets one judge, over all of its builds, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.log import Coverage
from trtforensics.model.profile import TimeSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import BuildLog


def coverage_of(log: BuildLog) -> Coverage:
    """Return what a log says about all of its builds together: nothing where it holds none; its lines are added up."""
    each = [build.coverage for build in log.builds]
    return Coverage(
        verdict=bool(each) and all(coverage.verdict for coverage in each),
        engine_layers=bool(each) and all(coverage.engine_layers for coverage in each),
        tactics=bool(each) and all(coverage.tactics for coverage in each),
        times=_times([coverage.times for coverage in each]),
        options=bool(each) and all(coverage.options for coverage in each),
        model=bool(each) and all(coverage.model for coverage in each),
        own_lines=sum(coverage.own_lines for coverage in each),
        other_lines=sum(coverage.other_lines for coverage in each),
    )


def _times(each: Sequence[TimeSource | None]) -> TimeSource | None:
    """Return where the times of all builds are at least from; None where a build has none."""
    if None in each or not each:
        return None
    return TimeSource.TUNED if TimeSource.TUNED in each else TimeSource.MEASURED


def in_words(coverage: Coverage, builds: int = 1) -> str:
    """Return in words which facts a log tells about each of its ``builds``, and which it lacks for some."""
    if not builds:
        return "the source holds no build: there is nothing to judge"
    facts = {
        "verdict": coverage.verdict,
        "engine layers": coverage.engine_layers,
        "tactics": coverage.tactics,
        f"{coverage.times} times" if coverage.times else "times": coverage.times is not None,
        "options": coverage.options,
        "model": coverage.model,
    }
    known = [name for name, is_known in facts.items() if is_known]
    missing = [name for name, is_known in facts.items() if not is_known]
    every = " of every build" if builds > 1 else ""
    tells = f"the log tells{every}: {', '.join(known)}" if known else f"the log tells nothing{every}"
    lacks = f"; not: {', '.join(missing)}" if missing else ""
    return tells + lacks
