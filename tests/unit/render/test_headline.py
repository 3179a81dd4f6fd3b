"""The first line about a run, in the form of each kind of run, and where the time goes below it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.graph_builds import span
from tests.support.in_process import run_in_process
from tests.support.marked_logs import marked
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.model.ledger import TimedUnit, UnitKind
from trtforensics.model.log import Outcome
from trtforensics.model.timings import TimeSource
from trtforensics.render.headline import first_line, headline_of, headlines, run_lines, with_root
from trtforensics.render.time_rows import kind_of, time_rows
from trtforensics.sources.quoting import ReadLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

BUILT = """&& 10.16.1 --int8
    i === Build Options ===
    i Precision: FP32+INT8
    i === Device Information ===
    i Selected Device: NVIDIA GeForce RTX 4090
    i Device Global Memory: 24000 MiB
    V Engine Layer Information:
    | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Int8[1,8]) -> y (Int8[1,8])
    i Engine built in 2.74 sec.
    i Created engine with size: 28.4 MiB
    i Created execution context with device memory size: 1200 MiB
    i Throughput: 1032.4 qps
    i Latency: min = 1 ms, max = 2 ms, mean = 2 ms, median = 2 ms, percentile(99%) = 2 ms
    i H2D Latency: min = 0.5 ms, max = 0.5 ms, mean = 0.5 ms, median = 0.5 ms, percentile(99%) = 0.5 ms
    i GPU Compute Time: min = 0.9 ms, max = 1 ms, mean = 0.967 ms, median = 0.967 ms, percentile(99%) = 0.976 ms
    i D2H Latency: min = 0.5 ms, max = 0.5 ms, mean = 0.533 ms, median = 0.5 ms, percentile(99%) = 0.5 ms
    """


def lines_of(load: Load, notation: str) -> list[str]:
    """Return the first line and those of the runs of a log in short notation."""
    every = headlines(load(marked(notation).text))
    return [first_line(every), *run_lines(every)]


def test_a_run_that_passed_says_of_what_on_what_and_how_fast(load: Load) -> None:
    (line,) = lines_of(load, f"{BUILT}\n&&.")
    assert line.startswith(
        "PASSED · trtexec 10.16.1 · RTX 4090 · INT8+FP32 allowed · built in 2.74 s · 28.4 MiB · GPU 0.967 ms"
    )
    assert line.endswith(" (p99 0.976) · 1032 qps")


def test_a_build_has_the_headline_of_its_run(load: Load) -> None:
    log = load(marked(f"{BUILT}\n&&.").text)
    assert [headline_of(log, build) for build in log.builds] == headlines(log)


def test_of_a_loaded_engine_the_printed_precision_is_not_its_own(load: Load) -> None:
    text = """&& 8.6.1 --loadEngine=e.plan
        i === Build Options ===
        i Precision: FP32
        i Load engine: e.plan
        i Engine loaded in 0.0235 sec.
        I Loaded engine size: 33 MiB
        &&."""
    assert lines_of(load, text) == ["PASSED · trtexec 8.6.1 · engine e.plan · loaded in 0.0235 s · 33 MiB"]


def test_several_runs_are_counted_and_each_has_its_line(load: Load) -> None:
    first, *rest = lines_of(load, f"{BUILT}\n&&.\n&& 10.16.1 --fp16\nE 1: broken\n&&!")
    assert first == "2 RUNS: 1 PASSED, 1 FAILED · trtexec 10.16.1"
    assert rest[0].startswith("run 1, lines 1-17: PASSED · trtexec 10.16.1 · ")
    assert rest[1] == "run 2, lines 18-20: FAILED (line 20) · trtexec 10.16.1 · FP16+FP32 allowed"


def test_one_build_of_several_has_the_headline_of_its_run(load: Load) -> None:
    log = load(marked(f"{BUILT}\n&&.\n&& 10.16.1 --fp16\nE 1: broken\n&&!").text)
    last = replace(log, builds=log.builds[1:])
    assert headline_of(last, last.builds[0]).text.startswith("FAILED")


def test_of_many_runs_those_that_did_not_pass_are_named(load: Load) -> None:
    passed, failed = "&& 10.16.1 --fp16\ni x\n&&.\n", "&& 10.16.1 --fp16\nE 1: broken\n&&!"
    first, *rest = lines_of(load, passed * 16 + failed)
    assert first.startswith("17 RUNS: 16 PASSED, 1 FAILED")
    assert len(rest) == 13
    assert any("run 17" in line and "FAILED" in line for line in rest)
    assert rest[-1] == "and 5 more runs"


COMPARED = """[I] RUNNING | Command: polygraphy run m.onnx --trt --onnxrt
[I] Accuracy Comparison | trt-runner-N0 vs. onnxrt-runner-N0
[I]     Comparing Output: 'y' (dtype=float32, shape=(1,)) with 'y' (dtype=float32, shape=(1,))
[E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E] Accuracy Summary | trt-runner-N0 vs. onnxrt-runner-N0 | Passed: 0/1 iterations | Pass Rate: 0.0%
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (COMPARED, "FAILED (line 5) · Polygraphy run · the output differs: y · pass rate 0 %"),
        ("[TRT] [E] 1: it broke\nTraceback (most recent call last):\nRuntimeError: no\n", "FAILED (line 3) · Python"),
    ],
)
def test_a_comparison_and_a_program_have_their_own_form(load: Load, lines: str, expected: str) -> None:
    assert first_line(headlines(load(lines))) == expected


