"""Figures that programs state in words of their own, and the words that sum them up."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from trtforensics.parsers.builds.stated import number_of
from trtforensics.render.headline import first_line, headlines
from trtforensics.render.stated_rows import first_stated, stated_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

OF_TENSORRT = "[TRT] [I] Loaded engine size: 21 MiB\n"
SAID = {
    "Throughput: 34994.5 infer/sec": ["Throughput 34994 infer/sec"],
    "  p99 latency: 1337 usec": ["p99 latency 1337 usec"],
    "Speed: 0.9ms preprocess, 1.2ms inference per image": [
        "preprocess 0.9 ms",
        "inference per image 1.2 ms",
        "of 2.1 ms together: preprocess 43%, inference 57%",
    ],
    "[INFO] [1762419912.281314111] [node]: infer time: 3,5 ms": ["infer time 3.5 ms"],
    "Average request latency (ms):      1416.4": ["Average request latency 1416 ms"],
    "Load time:  14.69": ["Load time 14.7 (unit not printed)"],
    "Accuracy: 0.93 | mAP50: 0.5": ["Accuracy 0.93", "mAP50 0.5"],
    "Peak memory usage: 6.3 GB": ["Peak memory usage 6.3 GB"],
    "Memory (weights) in profiling: 4 GiB\nMemory (rest) in profiling: 2 GiB": [
        "Memory (rest) in profiling 2 GiB",
        "Memory (weights) in profiling 4 GiB",
    ],
    "Time: 5 ms\nTime: 7 ms": ["Time 5, 7 ms"],
    "\n".join(f"Step {n}: {40 + n} ms" for n in range(5)): ["Step N 40 to 44 ms (5 times, median 42, first 40)"],
    "Avg request latency: 400 usec (overhead 1 usec + queue 300 usec + compute infer 99 usec)": [
        "Avg request latency 400 usec: queue 300 (75%), compute infer 99 (25%)"
    ],
    "Precision  Latency (ms)  Size\nFP32  8.5  90\nINT8  2.5  23": [
        "Latency in ms: FP32 8.5, INT8 2.5 (INT8 is 3.4 x as fast as FP32, lines 3 and 4)"
    ],
    "Metric   Mean   Max\n-------\n-- Speed --\n  run_time_ms   4.5   9": ["run_time_ms in ms: Mean 4.5, Max 9"],
    "| model | fps |\n| a | 30 |": ["fps of a 30"],
    "".join(
        f"Timing net-{n}, 100 frames\nmulti: no\nMean inference: {ms} ms\n"
        for n, ms in zip("abc", (2, 3, 9), strict=True)
    ): ["Mean inference in ms: net-a 2, net-b 3, net-c 9"],
    "PyTorch latency: 9 ms\nTensorRT latency: 3 ms": [
        "latency in ms: PyTorch 9, TensorRT 3 (TensorRT is 3 x as fast as PyTorch, lines 2 and 3)"
    ],
    "batch 1 latency: 5 ms\nbatch 8 latency: 20 ms": ["latency in ms: batch 1 5, batch 8 20"],
    "         Format Status❔  Size (MB)  Inference time (ms/im)\n0       ONNX      ✅       5.9       4.5\n"
    "1   TensorRT      ✅      11.8       1.5": [
        "Inference time in ms: ONNX 4.5, TensorRT 1.5 (TensorRT is 3 x as fast as ONNX, lines 3 and 4)",
        "Size in MB: ONNX 5.9, TensorRT 11.8",
    ],
    "Average latency: 5.3 ms, P95: 6.1 ms": ["latency in ms: Average 5.3, P95 6.1"],
    "Decode latency (ms): mean 1.2, p99 3.4": ["Decode latency in ms: mean 1.2, p99 3.4"],
    "Latency of calls (ms):\n  Mean: 5.3\n  P99: 7.0": ["Latency of calls in ms: Mean 5.3, P99 7"],
    "net | batch=1 | 5 ms | 200 img/s\nnet | batch=8 | 16 ms | 500 img/s": [
        "rate in img/s: net | batch=1 200, net | batch=8 500",
        "time in ms: net | batch=1 5, net | batch=8 16",
    ],
    "trt_fp16_map50=0.5\ntrt_int8_map50=0.25": ["trt map50: fp16 0.5, int8 0.25"],
    "FP32: 10 ms\nINT8: 3 ms/image": ["time in ms: FP32 10, INT8 3 (INT8 is 3.33 x as fast as FP32, lines 2 and 3)"],
    "{'model': 'a', 'fps': 30.5}\n{'model': 'b', 'fps': 90.5}": ["fps: a 30.5, b 90.5"],
    "encoder: 10 ms\ndecoder: 40 ms\ntotal: 50 ms": [
        "decoder 40 ms",
        "encoder 10 ms",
        "total 50 ms",
        "total is made of decoder 80.0%, encoder 20.0%",
    ],
    "max diff: 0.5\nmax diff: 0.25": ["max diff 0.5, 0.25"],
    "Mean Total: 3 ms\nMean preprocess: 1 ms\nMean inference: 2 ms": [
        "Mean inference 2 ms",
        "Mean Total 3 ms",
        "Mean preprocess 1 ms",
        "Mean of 3 ms together: preprocess 33%, inference 67%",
    ],
    # no blank stands before the number; a line that is a type begins its figures
    "FP16\ninfer:9.5ms\nINT8\ninfer:3.5ms": [
        "infer in ms: FP16 9.5, INT8 3.5 (INT8 is 2.71 x as fast as FP16, lines 3 and 5)"
    ],
    "KV cache utilization: 30 %": ["KV cache utilization 30 %"],
    "GPU utilization: 45 %": ["GPU utilization 45 %"],
    "Cosine similarity: 0.99998": ["Cosine similarity 0.99998"],
    "Total time per picture: 60 ms\ninference only per picture: 20 ms": [
        "Total time per picture 60 ms",
        "inference only per picture 20 ms",
    ],
    "".join(f"took: {ms} ms\n" for ms in (90, *[10] * 4, 11)): [
        "took first 90 ms as of warm-up, building or loading, then 10 to 11 ms (5 times, median 10)"
    ],
    "took: 90 ms\ntook: 10 ms\ntook: 11 ms\n": ["took first 90 ms, then 10, 11 ms"],
    "FPS: 3\nFPS: 60\nFPS: 61\n": ["FPS first 3, then 60, 61"],
    # of growing batches
    "".join(f"took: {ms} ms\n" for ms in (90, 40, 20, 10, 5)): ["took 5 to 90 ms (5 times, median 20, first 90)"],
    # names of pictures tell no sides
    "".join(
        f"[image] loaded '/tmp/p{at}x'  (64x48, 3 channels)\nDone in {ms} ms\n" for at, ms in enumerate((90, 9, 9))
    ): ["Done in first 90 ms, then 9 ms"],
    "Speed: 50 ms preprocess, 450 ms inference\n" + "Speed: 1 ms preprocess, 9 ms inference\n" * 2: [
        "inference first 450 ms, then 9 ms",
        "of 10 ms together on average after the first: preprocess 10%, inference 90%",
        "preprocess first 50 ms, then 1 ms",
    ],
    "fp16_latencyMs_mean=7.5\n": ["fp16_latencyMs_mean 7.5 Ms"],
    "num_bytes=268435456\n": [],
    "int8_build_seconds=164\n": ["int8_build_seconds 164 seconds"],
    # a table says what ran in one column and of what in another; cells may be bold and hold units
    "| Net | Runs as | Zeit pro Bild |\n|---|---|---|\n| a | Torch FP32 | 8 ms |\n| a | TensorRT FP16 | **2 ms** |\n"
    "| b | Torch FP32 | 9 ms |\n| b | TensorRT FP16 | 3 ms |": [
        "Zeit pro Bild in ms: a Torch FP32 8, a TensorRT FP16 2, b Torch FP32 9, b TensorRT FP16 3"
    ],
    # sides are columns, with an index before the rows
    "| # | GPU | PyTorch | TensorRT |\n|---|---|---|---|\n| 1 | big | 6 ms | 2 ms |\n| 2 | small | 9 ms | — |": [
        "time in ms: big PyTorch 6, big TensorRT 2, small PyTorch 9"
    ],
    "Modell | Punkte acc\n---|---\nvanilla | 0,912\nTRT int8 | 0,874": [
        "Punkte acc: vanilla 0.912, TRT int8 0.874 (TRT int8 is 0.038 below vanilla, lines 4 and 5)"
    ],
    # columns whose names differ in brackets alone; decimal commas; spread; a side that a table lacks
    "".join(
        f"# net bs {size}\n| Kind | im/s +-95% | accuracy (A@1) (%) | accuracy (A@5) (%) |\n|---|---|---|---|\n"
        f"| vanilla | 1.010,5  +1,1 -1,2 | 70.0 | 90.0 |\n" + of_engine
        for size, of_engine in (
            (1, "| trt_int8 | 4.042,0 +2,1 -2,2 | 69.0 | 89.5 |\n"),
            (8, "| trt_int8 | 2.021,0 +2,1 -2,2 | 68.0 | 89.0 |\n"),
            (9, ""),
        )
    ): [
        (
            "im/s: net bs 1 vanilla 1010, net bs 1 trt_int8 4042, net bs 8 vanilla 1010, net bs 8 trt_int8 2021, "
            "net bs 9 vanilla 1010"
        ),
        (
            "accuracy A@1 in %: net bs 1 vanilla 70, net bs 1 trt_int8 69, net bs 8 vanilla 70, net bs 8 trt_int8 68, "
            "net bs 9 vanilla 70"
        ),
        (
            "accuracy A@5 in %: net bs 1 vanilla 90, net bs 1 trt_int8 89.5, net bs 8 vanilla 90, "
            "net bs 8 trt_int8 89, net bs 9 vanilla 90"
        ),
    ],
    "| Stack | Preprocess | Inference | Total |\n|--|--|--|--|\n| torch | 1 ms | 3 ms | 4 ms |\n"
    "| trt | 1 ms | 1 ms | 2 ms |": [
        "Preprocess in ms: torch 1, trt 1",
        "Inference in ms: torch 3, trt 1 (trt is 3 x as fast as torch, lines 4 and 5)",
        "Total in ms: torch 4, trt 2 (trt is 2 x as fast as torch, lines 4 and 5)",
    ],
    # a column of types is none of precisions; the last cell may be empty; numbers tell columns apart
    "| Precision | GPU mean 1x1 | GPU mean 2x2 | note |\n|--|--|--|--|\n| FP32 | 4 ms | 9 ms | |\n"
    "| FP16 | 2 ms | 3 ms | |": [
        "GPU mean 1x1 in ms: FP32 4, FP16 2 (FP16 is 2 x as fast as FP32, lines 4 and 5)",
        "GPU mean 2x2 in ms: FP32 9, FP16 3 (FP16 is 3 x as fast as FP32, lines 4 and 5)",
    ],
    # a bar of progress is no head of a table
    "crow: 100%|██████████| 50/50 [00:15<00:00, 32.87it/s]\n\n  Mean: 30.5 ms\n  Min:  29 ms\n  Max:  37 ms": [
        "Mean 30.5 ms",
        "Min 29 ms",
        "Max 37 ms",
    ],
}
"""Lines, and the words that sum them up."""
NOT_SAID = [
    "Latency limit: 0 msec",
    "Measurement window: 5000 msec",
    "100% 44.7M/44.7M [00:00<00:00, 120MB/s]",
    "batch_size: 32",
    "max_latency_level: 3",
    "Error Code 3: at 12:00:05",
    "rate=-1 req/s",
    "it warms up for at least 200 ms and runs inference",
    "/a/b/c.jpg: 3 persons, 29 things",
    "for time in 3, 5:",
    f"Latency: {'9' * 400} ms\nTime: 1e999 ms\nTime: 12:1:. ms",
]


def told(load: Load, text: str) -> list[str]:
    results = [each for build in load(OF_TENSORRT + text).builds for each in build.results]
    first = "".join(first_stated(results)).removeprefix("stated: ").split("; ")
    return [*filter(None, first), *(words for words, _ in stated_rows(results))]


def test_figures_are_told_under_the_names_that_programs_give_them(load: Load) -> None:
    assert {text: sorted(told(load, text)) for text in SAID} == {text: sorted(words) for text, words in SAID.items()}


def test_settings_progress_and_prose_state_nothing(load: Load) -> None:
    assert [text for text in NOT_SAID if told(load, text)] == []


def test_the_first_line_has_a_rate_a_time_and_an_accuracy_and_the_rest_stands_below(load: Load) -> None:
    text = "Load time: 3 s\nLatency: 5 ms\nAverage latency: 6 ms\nFPS: 20\nmAP50: 0.4\n"
    log = load(OF_TENSORRT + text)
    assert first_line(headlines(log)).endswith("· stated: FPS 20; Average latency 6 ms; mAP50 0.4")
    below = [(words, span.line) for words, span in stated_rows(log.builds[0].results)]
    assert below == [("Load time 3 s", 2), ("Latency 5 ms", 3)]
    keys = {"Load time [s]", "Latency [ms]", "Average latency [ms]", "FPS", "mAP50"}
    assert {result.key for result in log.builds[0].results} >= {f"{key} as stated" for key in keys}


@for_each(
    ("text", "number"),
    [("19,41", 19.41), ("1,234", 1234), ("1,234.5", 1234.5), ("-2e-3", -0.002), ("0,912", 0.912), ("1.376,7", 1376.7)],
)
def test_a_comma_is_a_point_unless_it_groups(text: str, number: float) -> None:
    assert number_of(text) == number


def test_what_is_no_number_is_nan() -> None:
    assert isnan(number_of("-"))


@for_each(
    ("before", "text"),
    [
        ("", '"pid": 71, "tid": 71, "ts": 512ns : Date + time of test: 2026-11-09T20:38:24Z'),
        ("", "time of nests: 2026-11-09T20:38:24Z"),
    ],
)
def test_a_date_and_a_stamp_of_load_are_no_figures(load: Load, before: str, text: str) -> None:
    assert told(load, f"{before}{text}\n") == []


def test_labels_of_lines_with_blanks_behind_them_are_rows(load: Load) -> None:
    lines = ["  Keras     e2e:  7.5 ms  kernel:  0.5 ms", "  AOTInductor  e2e:  1.9 ms", "  Pure CUDA  e2e: 2.5 ms"]
    words = told(load, "\n".join(["TensorRT  e2e: 1.7 ms  kernel: 0.2 ms", *lines]))
    assert [each.partition(" (")[0] for each in words] == [
        "e2e in ms: TensorRT 1.7, Keras 7.5, AOTInductor 1.9, Pure CUDA 2.5",
        "kernel in ms: TensorRT 0.2, Keras 0.5",
    ]


def test_figures_of_the_calibration_graph_are_not_the_engines(load: Load) -> None:
    graph = ["Perform graph optimization on calibration graph.", "Engine generation completed in 0.7 seconds."]
    lines = [*graph, "Starting Calibration.", "Engine generation completed in 7.7 seconds."]
    (build,) = load("".join(f"[TRT] [I] {line}\n" for line in lines)).builds
    assert [each.number for each in build.results] == [7.7]


@for_each(
    "between",
    [
        "Requirement already satisfied: crow>=1.5 in /opt/py (2.1)",
        "2026-11-09 W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
        "2026-11-09 20:30:37,706 - [modelopt][onnx] - INFO - Exported baseline model out/crow.txt",
    ],
)
def test_what_installs_and_warns_gives_figures_no_side(load: Load, between: str) -> None:
    (words, *_) = told(load, f"Average batch time: 44.25 ms\n{between}\nAverage batch time: 32.5 ms\n")
    assert words.startswith("Average batch time 44.2, 32.5 ms")


def test_the_end_of_a_long_log_is_read(load: Load) -> None:
    log = load(OF_TENSORRT + "".join(f"picture {n} is done\n" for n in range(2500)) + "Mean latency: 5 ms\n")
    assert first_stated(log.builds[0].results) == ["stated: Mean latency 5 ms"]


def test_values_that_take_turns_are_no_levels(load: Load) -> None:
    (words, *_) = told(load, "".join(f"inference: {ms} ms\n" for ms in [10.0, 20.0] * 20))
    assert words.startswith("inference 10 to 20 ms (40 times")


def test_an_engine_owns_the_time_in_which_it_was_built(load: Load) -> None:
    text = "Building engine of {0}/m.onnx: out/{0}.v1.plan\n[I] Finished engine building in {1} seconds\n"
    steps = (("stem", "7.25"), ("neck", "9.5"), ("head", "3.75"))
    (headline, *_) = headlines(load("".join(text.format(*step) for step in steps)))
    assert "built in stem 7.25, neck 9.5, head 3.75 s" in headline.text


def test_a_file_named_behind_a_time_owns_none_that_comes_later(load: Load) -> None:
    text = "".join(
        f"[I] Finished engine building in {seconds} seconds\n[I] Saving engine to out/{name}.plan\n"
        for name, seconds in (("stem", "7.25"), ("head", "3.75"))
    )
    (headline, *_) = headlines(load(f"Nothing is left of out/old.plan\n{text}"))
    assert "built in 7.25, 3.75 s" in headline.text


def test_a_build_time_is_of_the_engine_that_was_begun_before_it(load: Load) -> None:
    text = "--- Making {0} -> {1} ---\nTensorRT: building {1} engine as {0}.engine\nTensorRT: export success 12.5s\n"
    pairs = (("net_a", "FP32"), ("net_a", "INT8"), ("net_b", "FP32"))
    rows = told(load, "".join(text.format(*pair) for pair in pairs))
    assert any("net_a FP32 12.5, net_a INT8 12.5, net_b FP32 12.5" in row for row in rows)
