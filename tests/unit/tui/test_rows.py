"""Rows of text, tested without a screen."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.cells import cell_len

from trtforensics.console.progress import Progress
from trtforensics.console.terminal import visible
from trtforensics.model.log import BackendPass, CachedResult, LayerTuning
from trtforensics.model.timings import Candidate, TacticTimings
from trtforensics.tui.rows.candidate_rows import candidate_pieces, candidate_table
from trtforensics.tui.rows.layer_index import LayerIndex, layer_row
from trtforensics.tui.rows.layer_rows import row_pieces
from trtforensics.tui.rows.log_lines import LONGEST, log_pieces, severity_role
from trtforensics.tui.rows.overview_rows import OverviewRow, overview_rows
from trtforensics.tui.rows.pieces import Role, bar, clip, fit, fit_right, milliseconds, size, width_of
from trtforensics.tui.rows.title_and_progress import progress_line, title_line

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog
    from trtforensics.tui.rows.pieces import Line


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


@pytest.fixture
def log(session: Any) -> BuildLog:
    outcome: BuildLog = session.outcome
    return outcome


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain [text] ü 漢", "plain [text] ü 漢"),
        ("\x1b[31m", "␛[31m"),
        ("a\x1eb\x00c\x7f", "a␞b␀c␡"),
        ("a\tb", "a    b"),
        ("\x9b31m\u202eevil\u200b\ud800", "�31m�evil��"),
        ("one\u2028two\r", "one�two␍"),
    ],
)
def test_nothing_a_terminal_obeys_survives(raw: str, shown: str) -> None:
    assert visible(raw) == shown


def test_a_long_text_loses_its_middle() -> None:
    assert clip("abcdefghij", 5) == "ab…ij"
    assert clip("abc", 3) == "abc"
    assert clip("abc", 0) == ""


@pytest.mark.parametrize("width", range(8))
@pytest.mark.parametrize("text", ["", "abc", "漢字漢字漢字", "a漢b字c", "abcdefghij"])
def test_fitted_text_has_exactly_the_width_asked_for(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width
    assert cell_len(fit_right(text, width)) == width


def test_bars_grow_by_eighths_and_the_least_is_seen() -> None:
    assert [bar(f, 2) for f in (0, 0.0001, 0.25, 0.5, 0.75, 1, 7)] == ["  ", "▏ ", "▌ ", "█ ", "█▌", "██", "██"]


def test_durations_keep_four_digits_or_so() -> None:
    spelled = [milliseconds(ms) for ms in (None, 0.0, 0.00290231, 0.0290231, 0.1234567, 1.5, 12.3456, 123.456)]
    assert spelled == ["-", "0.000000", "0.002902", "0.02902", "0.1235", "1.500", "12.35", "123.5"]


def test_sizes_are_binary() -> None:
    assert [size(n) for n in (0, 1023, 1024, 5 << 20, 3 << 30)] == ["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 GiB"]


def test_progress_of_a_pipe_shows_no_share() -> None:
    assert text_of(progress_line(Progress(2048, None, 1), 80)) == " reading  2.0 KiB · 1 line"


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("[08/17/2022-07:50:53] [W] [TRT] text", Role.WARNING),
        ("[08/17/2022-07:50:53] [E] Error[4]: text", Role.ERROR),
        ("[TRT] [V] ERROR is only a word here", Role.PLAIN),
        ("WARNING: [Torch-TensorRT] - text", Role.WARNING),
        ("ERROR: text", Role.ERROR),
        ("2023-01-01 [W:onnxruntime:Default, x.cc:1 f] text", Role.WARNING),
        ("plain", Role.PLAIN),
        (" " * 90 + "[E]", Role.PLAIN),
    ],
)
def test_severity_is_read_from_the_marks_near_the_start(line: str, role: Role) -> None:
    assert severity_role(line) is role


def test_a_log_line_is_prefix_message_and_matches() -> None:
    line = log_pieces("[a] [V] x Foo y foo", "foo")
    assert [(p.text, p.role) for p in line] == [
        ("[a] [V] ", Role.DIM),
        ("x ", Role.PLAIN),
        ("Foo", Role.MATCH),
        (" y ", Role.PLAIN),
        ("foo", Role.MATCH),
        ("", Role.PLAIN),
    ]


def test_a_capital_in_the_needle_makes_case_count() -> None:
    assert [p.text for p in log_pieces("Foo foo", "Foo") if p.role is Role.MATCH] == ["Foo"]


def test_a_line_as_long_as_a_file_is_bounded() -> None:
    line = log_pieces("x" * (LONGEST + 1234))
    assert width_of(line) < LONGEST + 100
    assert text_of(line).endswith("1,234 more characters")


def test_the_overview_names_what_matters(log: BuildLog) -> None:
    rows = {row.label.strip(" ▏▎▍▌▋▊▉█"): row for row in reversed(overview_rows(log, log.builds[0]))}
    assert rows["outcome"].value == "passed"
    assert rows["GPU"].value == "NVIDIA A10G, compute capability 8.6, 80 SMs"
    assert rows["Precision"].value == "FP32+FP16"
    assert rows["Memory Pools"].value == "workspace: 4096 MiB"
    assert rows["0: backend strategy 4"].value.startswith("✔ the engine, estimated 0.8120 ms, lines ")
    assert rows["1: backend strategy 2"].value.startswith("✗ discarded, lines ")
    assert rows["101  -4"].value == "After dead-layer removal"
    assert rows["engine"].value.startswith("5 layers: CaskConvolution 1, TiledPooling 1, ")
    assert rows["output types"].value == "Half 5"
    assert rows["0.006700 +0.7 %"].value == "pool1"
    assert rows["0.04120 ms"].value == "conv1 + relu1  CaskConvolution"
    assert rows["16 tactics"].value == "conv1 + relu1"
    assert rows["error"].value == "10: Could not find any implementation for node x."
    assert rows["not understood"].value == "2 lines of 1 shape, most often:"
    assert rows["2 times"].value == "A line [of] a shape nobody knows"
    assert rows["Throughput"].value == "1234.5 qps"


def test_the_overview_leaves_out_stages_of_passes_that_were_discarded_and_those_that_changed_nothing(
    log: BuildLog,
) -> None:
    build = log.builds[0]
    last = build.stages[-1]
    stages = (
        *build.stages,
        replace(last, name="After slice removal"),
        replace(last, name="lost", pass_index=1, layers=9),
    )
    rows = overview_rows(log, replace(build, stages=stages))
    values = [row.value for row in rows]
    assert "After vertical fusions" in values
    assert "1 more stage changed nothing" in values
    assert not {"After slice removal", "lost"} & set(values)


def test_the_slowest_layers_to_tune_are_told_by_the_tuners_clock_where_there_is_one(log: BuildLog) -> None:
    build = log.builds[0]
    tuning = (
        LayerTuning("conv1 + relu1", 3.25, build.choices[1].span),
        LayerTuning("pool1", 0.5, build.choices[2].span),
    )
    rows = overview_rows(log, replace(build, tuning=tuning))
    listed = [(row.label.split()[0], row.value, row.line) for row in rows if " s " in row.label]
    assert [row[:2] for row in listed] == [("3.25", "conv1 + relu1"), ("0.5", "pool1")]
    assert listed[0][2] == build.choices[1].span.line
    assert not any("tactics" in row.label for row in rows if "█" in row.label)


def test_an_overview_of_a_log_that_was_understood_says_so(log: BuildLog) -> None:
    clean = replace(log, lines=replace(log.lines, unknown=0), unknown_shapes=0, unknown_samples=())
    cut = replace(clean, source=replace(log.source, cut=True))
    values = [row.value for row in overview_rows(cut, log.builds[0])]
    assert "nothing: every logged line was understood" in values
    assert "the last line has no line ending, as where a log is cut" in values


def test_what_a_log_does_not_tell_is_said(log: BuildLog) -> None:
    rows = {row.label: row.value for row in overview_rows(log, log.builds[1])}
    assert rows["GPU"] == "not told by this log"
    assert rows["TensorRT"] == "version not told"
    assert rows["engine"] == "1 layer, of which the log prints the names only"
    assert rows["choices"].strip() == "1, not told which the engine uses"


def test_a_long_value_goes_on_below_itself() -> None:
    row = OverviewRow("command", "trtexec " + "--option " * 20, 7)
    lines = [text_of(line) for line in row.lines(4, 60)]
    assert len(lines) > 3
    assert lines[0].startswith("   7 command  ")
    assert all(line.startswith(" " * 30 + "--option") and len(line) <= 60 for line in lines[1:])


def test_the_overview_points_at_the_lines_that_state_its_facts(log: BuildLog, session: Any) -> None:
    for row in overview_rows(log, log.builds[0]):
        if row.label == "Precision":
            assert row.line is not None
            assert "Precision: FP32+FP16" in session.text.line(row.line)
            return
    raise AssertionError("no precision")


def test_a_single_pass_without_strategy_is_not_worth_a_row(log: BuildLog) -> None:
    build = replace(log.builds[0], passes=(BackendPass(None, 1, 2, chosen=None),))
    assert "Passes" in {row.label for row in overview_rows(log, log.builds[0])}
    assert "Passes" not in {row.label for row in overview_rows(log, build)}


def test_the_overview_of_a_build_of_which_nothing_is_known_is_not_empty(log: BuildLog, make: Any) -> None:
    build = make.empty_build(make.Scribe())
    assert any(row.label == "outcome" and row.value == "unknown" for row in overview_rows(log, build))


def test_the_title_counts_builds_only_where_there_are_several(log: BuildLog) -> None:
    assert "build 1 of 2" in text_of(title_line("a", log, log.builds[0], 80))
    alone = replace(log, builds=log.builds[:1])
    assert "build" not in text_of(title_line("a", alone, alone.builds[0], 80))


def test_a_long_path_gives_way_to_the_outcome_in_the_title(log: BuildLog) -> None:
    title = title_line("/a/very/long/path" * 9 + "/build.log", log, log.builds[0], 90)
    assert width_of(title) <= 90
    assert text_of(title).endswith("build.log  build 1 of 2 [ ]  TensorRT 8.5.1 · trtexec · passed")


def test_layers_of_the_engine_come_first_and_then_what_else_was_tuned(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows()
    assert [row.text for row in rows[:2]] == ["conv1 + relu1", "pool1"]
    assert [row.text for row in rows[5:]] == [
        "tuned, not in the engine",
        "fc_unused",
        "operations timed by Myelin",
        "matMul1",
    ]


def test_without_an_engine_dump_the_tuned_layers_and_names_are_listed(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[1]).rows()
    assert [row.text for row in rows] == [
        "tuned; the log has no engine dump",
        "second_conv",
        "of these the log prints the names only",
        "only a name",
    ]


def test_an_opened_layer_shows_nodes_tensors_and_combinations(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    texts = [row.text for row in index.children(index.engine[0])]
    assert (texts[0], index.children(index.engine[0])[0].note) == ("conv1", "Conv")
    assert "Half[1,64,56,56]:8 input.0" in texts
    assert texts[-1] == "Half(150528,50176:2,224,1) → Half(200704,3136:8,56,1)"


def test_a_layer_nothing_was_tuned_for_says_where_it_came_from(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    assert "Myelin compiled it" in [row.text for row in index.children(index.engine[4])]


@pytest.mark.parametrize("width", [20, 36, 53, 80])
def test_rows_of_layers_and_combinations_fill_the_width_exactly(log: BuildLog, width: int) -> None:
    index = LayerIndex(log.builds[0])
    for entry in index.engine:
        assert width_of(row_pieces(layer_row(entry), width, expanded=False)) == width
        for child in index.children(entry):
            assert width_of(row_pieces(child, width, expanded=False)) <= width


def test_a_row_of_a_layer_marks_near_ties_and_foreign_nodes(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows()
    lines = [text_of(row_pieces(row, 64, expanded=False)) for row in rows]
    assert "≈" not in lines[0]
    assert lines[1].endswith("≈")
    assert "◈ {ForeignNode" in lines[4]


def test_combinations_tell_final_lost_and_unknown_apart(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    lost, final = index.children(index.engine[0])[-2:]
    unknown = index.children(index.others[0])[0]
    marks = [text_of(row_pieces(row, 60, expanded=False)).split()[0] for row in (final, lost, unknown)]
    assert marks == ["✔", "✗", "?"]


def test_an_engine_printed_twice_is_listed_once_and_said_so(log: BuildLog) -> None:
    build = log.builds[0]
    again = tuple(replace(x, span=replace(x.span, line=x.span.line + 100)) for x in build.engine_layers)
    index = LayerIndex(replace(build, engine_layers=(*build.engine_layers, *again)))
    assert [entry.layer for entry in index.engine] == list(again)
    assert index.rows()[0].text == "printed more than once, this is the last time"
    assert index.at_line(build.engine_layers[1].span.line) is index.engine[1]
    assert "printed more than once" not in LayerIndex(build).rows()[0].text


def test_kernels_of_a_foreign_node_stand_below_it_and_have_no_time_of_their_own(log: BuildLog, make: Any) -> None:
    build = log.builds[0]
    whole = replace(build.choices[2], layer=make.foreign_name)
    kernels = tuple(replace(build.engine_layers[0], name=f"__myl_{n}", choice=0, cached=None) for n in range(3))
    index = LayerIndex(replace(build, choices=(whole,), cached=(), engine_layers=kernels, myelin_operations=()))
    rows = index.rows()
    assert [row.text for row in rows] == [make.foreign_name, "__myl_0", "__myl_1", "__myl_2"]
    assert (rows[0].note, rows[0].subject) == ("3 kernels", whole)
    assert [entry.time_ms for entry in index.engine] == [None] * 3
    assert "│ __myl_0" in text_of(row_pieces(rows[1], 60, expanded=False))
    origins = [row.text for row in index.children(index.engine[0]) if row.label == "origin"]
    assert origins == [f"a kernel of {make.foreign_name}, which was tuned as a whole"]


def test_slowest_first_sorts_by_the_time_in_the_engine(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows(slowest_first=True)
    times = [row.entry.time_ms for row in rows[:5] if row.entry]
    assert times[0] == 0.0412
    assert [t for t in times if t] == sorted((t for t in times if t), reverse=True)
    assert times[-1] is None


def test_a_line_of_the_log_leads_to_its_layer(log: BuildLog, session: Any) -> None:
    index = LayerIndex(log.builds[0])

    def layer_at(text: str) -> str | None:
        line = next(n for n, shown in enumerate(session.text.lines, 1) if text in shown)
        entry = index.at_line(line)
        return entry.name if entry else None

    assert layer_at("Tactic: 0x0000000000540101") == "pool1"
    assert layer_at("got cached result") == "Reformatting CopyNode for Input Tensor 0 to fc"
    assert layer_at("Layer(Myelin)") == index.engine[4].name
    assert layer_at("Timing Runner: fc_unused") == "fc_unused"
    assert layer_at("&&&& RUNNING") is None
    assert layer_at("&&&& PASSED") is None


def test_candidates_are_fastest_first_and_one_is_marked(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.choices[1])
    times = [candidate.time_ms for candidate in table.candidates]
    assert times == sorted(time for time in times if time is not None)
    marked = [row for row in range(len(table.candidates)) if "✔" in text_of(candidate_pieces(table, row))]
    assert marked == [table.chosen] == [0]
    assert "0x94119b4c514b211a" in text_of(candidate_pieces(table, 0))


def test_bars_are_scaled_to_the_slowest_but_end_at_four_times_the_best(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.choices[1])
    assert text_of(candidate_pieces(table, 0)).startswith(" ✔ ███            0.04120  fastest  0x94119b4c514b211a")
    slowest = text_of(candidate_pieces(table, len(table.candidates) - 1))
    assert slowest.startswith("   ███████████▶    0.1853 +349.8 %")


def test_a_tactic_shared_by_two_runners_is_marked_at_the_one_that_won(log: BuildLog) -> None:
    build = log.builds[0]
    choice = replace(build.choices[2], runner="B", tactic=7, time_ms=2.0)
    timings = replace(
        build.timings,
        line=np.array([1, 3, 4]),
        tactic=np.array([7, 7, 7], dtype=np.uint64),
        ms=np.array([2.0, 2.1, 9.0]),
        kernel=np.array([-1, -1, -1], dtype=np.int32),
        runner_line=np.array([0, 2]),
        runner_name=np.array([0, 1], dtype=np.int32),
        texts=["A", "B"],
    )
    choice = replace(choice, first_line=1)
    assert candidate_table(replace(build, timings=timings), choice).chosen == 1


def test_a_tactic_without_a_time_has_no_bar(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.choices[2])
    table = replace(table, candidates=[Candidate(None, None, "R", "", 1)], chosen=None)
    line = text_of(candidate_pieces(table, 0))
    assert "▏" not in line
    assert "█" not in line
    assert line.split() == ["-", "-", "R"]


def test_a_cached_result_has_no_rows_but_says_why(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.cached[0])
    assert not table.candidates
    assert "cached result, no alternatives were timed" in text_of(table.heading[-1])
    assert "Reformat 0x00000000000003e8" in text_of(table.heading[1])


def test_a_cached_result_shows_what_was_timed_where_it_came_from(log: BuildLog) -> None:
    build = log.builds[0]
    timed = build.choices[1]
    span = replace(timed.span, line=timed.span.line + 1)
    facts = (timed.runner, timed.tactic, timed.time_ms, timed.inputs, timed.outputs)
    table = candidate_table(build, CachedResult("twin", *facts, span, 0, final=True))
    assert (len(table.candidates), table.chosen) == (14, 0)
    lines = f"lines {timed.first_line} to {timed.span.line}"
    assert text_of(table.heading[3]) == f" cached result; timed at {lines} for conv1 + relu1"
    earlier = replace(span, line=timed.span.line - 1)
    assert not candidate_table(build, CachedResult("twin", *facts, earlier, 0)).candidates


def test_without_results_the_table_says_why(log: BuildLog) -> None:
    table = candidate_table(log.builds[0], None, "a constant runs no kernel")
    assert [text_of(line) for line in table.heading] == [" a constant runs no kernel"]


def test_slower_is_told_in_per_cent_and_then_as_a_factor(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.choices[1])
    assert text_of(candidate_pieces(table, 1)).split()[2:4] == ["+31.8", "%"]
    far = replace(table, best_ms=0.001)
    assert text_of(candidate_pieces(far, 1)).split()[2:4] == ["54", "x"]


def test_a_hundred_thousand_candidates_are_ready_at_once_and_right(log: BuildLog) -> None:
    build, count = log.builds[0], 100_000
    timings = replace(
        build.timings,
        line=np.arange(2, count + 2),
        tactic=np.arange(count, dtype=np.uint64) + 1,
        ms=np.arange(count, 0, -1, dtype=np.float64),
        kernel=np.full(count, -1, dtype=np.int32),
    )
    choice = replace(build.choices[0], first_line=1, span=replace(build.choices[0].span, line=count + 2), tactic=count)
    made = Counter[int]()

    class Watched(TacticTimings):
        def candidate(self, row: int) -> Candidate:
            made[row] += 1
            return super().candidate(row)

    watched = Watched(**{name.name: getattr(timings, name.name) for name in fields(timings)})
    table = candidate_table(replace(build, timings=watched), choice)
    assert (len(table.candidates), table.best_ms, table.chosen) == (count, 1.0, 0)
    assert table.candidates[1].time_ms == 2.0
    assert sum(made.values()) < 10


def test_an_operation_inside_a_foreign_node_has_candidates_too(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(build, build.timing_cache_keys[0])
    assert [candidate.kernel for candidate in table.candidates] == ["sm80_gemm", "sm80_other"]
    assert table.chosen == 0