def test_two_builds_have_a_time_each(load: Load) -> None:
    build = "[TRT] [V] Original: 3 layers\n[TRT] [I] Engine generation completed in {} seconds.\n"
    assert "2 builds · engines generated in 1.5, 2.5 s" in first_line(
        headlines(load(build.format(1.5) + build.format(2.5)))
    )


def test_the_root_stands_in_place_of_the_verdicts_line_unless_the_run_passed(load: Load) -> None:
    (failed,) = headlines(load(marked("&& 10.16.1 --fp16\nE 1: broken\n&&!").text))
    assert (
        with_root(failed, "TF100", 2, "").text == "FAILED, root TF100 in line 2 · trtexec 10.16.1 · FP16+FP32 allowed"
    )
    (passed,) = headlines(load(marked(f"{BUILT}\n&&.").text))
    assert with_root(passed, "TF100", 2, "") == passed


def test_files_of_an_engine_alone_are_no_run(load: Load) -> None:
    log = load(marked(BUILT).text)
    build = replace(log.builds[0], tensorrt_version=None, options={}, results=(), outcome=Outcome.UNKNOWN)
    log = replace(log, builds=[build], runs=())
    assert headline_of(log, build).text == "NO RUN · trtexec · files of an engine of 1 layer · INT8+FP32 allowed"


def test_the_rows_say_where_the_time_goes_with_lines(load: Load) -> None:
    log = load(marked(f"{BUILT}\n&&.").text)
    rows = {row.label: row.cited for row in time_rows(log, log.builds[0])}
    assert rows.pop("set-up").startswith("command trtexec ")
    assert rows.pop("spread") == "99% of the calls take at most 0.976 ms, 1.01 times the median (line 15)"
    assert rows == {
        "time": "unknown by layer: no layer of the engine has a time",
        "latency": "mean 2 ms = H2D 0.5 + GPU 0.967 + D2H 0.533: 52% transfers (lines 13-16)",
        "memory": "context 1200 MiB, engine 28.4 MiB, context and engine 5% of the GPU's 24000 MiB (lines 6, 10-11)",
    }


