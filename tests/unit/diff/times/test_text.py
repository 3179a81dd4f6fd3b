"""The lines that say why it is slower."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import build, layer
from trtforensics.diff.builds.runs import Measured, RunView
from trtforensics.diff.times.comparing import compare_times
from trtforensics.diff.times.text import answer, lines
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from trtforensics.diff.builds.views import BuildView


def ran(ms: float, spread: float, key: str = "latency_ms") -> BuildView:
    return replace(build(), run=RunView({key: Measured(ms, spread, SourceSpan("x", 1, 0))}))


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        (ran(1, 0.1), ran(2, 0.1), "bad is slower: latency 1 -> 2 ms (median), +100.0%"),
        (ran(2, 0.1), ran(1, 0.1), "bad is faster: latency 2 -> 1 ms (median), -50.0%"),
        (ran(2, 0.1), ran(2.05, 0), "no difference in speed beyond the spread of single inferences: latency 2 -> 2.05"),
        (ran(9, 0, "throughput_qps"), ran(8, 0, "throughput_qps"), "bad is slower: throughput 9 -> 8 qps"),
    ],
)
def test_the_answer_is_one_sentence(good: BuildView, bad: BuildView, said: str) -> None:
    assert answer(compare_times([good], [bad])).startswith(said)


def test_rows_that_are_not_listed_are_summed_up_so_that_the_column_adds_up() -> None:
    good = build(*(layer(f"l{n}", measured_ms=1.0, median_ms=1.0) for n in range(5)))
    bad = build(*(layer(f"l{n}", measured_ms=1.0 + n / 4, median_ms=1.0 + n / 4) for n in range(5)))
    times = compare_times([good], [bad])
    table = [*lines(times, limit=2)]
    at = next(n for n, line in enumerate(table) if "by layer" in line)
    assert sum(float(line.split()[0]) for line in table[at + 1 :]) == 2.5
    assert "2 more (--all lists them) and 1 without a difference beyond chance" in table[-1]
    assert not any("--all" in line for line in lines(times, limit=None))


def test_names_do_not_reach_the_terminal_raw() -> None:
    bad = build(layer("a\x1b[31m", measured_ms=2.0))
    text = "\n".join(lines(compare_times([build(layer("a\x1b[31m", measured_ms=1.0))], [bad]), limit=5))
    assert "\x1b" not in text
