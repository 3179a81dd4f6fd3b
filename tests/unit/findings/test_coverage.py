"""What a log lets one judge, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.finding import in_words
from trtforensics.findings.judging import coverage_of
from trtforensics.model.log import Coverage
from trtforensics.model.timings import TimeSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

WHOLE = Coverage(
    verdict=True,
    engine_layers=True,
    tactics=True,
    times=TimeSource.MEASURED,
    options=True,
    model=True,
    own_lines=2,
    other_lines=0,
)


NOTHING = Coverage(
    verdict=False,
    engine_layers=False,
    tactics=False,
    times=None,
    options=False,
    model=False,
    own_lines=0,
    other_lines=0,
)
TELLS_NOTHING = "the log tells nothing of the engine; not: verdict, engine layers, tactics, layer times, options, model"


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (WHOLE, "the log tells: verdict, engine layers, tactics, measured times, options, model"),
        (
            replace(WHOLE, times=TimeSource.TUNED, verdict=False),
            "the log tells: engine layers, tactics, tuned times, options, model; not: verdict",
        ),
        (replace(NOTHING, other_lines=4504), TELLS_NOTHING),
    ],
)
def test_what_is_told_and_what_is_not(coverage: Coverage, words: str) -> None:
    assert in_words(coverage) == words


def test_of_several_builds_counts_what_every_one_tells(load: Callable[[str], BuildLog]) -> None:
    passed = "&& 8.6.1 --fp16\nI a\n&&. end"
    log = load(marked(f"{passed}\n&& 8.6.1 --fp16\nV Original: 1 layers").text)
    assert len(log.builds) == 2
    whole = coverage_of(log)
    assert (whole.verdict, whole.options) == (False, True)
    assert whole.own_lines == sum(build.coverage.own_lines for build in log.builds)
    assert in_words(whole, 2).startswith("the log tells of every build: options, model; not: verdict")


def test_a_source_without_builds_tells_nothing(load: Callable[[str], BuildLog]) -> None:
    log = replace(load(marked("&& 8.6.1 --fp16").text), builds=())
    assert coverage_of(log) == NOTHING
    assert in_words(NOTHING, 0) == "the source holds no build: there is nothing to judge"