def test_where_most_layers_have_no_time_there_are_no_shares(load: Load) -> None:
    layer = "| Layer(CaskConvolution): {}, Tactic: 0x0000000000000001, x (Half[1,8]) -> y (Half[1,8])"
    text = f"""&& 8.6.1 --dumpProfile
        V Engine Layer Information:
        {layer.format("a")}
        {layer.format("b")}
        {layer.format("c")}
        i === Profile (100 iterations ) ===
        i   Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
        i       a       75.00           0.7500             0.7500    100.0
        &&."""
    log = load(marked(text).text)
    assert [row.cited for row in time_rows(log, log.builds[0])][1:] == [
        "0.75 ms measured (1 of 3 layers timed, 2 have no time); too few for shares"
    ]


@pytest.mark.parametrize(
    ("scope", "source"),
    [
        ("Local", "reused within this build"),
        ("Global", "from the timing cache"),
        ("new", "reused within this build"),
    ],
)
def test_results_of_equal_layers_are_no_hits_of_a_timing_cache(load: Load, scope: str, source: str) -> None:
    unread = "W Could not read timing cache from: a.cache. A new timing cache will be generated and written."
    kept, begins = scope.replace("new", "Global"), unread if scope == "new" else ""
    text = f"""&& 8.6.1 --fp16
        {begins}
        V {kept} timing cache in use. Profiling results in this builder pass will be stored.
        V c [Half(8,1) -> Half(8,1)] got cached result: CaskConvolution, tactic 0x0000000000000001, 0.25 ms
        i Engine built in 2.5 sec.
        &&."""
    log = load(marked(text).text)
    assert f"1 result {source} and 0 tactics timed" in " ".join(row.cited for row in time_rows(log, log.builds[0]))
    assert ("(1 reused)" in first_line(headlines(log))) == (scope != "Global")


@pytest.mark.parametrize(("batch", "multiplied"), [("Explicit", True), ("4", False)])
def test_queries_are_multiplied_by_an_explicit_batch_only(load: Load, batch: str, *, multiplied: bool) -> None:
    text = f"""&& 8.6.1 --fp16
        i === Inference Options ===
        i Batch: {batch}
        i Created input binding for x with dimensions 4x3x64x64
        i Throughput: 200 qps
        &&."""
    log = load(marked(text).text)
    rows = [row.cited for row in time_rows(log, log.builds[0]) if row.label != "set-up"]
    assert rows == (["200 qps of 4 each, if that is the batch: 800 a second (lines 4-5)"] if multiplied else [])


def test_a_profile_is_summed_up_by_kinds_and_types_of_one_basis(load: Load) -> None:
    text = """&& 8.6.1 --dumpProfile
        V Engine Layer Information:
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Int8[1,8]) -> y (Int8[1,8])
        | Layer(Reformat): r, Tactic: 0x0000000000000000, y (Int8[1,8]) -> z (Float[1,8])
        i === Profile (100 iterations ) ===
        i   Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
        i       c       75.00           0.7500             0.7500     75.0
        i       r       25.00           0.2500             0.2500     25.0
        i   Total      100.00           1.0000             1.0000    100.0
        &&."""
    log = load(marked(text).text)
    rows = {row.label: row.cited for row in time_rows(log, log.builds[0])}
    assert rows["time"] == "1 ms measured (2 of 2 layers timed): Convolution 75% (1), reformats 25% (1)"
    assert rows["slowest"] == "c 0.75 ms 75% (line 7); r 0.25 ms 25% (line 8)"
    assert rows["computes"].startswith("INT8 75% (1), ")
    assert first_line(headlines(log)) == "PASSED · trtexec 8.6.1 · 75 % computes INT8"


