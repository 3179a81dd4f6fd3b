"""What is plain in the log of any program stands in its report: on what it ran, with what, what it wrote, how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from trtforensics.model.run import Program
from trtforensics.render.headline import headlines
from trtforensics.render.report_rows import rows_of_builds
from trtforensics.render.time_rows import time_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

MARKS = {
    "triton": "TRITONBACKEND_Initialize: tensorrt",
    "deepstream": "NvDsInfer starts",
    "tensorrt-llm": "[TRT-LLM] [I] Hello",
    "torch-tensorrt": "torch_tensorrt/dynamo is used",
    "jetson-inference": "jetson-inference starts",
    "ros": "[INFO] [1715000000.123456789] [node]: hello",
    "tf-trt": "Converting to TF-TRT",
    "onnxruntime": "TensorRT EP is used",
    "python": "[TRT] [I] Hello",
    "cpp": "main.cpp:3 hello",
    "processes of Ray": "(Worker:a pid=12) [TRT] [I] Hello",
}
"""A line that only the program prints."""
SAID = """Device 0: "NVIDIA RTX A1000"
TensorRT version: 10.3.1
Precision: FP16
batch_size: 4
TensorRT: input "x" with shape(4, 3, 8, 8) DataType.FLOAT
Engine size: 12.5 MB
Engine saved to out/a.engine
build time: 7.5 s
latency: 2.5 ms
throughput: 400 images/s
[TRT] [I] Total Weights Memory: 2097152
[TRT] [I] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, \
GPU +6, now: CPU 0, GPU 9 (MiB)
"""
PLAIN: tuple[str, ...] = (
    "NVIDIA RTX A1000",
    "10.3.1",
    "FP16",
    "batch 4",
    "x (4, 3, 8, 8)",
    "12.5 MB",
    "a.engine",
    "7.5 s",
    "2.5 ms",
)
PLAIN = (*PLAIN, "400 images/s", "weights 2 MiB", "context 6 MiB", "all of TensorRT 9 MiB")


def told(log: BuildLog) -> str:
    rows = [row.cited for row in time_rows(log, log.builds[0])]
    return "\n".join([*(headline.text for headline in headlines(log)), *rows])


@for_each("program", MARKS)
def test_plain_facts_stand_in_the_report_of_every_program(read: Load, program: str) -> None:
    text = told(read(f"{MARKS[program]}\n{SAID}"))
    assert [fact for fact in PLAIN if fact not in text] == [], text


def test_of_several_models_each_is_named_with_its_instances(read: Load) -> None:
    text = told(
        read("""TRITONBACKEND_Initialize: tensorrt
I0516 08:25:52.973930 9 logging.cc:49] Loaded engine size: 38 MiB
I0516 08:25:52.973930 9 logging.cc:49] Loaded engine size: 8 MiB
I0516 08:25:52.973930 9 logging.cc:49] Loaded engine size: 8 MiB
Created instance a_0_0 on GPU 0 with stream priority 0
Created instance b_0_0 on GPU 0 with stream priority 0
Created instance b_0_1 on GPU 0 with stream priority 0
| a     | 1       | READY  |
| b     | 1       | READY  |
| server_version                   | 2.49.0                                  |
Started HTTPService at 0.0.0.0:8000""")
    )
    assert "SERVING" in text
    for fact in (
        "Triton 2.49.0",
        "ready: a, b",
        "instances of a (1), b (2)",
        "engines of 38 MiB, 8 MiB (loaded 2 times)",
    ):
        assert fact in text


def test_engines_that_a_program_builds_one_after_the_other_are_each_named(read: Load) -> None:
    text = told(
        read("""[I] Finished engine building in 17 seconds
[I] Saving engine to out/a.plan
[I] Finished engine building in 20 seconds
[I] Saving engine to out/b.plan""")
    )
    assert "built in 17, 20 s" in text
    assert "written: a.plan, b.plan" in text


def test_tensorflow_that_does_not_find_tensorrt_runs_without_it(read: Load) -> None:
    warning = (
        "2023-01-01 W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT"
    )
    assert "without TensorRT" in headlines(read(warning))[0].text
    assert "without TensorRT" not in headlines(read(f"{warning}\nConverting to TF-TRT FP16..."))[0].text


def test_a_converted_segment_is_no_engine_yet_and_what_stays_is_named(read: Load) -> None:
    text = told(
        read("""x tf2tensorrt/segment/segment.cc:4] There are 4 ops of 2 different types in the graph that are not \
