"""Where a log pauses: named with the line behind the pause, found without reading all lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.knowledge.table import rows
from trtforensics.parsers.text.text import LogText
from trtforensics.parsers.text.windows import Window
from trtforensics.render.text_rows import listings, outputs, pauses, printed_values, telling_lines
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

SANITIZED = """\
    ---- 1 Graph Input(s) ----
    {images [dtype=float32, shape=('N', 3)]}
    ---- 5 Graph Output(s) ----
    {a [dtype=float32, shape=(1,)],
     b [dtype=float32, shape=(2,)],
     c [dtype=int64, shape=(3,)],
     d [dtype=bool, shape=()],
     e [dtype=bool, shape=(5,)]}
[I] and then
    ---- 1 Graph Input(s) ----
    {images [dtype=float32, shape=(7, 3)]}
    ---- Inference Output(s) ----
"""
BOUND = """\
Input ->DataType.FLOAT, (-1, 3), (2, 3), images
Output->DataType.INT64, (2,), (2,), classes
images
[[1. 2. 3.]
 [4. 5. 6.]]
classes
[8 8 8 8 8]
scores = [0.1, 0.7, nan, 0.2, 0.0]
classes
[8 8 8 8 8]
[11/21/2026-10:05:00] [I] [1, 2, 3]
best:
[3]
best: [4]
tensor([[0., 0.,  ..., 0.],
        [0., 0.,  ..., 0.]], device='cuda:0')