def test_a_profile_that_took_longer_than_the_run_says_so(load: Load) -> None:
    text = """&& 8.6.1 --dumpProfile --separateProfileRun --useCudaGraph
        i GPU Compute Time: min = 0.1 ms, max = 0.1 ms, mean = 0.1 ms, median = 0.1 ms, percentile(99%) = 0.1 ms
        i === Profile (100 iterations ) ===
        i   Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
        i       c       75.00           0.7500             0.2500     75.0
        i   Total       75.00           0.7500             0.2500    100.0
        &&."""
    log = load(marked(text).text)
    rows = {row.label: row.cited for row in time_rows(log, log.builds[0])}
    assert rows["time"].startswith("0.25 ms measured without slow calls, 2.5 times the run's GPU time, as the profiler")


def test_what_was_allowed_is_told_from_what_is_computed(load: Load) -> None:
    text = """&& 8.6.1 --fp16 --dumpProfile
        i === Build Options ===
        i Precision: FP32+FP16
        V Engine Layer Information:
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Float[1,8]) -> y (Float[1,8])
        | Layer(CaskConvolution): d, Tactic: 0x0000000000000001, y (Half[1,8]) -> z (Half[1,8])
        i === Profile (100 iterations ) ===
        i   Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
        i       c       98.00           0.9800             0.9800     98.0
        i       d        2.00           0.0200             0.0200      2.0
        i   Total      100.00           1.0000             1.0000    100.0
        &&."""
    assert lines_of(load, text) == ["PASSED · trtexec 8.6.1 · FP16+FP32 allowed, 98 % computes FP32"]


def test_a_program_without_verdicts_comes_to_its_engine(load: Load) -> None:
    built = "[TRT] [V] Original: 3 layers\n[TRT] [V] Engine generation completed in 1.5 seconds."
    assert first_line(headlines(load(built))) == "ENGINE BUILT (line 2) · Python · engine generated in 1.5 s"
    loaded = "[TRT] [V] Deserialization required 4159 microseconds.\n0.5 0.5"
    assert first_line(headlines(load(loaded))) == "ENGINE LOADED (line 1) · Python"


def test_a_row_of_a_profile_is_of_the_kind_of_its_first_operator_not_of_a_constant(load: Load) -> None:
    text = """&& 8.6.1 --dumpProfile --loadEngine=m.plan
        i === Profile (100 iterations ) ===
        i   Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
        i       stem.weight + /stem/Conv_3 + 902_1       75.00           0.7500             0.7500     75.0
        i       PWN(902_4 + (Unnamed Layer* 7) [Shuffle] + Mul_8)       25.00       0.2500      0.2500     25.0
        &&."""
    log = load(marked(text).text)
    assert time_rows(log, log.builds[0])[1].text.endswith(": Conv 75% (1), Mul 25% (1)")