converted to TensorRT: Sub, NoOp, (For more information see x).
x tf2tensorrt/convert/c.cc:7] TensorRT node TRTEngineOp_0 added for segment 0 consisting of 9 nodes succeeded.""")
    )
    assert text.startswith("ENDED WITHOUT A VERDICT")
    assert "4 ops not converted to TensorRT: Sub, NoOp" in text


@for_each("line", ["    376 µs ± 3.9 µs per loop (mean ± std. dev. of 7 runs)", "3.1 ms ± 1 ms per loop (mean)"])
def test_a_timed_loop_is_an_inference_that_ran(read: Load, line: str) -> None:
    assert "INFERENCE RAN" in headlines(read(f"TensorrtExecutionProvider\n{line}"))[0].text


def test_a_server_inside_a_program_that_was_closed_has_ended(read: Load) -> None:
    log = read(
        "TRITONBACKEND_Initialize: tensorrt\nI0516 08:25:57.4 9 server.cc:295] All models are stopped, unloading models"
    )
    assert headlines(log)[0].text.startswith("SERVED, THEN CLOSED")


@for_each("level", ["WARNING", "INFO", "WARN"])
def test_what_another_program_only_warns_of_is_no_error(read: Load, level: str) -> None:
    said = f"[camera-1] 11:05:00 {level} (a.cpp:4) transfer returned error, index: 768, error: it is out of range"
    log = read(f"[TRT] [I] Loaded engine size: 13 MiB\n{said}")
    assert [note.kind for note in log.builds[0].notes if note.span.line == 2] == []
    log = read(f"[TRT] [I] Loaded engine size: 13 MiB\n{said.replace(level, 'ERROR')}")
    assert [note.kind for note in log.builds[0].notes if note.span.line == 2] != []


def test_versions_requests_and_the_last_words_stand_in_the_report(read: Load) -> None:
    text = told(
        read(
            """$ python3 serve.py --model a.onnx
[TRT] [I] Hello
PyTorch version: 2.1.0+cu118
CUDA Version: 12.2
{x [min=[1, 3], opt=[4, 3], max=[8, 3]]}
Results saved to out/a.csv
NVIDIA Release 22.12 (build 50109463)
INFO: 1.2.3.4:48 - "GET /v HTTP/1.1" 200 OK
INFO: 1.2.3.4:48 - "GET /v HTTP/1.1" 200 OK
All images are written to out/""".replace("CUDA Version", "\n" * 40 + "CUDA Version")
        )
    )
    for fact in (
        "command python3 serve.py --model a.onnx",
        "PyTorch 2.1.0+cu118",
        "CUDA 12.2",
        "profile of x [1, 3] to [4, 3] to [8, 3]",
        "saved: out/a.csv",
        "NVIDIA release 22.12",
        "answered GET /v (2)",
        "last words: All images are written to out/",
    ):
        assert fact in text


def test_a_model_of_code_behind_the_verdict_is_none_of_the_run(read: Load) -> None:
    log = read("""[11/21/2026-10:00:10] [E] Engine set up failed
&&&& FAILED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=birch.onnx

model = onnx.load("birch.onnx")
onnx.save(model, "birch_two.onnx")""")
    assert not any("birch_two" in row.cited for row in rows_of_builds(log))


def test_of_a_few_builds_the_set_up_of_each_is_told(read: Load) -> None:
    log = read("""$ deepstream-app -c a.txt
[TRT] [I] Loaded engine size: 1 MiB
App run successful
$ deepstream-app -c b.txt
[TRT] [I] Loaded engine size: 2 MiB
App run successful""")
    rows = [row.cited for row in rows_of_builds(log) if row.label == "set-up"]
    assert [row.partition(" (")[0] for row in rows] == [
        "run 1: command deepstream-app -c a.txt",
        "run 2: command deepstream-app -c b.txt",
    ]


@for_each(
    "line",
    [
        "Benchmarks legend:  - Success  - Export failed",
        'I0807 13:44:44 28 stub.cc:385] "Starting Python backend stub: exec tritonserver python backend stub"',
        "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
        "Step 2/12 : RUN python3 -m pip install --upgrade nvidia-tensorrt",
    ],
)
def test_a_legend_a_start_and_an_echoed_command_are_no_errors(read: Load, line: str) -> None:
    log = read("[TRT] [I] Loaded engine size: 13 MiB\n" + "it goes on\n" * 12 + line)
    assert [note.kind for note in log.builds[0].notes if note.span.line == 14] == []


def test_a_command_behind_prompts_of_a_document_has_its_lines(read: Load) -> None:
    typed = "u@h:~$ nvidia-smi\nDriver\nu@h:/home# deepstream-app -c a.txt\n"
    (run,) = read(f"{typed}NvDsInferContext starts\n**PERF: 60.5 (60.3)\nbye").runs
    assert (run.program, run.last_line, run.command) == (Program.DEEPSTREAM, 6, "deepstream-app -c a.txt")


def test_what_a_shell_says_before_its_prompt_is_no_last_word_and_what_it_starts_runs(read: Load) -> None:
    greeting = "\n" * 40 + "9 packages can be updated.\nLast login: Mon Jan  6 09:00:00 2025 from 10.0.0.7\n"
    prompt = "(env) me@box:~$ "
    (run,) = read(greeting + prompt + "./bench.sh trt\nTensorRT on\nfps: 41.5\nAll images are timed\n" + prompt).runs
    told = [text for text, _ in run.set_up]
    assert "last words: All images are timed" in told
    (idle,) = read(greeting + prompt + "ls tensorrt\n").runs
    assert not [text for text, _ in idle.set_up if text.startswith("last words")]
