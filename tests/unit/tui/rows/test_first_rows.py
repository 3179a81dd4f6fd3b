"""The first screen of a build."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.support.graph_builds import span
from tests.support.screens import text_of
from trtforensics.engines.facts import EngineFacts
from trtforensics.findings.finding import Confidence, Evidence, Finding, Severity
from trtforensics.model.log import Outcome
from trtforensics.model.run import ComparedOutput, Ending, Program, Run, RunnerComparison, RunOutcome, RunResult
from trtforensics.tui.rows.finding_rows import in_view
from trtforensics.tui.rows.first_rows import Row, first_rows, rows_shown
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.time_map import MapRow, TimeMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Build, BuildLog

ERROR = Finding(
    "TF107",
    Severity.ERROR,
    "A Reshape has several dimensions",
    "The export baked a size into a constant.",
    Confidence.CERTAIN,
    "",
    0,
    (0,),
    (Evidence(replace(span(7), file="build.log"), "line 7"),),
    1,
    fixes=("Export with dynamic axes.",),
    layers=("conv1 + relu1",),
)


def rows_of(log: BuildLog, build: Build, findings: Sequence[Finding] | None = ()) -> list[Row]:
    time_map = TimeMap(EngineFacts(build))
    time_map.findings = findings
    return first_rows(log, time_map, lambda line: f"text of {line}" if line < 9 else None)


def shown(rows: Sequence[Row], width: int) -> list[str]:
    look = rows_shown(rows)
    return [text_of(line.pieces) for row in rows for line in look.wrapped(row, width)]


def run(**facts: Any) -> Run:
    outcome = RunOutcome(Ending.PASSED, span(70), "")
    return Run(
        0, 1, 70, Program.POLYGRAPHY, None, None, (), outcome, uses_tensorrt=True, builds=(0,), results=(), **facts
    )


def test_answer_run_line_and_ten_bars_are_above_the_fold_of_the_smallest_screen(log: BuildLog) -> None:
    build = log.builds[0]
    layers = tuple(replace(build.engine_layers[0], name=f"conv{n}") for n in range(30))
    many = replace(build, engine_layers=layers)
    finding = replace(ERROR, title="long " * 60)
    lines = shown(rows_of(replace(log, builds=(many,)), many, (finding,)), 79)
    bars = [place for place, line in enumerate(lines) if line.startswith(" ▸ ")]
    assert lines[0].startswith(" PASSED · trtexec 8.5.1 · ")
    assert any(line.startswith(" E TF107") for line in lines)
    assert len(bars) == 11
    assert bars[-1] <= 16  # the pane has 18 lines: of 24, title, strip of passes, tabs, address, reason, status, keys


def test_a_bar_has_share_time_state_type_name_finding_and_reason(log: BuildLog) -> None:
    (row,) = (row for row in rows_of(log, log.builds[0], (ERROR,)) if row.label == "conv1 + relu1")
    assert isinstance(row, MapRow)
    (line,) = (text_of(line) for line in row.lines(4, 140))
    assert " 76.6%  0.04120 tuned    ?    conv1 + relu1" in line
    assert " TF107 " in line
    assert row.reason
    assert row.reason[:8] in line
    assert "TF107" in text_of(rows_shown([row]).footing(row, 140, 10)[0])
    wide = replace(ERROR, code="TF507", layers=("conv1 + relu1", "pool1"))
    (row,) = (row for row in rows_of(log, log.builds[0], (wide, ERROR)) if row.label == "conv1 + relu1")
    assert isinstance(row, MapRow)
    assert row.finding is ERROR, "what is said of more layers tells less of one"


def test_a_build_that_failed_has_its_answer_and_the_lines_around_it(log: BuildLog) -> None:
    failed = replace(log.builds[0], outcome=Outcome.FAILED)
    lines = shown(rows_of(replace(log, builds=(failed,)), failed, (ERROR,)), 79)
    assert lines[0].startswith(" FAILED, root TF107 in line 7")
    told = " ".join(" ".join(lines[:6]).split())
    assert "A Reshape has several dimensions. The export baked a size into a constant." in told
    assert "do: Export with dynamic axes." in told
    assert [line for line in lines if "text of" in line] == [f" {n} text of {n}" for n in (5, 6, 7, 8)]


def test_several_runs_are_listed_first_and_lead_to_their_builds(log: BuildLog) -> None:
    rows = rows_of(log, log.builds[1])
    assert [row.label for row in rows[:2]] == ["  run 1", "▸ run 2"]
    assert [getattr(row, "build", None) for row in rows[:2]] == [0, 1]
    many = replace(log, builds=tuple(replace(log.builds[0], index=n) for n in range(9)))
    labels = [row.label.strip("▸ ") for row in rows_of(many, many.builds[8])]
    assert labels[:6] == [f"run {n}" for n in (1, 2, 3, 4, 5, 9)]
    assert labels[labels.index("All 9 runs") :][1:10] == [f"run {n}" for n in range(1, 10)]


def test_a_comparison_shows_its_outputs_those_that_differ_first(log: BuildLog) -> None:
    outputs = (
        ComparedOutput("fine", span(3), max_abs=0.5, passed=True),
        ComparedOutput("far", span(4), max_abs=0.25, atol=1e-5, passed=False),
        ComparedOutput("holes", span(5), passed=False, nan=3),
    )
    compared = run(comparisons=(RunnerComparison("trt", "onnxrt", outputs, span(2)),))
    one = replace(log, builds=log.builds[:1], runs=(compared,))
    told = [row for row in rows_of(one, one.builds[0]) if isinstance(row, OverviewRow)]
    rows = [(row.label, row.value, row.line) for row in told if row.label.endswith(" output")]
    assert rows == [
        ("✗ output", "far  max abs 0.25  (atol 1e-05)", 4),
        ("✗ output", "holes  3 NaN", 5),
        ("✔ output", "fine  max abs 0.5", 3),
    ]


def test_the_calls_of_a_run_stand_as_bars(log: BuildLog) -> None:
    values = {"min": 10.25, "max": 41.0, "median": 20.25, "p99": 30.5, "mean": 21.5}
    build = replace(log.builds[0], results=(RunResult("gpu_compute_ms", values, span(9)),))
    labels = [row.label for row in rows_of(log, build) if getattr(row, "value", "").startswith("GPU ")]
    assert [label.split()[0] for label in labels if "█" in label] == ["min", "median", "mean", "p99", "max"]
    assert labels[-1].count("█") == 2 * labels[1].count("█")
    assert not [label for label in labels if "…" in label]


def test_a_build_of_which_nothing_is_known_says_so(log: BuildLog, make: Any) -> None:
    build = make.unknown_build(make.Scribe())
    rows = rows_of(replace(log, builds=(build,)), build, None)
    assert [getattr(row, "value", "") for row in rows[:3]] == [
        "NO RUN",
        "findings: findings come when the log is read",
        "time unknown by layer: the engine's layers are not listed",
    ]


def test_a_finding_of_several_builds_cites_the_lines_of_the_build_in_view() -> None:
    evidence = tuple(Evidence(span(line), f"line {line}") for line in (7, 40, 41))
    shared = replace(ERROR, builds=(0, 1), evidence=evidence, evidence_total=3)
    assert [cited.span.line for cited in in_view(shared, 30, 70).evidence] == [40, 41]
    assert in_view(shared, 80, 90) is shared
    assert in_view(replace(shared, builds=(0,)), 30, 70).line == 7