tensor([5, 6, 7, 8, 9])
open
[[1. 2.
end
"""


def test_the_longest_pauses_are_named_with_the_line_behind_them(tmp_path: Path) -> None:
    lines = [f"[11/21/2026-10:00:{10 + (number > 400) * 30:02}] [TRT] [I] line {number}" for number in range(1, 801)]
    (tmp_path / "b.log").write_text("\n".join([*lines, "[11/21/2026-10:00:44] [TRT] [I] end"]))
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (row,) = pauses(read)
    first, *named = row.text.split("; ")
    assert first == "from 10:00:10 to 10:00:44, 34 s"
    assert [each.partition(":")[0] for each in named] == ["30 s before line 401", "4 s before line 801"]
    assert named[1].endswith(": end")


def test_a_pause_is_named_by_what_takes_the_time(tmp_path: Path) -> None:
    text = "[11/21/2026-10:00:10] [I] [TRT] Global timing cache in use.\n[11/21/2026-10:00:40] [I] [TRT] {}"
    (tmp_path / "b.log").write_text(text.format("Detected 2 inputs and 1 output network tensors."))
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert next(iter(pauses(read))).text.endswith("; 30 s timing tactics and compiling them (to line 2)")


def test_a_pause_behind_the_importer_is_not_that_of_the_libraries_named_after_it(tmp_path: Path) -> None:
    text = (
        "[11/21/2026-10:00:10] [I] [TRT] MatMul_7: broadcasting input0 to make tensors conform\n"
        "[11/21/2026-10:01:10] [I] [TRT] [MemUsageChange] Init cuBLAS/cuBLASLt: CPU +7, GPU +10\n"
        "[11/21/2026-10:01:30] [I] [TRT] [MemUsageChange] Init cuDNN: CPU +1, GPU +10\n"
    )
    (tmp_path / "b.log").write_text(text)
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert next(iter(pauses(read))).text.split("; ")[1:] == [
        "60 s reading and optimising the graph (to line 2)",
        "20 s loading cuDNN (to line 3)",
    ]


@for_each("before", ["Loaded engine size: 9 MiB", "[MemUsageSnapshot] deserializeCudaEngine begin: CPU 9 MiB"])
def test_where_an_engine_is_loaded_no_graph_is_optimised(before: str, tmp_path: Path) -> None:
    text = (
        f"[11/21/2026-10:00:10] [I] [TRT] {before}\n"
        "[11/21/2026-10:01:10] [I] [TRT] [MemUsageChange] Init cuBLAS/cuBLASLt: CPU +7, GPU +10\n"
    )
    (tmp_path / "b.log").write_text(text)
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert next(iter(pauses(read))).text.split("; ")[1:2] == ["60 s loading cuBLAS and cuDNN (to line 2)"]


def test_loads_with_work_between_them_are_no_time_of_one(tmp_path: Path) -> None:
    loads = [f"[11/21/2026-10:00:{second}] [TRT] [I] Loaded engine size: {second} MiB\n" for second in (10, 30)]
    (tmp_path / "b.log").write_text("".join(loads))
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert not any("load 20 s" in row.text for row in pauses(read))


def test_days_count_and_a_log_of_two_clocks_tells_nothing(tmp_path: Path) -> None:
    said = "2026-01-0{} {}:00:00 INFO a\n[TRT] [I] Hello\n"
    undated = "I0102 12:00:00.1 7 model.cc:3] b\n"
    for times, expected in (
        (((1, 23), (2, "01")), ["from 23:00:00 to 01:00:00, 7200 s"]),
        (((1, 10), (1, "03")), []),
        (((1, 10), (1, 11), ()), ["from 10:00:00 to 12:00:00, 7200 s"]),
    ):
        (tmp_path / "b.log").write_text("".join(said.format(*each) if each else undated for each in times))
        read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        assert [row.text.partition(";")[0] for row in pauses(read)] == expected


def test_a_stamp_of_no_day_is_no_date(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text("".join(f"[00/24/2026-14:31:{second}] [TRT] [I] a\n" for second in (10, 40)))
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert [row.text.partition(";")[0] for row in pauses(read)] == ["from 14:31:10 to 14:31:40, 30 s"]


@pytest.mark.parametrize(
    ("first", "second", "step"),
    [
        ("Serializing engine to out/nest.engine", "Engine serialized. Total time: 00:00:50", "loading the engine"),
        ("80 weights are affected by this issue", "CUDA lazy loading is not enabled.", "starting CUDA"),
        ("Exported in 7 s", "Loaded engine size: 7 MiB", "loading the engine"),
        ("Crow is ready", "Perform graph optimization on calibration graph.", "calibrating"),
        ("Local timing cache in use.", "Compiler backend is used during engine build.", "starting the builder"),
    ],
)
def test_what_comes_behind_a_build_starts_and_loads_nothing(first: str, second: str, step: str, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"[11/21/2026-10:05:00] [TRT] [I] {first}\n[11/21/2026-10:05:50] [TRT] [I] {second}\n")
    read = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    assert not any(step in row.text for row in pauses(read))


def test_a_log_of_one_second_or_without_stamps_has_none(tmp_path: Path) -> None:
    for text in ("[11/21/2026-10:00:10] [TRT] [I] a\n[11/21/2026-10:00:11] [TRT] [I] b", "[TRT] [I] a", ""):
        (tmp_path / "b.log").write_text(text or "[TRT] [I] x")
        read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        assert [*pauses(read)] == []


def test_the_timed_inferences_are_no_pause(tmp_path: Path) -> None:
    text = (
        "[11/21/2026-10:00:10] [I] Starting inference\n[11/21/2026-10:00:13] [I] Warmup completed 10 queries over 2 ms"
    )
    (tmp_path / "b.log").write_text(text)
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert [row.text for row in pauses(read)] == ["from 10:00:10 to 10:00:13, 3 s"]


def test_lines_without_a_finding_are_told_with_what_they_mean() -> None:
    text = LogText()
    lines = [
        *(f"[W] Missing scale and zero-point for tensor t{n}, expect fall back to non-int8" for n in range(6)),
        "[I] Running check command: polygraphy run m.onnx --trt",
        "[I] Running check command: polygraphy run polygraphy_debug.onnx --trt",
        "Generated: /tmp/runs/a.nsys-rep",
        "Starting 3 of nothing",
    ]
    text.append(Window(1, 0, "\n".join(lines).encode()))
    told = telling_lines(text)
    assert [lines[0] for lines, _ in told] == [1, 7, 8, 9]
    scales, check, _, made = (row.text for _, row in told)
    assert "whose layers run in another type: t0, t1, t2, t3 and 2 more;" in scales
    assert scales.endswith("of another model, integers need none (line 1)")
    assert "'polygraphy run m.onnx --trt' does not name polygraphy_debug.onnx" in check
    assert made == "Nsight Systems wrote its report a.nsys-rep (line 9)"


@pytest.mark.parametrize("table", ["telling_lines", "pauses"])
def test_every_row_names_only_groups_that_its_pattern_has(table: str) -> None:
    """A slip in a row would show only where its line comes."""
    for row in rows(table, "trtforensics.render"):
        groups = re.compile(row.get("pattern", "")).groups
        assert {int(name) for name in re.findall(r"\{(\d)", row.get("text", ""))} <= {*range(groups)}, row


def test_dumped_outputs_are_told_by_their_value_or_the_place_of_the_largest() -> None:
    text = LogText()
    text.append(Window(1, 0, b"[I] y: (1x5)\n[I] 0.1 0.75 -2e-3 0 0\n[I] z: (2)\n[I] 1 2.5\n[I] w: (2)\n[I] of words"))
    assert [row.text for row in outputs(text)] == [
        "y: 5 values from -0.002 to 0.75, the largest at index 1 (line 2)",
        "z: 1, 2.5 (line 4)",
    ]


def text_of(lines: str) -> LogText:
    text = LogText()
    text.append(Window(1, 0, lines.encode()))
    return text


def test_lists_of_polygraphy_are_told_with_what_became_of_them() -> None:
    assert [f"{row.label} {row.text}" for row in listings(text_of(SANITIZED))] == [
        "inputs of the model: images float32 ('N', 3); then images float32 (7, 3) (line 1)",
        "outputs of the model: 5 tensors, a float32 (1,), b float32 (2,), c int64 (3,), d bool () and 1 more (line 3)",
    ]


LISTED = """\
    ---- 2 Network Input(s) ----
    {a [dtype=float32, shape=(1,)],
     b [dtype=int32, shape=(2,)]}
    Layer 0    | c1 [Op: LayerType.CONVOLUTION]
    Layer 1    | r1 [Op: ActivationType.RELU]
    Layer 2    | c2 [Op: LayerType.CONVOLUTION]
        Layer 0    | c1 + r1 [Op: CaskConvolution]
        Layer 0    | c1 + r1 [profile 1] [Op: CaskConvolution]
    Node 0    |  [Op: Conv]
"""
REPLAY = """\
        Algorithm: (Implementation: 1, Tactic: 2) | Inputs: (TensorInfo(DataType.HALF, (1,), 1, 8),) | Outputs: ()
        Algorithm: (Implementation: 1, Tactic: 2) | Inputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'),) | Outputs: ()
"""


def test_layers_that_polygraphy_lists_are_counted_by_type() -> None:
    rows_of = [f"{row.label} {row.text}" for row in listings(text_of(LISTED))]
    assert rows_of == [
        "inputs of the network: a float32 (1,), b int32 (2,) (line 1)",
        "layers of the network: 3 layers: CONVOLUTION 2, ACTIVATION 1 (line 4)",
        "layers of the engine: 1 layer: CaskConvolution 1 (line 7)",
        "layers of the model: 1 layer: Conv 1 (line 9)",
    ]
    assert [row.text for row in listings(text_of(REPLAY))] == [
        "of the replay: 2 tactics, their first inputs: HALF 1, FLOAT 1 (line 1)"
    ]


def test_bindings_are_told_with_the_shape_of_the_inference() -> None:
    assert [f"{row.label} {row.text}" for _, row in telling_lines(text_of(BOUND))] == [
        "inputs of the inference: images FLOAT (2, 3) (line 1)",
        "outputs of the inference: classes INT64 (2,) (line 2)",
    ]


def test_printed_arrays_are_told_by_their_values_or_ends() -> None:
    assert [row.text for row in printed_values(text_of(BOUND))] == [
        "images: 6 values from 1 to 6 (line 4)",
        "classes: 8 throughout (5 values), the same 2 times (line 7)",
        "scores: 5 values from 0 to 0.7, the largest at index 1, 1 of them NaN or infinite (line 8)",
        "best: 3; then 4 (line 13)",
        "an array: 0 throughout (6 printed values) (line 15)",
    ]


def test_what_all_lines_say_is_repeated_with_its_parts_together() -> None:
    text = text_of(
        "[W] Input tensor: a [shape=B] | Will generate data of shape: [1].\n"
        "[W] Input tensor: b [shape=B] | Will generate data of shape: [1, 2].\n"
        "  1 batches of size 1\n  1200 batches of size 2\n"
    )
    made_up, batches = (row.text for _, row in telling_lines(text))
    assert "made up for the data: a [1], b [1, 2]; --input-shapes" in made_up
    assert batches == "2401 samples were computed, most of them in batches of 2 (line 3)"


def test_a_name_with_braces_is_told_as_it_is() -> None:
    (told,) = telling_lines(text_of("[I] Saving ONNX model to: warp{0}.onnx"))
    assert told[1].text == "models saved: warp{0}.onnx (line 1)"


def test_loads_least_time_is_not_the_process_before_it() -> None:
    text = text_of('"pid": 71, "tid": 71, "ts": 9ns : min_duration (ms): 60000\n')
    assert [row.text for _, row in telling_lines(text)] == ["the test has to last 60000 ms at least (line 1)"]


def test_the_release_that_pip_installed_is_told() -> None:
    text = text_of("Successfully installed numpy-2.1.0 tensorrt-10.6.0 tensorrt-cu12-10.6.0\n")
    assert [row.text for _, row in telling_lines(text)] == ["TensorRT 10.6.0 by its Python package (line 1)"]
    others = text_of("Successfully installed torch-tensorrt-1.4.0\nSuccessfully installed nvidia-tensorrt-99.0.0\n")
    assert telling_lines(others) == []


def test_a_build_whose_time_is_stated_is_not_timed_by_stamps_of_other_attempts(tmp_path: Path) -> None:
    began = "[05/02/2025-{}] [TRT] [I] [MemUsageChange] Init builder kernel library: CPU +1, GPU +1, now: CPU 2 (MiB)"
    lines = [began.format("08:00:00"), began.format("09:30:00"), "[05/02/2025-09:31:00] [TRT] [I] end"]
    for said, is_timed in ((), True), (("Engine build complete in 41.5s.",), False):
        (tmp_path / "b.log").write_text("\n".join([*lines, *said]))
        read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        assert ("; build 5400 s" in next(pauses(read)).text) is is_timed


MLLOG = ':::MLLOG {{"key": "{}", "value": {}, "time_ms": 3.1, "event_type": "POINT_IN_TIME"}}'


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[TRT]    Could not register plugin creator -  ::Own_TRT version 1", "of their names were before: Own_TRT"),
        ("half=True and int8=True are mutually exclusive, setting half=False.", "leaves FP16 out beside INT8"),
        (
            "INT8 export requires a missing 'data' arg. Using default 'data=pets.yaml'.",
            "calibrated with pets.yaml, for",
        ),
        ("calibration: >300 images recommended for INT8 calibration, found 12 images.", "calibrated with 12 images"),
        ("WARNING 'dynamic=True' model requires max batch size, i.e. 'batch=16'", "the engine takes no larger batch"),
        ("TensorRT<=10.3.0 with int8 has known end2end build issues, disabling.", "outside the engine"),
        ("Unable to automatically guess model task, assuming 'task=pose'.", "pose was assumed"),
        ("Some fusion is disable due to incompatible driver or nvrtc", "which costs speed"),
        ("trt_engine_ops left: 0", "TensorFlow computes all of it"),
        ("Number of TRTEngineOps: 0", "TensorFlow computes all of it"),
        ("Completed creating Engine after 6.5s", "an engine was built in 6.5 s"),
        (MLLOG.format("result_first_token_99.00_percentile_latency_ns", 42_550_000), "token within 42.5 ms"),
        (MLLOG.format("result_time_per_output_token_99.00_percentile_ns", 9_550_000), "at most 9.5 ms for each"),
        (MLLOG.format("requested_server_ttft_latency", 450_000_000), "to the first token is 450 ms"),
        (MLLOG.format("requested_server_tpot_latency", 40_000_000), "each further token is 40 ms"),
        (MLLOG.format("loadgen_version", '"7.1.0 @ crow"'), "LoadGen 7.1.0"),
        (MLLOG.format("qsl_reported_total_count", 777), "a data set of 777 samples"),
        (MLLOG.format("effective_target_latency_ns", 17_000_000), "limit of the latency is 17 ms"),
        (MLLOG.format("result_min_queries_met", "false"), "conditions that are not met: min_queries"),
        (MLLOG.format("early_stopping_met", "true"), "conditions that are met: early_stopping"),
        (MLLOG.format("result_overlatency_query_count", 7), "7 queries took longer than the limit"),
        (MLLOG.format("result_scheduled_samples_per_sec", 77.5), "77.5 samples a second were scheduled"),
        ("[7 checker.py:7 INFO] Results closed/Crow/results/CrowX1/net/Server 7.5", "checked: CrowX1/net/Server 7.5"),
        ("[7 checker.py:7 INFO] Results=7, NoResults=1, Power Results=0", "7 results, 1 folders without one"),
        ("[7 checker.py:7 INFO] SUMMARY: submission has errors", "verdict: submission has errors"),
    ],
)
def test_what_a_library_left_out_or_took_by_default_is_told(line: str, told: str) -> None:
    (row,) = (row.text for _, row in telling_lines(text_of(f"{line}\n")))
    assert told in row


SAID = {
    "$ /opt/TensorRT-8.1.2.3/bin/trtexec --onnx=crow.onnx": "program: TensorRT 8.1.2.3 by the path of its trtexec",
    "D:\\TensorRT-8.1.2.3\\bin\\trtexec.exe --onnx=crow.onnx": "program: TensorRT 8.1.2.3 by the path of its trtexec",
    "[E] /ci/TensorRT/rel-6.1/L1/build/crow.cpp": "program: TensorRT 6.1 by the paths in its messages",
    "export LD_LIBRARY_PATH=/opt/TensorRT-8.1.2.3/lib": "program: TensorRT 8.1.2.3 by a path that is set",
    "loaded /opt/crow/libnvinfer.so.8.1.2": "program: TensorRT 8.1.2 by the library that is loaded",
    "docker run --rm nvcr.io/nvidia/crow:21.01-py3 ls": "program: container image nvcr.io/nvidia/crow:21.01-py3",
    "GPU 0: NVIDIA Crow 7 (UUID: GPU-7)": "GPU: listed: Crow 7",
    "|   0  NVIDIA Crow 7...   Off  | 00000000:01:00.0 Off | 0 |": "GPU: listed by nvidia-smi: Crow 7",
    "found cached engine /tmp/crow.engine": "set-up: taken from a cache: /tmp/crow.engine",
    "trtllm-build --max_batch_size 7 --max_input_len 9": "set-up: asked for: max_batch_size 7, max_input_len 9",
}
SAID |= {
    "Predicted class: crow": "result: predicted: crow",
    "...Prediction label = 7": "result: predicted: 7",
    "701 / 777 correct": "result: 701 of 777 are right",
    "Correct: 701/777 (90.2%)": "result: 701 of 777 are right",
    "Detected 7 objects in 9 ms": "result: found: 7 objects",
    "7 faces detected": "result: found: 7 faces",
    "num_detections: 7": "result: detections: 7",
    "Number of boxes detected: 7": "result: found: 7 boxes",
    "Accuracy on 777 images: 70.7%": "result: accuracy on 777 images: 70.7%",
}
SILENT = [
    "Detected 1 inputs and 3 output network tensors.",
    "the predicted classes are written to crow.txt",
    "make sure that 7 paths are correct",
    "number of detections per class",
    '"result_crow_count", "value": 7',
    "TensorRT-8.1.2.3/bin/trtexec",
    "wget https://crow.org/TensorRT-8.1.2.3.tar.gz",
    "error while loading shared libraries: libnvinfer.so.8.1.2: cannot open shared object file",
    "ERROR: No matching distribution found for tensorrt==8.1.2",
    "could not load cached engine from disk",
]


@for_each(("line", "said"), SAID.items())
def test_what_ran_is_told_by_plain_lines(line: str, said: str) -> None:
    text = LogText()
    text.append(Window(1, 0, line.encode()))
    assert f"{said} (line 1)" in [f"{row.label}: {row.text}" for _, row in telling_lines(text)]


@for_each("line", SILENT)
def test_what_is_listed_or_missing_did_not_run(line: str) -> None:
    text = LogText()
    text.append(Window(1, 0, line.encode()))
    assert not telling_lines(text)
