"""The form in which the times of a run's calls spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from trtforensics.render.time_rows import SpreadForm, spread_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog
    from trtforensics.render.time_rows import TimeSpread

GPU = "i GPU Compute Time: min = {} ms, max = {} ms, mean = {} ms, median = {} ms, {}"
AVERAGE = "i Average on 10 runs - GPU latency: {} ms - Host latency: 9 ms (enqueue 0.1 ms)"


@pytest.fixture
def spread(load: Callable[[str], BuildLog]) -> Callable[..., TimeSpread | None]:
    """Return what reads the spread of a run: five times and percentiles, a coefficient of variance, averages."""

    def of(times: tuple[float, ...], variation: float = 0.0, averages: tuple[float, ...] = ()) -> TimeSpread | None:
        names = {5: ("99",), 7: ("90", "95", "99")}[len(times)]
        percentiles = ", ".join(f"percentile({n}%) = {ms} ms" for n, ms in zip(names, times[4:], strict=True))
        warning = (
            [f"w * GPU compute time is unstable, with coefficient of variance = {variation}%."] if variation else []
        )
        lines = [*map(AVERAGE.format, averages), GPU.format(*times[:4], percentiles), *warning]
        return spread_of(load(marked("\n".join(["&& 10.16.1 --fp16", *lines])).text).builds[0])

    return of


@for_each(
    ("times", "variation", "form", "doubtful"),
    [
        ((1.9, 300.0, 2.0, 2.0, 2.1, 2.1, 2.2), 40.0, SpreadForm.FEW, False),
        ((1.9, 300.0, 2.3, 2.0, 2.1, 2.1, 2.2), 90.0, SpreadForm.FEW, True),
        ((1.9, 30.0, 2.0, 2.0, 2.1, 2.1, 2.6), 45.0, SpreadForm.FEW, False),
        ((1.9, 6.0, 2.1, 2.0, 2.1, 2.1, 5.0), 15.0, SpreadForm.TAIL, False),
        ((1.9, 6.0, 2.1, 2.0, 2.1, 4.0, 5.0), 25.0, SpreadForm.TAIL, True),
        ((1.2, 4.0, 2.0, 2.0, 2.6, 2.8, 3.2), 22.0, SpreadForm.BROAD, True),
        ((0.004, 0.03, 0.011, 0.011, 0.015, 0.016, 0.02), 40.0, SpreadForm.BROAD, False),
        ((1.8, 6.0, 2.3, 2.0, 5.0), 0.0, SpreadForm.BROAD, True),
        ((1.9, 2.2, 2.0, 2.0, 2.1), 1.4, SpreadForm.NARROW, False),
    ],
)
def test_percentiles_tell_the_form(
    times: tuple[float, ...],
    variation: float,
    form: SpreadForm,
    doubtful: bool,  # noqa: FBT001 - a column of the table
    spread: Callable[..., TimeSpread],
) -> None:
    found = spread(times, variation)
    assert (found.form, found.is_doubtful) == (form, doubtful)


TIMES = (0.79, 1.02, 0.82, 0.8, 1.0, 1.0, 1.01)


@pytest.mark.parametrize(
    ("averages", "variation", "form"),
    [
        ((1.0,) * 4 + (0.8,) * 16, 9.8, SpreadForm.STEP),
        ((1.0,) * 4 + (0.8,) * 16, 60.0, SpreadForm.TAIL),
        ((1.0,) * 4 + (0.8,) * 16, 0.0, SpreadForm.STEP),
        (tuple(0.8 + 0.01 * place for place in range(20)), 7.0, SpreadForm.DRIFT),
        ((1.0, 0.8, 0.8, 0.8, 1.0) * 4, 12.0, SpreadForm.LEVELS),
    ],
)
def test_a_change_is_the_reason_where_it_explains_the_variance(
    averages: tuple[float, ...], variation: float, form: SpreadForm, spread: Callable[..., TimeSpread]
) -> None:
    assert spread(TIMES, variation, averages).form is form


def test_the_slowest_call_is_found_in_an_average(spread: Callable[..., TimeSpread]) -> None:
    times = (0.79, 8.8, 0.8, 0.8, 0.81, 0.81, 0.82)
    first = spread(times, 15.0, (1.6, *[0.8] * 9))
    assert "the slowest took 8.8, 11 times that, in the first 10 calls (line 2)" in first.text
    assert [span.line for span in first.spans] == [12, 2]
    later = spread(times, 15.0, (*[0.8] * 5, 1.6, *[0.8] * 4))
    assert "in 10 calls after 50% of them (line 7)" in later.text
    assert spread(times, 15.0, (*[0.8] * 5, 1.05, *[0.8] * 4)).text.endswith("11 times that")
