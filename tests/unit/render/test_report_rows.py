"""What ``report`` says before its findings: comparisons, runs beside each other, what facts amount to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.model.run import Program
from trtforensics.render.headline import headlines
from trtforensics.render.report_rows import detail_rows, rows_of_builds

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

COMPARED = """\
[I] RUNNING | Command: polygraphy run m.onnx --trt --onnxrt
[I] Accuracy Comparison | trt-runner-N0-1 vs. onnxrt-runner-N0-1
[I]     Comparing Output: 'a' (dtype=float32, shape=(1,)) with 'a' (dtype=float32, shape=(1,))
[I]         Tolerance: [abs=0.001, rel=0.001] | Checking elemwise error
[I]         trt-runner-N0-1: a | Stats: mean=0.5, std-dev=0, var=0, median=0.5, min=0 at (0,), max=10 at (0,), \
avg-magnitude=0.5
[I]         Error Metrics: a
[I]             Minimum Required Tolerance: elemwise error | [abs=0.5] OR [rel=3] (requirements may be lower)
[I]             Absolute Difference | Stats: mean=0.25, std-dev=0, var=0, median=0, min=0 at (0,), max=0.5 at (0,), \
avg-magnitude=0.25
[I]             Relative Difference | Stats: mean=0.25, std-dev=0, var=0, median=0, min=0 at (0,), max=3 at (0,), \
avg-magnitude=0.25
[E]         FAILED | Output: 'a' | Difference exceeds tolerance (rel=0.001, abs=0.001)
[E] Accuracy Summary | trt-runner-N0-1 vs. onnxrt-runner-N0-1 | Passed: 0/1 iterations | Pass Rate: 0.0%
"""
TIMED = """\
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx={0}.onnx --int8
[11/21/2026-10:05:00] [I] === Build Options ===
[11/21/2026-10:05:00] [I] Precision: FP32+INT8
[11/21/2026-10:05:01] [I] GPU Compute Time: min = {1} ms, max = {1} ms, mean = {1} ms, median = {1} ms, \
percentile(99%) = {1} ms
&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx={0}.onnx --int8
"""
ON_AMPERE = """FP32
[11/21/2026-10:05:00] [I] === Device Information ===
[11/21/2026-10:05:00] [I] Compute Capability: 8.6"""
ON_ORIN = """FP32
[11/21/2026-10:05:00] [I] === Device Information ===
[11/21/2026-10:05:00] [I] Selected Device: Orin
[11/21/2026-10:05:00] [I] SMs: 4
[11/21/2026-10:05:00] [I] Device Global Memory: 7619 MiB"""
SKIPPED = """\
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx --skipInference
[11/21/2026-10:05:01] [I] Engine built in 4.5 sec.
&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx --skipInference
"""


def said(log: BuildLog) -> str:
    return "\n".join(f"{row.label}: {row.cited}" for row in rows_of_builds(log))


def said_further(text: str, read: Load) -> str:
    return "\n".join(row.text for row in detail_rows(read(text)))


def test_a_comparison_tells_its_tolerance_its_worst_outputs_and_what_a_relative_error_is_of(read: Load) -> None:
    text = said(read(COMPARED))
    assert "compared: trt-runner against onnxrt-runner: 1 of 1 outputs differ; pass rate 0 %" in text
    assert "tolerance abs 0.001, rel 0.001" in text
    assert "largest absolute error 0.5 of a (mean 0.25, 5.00% of its range)" in text
    assert "largest relative error 3 of a, at a value of at most 0.167" in text


def test_runs_of_a_log_are_told_beside_each_other_and_what_they_share_once(read: Load) -> None:
    log = read(TIMED.format("a", 2) + TIMED.format("b", 3))
    text = said(log)
    assert "runs: GPU time in ms: 2 (run 1), 3 (run 2); run 2 takes 1.5 times as long as run 1" in text
    assert "compares no outputs" not in text
    assert sum("compares no outputs" in row.text for row in detail_rows(log)) == 1
    assert "set-up: run 2: command trtexec --onnx=b.onnx --int8" in text
    assert "alike within 0.50%" in said(read(TIMED.format("a", 2) + TIMED.format("b", 2.01)))
    assert "takes 50 times as long" in said(read(TIMED.format("a", 2) + TIMED.format("b", 100)))
    assert "times as long" not in said(read(TIMED.format("a", 2) + TIMED.format("b", 2000)))
    many = said(read("".join(TIMED.format(f"n{number}", 2 + number) for number in range(19))))
    assert "(run 16); run 16 takes 8.5 times as long as run 1; 3 more are not compared" in many


def test_no_secret_of_a_command_stands_in_the_set_up(read: Load) -> None:
    assert "abcdefgh12345" not in said(read(SKIPPED.replace("a.onnx", "https://me:abcdefgh12345@host/a.onnx")))


def test_what_tells_the_runs_of_a_log_apart_stands_in_their_first_lines(read: Load) -> None:
    text = TIMED.format("a", 2) + TIMED.format("a", 4).replace("--int8", "--int8 --batch=8")
    first, second = (headline.text for headline in headlines(read(text)))
    assert "--batch=8" in second
    assert "--batch" not in first


def test_each_start_of_a_script_is_a_run_of_its_own_options(read: Load) -> None:
    text = "a.py[line:1] - INFO: Namespace(mode='{}')\na.py[line:9] - INFO: Inference time with the engine: {}\n"
    log = read(text.format("fp32", 0.5) + text.format("mix", 0.25) + "import tensorrt")
    assert [run.program for run in log.runs] == [Program.PYTHON] * 2
    assert "options mode='mix' (line 3)" in said(log)
    assert "runs: Inference time with the engine: 0.25 (run 2), 0.5 (run 1); run 1 has 2 times that of run 2" in said(
        log
    )


def test_options_that_a_script_prints_twice_at_one_start_are_of_one_run(read: Load) -> None:
    start = "Args: Namespace(mode='fp32', url='tcp://127.0.0.1:50164')\nRank of current process: 0\n"
    text = 2 * start + "TensorRT inference time for single image: 0.5 seconds\n"
    assert len(read(text + "import tensorrt").runs) == 1
    assert len(read(2 * text + "import tensorrt").runs) == 2


def test_a_program_that_names_no_tensorrt_anywhere_runs_without_it(read: Load) -> None:
    text = "Ultralytics 8.4.95 Python-3.12.3 torch-2.8.0 CPU\nONNX: export success 0.7s\nresult=FAIL\n{}"
    assert "without TensorRT" in headlines(read(text.format("onnxruntime ran")))[0].text
    assert "without TensorRT" not in headlines(read(text.format("TensorRT: starting export")))[0].text


def test_an_engine_that_could_not_be_written_was_not(read: Load) -> None:
    made = "[V] [TRT] Engine generation completed in 4.5 seconds."
    text = SKIPPED.replace("--onnx", "--saveEngine=b.plan --onnx").replace("[I] Engine built in 4.5 sec.", made)
    assert "written to b.plan" in headlines(read(text))[0].text
    assert "written to" not in headlines(read(text.replace("PASSED", "FAILED")))[0].text


def test_a_build_in_several_passes_is_one_whose_builder_took_their_sum(read: Load) -> None:
    passes = "".join(f"[V] [TRT] Engine generation completed in {seconds} seconds.\n" for seconds in (4, 2.5))
    log = read(f"[V] [TRT] Original: 3 layers\n{passes}[I] Finished engine building in 7 seconds\n")
    assert "built in 7 s" in headlines(log)[0].text
    assert "build: 7 s: builder 6.5 s in 2 passes" in said(log)


@pytest.mark.parametrize(("moved", "tells"), [(0.1, True), (5, False)])
def test_half_precision_is_advised_where_computing_takes_the_time(read: Load, moved: float, *, tells: bool) -> None:
    spread = "min = {0} ms, max = {0} ms, mean = {0} ms, median = {0} ms, percentile(99%) = {0} ms"
    text = TIMED.format("a", 2).replace("FP32+INT8", "FP32").replace(" --int8", "")
    device = "[I] === Device Information ===\n[I] Compute Capability: 8.6\n"
    copies = f"[I] H2D Latency: {spread.format(moved)}\n"
    assert ("first thing to try" in said(read(text.replace("&&&& PASSED", f"{device}{copies}&&&& PASSED")))) == tells


def test_a_command_is_cited_where_it_stands(read: Load) -> None:
    assert "--onnx=a.onnx --int8 (line 3)" in said(read("what happened:\n\n" + TIMED.format("a", 2)))
    typed = "what happened:\n\n$ trtexec --loadEngine=a.plan\n[I] Engine loaded in 0.5 sec.\n"
    assert "command trtexec --loadEngine=a.plan (line 3)" in said(read(typed))


def test_a_load_that_is_cut_off_loaded_no_engine(read: Load) -> None:
    text = said(read("&&&& RUNNING TensorRT.trtexec [TensorRT v8503] # trtexec --loadEngine=a.plan\n"))
    assert "no engine was loaded" in text
    assert "only loaded" not in text


def test_outputs_stand_beside_the_inputs_in_the_set_up(read: Load) -> None:
    bound = (
        "[I] Input binding for x with dimensions 1x3 is created.\n[11/21/2026-10:05:01] [I] Output binding for y with "
    )
    text = said(read(TIMED.format("a", 2).replace("[I] GPU", f"{bound}dimensions 1x8 is created.\n[I] GPU")))
    assert "input x 1x3" in text
    assert "output y 1x8" in text


def test_what_a_summary_says_of_its_items_stands_in_the_set_up(read: Load) -> None:
    text = said(read("result=FAIL\n[TRT] [I] Hello\nraw_result=FAIL\nbox_result=PASS\nfull_enabled=False\n"))
    assert "failed: raw" in text
    assert "passed: box" in text
    assert "not run: full" in text


@for_each(
    ("old", "new", "words"),
    [
        ("--int8", "--int8 --precisionConstraints=obey", "constrains nothing"),
        ("PASSED", "FAILED", "nothing is known of its speed"),
        ("--int8", "--loadEngine=a.plan", "only loaded"),
        ("5.0 ms", "0.005 ms", "mostly that of launches"),
        (
            "FP32+INT8",
            ON_AMPERE,
            "only FP32 was allowed",
        ),
        (
            "FP32+INT8",
            ON_ORIN,
            "only 4 of this Orin's 8 SMs",
        ),
    ],
)
def test_what_the_facts_amount_to_is_said(read: Load, old: str, new: str, words: str) -> None:
    whole = TIMED.format("a", "5.0")
    text = (
        whole.replace("\n", "\r\n").replace(old, new)
        if old != "PASSED"
        else whole[: whole.index("[11/21/2026-10:05:01")]
    )
    assert words in said(read(text))
    assert words not in said(read(whole))


def test_what_was_left_out_of_a_run_is_said_with_what_gives_it(read: Load) -> None:
    assert "--skipInference leaves the inference out: nothing was timed" in said(read(SKIPPED))
    assert "nothing was timed" not in said(read(TIMED.format("a", 2)))


def test_a_latency_far_below_its_limit_and_rare_stalls_are_told(read: Load) -> None:
    text = (
        "&&&& RUNNING Default_Harness # ./harness_default\nMLPerf Results Summary\nScenario : Server\n"
        "Result is : VALID\n99.00 percentile latency (ns) : 3000000\n99.90 percentile latency (ns) : 90000000\n"
        "target_qps : 10\ntarget_latency (ns): 15000000\n"
    )
    assert "p99 of 3 ms is far below the limit of 15 ms: a higher target_qps is possible" in said(read(text))
    assert "one call of a thousand takes 90 ms or more" in said(read(text))
    assert "target of 10 qps" in headlines(read(text))[0].text
    alone = text.replace("Server", "SingleStream")  # it prints a rate too, and aims at none
    assert "target of" not in headlines(read(alone))[0].text + said(read(alone))


def test_the_latency_of_a_query_is_not_that_of_its_samples(read: Load) -> None:
    both = "50.00 percentile latency (ns) : {}000000\n99.00 percentile latency (ns) : {}000000\n"
    of_samples = "Per-sample latency:\nMean latency (ns) : 2000000\n" + both.format(3, 4)
    log = read(
        "&&&& RUNNING Harness # ./harness\nMLPerf Results Summary\nQuery latency:\n" + both.format(8, 9) + of_samples
    )
    (build,) = log.builds
    assert build.figures("latency_ms") == {"median": 8, "p99": 9}
    assert build.figures("sample_latency_ms") == {"mean": 2, "median": 3, "p99": 4}
    assert "the latency is that of a query" in said(log)


def test_a_gpu_that_is_full_is_what_an_engine_fails_on_to_load(read: Load) -> None:
    text = (
        "&&&& RUNNING TensorRT.trtexec [TensorRT v8001] # trtexec --loadEngine=a.plan\n"
        "[11/21/2026-10:05:00] [I] === Device Information ===\n"
        "[11/21/2026-10:05:00] [I] Device Global Memory: 4000 MiB\n"
        "[11/21/2026-10:05:01] [I] [TRT] [MemUsageChange] Init CUDA: CPU +5, GPU +{0}, now: CPU 9, GPU {0} (MiB)\n"
        "[11/21/2026-10:05:02] [I] [TRT] Loaded engine size: 700 MB\n&&&& FAILED TensorRT.trtexec\n"
    )
    assert "3,500 of the GPU's 4,000 MiB were in use before the engine of 700 MiB" in said(read(text.format(3500)))
    assert "first suspect" not in said(read(text.format(300)))


def test_the_file_that_a_programs_log_went_to_is_the_next_to_read(read: Load) -> None:
    text = (
        "import tensorrt\nlog file: out/a.log\n[TRT] [I] [MemUsageChange] Init builder kernel library: CPU +2, GPU +2, "
    )
    log = read(text + "now: CPU 9, GPU 9 (MiB)\n" + "[TRT] [V] Registered plugin creator - ::A version 1\n" * 20)
    assert "out/a.log is named as its log" in said(log)


def test_a_summary_of_mlperf_alone_is_read(read: Load) -> None:
    text = "=====\nMLPerf Results Summary\n=====\nSUT name : LWIS_Server\nScenario : MultiStream\nResult is : VALID\n"
    assert headlines(read(text))[0].text == "PASSED · MLPerf · MultiStream, VALID"


def test_what_the_options_and_the_number_of_calls_make_of_the_figures_is_said(read: Load) -> None:
    traced = "[I] Warmup completed 0 queries over 0 ms\n[11/21/2026-10:05:01] [I] Timing trace has 20 queries over 1 s"
    log = read(TIMED.format("a", 2).replace("--int8", "--int8 --warmUp=0").replace("[I] GPU", f"{traced}\n[I] GPU"))
    text = said(log)
    assert "the figures rest on 20 calls" in text
    assert "nothing warmed up (--warmUp=0)" in text
    assert "is mostly start-up" in said(read(SKIPPED))
    kept = SKIPPED.replace("--skip", "--saveEngine=a.plan --skip").replace("built in 4.5", "built in 45")
    assert "is not kept" in said_further(SKIPPED, read)
    assert "is not kept" not in said_further(kept, read)
    assert "start-up" not in said(read(kept))


def test_memory_is_said_to_be_that_of_the_largest_shapes(read: Load) -> None:
    shapes = "[I] === Build Options ===\n[I] Input build shape: x=1x3+4x3+8x3\n[V] [TRT] Total Activation Memory: {}\n"
    text = SKIPPED.replace("[11/21", f"{shapes.format(512 << 20)}[11/21", 1)
    assert "memory is planned for the largest shapes, x 8x3" in said(read(text))
    assert "largest shapes" not in said(read(text.replace("8x3", "4x3")))


def test_figures_are_told_apart_by_the_title_above_them_and_by_the_tag_before_them(read: Load) -> None:
    text = (
        "=== Encoder ===\nTokens/Second: {}\n=== Decoder (all) ===\nTokens/Second: {}\n[INT8] Epoch 1, test acc = {}\n"
    )
    log = read("[TRT] [I] Hello\n" + text.format(900, 60, 0.9))
    (headline,) = headlines(log)
    assert "Tokens/Second: Encoder 900, Decoder 60; Decoder: INT8: test acc 0.9" in headline.text


def test_a_program_s_figures_are_of_the_engine_that_was_named_before_them(read: Load) -> None:
    text = "[TRT] [I] Hello\nLoading a_{0}.engine\nmean_ms={1} fps=500.5\n"
    (headline,) = headlines(read(text.format("fp16", 1.5) + text.format("int8", 0.75)))
    assert "fps: a_fp16 500, a_int8 500" in headline.text.replace("FPS", "fps")
    rows = said(read(text.format("fp16", 1.5) + text.format("int8", 0.75)))
    assert "mean_ms in ms: a_fp16 1.5, a_int8 0.75" in rows


def test_times_on_a_few_levels_are_told_in_their_order(read: Load) -> None:
    times = [24.9] * 12 + [17.5] * 12 + [32.5] * 60
    lines = [f"Speed: {time}ms inference, 0ms loss" for time in times]
    text = headlines(read("\n".join(["[TRT] [I] Hello", *lines])))[0].text
    assert "inference 24.9 (12 times), then 17.5 (12 times), then 32.5 (60 times) ms" in text
    rounded = [f"Speed: 0.{15 + place % 3}ms inference, 0ms loss" for place in range(60)]
    assert "then" not in headlines(read("\n".join(["[TRT] [I] Hello", *rounded])))[0].text
    smooth = [f"Speed: {17 + place / 4}ms inference, 0ms loss" for place in range(80)]
    assert "then" not in headlines(read("\n".join(["[TRT] [I] Hello", *smooth])))[0].text


def test_a_wide_tolerance_and_a_pass_by_the_relative_error_alone_are_said(read: Load) -> None:
    passed = COMPARED.replace("[abs=0.001, rel=0.001]", "[abs=0.1, rel=10]").replace(
        "FAILED | Output", "PASSED | Output"
    )
    text = said(
        read(passed.replace("Difference exceeds", "Difference is within").replace("Passed: 0/1", "Passed: 1/1"))
    )
    assert "tolerance abs 0.1, rel 10, which is 1000% and lets nearly all pass; a passes by the relative error" in text


def test_what_a_comparison_is_worth_and_what_was_not_done_is_said_further(read: Load) -> None:
    further = said_further(COMPARED, read)
    assert "random inputs were compared" in further
    assert "computes on the CPU" in further
    assert "random inputs" not in said_further(COMPARED.replace("m.onnx", "m.onnx --load-inputs a.json"), read)
    assert "states no time of an inference" in said_further(SKIPPED.replace(" --skipInference", ""), read)
    assert "states no time" not in said_further(TIMED.format("a", 2), read)


def test_a_table_of_measures_by_what_was_measured_is_read(read: Load) -> None:
    table = "METRIC | TORCH | MINE\n------\nAvg Latency (ms) | 64.5 | 15.25\nWord Error Rate (%) | 35.5 | 162.5\n"
    (headline,) = headlines(read(f"[TRT] [I] Hello\n{table}"))
    assert "Avg Latency in ms: TORCH 64.5, MINE 15.2" in headline.text
    assert "Word Error Rate" in said(read(f"[TRT] [I] Hello\n{table}")) + headline.text


def test_equal_outputs_and_one_value_throughout_are_said(read: Load) -> None:
    text = COMPARED.replace("min=0 at (0,), max=10 at", "min=3 at (0,), max=3 at").replace("max=0.5", "max=0")
    assert "no difference at all; a is 3 throughout" in said(read(text))
    assert "no difference at all" not in said(read(COMPARED))


def test_a_time_to_load_is_none_of_an_inference(read: Load) -> None:
    text = "[TRT] [I] Loaded engine size: 3 MiB\n{} takes: 12.01 sec\nresult=PASS\n"
    assert "the log states no time of an inference" in said_further(text.format("Load engine"), read)
    assert "the log states no time of an inference" not in said_further(text.format("Inference"), read)


def test_what_names_no_gpu_and_no_release_is_said_of_both(read: Load) -> None:
    text = "[TRT] [I] Loaded engine size: 3 MiB\n"
    assert "name neither the GPU nor TensorRT's release" in said_further(text, read)
    assert "name neither" not in said_further(TIMED.format("a", 2), read)


@for_each(
    ("command", "words"),
    [
        ("run m.onnx --onnxrt --validate", "not for right values"),
        ("run m.onnx --onnxrt", "TensorRT did not run"),
        ("surgeon sanitize m.onnx -o n.onnx", "the model was changed and not run"),
        ("inspect model m.onnx", "nothing was built and nothing was run"),
        ("debug reduce m.onnx --check polygraphy inspect model polygraphy_debug.onnx", "the search came to its end"),
    ],
)
def test_what_a_command_of_polygraphy_shows_and_what_not(command: str, words: str, read: Load) -> None:
    text = f"[I] RUNNING | Command: polygraphy {command}\n[I] PASSED | Runtime: 1.2s | Command: polygraphy {command}\n"
    assert words in said_further(text, read)
    assert ("nothing was run" in said_further(text, read)) is command.startswith("inspect")


def test_validated_outputs_are_not_compared(read: Load) -> None:
    text = (
        "[I] RUNNING | Command: polygraphy run m.onnx --onnxrt --validate\n"
        "[I]     onnxrt-runner-N0-1 | Validating output: y (check_inf=True, check_nan=True)\n"
        "[I]         PASSED | Output: y is valid\n[I]     PASSED | Output Validation\n"
    )
    assert "random inputs were compared" not in said_further(text, read)


def test_a_build_that_fails_behind_the_import_has_read_its_model(read: Load) -> None:
    text = SKIPPED.replace("PASSED", "FAILED").replace(
        "[I] Engine built in 4.5 sec.",
        "[I] Finished parsing network model. Parse time: 0.008\n[11/21/2026-10:05:01] [E] {}",
    )
    assert "the model itself was read" in said_further(text.format("Cannot create DLA engine, 0 not available"), read)
    node = "[shuffleNode.cpp::symbolicExecute::387] Error Code 4: Internal Error\n[11/21/2026-10:05:01] [E] "
    assert "the model itself was read" not in said_further(text.format(f"{node}Failed to parse onnx file"), read)


def test_steps_of_an_inference_are_told_as_parts_of_their_sum(read: Load) -> None:
    text = "[TRT] [I] Loaded engine size: 3 MiB\n| INFO | __main__:<module>:7 - Average {}: {}s\n"
    steps = [text.format(*each) for each in (("preprocess", 0.06), ("inference", 0.03), ("postprocess", 0.01))]
    log = read("\n".join(steps))
    assert "Average of 0.1 s together: preprocess 60%, inference 30%, postprocess 10%" in said(log)
    assert headlines(log)[0].word == "INFERENCE RAN"
    twice = read("\n".join([*steps, *(step.replace("0.03", "0.13") for step in steps)]))
    assert "Average of 0.15 s together on average: preprocess 40%, inference 53%, postprocess 7%" in said(twice)
    assert " together" not in said(read("\n".join([*steps, steps[0]])))


def test_the_first_of_many_outputs_and_the_nearest_are_told(read: Load) -> None:
    begin, _, rest = COMPARED.partition("[I]     Comparing")
    body, _, end = rest.partition("[E] Accuracy")
    each = "".join(
        f"[I]     Comparing{body}".replace("'a'", f"'{name}'").replace("0.5 at", f"{error} at")
        for name, error in zip("abcde", (0.4, 0.9, 0.8, 0.7, 0.1), strict=True)
    )
    text = said(read(f"{begin}{each}[E] Accuracy{end}"))
    assert "of the first (in the order of the network, if that is known) 0.4 of a" in text
    assert "least 0.1 of e" in text
    assert "least" not in said(read(COMPARED))


def test_a_gpu_that_waits_between_calls_is_not_the_limit(read: Load) -> None:
    text = TIMED.format("a", 2).replace("[I] GPU", "[I] Total {}: {} s\n[11/21/2026-10:05:01] [I] GPU")
    wall = "[11/21/2026-10:05:01] [I] Total Host Walltime: 3 s\n[11/21/2026-10:05:01] [I] Total"
    waits = text.replace("[I] Total", f"[I] Total GPU Compute Time: 2.4 s\n{wall}", 1).format("Walltime", 3)
    assert "the GPU computed for 80% of the measured time" in said_further(waits, read)


def test_a_log_that_goes_on_behind_the_tactics_does_not_end_with_them(read: Load) -> None:
    timing = "[V] [TRT] --------------- Timing Runner: Conv_1 (CaskConvolution)\n[V] [TRT] Tactic: 0x1 Time: 0.2\n"
    assert "ends while tactics of Conv_1" in said(read(timing))
    built = "[I] [TRT] [MemUsageChange] Init CUDA\n[I] Finished engine building in 24.9 seconds\n"
    assert "ends while tactics" not in said(read(timing + built))


def test_an_output_is_told_behind_the_name_of_what_compared_it(read: Load) -> None:
    """Polygraphy 0.53 names the comparison, and prints what outputs hold behind all of them."""
    named = COMPARED.replace("Comparing Output", "simple | Comparing Output")
    other = named.partition("[I]     simple")[2].partition("[E] Accuracy")[0].replace("'a'", "'b'")
    both = named.replace("[E] Accuracy", f"[I]     simple{other}[E] Accuracy", 1)
    last = "[I]     trt-runner-N0-1: a | Stats: mean=7, std-dev=0, var=0, median=7, min=7 at (0,), max=7 at (0,)\n"
    text = said(read(both.replace("[E] Accuracy", f"{last}[E] Accuracy")))
    assert "2 of 2 outputs differ" in text
    assert "a is 7 throughout" in text


ONE_CALL = """\
[TRT] [I] Loaded engine size: 5 MiB
   TensorRT layer name    Runtime, %  Invocations  Runtime, ms
{0}  fc9         80.0%            1         4.00
========== net total runtime = 5.0 ms ==========
"""


def test_a_profile_of_one_call_is_no_steady_state_and_a_layer_far_above_its_kind_is_named(read: Load) -> None:
    rows = [f"  fc{place}          2.0%            1         0.10\n" for place in range(5)]
    words = said(read(ONE_CALL.format("".join(rows))))
    assert "the profile is of a single call, mostly the first" in words
    assert "fc9 takes 4 ms (line 8), and the other 5 of its kind 0.1 ms in the median" in words
    assert "of its kind" not in said(read(ONE_CALL.format("".join(rows[:2]))))


def test_the_rate_of_several_processes_is_told_for_each(read: Load) -> None:
    log = read("[TensorRT-LLM] [INFO] MPI size: 8, rank: 0\nToken Throughput (tokens/sec):  800.0\n")
    assert "8 processes share the model, mostly one a GPU: 100 tokens/s for each" in said(log)


def test_a_loaded_engine_tells_what_was_in_use_before_and_a_kept_one_where_it_may_get_lost(read: Load) -> None:
    loaded = SKIPPED.replace("--onnx=a.onnx", "--loadEngine=a.plan").replace(
        "Engine built in 4.5 sec.", "[TRT] [MemUsageChange] Init CUDA: CPU +1, GPU +0, now: CPU 1, GPU 2652 (MiB)"
    )
    assert "memory: 2,652 MiB were in use at the start" in said(read(loaded))
    kept = SKIPPED.replace("--skipInference", "--skipInference --saveEngine=/tmp/a.plan")
    assert "a folder that a restart empties" in said_further(kept, read)
    assert "a restart empties" not in said_further(kept.replace("=/tmp", "=/mnt"), read)


def test_relative_errors_that_are_infinite_are_not_passed_over(read: Load) -> None:
    other = COMPARED.replace("'a'", "'b'").replace(": a", ": b").replace("max=3 at", "max=inf at")
    lines = other.splitlines(keepends=True)[2:-1]
    both = "".join([*COMPARED.splitlines(keepends=True)[:-1], *lines, COMPARED.splitlines()[-1]])
    assert "of 1 output it is infinite, as where a value is 0, or not shown" in said(read(both))
    assert "infinite" not in said(read(COMPARED))


@pytest.mark.parametrize(("lines", "tells"), [(30, True), (3, False)])
def test_a_log_that_stops_in_a_build_does_not_say_why_and_an_excerpt_is_only_cut(
    lines: int, read: Load, *, tells: bool
) -> None:
    text = "Building the TensorRT engine\n" + "".join(
        f"[TRT] [V] Tactic: {number} Time: 0.25\n" for number in range(lines)
    )
    assert ("the log stops in the phase build and does not say why" in said(read(text))) is tells


SHAPED = "--int8 --minShapes=x:{}x3 --optShapes=x:4x3 --maxShapes=x:{}x3"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SHAPED.format(4, 4), "an engine of this profile takes x:4x3 alone"),
        (SHAPED.format(2, 8), "the smallest shape begins with 2 (--minShapes)"),
        (SHAPED.format(1, 8) + " --shapes=x:7x3", "measured at x:7x3, while tactics were chosen for x:4x3"),
        ("--int8 --optShapes=x:4x3", "without --minShapes and --maxShapes the engine takes x:4x3 alone"),
        ("--int8 --shapes=x:4x3", "without --minShapes and --maxShapes the engine takes x:4x3 alone"),
        ("--int8 --workspace=9000000", "--workspace counts MiB: 9000000 of them are more than a GPU has"),
    ],
)
def test_what_a_profile_forbids_and_a_limit_that_limits_nothing_is_said(read: Load, options: str, words: str) -> None:
    usual = f"{SHAPED.format(1, 8)} --shapes=x:4x3 --workspace=4096"
    assert words in said(read(TIMED.format("a", 2).replace("--int8", options)))
    assert words not in said(read(TIMED.format("a", 2).replace("--int8", usual)))


def test_a_run_whose_beginning_is_missing_is_one_and_a_loaded_engine_s_name_tells_its_type(read: Load) -> None:
    whole = TIMED.format("a", 2).replace("--int8", "--loadEngine=net_fp32.plan")
    whole = whole.replace("FP32+INT8", ON_AMPERE).replace("[I] GPU", "[I] Engine deserialized in 4.5 sec.\n[I] GPU")
    missing = "the beginning of this run is not in the text"
    assert missing in said_further(whole[whole.index("\n") + 1 :], read)
    assert missing not in said_further(whole, read)
    assert "if the engine computes in FP32, as its name says" in said(read(whole))
    assert "as its name says" not in said(read(whole.replace("_fp32", "_fp16")))
    sized = whole.replace("[I] Engine", "[I] [TRT] Loaded engine size: 7 MiB\n[I] Engine")
    assert "loading takes 4.5 s for a file of 7.0 MiB" in said(read(sized))
    assert "loading takes" not in said(read(sized.replace("7 MiB", "7000 MiB")))


@pytest.mark.parametrize(
    ("limit", "words"),
    [(4_000_000, "p99 of 3 ms is 25% below the limit of 4 ms"), (3_050_000, "p99 of 3 ms is close to the limit")],
)
def test_a_latency_near_its_limit_tells_what_is_left(read: Load, limit: int, words: str) -> None:
    text = (
        "MLPerf Results Summary\nSUT name : A\nScenario : Server\nMode : PerformanceOnly\nResult is : VALID\n"
        f"99.00 percentile latency (ns) : 3000000\ntarget_qps : 10\ntarget_latency (ns): {limit}\n"
    )
    assert words in said(read(text))
    assert words not in said(read(text.replace("Server", "Offline")))
    assert "no accuracy" in said(read(text))
    assert "no accuracy" not in said(read(f"{text}accuracy=75.34%, good=3767, total=5000\n"))


def test_calls_are_not_counted_where_trtexec_counts_inputs(read: Load) -> None:
    log = TIMED.format("a", 2).replace("[I] GPU", "[I] Timing trace has 40 queries over 3 s\n[I] GPU", 1)
    assert "the figures rest on 40 calls" in said(read(log))
    options = "[I] === Inference Options ===\n[I] Batch: 8\n[I] === Reporting Options ===\n[I] GPU"
    assert "figures rest on" not in said(read(log.replace("[I] GPU", options, 1)))


def test_an_accuracy_just_above_its_threshold_is_told(read: Load) -> None:
    gate = "&&&& RUNNING Default_Harness # ./harness_default\naccuracy: [PASSED] F1: {} (Threshold=80.000)\n"
    assert "accuracy passes with 0.10% to spare" in said(read(gate.format("80.080")))
    assert "to spare" not in said(read(gate.format("88.080")))


def test_an_engine_that_is_loaded_again_and_a_log_that_goes_on_are_told(read: Load) -> None:
    load = "[11/21/2026-10:05:00] [TRT] [I] Loaded engine size: 21 MiB\n"
    lines = "".join(f"[11/21/2026-10:05:01] [INFO] counter: frame {frame}\n" for frame in range(30))
    assert "an engine of 21 MiB was loaded 2 times" in said(read(load + load + lines))
    assert "was loaded" not in said(read(load + lines))
    assert "no line tells that the program came to its end" in said_further(load + lines, read)
    assert "came to its end" not in said_further(load, read)


def test_a_cache_far_above_its_need_is_told(read: Load) -> None:
    text = (
        "[TensorRT-LLM][INFO] TRTGptModel maxNumSequences: 2\n[TensorRT-LLM][INFO] TRTGptModel maxBeamWidth: 2\n"
        "[TensorRT-LLM][INFO] TRTGptModel maxBatchSize: 2\n[TensorRT-LLM][INFO] TRTGptModel maxSequenceLen: 100\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 9.00 GiB for max tokens in paged KV cache ({}).\n"
    )
    assert "the KV cache holds 9,000 tokens, of which all sequences at their longest need 400" in said(
        read(text.format(9000))
    )
    assert "the KV cache holds" not in said(read(text.format(500)))
    assert "the KV cache holds" not in said(read(text.format(9000).replace("SequenceLen", "InputLen")))


def test_errors_far_within_the_tolerance_are_told(read: Load) -> None:
    equal = COMPARED.replace("[abs=0.5]", "[abs=0.0000005]").replace("[E]", "[I]").replace("FAILED", "PASSED")
    equal = equal.replace("exceeds", "is within").replace("0/1", "1/1").replace("0.0%", "100.0%")
    equal = equal.replace("max=0.5 at", "max=5e-07 at")
    assert "the largest error is 0.0005 of the absolute tolerance" in said_further(equal, read)
    assert "of the absolute tolerance" not in said_further(COMPARED, read)
