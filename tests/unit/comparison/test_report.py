"""A comparison as text, and its times as an object."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import build, compared, layer
from tests.support.diff_samples import replay_text
from tests.support.for_each import for_each
from trtforensics.comparison.compare import compare
from trtforensics.comparison.loading import load_side
from trtforensics.comparison.report import report, time_answer, time_lines, times_document
from trtforensics.comparison.times import compare_times
from trtforensics.comparison.views import Circumstance, Measured, RunView
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.comparison.views import BuildView


def test_the_report_puts_consequences_under_their_cause_with_lines(two_logs: tuple[str, str]) -> None:
    text = report(compare(load_side(two_logs[0], "good"), load_side(two_logs[1], "bad")))
    lines = text.split("\n")
    fusion, tactic = lines.index("FUSION (1)"), lines.index("TACTIC (1)")
    assert fusion < tactic
    assert any("6 follow from it" in line for line in lines[fusion:tactic])
    assert any("pool2" in line for line in lines[fusion:tactic])
    assert "  pool5" in lines[tactic:]
    assert "    bad  conv1, PWN(relu1)  lines 5, 6" in lines


@pytest.mark.parametrize("everything", [False, True])
def test_all_values_of_a_side_are_listed_on_request(*, everything: bool) -> None:
    bad = [build(layer("conv", tactic=tactic)) for tactic in range(1, 6)]
    text = report(compared([build(layer("conv", tactic=9))], bad), everything=everything)
    rows = [line for line in text.split("\n") if line.startswith("    bad  ")]
    assert len(rows) == 5
    assert ("0x0000000000000005" in rows[-1], "1 more values" in rows[-1]) == (everything, not everything)


def test_hostile_names_reach_the_report_visible_only(tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e"
    for side, tactic in {"good": 1, "bad": 2}.items():
        (tmp_path / f"{side}.json").write_text(replay_text({name: tactic}))
    found = compare(*(load_side(str(tmp_path / f"{side}.json"), side) for side in ("good", "bad")))
    text = report(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a␛[31m" in text


def ran(ms: float, spread: float, key: str = "latency_ms") -> BuildView:
    return replace(build(), run=RunView({key: Measured(ms, spread, SourceSpan("x", 1, 0))}))


@for_each(
    ("good", "bad", "said"),
    [
        (ran(1, 0.1), ran(2, 0.1), "bad is slower: latency 1 -> 2 ms (median), +100.0%"),
        (ran(2, 0.1), ran(1, 0.1), "bad is faster: latency 2 -> 1 ms (median), -50.0%"),
        (ran(2, 0.1), ran(2.05, 0), "no difference in speed beyond the spread of single inferences: latency 2 -> 2.05"),
        (ran(9, 0, "throughput_qps"), ran(8, 0, "throughput_qps"), "bad is slower: throughput 9 -> 8 qps"),
    ],
)
def test_the_answer_is_one_sentence(good: BuildView, bad: BuildView, said: str) -> None:
    assert time_answer(compare_times([good], [bad])).startswith(said)


def test_rows_that_are_not_listed_are_summed_up_so_that_the_column_adds_up() -> None:
    good = build(*(layer(f"l{n}", measured_ms=1.0, median_ms=1.0) for n in range(5)))
    bad = build(*(layer(f"l{n}", measured_ms=1.0 + n / 4, median_ms=1.0 + n / 4) for n in range(5)))
    times = compare_times([good], [bad])
    table = [*time_lines(times, limit=2)]
    at = next(n for n, line in enumerate(table) if "by layer" in line)
    assert sum(float(line.split()[0]) for line in table[at + 1 :]) == 2.5
    assert "2 more (--all lists them) and 1 without a difference beyond chance" in table[-1]
    assert not any("--all" in line for line in time_lines(times, limit=None))


def test_names_do_not_reach_the_terminal_raw() -> None:
    bad = build(layer("a\x1b[31m", measured_ms=2.0))
    text = "\n".join(time_lines(compare_times([build(layer("a\x1b[31m", measured_ms=1.0))], [bad]), limit=5))
    assert "\x1b" not in text


def test_every_fact_is_there_with_its_line() -> None:
    def side(ms: float, gpu: str, line: int) -> BuildView:
        span = SourceSpan("x.log", line, 0)
        run = RunView({"latency_ms": Measured(ms, 0.25, span, ms, 9)}, (Circumstance("device", "GPU", gpu, span),))
        return replace(build(layer("a", line, measured_ms=ms, median_ms=ms, operation="Convolution")), run=run)

    found = times_document(compare_times([side(1.0, "A", 3)], [side(2.0, "B", 4)]))
    assert json.loads(json.dumps(found)) == found
    assert found["circumstances"][0]["good"] == [{"value": "A", "line": {"path": "x.log", "line": 3}}]
    latency = found["totals"]["latency_ms"]
    assert (latency["delta"], latency["spread"], latency["significant"]) == (1.0, 0.25, True)
    assert latency["bad"] == {
        "value": 2.0,
        "spread": 0.25,
        "mean": 2.0,
        "count": 9,
        "line": {"path": "x.log", "line": 4},
    }
    assert found["layers"]["types"][0]["type"] == "Convolution"
    (row,) = found["layers"]["rows"]
    assert (row["delta_ms"], row["noise_ms"], row["significant"]) == (1.0, 0.5, True)
    assert row["bad"]["lines"] == [{"path": "x", "line": 4}]
