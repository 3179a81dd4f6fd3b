"""The tactics that were timed for a layer."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from tests.support.screens import text_of
from trtforensics.engines.alternatives import Alternatives
from trtforensics.model.log import CachedResult
from trtforensics.model.timings import Candidate, TacticTimings
from trtforensics.tui.rows.layers.candidates import candidate_pieces, candidate_table, unknown_table

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


def test_candidates_are_fastest_first_and_one_is_marked(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.choices[1])
    times = [candidate.time_ms for candidate in table.candidates]
    assert times == sorted(time for time in times if time is not None)
    marked = [row for row in range(len(table.candidates)) if "✔" in text_of(candidate_pieces(table, row))]
    assert marked == [table.chosen] == [0]
    assert "0x94119b4c514b211a" in text_of(candidate_pieces(table, 0))


def test_bars_are_scaled_to_the_slowest_but_end_at_four_times_the_best(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.choices[1])
    assert text_of(candidate_pieces(table, 0)).startswith(" ✔ ███            0.04120  fastest    0x94119b4c514b211a")
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
    assert candidate_table(Alternatives(replace(build, timings=timings)), choice).chosen == 1


def test_a_tactic_without_a_time_has_no_bar(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.choices[2])
    table = replace(table, candidates=[Candidate(None, None, "R", "", 1)], chosen=None)
    line = text_of(candidate_pieces(table, 0))
    assert "▏" not in line
    assert "█" not in line
    assert line.split() == ["-", "-", "R"]


def test_a_cached_result_has_no_rows_but_says_why(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.cached[0])
    assert not table.candidates
    assert "cached result, no alternatives were timed" in text_of(table.heading[-1])
    assert "Reformat 0x00000000000003e8" in text_of(table.heading[1])


def test_a_cached_result_shows_what_was_timed_where_it_came_from(log: BuildLog) -> None:
    build = log.builds[0]
    timed = build.choices[1]
    span = replace(timed.span, line=timed.span.line + 1)
    facts = (timed.runner, timed.tactic, timed.time_ms, timed.inputs, timed.outputs)
    table = candidate_table(Alternatives(build), CachedResult("twin", *facts, span, 0, final=True))
    assert (len(table.candidates), table.chosen) == (14, 0)
    lines = f"lines {timed.first_line} to {timed.span.line}"
    assert text_of(table.heading[3]) == f" cached result; timed at {lines} for conv1 + relu1"
    earlier = replace(span, line=timed.span.line - 1)
    assert not candidate_table(Alternatives(build), CachedResult("twin", *facts, earlier, 0)).candidates


def test_without_results_the_table_says_why() -> None:
    table = unknown_table("a constant runs no kernel")
    assert [text_of(line) for line in table.heading] == [" a constant runs no kernel"]


def test_slower_is_told_in_per_cent_and_then_as_a_factor(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.choices[1])
    assert text_of(candidate_pieces(table, 1)).split()[2:4] == ["+31.8", "%"]
    far = replace(table, reference_ms=0.001)
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
    table = candidate_table(Alternatives(replace(build, timings=watched)), choice)
    assert (len(table.candidates), table.best_ms, table.chosen) == (count, 1.0, 0)
    assert table.candidates[1].time_ms == 2.0
    assert sum(made.values()) < 10


def test_candidates_of_several_combinations_say_which_pass_timed_them(log: BuildLog) -> None:
    build = log.builds[0]
    timed = (replace(build.choices[1], pass_index=7), replace(build.choices[2], pass_index=None))
    table = candidate_table(Alternatives(build), timed[0], results=timed)
    shown = [text_of(candidate_pieces(table, row)).split() for row in range(len(table.candidates))]
    passes = ["7" if candidate.line < timed[0].span.line else "-" for candidate in table.candidates]
    assert {*passes} == {"7", "-"}
    assert [words[words.index("Half:2→Half:8") + 1] for words in shown] == passes


def test_an_operation_inside_a_foreign_node_has_candidates_too(log: BuildLog) -> None:
    build = log.builds[0]
    table = candidate_table(Alternatives(build), build.timing_cache_keys[0])
    assert [candidate.kernel for candidate in table.candidates] == ["sm80_gemm", "sm80_other"]
    assert table.chosen == 0


def test_the_heading_says_what_the_chosen_kernel_and_its_formats_tell(log: BuildLog) -> None:
    build = log.builds[0]
    named = replace(build.choices[2], kernel="ampere_h16816gemm_128x64_nn_v1", splits=4, outputs=("Float(1)",))
    told = "multiplies Half, sums in Half by convention, writes Float; tile 128x64, split-K, tensor cores, ampere"
    assert told in [text_of(line).strip() for line in candidate_table(Alternatives(build), named).heading]
    silent = candidate_table(Alternatives(build), replace(named, kernel="whatever", splits=None)).heading
    assert len(candidate_table(Alternatives(build), named).heading) == len(silent) + 1