def test_every_form_of_a_report_begins_with_the_headline(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text(marked(f"{BUILT}\n&&.").text)
    forms = {
        form: run_in_process(["report", "build.log", "--format", form], tmp_path) for form in ("text", "json", "html")
    }
    text, document, page = (forms[form].stdout.decode() for form in ("text", "json", "html"))
    headline = text.splitlines()[0]
    assert headline.startswith("PASSED · trtexec 10.16.1 · RTX 4090")
    assert json.loads(document)["headline"] == headline
    assert f"<strong>{headline}</strong>" in page


def test_on_a_narrow_terminal_the_headline_is_broken_between_its_parts(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "copy.log"
    path.write_text(marked(f"{BUILT}\n&&.").text)
    report = judge(Inputs([ReadLog(load(marked(f"{BUILT}\n&&.").text), str(path), 1 << 20)]), Suppression())
    lines = render(report, "text", Look(width=80)).splitlines()
    whole = render(report, "text", Look()).splitlines()[0]
    broken = lines[: next(number for number, line in enumerate(lines) if line.startswith("    "))]
    assert len(broken) > 1
    assert all(len(line) <= 80 for line in broken)
    assert " ".join(line.strip() for line in broken) == whole
    assert all(line.endswith(" ·") for line in broken[:-1])


def test_what_a_timing_cache_served_is_said_where_no_line_shows_its_results(load: Load) -> None:
    log = load("[V] Original: 3 layers\n[V] Deleting timing cache: 31 entries, 30 hits")
    assert "the timing cache of 31 entries served 30 hits (line 2)" in [
        row.cited for row in time_rows(log, log.builds[0])
    ]


def test_a_log_that_is_cut_failed_at_nothing_that_its_command_names(load: Load) -> None:
    command = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx"
    (cut,) = headlines(load(command))
    assert with_root(cut, "TF701", 1, command).outcome == "ENDED WITHOUT A VERDICT, root TF701 in line 1"
    assert with_root(cut, "TF108", 1, command).outcome == "IMPORT FAILED, root TF108 in line 1"


def test_a_program_that_came_to_its_end_beside_a_root_did_not_pass(load: Load) -> None:
    (ended,) = headlines(load("[11/21/2026-10:05:00] [TRT] [V] said\nFinish"))
    (passed,) = headlines(load("&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec"))
    assert (ended.word, passed.word) == ("PASSED", "PASSED")
    assert with_root(ended, "TF135", 1, "").outcome == "CAME TO ITS END AFTER AN ERROR, root TF135 in line 1"
    assert with_root(passed, "TF135", 1, "").outcome == "PASSED"


@pytest.mark.parametrize(
    ("figures", "outcome"),
    [(2, "LOADING FAILED, root TF630 in line 1"), (3, "WENT ON AFTER AN ERROR, root TF630 in line 1")],
)
def test_a_program_that_states_results_behind_an_error_went_on(load: Load, figures: int, outcome: str) -> None:
    error = (
        "[TRT] [E] 4: [runtime.cpp::deserializeCudaEngine::65] Error Code 4: Internal Error (deserialization failed.)"
    )
    said = "".join(f"Accuracy of nest {n}: {60 + n} %\n" for n in range(figures))
    (headline,) = headlines(load(f"{error}\n{said}The rest follows\nand more of it\n"))
    rooted = with_root(headline, "TF630", 1, error)
    assert (rooted.outcome, "there is no engine to run" in rooted.parts) == (outcome, figures < 3)


def test_a_compiler_that_failed_is_said_to_have(load: Load) -> None:
    (failed,) = headlines(load("[TRT] [V] said\nmake: *** [Makefile:7: nest.o] Error 1"))
    error = "nest.cpp:7:2: error: 'struct Nest' has no member named 'egg'"
    assert with_root(failed, "TF940", 1, error).outcome == "COMPILATION FAILED, root TF940 in line 1"
    assert (
        with_root(failed, "TF940", 1, "undefined reference to `egg'").outcome == "LINKING FAILED, root TF940 in line 1"
    )


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("[8] Assertion failed: axis >= 0 && axis < nbDims", "IMPORT FAILED, root TF149 in line 2"),
        ("libnvonnxparser.so.10: cannot open shared object file", "ERROR, root TF410 in line 2"),
    ],
)
def test_an_excerpt_with_a_root_says_what_failed(said: str, outcome: str, load: Load, tmp_path: Path) -> None:
    text = f"[TRT] [V] Original: 3 layers\n{said}"
    path = tmp_path / "copy.log"
    path.write_text(text)
    (source,) = judge(Inputs([ReadLog(load(text), str(path), 1 << 20)]), Suppression()).sources
    assert [headline.outcome for headline in source.headlines] == [outcome]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("net.c1.weight + /c1/weight_quantizer/QuantizeLinear + /c1/Conv", "Conv"),
        ("/c1/input_quantizer/QuantizeLinear", "QuantizeLinear"),
        ("717_5 + Mul_82 + Add_83", "Mul"),
    ],
)
def test_a_layer_is_of_the_kind_of_the_operator_that_computes(name: str, kind: str) -> None:
    unit = TimedUnit(UnitKind.LAYER, name, (), 0.1, TimeSource.MEASURED, span(1), "", None)
    assert kind_of(unit) == kind
