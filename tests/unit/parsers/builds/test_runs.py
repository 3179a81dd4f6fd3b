"""The runs of a log: where each begins and ends, which program it is, how it ended, and what it compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.model.run import Ending, Program
from trtforensics.render.headline import headlines
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog
    from trtforensics.model.run import Run

    Load = Callable[[str], BuildLog]

I = "[11/21/2026-10:05:00] [I] "  # noqa: E741 - as the log spells the level
E = "[11/21/2026-10:05:00] [E] "
V = "[11/21/2026-10:05:00] [V] [TRT] "
PY = "[11/21/2026-10:05:00] [TRT] [V] "
PY_E = "[11/21/2026-10:05:00] [TRT] [E] "
ORT = "2024-01-01 10:00:00.1 [E:onnxruntime:Default, tensorrt_execution_provider.h:82 log] "
STAMP = "[11/21/2026-10:05:00] "
BUILT = [PY + "Original: 3 layers", PY + "Engine generation completed in 1.5 seconds."]
TRACEBACK = ["Traceback (most recent call last):", '  File "build.py", line 3, in <module>', "    main()"]
SUMMARY = "Accuracy Summary | trt-runner-N0-1 vs. onnxrt-runner-N0-1 | Passed: {}/2 iterations | Pass Rate: {}%"


def banner(verdict: str, model: str = "a", program: str = "TensorRT.trtexec [TensorRT v8601]") -> str:
    return f"&&&& {verdict} {program} # trtexec --onnx={model}.onnx --saveEngine={model}.plan"


def only(log: BuildLog) -> Run:
    (run,) = log.runs
    return run


def placed(log: BuildLog) -> list[tuple[int, int]]:
    return [(run.first_line, run.last_line) for run in log.runs]


def excerpt(folder: Path, lines: list[str]) -> BuildLog:
    (folder / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    return read_log(str(folder / "a.txt"), max_bytes=1 << 20, on_progress=lambda _: None).log


def endings(log: BuildLog) -> list[str]:
    return [run.outcome.ending.value for run in log.runs]


EVIDENCE: dict[str, tuple[list[str], Ending, int | None]] = {
    "verdict": ([banner("RUNNING"), banner("FAILED")], Ending.FAILED, 2),
    "verdict behind stamps": ([banner("RUNNING"), STAMP * 9 + banner("FAILED"), ""], Ending.FAILED, 2),
    "verdict behind a print": ([banner("RUNNING"), f"warming up {banner('PASSED')}"], Ending.PASSED, 2),
    "pass rate": ([*BUILT, f"[E] {SUMMARY.format(0, '0.0')}"], Ending.FAILED, 3),
    "pass rate of all": ([*BUILT, f"[I] {SUMMARY.format(2, '100.0')}"], Ending.PASSED, 3),
    "outputs differ": ([*BUILT, "[E]     FAILED | Mismatched outputs: ['y']"], Ending.FAILED, 3),
    "own result": ([*BUILT, "result=FAIL", "fp16_result=PASS"], Ending.FAILED, 3),
    "result of a script around": ([banner("RUNNING"), banner("PASSED"), "result=FAIL"], Ending.FAILED, 3),
    "server that was closed": (
        [*BUILT, "Started HTTPService at 0.0.0.0:8000", "All models are stopped, unloading models"],
        Ending.PASSED,
        4,
    ),
    "engine that was missing, and built": (
        ["ERROR: Deserialize engine failed because file path: /a.engine open error", *BUILT, "End-of-stream"],
        Ending.PASSED,
        4,
    ),
    "times without a verdict": (
        [I + "Latency: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms, percentile(99%) = 2 ms"],
        Ending.PASSED,
        1,
    ),
    "own tests": ([*BUILT, "All tests passed"], Ending.PASSED, 3),
    "return code": ([*BUILT, "python_return_code=1"], Ending.FAILED, 3),
    "first failing step": (
        [*BUILT, "fetch_return_code=0", "build_return_code=141", "check_return_code=99"],
        Ending.KILLED,
        4,
    ),
    "step of make": ([*BUILT, "make[1]: *** [b.mk:8: e] Error 139", "make: *** [all] Error 2"], Ending.CRASHED, 3),
    "search that found a model": (
        [
            "[I]     RUNNING | Iteration 1 | Approximately 1 iteration(s) remaining",
            "[E]     FAILED | Iteration 0 | Duration 1.0s",
            "[I] Minimum Bad Model:",
        ],
        Ending.PASSED,
        3,
    ),
    "exit code that a program only warns of": (
        [*BUILT, "WARNING: pip install a returned non-zero exit status 1.", "Engine saved to a.plan"],
        Ending.PASSED,
        4,
    ),
    "step that was tried again": ([*BUILT, "exit code 1", "exit code 0"], Ending.PASSED, 4),
    "signal": ([*BUILT, "Command terminated by signal 11"], Ending.CRASHED, 3),
    "own goal": ([*BUILT, "Engine saved to a.plan", "inference time: 3 ms"], Ending.PASSED, 3),
    "own goal, then a build": (["Export complete (3s)", PY + "Original: 3 layers"], Ending.NONE, 2),
    "own end": ([*BUILT, "All done.", ""], Ending.PASSED, 3),
    "own end of a part": ([PY + "a message", "Done.", *(["goes on"] * 20)], Ending.NONE, None),
    "own end behind an error": ([PY_E + "1: Unexpected", PY + "later", "Finish"], Ending.NONE, 3),
    "engine that was loaded by its builder": (
        [PY + "Original: 3 layers", PY + "Deserialization required 4159 microseconds."],
        Ending.PASSED,
        2,
    ),
    "own end behind an exception": (
        [PY + "a", *TRACEBACK, "EOFError", "2025-09-10 16:38:31,059 - INFO - again", *(["x"] * 20), "Done"],
        Ending.NONE,
        None,
    ),
    "engine": ([*BUILT, "0.1 0.2"], Ending.PASSED, 2),
    "engine, then another build": ([*BUILT, PY + "Original: 5 layers"], Ending.NONE, 3),
    "engine that was loaded": ([PY + "Deserialization required 4159 microseconds."], Ending.NONE, 1),
    "engine of trtexec, cut": ([banner("RUNNING"), I + "Engine built in 2.5 sec."], Ending.NONE, 2),
    "return code of a signal": ([*BUILT, "process finished with exit code 137"], Ending.KILLED, 3),
    "return code 0": ([*BUILT, "Process finished with exit code 0"], Ending.PASSED, 3),
    "exception": ([*BUILT, *TRACEBACK, "RuntimeError: no engine", "cleaning up"], Ending.FAILED, 6),
    "exception before what was buffered": (
        [*BUILT, *TRACEBACK, "ValueError: x", *(["printed before"] * 20)],
        Ending.FAILED,
        6,
    ),
    "exception, then a logger": (
        [*BUILT, *TRACEBACK, "EOFError", "2025-09-10 16:38:31,059 - INFO - again", *(["x"] * 20)],
        Ending.NONE,
        2,
    ),
    "exception in a notebook": (
        [*BUILT, "RuntimeError    Traceback (most recent call last)", "Cell In[2], line 1", "RuntimeError: x"],
        Ending.FAILED,
        5,
    ),
    "job that was killed": (
        [*BUILT, "./b.sh: line 1:  34 Killed   python b.py", "make: *** [a] Error 137"],
        Ending.KILLED,
        3,
    ),
    "exception that was caught": ([*BUILT, TRACEBACK[0], "ValueError: x", *(["goes on"] * 20)], Ending.NONE, 2),
    "exception of ONNX Runtime": (
        [*BUILT, *TRACEBACK, "onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError] : 1"],
        Ending.FAILED,
        6,
    ),
    "return code that ROS prints": ([*BUILT, "[a-1]: process has died [pid 2, exit code -11]"], Ending.CRASHED, 3),
    "build that failed": ([PY + "a message", "Failed to build engine"], Ending.FAILED, 2),
    "row of TensorRT": ([*BUILT, "0  ONNX  ✅  3", "1  TensorRT  ❌  NaN", "Done"], Ending.FAILED, 4),
    "row of another": ([*BUILT, "0  CoreML  ❌  3", "1  TensorRT  ✅  2", "Done"], Ending.PASSED, 5),
    "row without a number": ([*BUILT, "3  TensorRT  NaN  NaN", "Done"], Ending.FAILED, 3),
    "row of a type": ([*BUILT, "| fp16 | PASS | 1 |", "| int8 | FAIL | 9 |"], Ending.FAILED, 4),
    "one word in a row": ([*BUILT, "| int8 | FAIL | 9 |", "Done"], Ending.PASSED, 4),
    "refused command line": ([PY + "Hello", "Error: No such option: --fast", "Done 1/2", "---"], Ending.FAILED, 2),
    "summary of nothing": ([PY + "Hello", "Built 0 of 9", "- Engines built: 0", "Done"], Ending.FAILED, 3),
    "gate of MLPerf": (
        [
            *BUILT,
            "&&&& PASSED net",
            "accuracy: [PASSED] F1: 90.9 (Threshold=90.8) | [FAILED] EM: 80.1 (Threshold=83.2)",
        ],
        Ending.FAILED,
        4,
    ),
    "step behind which others go on": ([*BUILT, "load_rc=0", "run_rc=3", "pack_rc=0"], Ending.FAILED, 4),
    "step that went well again": ([*BUILT, "run_rc=3", "again", "run_rc=0"], Ending.PASSED, 5),
    "pytest": ([*BUILT, "=== 1 failed, 2 passed in 3.2s ==="], Ending.FAILED, 3),
    "DeepStream": ([*BUILT, "App run failed"], Ending.FAILED, 3),
    "interrupted": ([*BUILT, *TRACEBACK, "KeyboardInterrupt", "make: *** [run] Interrupt"], Ending.INTERRUPTED, 6),
    "killed": ([*BUILT, "Killed"], Ending.KILLED, 3),
    "end of a stream after an error": (
        [*BUILT, PY_E + "3: no", "nvstreammux: Successfully handled EOS for source_id=0", "frames=3"],
        Ending.NONE,
        4,
    ),
    "crash that somebody interrupted": (
        [*BUILT, "app: a.cpp:12: void f(): Assertion `x > 0' failed.", "^C^CAborted (core dumped)"],
        Ending.CRASHED,
        3,
    ),
    "C assertion": ([*BUILT, "app: a.cpp:12: void f(): Assertion `x > 0' failed."], Ending.CRASHED, 3),
    "assertion of Myelin": ([*BUILT, "b: g.cpp:9: void myelin::f(): Assertion `0' failed."], Ending.CRASHED, 3),
    "signal in a debugger": ([*BUILT, "Thread 1 received signal SIGABRT, Aborted.", "(gdb) bt"], Ending.CRASHED, 3),
    "summary of trtllm-bench": ([*BUILT, "Token Throughput (tokens/sec): 18886.8"], Ending.PASSED, 3),
    "conversion by TF-TRT": (
        [*BUILT, "INFO: Assets written to: a/assets", "Done Converting"],
        Ending.PASSED,
        4,
    ),
    "aborted": ([*BUILT, "Aborted (core dumped)"], Ending.CRASHED, 3),
    "segmentation fault": ([*BUILT, "./run.sh: line 3: 17 Segmentation fault  python b.py"], Ending.CRASHED, 3),
    "last error": ([PY_E + "4: [network.cpp::validate::2917] Error Code 4: no", ""], Ending.FAILED, 1),
    "benign error": ([*BUILT, E + "Error[9]: Error Code: 9: Skipping tactic 0xfe due to exception"], Ending.PASSED, 2),
    "short of memory": ([*BUILT, E + "Tactic Device request: 9MB Available: 2MB. Device memory"], Ending.PASSED, 2),
    "last phase": ([PY + "Original: 3 layers", V + "Tactic: 0x00000000000003e8 Time: 0.2"], Ending.NONE, 2),
    "nothing": ([PY + "a message that no rule reads"], Ending.NONE, None),
}
"""Lines, how they end, and the line that shows it."""


FAILED_PARTS = {
    "Failed to parse onnx file": "import failed",
    "Network must have at least one output": "build failed",
    "INVALID_CONFIG: The engine plan file is generated on an incompatible device": "loading failed",
    "IExecutionContext::enqueueV3: Error Code 3: API Usage Error": "inference failed",
    "[executionContext.cpp::enqueueInternal::7] Error Code 3: API Usage Error (none)": "inference failed",
    "No block in the forward function (/tmp/nightlybuild/cache.cpp:7)": "inference failed",
    "Could not find any implementation for node {ForeignNode[ONNXTRT_cast_7.../parser/Mul]}.": "build failed",
    "[foreignBuilderUtils.cpp::kind::7] Error Code 9: Internal Error (none)": "build failed",
}
SURVIVED = {
    "refit": ("IRefitter::setWeights: Error Code 3: API Usage Error (no such role for this layer)", "unknown"),
    "enqueue": ("3: [executionContext.cpp::enqueueV3::795] Error Code 3: API Usage Error (x)", "unknown"),
    "build": ("2: [builder.cpp::buildSerializedNetwork::636] Error Code 2: Internal Error (none)", "failed"),
    "other": ("1: Unexpected", "failed"),
}
"""Errors that a program survives, and the outcome of the build."""


@for_each("case", EVIDENCE)
def test_how_a_run_ended_has_the_line_that_shows_it(load: Load, case: str) -> None:
    lines, ending, line = EVIDENCE[case]
    outcome = only(load("\n".join(lines))).outcome
    assert (outcome.ending, outcome.span and outcome.span.line) == (ending, line)


@for_each("stronger", range(4))
def test_the_stronger_evidence_wins(load: Load, stronger: int) -> None:
    strengths = [
        banner("PASSED"),
        f"[E] {SUMMARY.format(1, '50.0')}",
        "result=PASS",
        "Process finished with exit code 1",
        PY_E + "1: Error Code 1: Cuda Runtime (in enqueue)",
    ]
    expected = [Ending.PASSED, Ending.FAILED, Ending.PASSED, Ending.FAILED]
    assert only(load("\n".join([*BUILT, *strengths[stronger:]]))).outcome.ending is expected[stronger]
    assert only(load("\n".join([*BUILT, *reversed(strengths[stronger:])]))).outcome.ending is expected[stronger]


def test_an_error_that_the_program_survives_stands_beside_the_outcome(load: Load) -> None:
    error = PY_E + "3: [executionContext.cpp::enqueueInternal::795] Error Code 3: API Usage Error (bindings[x])"
    outcome = only(load("\n".join([*BUILT, error, "0.0", "0.0", "0.0", "0.0"]))).outcome
    assert outcome.ending is Ending.NONE
    assert outcome.survived is not None
    assert (outcome.reached, outcome.survived.span.line) == ("inference failed", 3)
    assert outcome.survived.spoils == "its outputs are not valid"


@for_each("case", list(SURVIVED))
def test_a_build_fails_by_errors_of_builds_alone(load: Load, case: str) -> None:
    error, outcome = SURVIVED[case]
    log = load("\n".join([PY_E + error, PY + "said later"]))
    assert (only(log).outcome.ending, log.builds[0].outcome.value) == (Ending.NONE, outcome)


def test_a_failure_of_clean_up_ends_no_run(load: Load) -> None:
    outcome = only(
        load("\n".join([*BUILT, PY_E + "[defaultAllocator.cpp::deallocate::64] Error Code 1: Cuda"]))
    ).outcome
    assert (outcome.ending, outcome.reached) == (Ending.PASSED, "engine built")


def test_verdicts_without_heads_end_runs(load: Load) -> None:
    tail = I + "Throughput: 10 qps"
    log = load("\n".join([tail, banner("PASSED", "a"), "", tail, banner("FAILED", "b"), banner("PASSED", "c")]))
    assert placed(log) == [(1, 3), (4, 5), (6, 6)]
    assert endings(log) == [build.outcome.value for build in log.builds] == ["passed", "failed", "passed"]
    assert [run.builds for run in log.runs] == [(0,), (1,), (2,)]


def test_a_first_runner_with_another_time_begins_a_run(load: Load) -> None:
    pair = "Accuracy Comparison | trt-runner-N0-03/22/24-14:58:{0} vs. onnxrt-runner-N0-03/22/24-14:58:{0}"
    said = (pair, "[E]     FAILED | Mismatched outputs: ['y']"), (pair, "[I]     PASSED | All outputs matched")
    lines = [f"[I] {head.format(time)}\n{verdict}" for (head, verdict), time in zip(said, (44, 55), strict=True)]
    assert endings(load("\n".join(lines))) == ["failed", "passed"]
    again = "\n".join(f"[I] {pair.format(44)}" for _ in said)
    assert len(load(again).runs) == 1


def test_fenced_blocks_that_end_are_runs(load: Load) -> None:
    failed = ["[I] [TRT] Local timing cache in use.", "[E] [TRT] Engine could not be created", "```"]
    built = ["[I] [TRT] Engine generation completed in 4 seconds.", "```", "Thanks"]
    log = load("\n".join(["```shell", *failed, "Then it works:", "```python", "import os", "```", "```shell", *built]))
    assert placed(log) == [(1, 4), (9, 12)]
    assert endings(log) == ["failed", "passed"]


def test_an_error_inside_an_iteration_of_debug_ends_no_run(load: Load) -> None:
    text = """[I] RUNNING | Command: polygraphy debug reduce a.onnx --check polygraphy run b.onnx --trt
[I] RUNNING | Iteration 1 | Approximately 3 iteration(s) remaining
        [E] 10: Could not find any implementation for node {ForeignNode[a...b]}.
[E]     FAILED | Iteration 1 | Duration 3.4s
[I] RUNNING | Iteration 2 | Approximately 2 iteration(s) remaining
[I]     PASSED | Iteration 2 | Duration 3.1s
[I] Finished 2 iteration(s) | Passed: 1/2 | Pass Rate: 50.0%"""
    run = only(load(text))
    assert (run.outcome.ending, run.outcome.survived) == (Ending.NONE, None)
    assert [fact for fact, _ in run.facts] == ["iterations: 2 Passed: 1/2"]


def test_a_block_of_options_that_comes_again_begins_a_run(load: Load) -> None:
    block = [I + "=== Model Options ===", I + "Format: ONNX", I + "=== Device Information ==="]
    log = load("\n".join([*block, I + "Engine built in 2.5 sec.", *block, E + "Engine set up failed"]))
    assert placed(log) == [(1, 4), (5, 8)]
    assert endings(log) == ["passed", "failed"]


def test_times_that_come_again_are_another_runs(load: Load) -> None:
    block = [I + "=== Trace details ===", I + "=== Performance summary ===", I + "Throughput: 10 qps"]
    assert placed(load("\n".join([*block, "2. batch 2", *block, *block[1:]]))) == [(1, 4), (5, 7), (8, 9)]


@for_each("backend", ["tensorflow", "tensorrt", f"tensorflow\n{PY}x"])
def test_a_server_of_other_backends_does_not_use_tensorrt(backend: str, tmp_path: Path) -> None:
    server = f"I1 1 model_lifecycle.cc:4] loading: m:1\nI1 1 b.cc:25] TRITONBACKEND_Initialize: {backend}"
    (tmp_path / "b.log").write_text(server, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 20, on_progress=lambda _: None).log
    assert only(log).uses_tensorrt == (backend != "tensorflow")


def test_a_version_that_comes_again_begins_a_run_of_trtexec_alone(load: Load) -> None:
    tail = [I + "TensorRT version: 8.6.1", I + "Engine built in 2.5 sec."]
    assert placed(load("\n".join([I + "=== Device Information ===", *tail, *tail]))) == [(1, 3), (4, 5)]
    assert placed(load("\n".join(["[TRT]    TensorRT version 8.0.1"] * 2))) == [(1, 2)]


def test_a_typed_command_begins_the_run_that_it_started_and_a_prompt_is_of_none(load: Load) -> None:
    prompt = "me@box:~/models$ "
    typed = f"{prompt}trtexec --onnx=b.onnx --saveEngine=b.plan"
    lines = [banner("RUNNING"), banner("PASSED"), f"{prompt}ls", "a.plan", typed, banner("RUNNING", "b")]
    log = load("\n".join([*lines, banner("PASSED", "b"), prompt]))
    assert placed(log) == [(1, 2), (5, 7)]
    assert [(build.first_line, build.last_line) for build in log.builds] == [(1, 4), (5, 8)]


@pytest.mark.parametrize(
    "prompt", ["$ ", "(e) $ ", "a@b:/c# ", "***@b:~$ ", "[a@b c]$ ", "# ", r"PS C:\a> ", "\u276f ", "➜  a ", "+ ", ""]
)
def test_a_command_at_any_prompt_begins_a_run_where_its_program_tells_something(tmp_path: Path, prompt: str) -> None:
    answers = ["Loading...", "../rt/core.cpp (12) - Serialization Error in verifyHeader: 0 (Magic tag does not match)"]
    answers += ["Segmentation fault (core dumped)"]
    first, second = (f"{prompt}./trt_find {name}.plan" for name in "ab")
    log = excerpt(tmp_path, [first, *answers, "", f"{prompt}cmake --version", "cmake 3.1 ms", second, *answers])
    assert [run.first_line for run in log.runs] == [1, 8]
    assert endings(log) == ["crashed", "crashed"]
    assert log.runs[1].command == "./trt_find b.plan"


def test_figures_below_commands_are_of_runs_unless_these_are_many(tmp_path: Path) -> None:
    lines = [line for at in range(9) for line in (f"$ ./trt m{at}", f"inference time: {at + 1}.5 ms")]
    assert placed(excerpt(tmp_path, lines[:8])) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert placed(excerpt(tmp_path, lines)) == [(1, 18)]


def test_a_command_without_an_answer_or_of_the_system_begins_no_run(tmp_path: Path) -> None:
    lines = ["$ ./trt a", "inference time: 1.5 ms", "$ ./export b", "b.onnx", "$ pip install c", "c: 7 ms"]
    assert placed(excerpt(tmp_path, lines)) == [(1, 6)]


def test_headings_of_other_machines_begin_runs(load: Load) -> None:
    blocks = [("# Running on a T4", "A"), ("# Running on an RTX 4090", "B"), ("# the RTX 4090 again", "C")]
    lines = [line for head, name in blocks for line in (head, f"[TRT] [E] {name} failed", "")]
    assert placed(load("\n".join(lines))) == [(1, 3), (4, 8)]


def test_another_command_before_a_banner_is_not_its_own(load: Load) -> None:
    lines = [banner("RUNNING"), banner("PASSED"), "$ trtexec --onnx=c.onnx --saveEngine=c.plan", banner("RUNNING", "b")]
    assert placed(load("\n".join([*lines, banner("PASSED", "b")]))) == [(1, 3), (4, 5)]


def test_what_goes_on_after_a_crash_is_another_run(load: Load) -> None:
    start = PY + "Adding network input: x with dtype: float32, dimensions: (1, 3)"
    log = load("\n".join([start, *BUILT, "Segmentation fault (core dumped)", start, *BUILT]))
    assert endings(log) == ["crashed", "passed"]


def test_builds_of_one_program_are_one_run(load: Load) -> None:
    start = PY + "Adding network input: x with dtype: float32, dimensions: (1, 3)"
    run = only(load("\n".join([start, *BUILT, start, *BUILT])))
    assert (run.program, run.builds) == (Program.PYTHON, (0, 1))


PROGRAMS = {
    Program.TRTEXEC: (banner("RUNNING"), 1),
    Program.MLPERF: ("&&&& RUNNING BERT_HARNESS # ./build/bin/harness_bert", 1),
    Program.CPP: (banner("RUNNING", program="TensorRT.sample_onnx_mnist [TensorRT v8601]"), 1),
    Program.POLYGRAPHY: ("[I] RUNNING | Command: polygraphy run a.onnx --trt", 1),
    Program.PYTHON: (PY + "Original: 3 layers", 1),
    Program.TRITON: (f"{I}Engine set up failed\nI0101 model_lifecycle.cc:461] loading: a:1", 2),
    Program.DEEPSTREAM: ("ERROR: [TRT]: 3: Error Code 3: no", 1),
    Program.TENSORRT_LLM: ("[TensorRT-LLM][INFO] Engine version 0.9\n" + V + "Original: 1 layers", 1),
    Program.TORCH_TENSORRT: ("INFO: [Torch-TensorRT TorchScript Conversion Context] - Original: 3 layers", 1),
    Program.TF_TRT: (f"W tensorflow/compiler/tf2tensorrt/utils.cc:38] TF-TRT Warning\n{V}Original: 1 layers", 1),
    Program.ONNXRUNTIME: (
        f"{ORT}[2024-01-01 10:00:00   ERROR] 4: no",
        1,
    ),
    Program.JETSON_INFERENCE: ("jetson-inference: loading\n[TRT]    TensorRT version 8.0.1", 1),
    Program.ROS: (f"[INFO] [launch]: All log files are here\n{V}Original: 1 layers", 1),
    Program.CMAKE: (f"-- Configuring done (0.1s)\n{V}Original: 1 layers\n", 1),
    Program.PIP: (f"Installing collected packages: crow, tensorrt\n{V}Original: 1 layers", 1),
    Program.UNKNOWN: ("[V] Original: 3 layers", None),
}


@for_each("program", list(PROGRAMS))
def test_the_program_has_the_line_that_shows_it(load: Load, program: Program) -> None:
    text, line = PROGRAMS[program]
    run = only(load(text))
    assert (run.program, run.program_span and run.program_span.line) == (program, line)


def test_a_library_counts_for_more_than_the_python_that_runs_it(load: Load) -> None:
    assert only(load(f"$ python a.py\n{PROGRAMS[Program.TF_TRT][0]}")).program is Program.TF_TRT


def test_every_program_is_told() -> None:
    assert PROGRAMS.keys() == {*Program}


def test_inputs_of_several_engines_are_said_of_none(load: Load) -> None:
    name = "INFO: nvdsinfer_context_impl.cpp: deserialized trt engine from :/m/{}.engine\n0   INPUT  kFLOAT {} 3x4x4\n"
    assert "input a 3x4x4" in only(load(PY + "Hello\n" + name.format("e", "a"))).setting
    assert "input" not in only(load(PY + "Hello\n" + name.format("e", "a") + name.format("f", "b"))).setting


def test_a_notebook_cell_is_a_run_of_python(load: Load) -> None:
    log = load(f"In [3]: !python build.py\n{V}Original: 3 layers\n")
    assert (only(log).program, only(log).command) == (Program.PYTHON, "!python build.py")


COMPARED = """\
[I] RUNNING | Command: polygraphy run a.onnx --trt --onnxrt
[I] Accuracy Comparison | trt-runner-N0-1 vs. onnxrt-runner-N0-1
[I]     Comparing Output: 'x' (dtype=float32, shape=(1,)) with 'x' (dtype=float32, shape=(1,))
[I]         Tolerance: [abs=0.001, rel=1e-05] | Checking elemwise error
[I]             Absolute Difference | Stats: mean=0.5, std-dev=0, var=0, min=0 at (0,), max=2.5 at (0,), avg-magnitude=0
[I]             Relative Difference | Stats: mean=inf, std-dev=0, var=0, min=0 at (0,), max=inf at (0,), avg-magnitude=0
[E]         FAILED | Output: 'x' | Difference exceeds tolerance (rel=1e-05, abs=0.001)
[I]     Comparing Output: 'y' (dtype=int64, shape=(1,)) with 'y' (dtype=int32, shape=(1,)) | Tolerance: [abs=0, rel=0] |
[I]         PASSED | Difference is within tolerance (rel=0, abs=0)
[E]     FAILED | Mismatched outputs: ['x']
[E] Accuracy Summary | trt-runner-N0-1 vs. onnxrt-runner-N0-1 | Passed: 0/1 iterations | Pass Rate: 0.0%
"""


def test_a_comparison_has_its_outputs_with_errors_and_tolerances(load: Load) -> None:
    run = only(load(COMPARED))
    (comparison,) = run.comparisons
    assert (comparison.left, comparison.right, comparison.pass_rate) == ("trt-runner-N0-1", "onnxrt-runner-N0-1", 0)
    x, y = comparison.outputs
    assert (x.name, x.span.line, x.max_abs, x.mean_abs, x.max_rel) == ("x", 3, 2.5, 0.5, None)
    assert (x.atol, x.rtol, x.passed, y.atol, y.passed) == (0.001, 1e-5, False, 0, True)
    assert comparison.first_different == x
    assert run.uses_tensorrt


VALIDATED = """\
[I] RUNNING | Command: polygraphy run a.onnx --onnxrt --validate
[V] Loaded Module: onnxruntime | Version: 1.24.4 | Path: ['/opt/trt-samples']
[I] Output Validation | Runners: ['onnxrt-runner-N0-1']
[I]     onnxrt-runner-N0-1  | Validating output: y (check_inf=True, check_nan=True)
[I]         PASSED | Output: y is valid
[I]     onnxrt-runner-N0-1  | Validating output: z (check_inf=True, check_nan=True)
[E]         Inf Detected | One or more non-finite values were encountered in this output
[E]         FAILED | Errors detected in output: z
[E]     FAILED | Output Validation
"""


def test_what_is_validated_alone_says_what_it_holds_and_that_tensorrt_never_ran(load: Load) -> None:
    run = only(load(VALIDATED))
    (comparison,) = run.comparisons
    assert [(o.name, o.passed, o.nan, o.inf) for o in comparison.outputs] == [
        ("y", True, 0, 0),
        ("z", False, None, 1),
    ]
    assert comparison.right == ""
    assert run.outcome.ending is Ending.FAILED
    assert not run.uses_tensorrt


MLPERF = """\
&&&& RUNNING BERT_HARNESS # ./build/bin/harness_bert
[I] [TRT] Loaded engine size: 597 MB
I0222 07:49:08.8 2363 main_bert.cc:173] Starting running actual test.
MLPerf Results Summary
90th percentile latency (ns) : 1606616
Result is : {}
Mean latency (ns)               : 1515346
99.90 percentile latency (ns)   : 1815972
"""


def test_latencies_of_a_detail_log_stand_where_the_first_of_them_does(load: Load) -> None:
    keys = ("loadgen_version", "result_min_latency_ns", "result_99.00_percentile_latency_ns")
    log = load(
        "[I] [TRT] Loaded engine size: 3 MiB\n"
        + "".join(f':::MLLOG {{"key": "{key}", "value": 3, "time_ms": 1.5}}\n' for key in keys)
    )
    (found,) = (result for result in log.runs[0].results if result.key == "latency_ms")
    assert found.span.line == 3


@pytest.mark.parametrize(("verdict", "ending"), [("VALID", Ending.PASSED), ("INVALID", Ending.FAILED)])
def test_mlperfs_percentiles_are_results(load: Load, verdict: str, ending: Ending) -> None:
    run = only(load(MLPERF.format(verdict)))
    results = {result.key: result.value for result in run.results}
    assert results["latency_ms"] == {"p90": 1.606616, "mean": 1.515346, "p99.9": 1.815972}
    assert run.outcome.ending is ending


def test_a_result_that_does_not_count_is_no_success_by_its_accuracy(load: Load) -> None:
    said = (
        "run_harness.py:1 INFO] Result: result_samples_per_second: 71.5, Result is {}\n  accuracy: [PASSED] F1: 90.1\n"
    )
    run, other = (only(load(f"[TRT] [I] crow\n{said.format(verdict)}")) for verdict in ("INVALID", "VALID"))
    assert (run.outcome.ending, other.outcome.ending) == (Ending.FAILED, Ending.PASSED)
    assert {result.key: result.value for result in other.results} == {"throughput_qps": 71.5}


def test_what_a_harness_says_before_its_banner_is_of_the_run_that_follows(load: Load) -> None:
    said = "[2025-01-01 10:00:00,000 main.py:249 INFO] Running harness for net\n"
    log = load(said + MLPERF.format("VALID") + said + "batch : 1\n" + MLPERF.format("VALID"))
    assert [run.first_line for run in log.runs] == [1, 10]


def test_only_trtexecs_banner_makes_a_build_trtexecs(load: Load) -> None:
    log = load("\n".join([MLPERF.format("VALID"), banner("RUNNING"), banner("PASSED")]))
    assert [build.tool.value for build in log.builds] == ["unknown", "trtexec"]


def test_phases_have_their_lines_and_seconds(load: Load) -> None:
    lines = [
        banner("RUNNING"),
        I + "Start parsing network model.",
        I + "Finished parsing network model. Parse time: 0.25",
        V + "Original: 3 layers",
        I + "Engine built in 2.5 sec.",
        I + "Engine deserialized in 0.5 sec.",
        I + "Starting inference",
        I + "Throughput: 10 qps",
        banner("PASSED"),
    ]
    run = only(load("\n".join(lines)))
    assert [(p.name.value, p.first_line, p.last_line, p.seconds) for p in run.phases] == [
        ("import", 2, 3, 0.25),
        ("build", 4, 5, 2.5),
        ("load", 6, 6, 0.5),
        ("infer", 7, 8, None),
    ]
    assert (run.command, run.engine_file) == ("trtexec --onnx=a.onnx --saveEngine=a.plan", "a.plan")


@for_each("error", list(FAILED_PARTS))
def test_a_pasted_error_says_what_failed_by_it(load: Load, error: str) -> None:
    log = load("\n".join([PY_E + error, PY_E + "[resizingAllocator.cpp::deallocate::105] Error Code 1: Cuda Runtime"]))
    assert only(log).outcome.reached == FAILED_PARTS[error]
    (headline,) = headlines(log)
    assert headline.text.startswith(f"{FAILED_PARTS[error].upper()} (line 1)")


def test_the_folder_of_a_file_does_not_say_what_failed(load: Load) -> None:
    words = {
        only(load(PY_E + f"Unexpected ({folder}cache.cpp:7)")).outcome.reached for folder in ("", "/srv/mybuild/onnx/")
    }
    assert len(words) == 1
    assert words.isdisjoint(FAILED_PARTS.values())


def test_an_excerpt_of_an_error_and_what_follows_says_what_it_leaves(load: Load) -> None:
    (headline,) = headlines(load("\n".join([PY_E + "Failed to parse onnx file", PY + "said later"])))
    assert headline.text == "IMPORT FAILED (line 1) · Python · there is no network to build"


def test_an_engine_that_is_loaded_behind_the_start_of_a_build_was_built(load: Load) -> None:
    begun = PY + "[MemUsageChange] Init builder kernel library: CPU +6, GPU +2, now: CPU 234, GPU 415 (MiB)"
    loaded = PY + "Loaded engine size: 12 MiB"
    assert [only(load(text)).outcome.reached for text in (f"{begun}\n{loaded}", loaded)] == [
        "engine built",
        "engine loaded",
    ]


STATED = {
    "inferences": (
        ["Building a new TensorRT engine for TRTEngineOp_0", "Latency = 19,41 ms | FPS = 51,53"],
        "INFERENCE RAN (line 2) · TF-TRT · stated: FPS 51.5; Latency 19.4 ms",
    ),
    "builds": (
        ["torch_tensorrt.x:Start building engine.", "torch_tensorrt.x:Build TRT engine elapsed time: 0:01:03.5"],
        "ENGINE BUILT (line 2) · Torch-TensorRT · stated: build time 63.5 s",
    ),
    "a build that goes on": (
        ["TensorRT: Building TRT engine: a.onnx", "TensorRT: Building TRT engine: b.onnx"],
        "ENDED WITHOUT A VERDICT · in the phase build",
    ),
    "many calls": (
        ["gstnvinfer: deserialized trt engine from :/a", *[f"Inference time: {n} ms" for n in (940, 180)]],
        "INFERENCE RAN (line 3) · DeepStream · stated: Inference time 940, 180 ms",
    ),
    "an engine": (["gstnvinfer: Use deserialized engine model: /a"], "ENGINE LOADED (line 1) · DeepStream"),
    "an engine file, loaded again": (
        ["Loading /m/a.engine for TensorRT inference...", "[TRT] [I] Loaded engine size: 21 MiB"] * 2,
        "ENGINE LOADED (line 4) · Python · engine a.engine · 21 MiB (loaded 2 times)",
    ),
    "loops of a notebook": (
        ["In [1]: ", "17.6 ms ± 176 µs per loop (mean ± std. dev. of 7 runs, 10 loops each)",
         "Speed: 0.9ms preprocess, 1.2ms inference, 0.0ms loss per image", "    all   128   929   0.6  0.5  0.6  0.445",
         "[TRT] [I] Loaded engine size: 21 MiB"],
        (
            "INFERENCE RAN (line 3) · Python · 21 MiB · stated: a loop 17.6 ms; mAP50-95 0.445"
        ),
    ),
    "cells that ran": (
        ["In [1]: ", "torch_tensorrt.compile(a)", "In [2]: "],
        "NO CELL FAILED (line 3) · Torch-TensorRT",
    ),
    "a cell that failed": (
        ["In [1]: ", "torch_tensorrt.compile(a)", TRACEBACK[0], "KeyError: 'a'", "In [2]: ", "Throughput: 12 images/s"],
        "FAILED (line 4) · Torch-TensorRT",
    ),
    "a download that was interrupted in a cell": (
        ["In [1]: !wget a", "^C", "In [2]: ", "torch_tensorrt.compile(a)", "Throughput: 12 images/s"],
        "INFERENCE RAN (line 5) · Torch-TensorRT · stated: Throughput 12 images/s",
    ),
    "TensorFlow without TensorRT": (
        ["INFO:tensorflow:Linked TensorRT version: (0, 0, 0)", "INFO:tensorflow:Loaded TensorRT version: (0, 0, 0)"],
        "ENDED WITHOUT A VERDICT · TF-TRT without TensorRT",
    ),
    "a server that hosts a library": (
        ["WARNING: [Torch-TensorRT] - Unable to read CUDA capable devices. Return status: 35",
         "I0522 15:59:57.306979 1 libtorch.cc:1917] TRITONBACKEND_Initialize: pytorch",
         "I0522 15:59:57.747960 1 grpc_server.cc:4608] Started GRPCInferenceService at 0.0.0.0:9001"],
        "SERVING (line 3) · Triton",
    ),
    "a harness": (
        ["&&&& RUNNING Default_Harness # ./harness_default", "MLPerf Results Summary", "Scenario : Offline",
         "Mode     : PerformanceOnly", "Result is : VALID", "&&&& PASSED Default_Harness # ./harness_default"],
        "PASSED · MLPerf · Offline, PerformanceOnly, VALID",
    ),
    "an answer": (
        ["[TensorRT-LLM][INFO] Engine load time 11062 ms", "[TensorRT-LLM][INFO] TRTGptModel maxBatchSize: 1",
         "[TensorRT-LLM][INFO] TRTGptModel maxSequenceLen: 256",
         "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 6.49 GiB for max tokens in paged KV cache (35424).",
         'Output [Text 0 Beam 0]: "a"'],
        (
            "INFERENCE RAN (line 5) · TensorRT-LLM · loaded in 11.1 s · KV cache 6.49 GiB · at most 1 sequence"
            " of 256 tokens"
        ),
    ),
    "a client that was killed": (
        [
            "Latency limit: 0 msec",
            "Service Kind: TRITON",
            "Throughput: 34994.5 infer/sec",
            "p99 latency: 1337 usec",
            "Killed",
        ],
        "KILLED (line 5) · Triton · stated: Throughput 34994 infer/sec; p99 latency 1337 usec",
    ),
    "a type and a class": (
        [
            "[TRT]    selecting fastest native precision for GPU:  FP16",
            "[TRT]    loading network plan from engine cache... models/a.onnx.1.1.8001.GPU.FP16.engine",
            "[TRT]    device GPU, loaded models/a.onnx",
            "class 0001 - 0.647910  (dog)",
            "Accuracy of the model is 0.7",
        ],
        (
            "INFERENCE RAN (line 4) · jetson-inference · FP16 · engine a.onnx.1.1.8001.GPU.FP16.engine · "
            "stated: Accuracy of the model is 0.7"
        ),
    ),
    "an engine that is not there": (
        [
            "ERROR: Deserialize engine failed because file path: /m/a.engine open error",
            "gstnvinfer.cpp:599:a: deserialize engine from file :/m/a.engine failed",
            "gstnvinfer.cpp:602:a: Trying to create engine from model files",
        ],
        "ENDED WITHOUT A VERDICT · DeepStream · in the phase build",
    ),
    "a cell of a notebook that raised, and cells after it": (
        [
            "INT8 mode enabled",
            "---------------------------------------------------------------------------",
            "ValueError                                Traceback (most recent call last)",
            "Cell In[4], line 2",
            "----> 2 nest.reshape(3)",
            "",
            "ValueError: no eggs",
            *(f"row {row}" for row in range(9)),
            "[TRT] [I] Engine generation completed in 21.3 seconds.",
        ],
        "ENGINE BUILT (line 17) · Python · INT8 · engine generated in 21.3 s",
    ),
    "LoadGen's detail log": (
        [
            f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 1.5, "namespace": "mlperf::logging"}}'
            for key, value in (
                ("loadgen_version", '"3.1"'),
                ("effective_scenario", '"Server"'),
                ("effective_server_target_qps", 300),
                ("result_completed_samples_per_sec", 299.5),
                ("result_validity", '"INVALID"'),
                ("result_mean_latency_ns", 4000000),
                ("result_99.00_percentile_latency_ns", 16000000),
            )
        ],
        "FAILED (line 5) · MLPerf · Server, INVALID · latency 4 ms (p99 16) · 300 samples/s · target of 300 qps",
    ),
    "models of Triton that are not ready": (
        [
            "I0102 10:00:01.000001 1 tensorrt.cc:64] TRITONBACKEND_Initialize: tensorrt",
            "I0102 10:00:02.000001 1 tensorrt.cc:222] TRITONBACKEND_ModelInitialize: crow (version 1)",
            "I0102 10:00:03.000001 1 model_lifecycle.cc:459] loading: crow:1",
            "I0102 10:00:04.000001 1 server.cc:662] ",
            "| crow  | 1       | READY  |",
            "| nest  | -       | Not loaded: No model version was found |",
            "I0102 10:00:05.000001 1 grpc_server.cc:2513] Started GRPCInferenceService at 0.0.0.0:8001",
        ],
        "SERVING (line 7) · Triton · ready: crow, not ready: nest",
    ),
    "the provider's options in ONNX Runtime": (
        [
            "2024-03-01 10:00:00.1 [V:onnxruntime:, a.cc:1 A] TensorRT provider options: trt_fp16_enable: 1",
        ],
        "ENDED WITHOUT A VERDICT · ONNX Runtime · FP16",
    ),
    "a benchmark in one line": (
        [
            "[TensorRT-LLM] TensorRT-LLM version: 0.17.0",
            "[BENCHMARK] precision float16 tokens_per_sec 143.72 percentile99(ms) 3652.57 latency(ms) 3562.471 x",
        ],
        "PASSED · TensorRT-LLM 0.17.0 · FP16 · 144 tokens/s · stated: latency in ms 3562",
    ),
    "checks of a reduction": (
        [
            "[I] RUNNING | Command: polygraphy debug reduce m.onnx --check polygraphy run --trt",
            "[I]     RUNNING | Iteration 1 | Approximately 2 iteration(s) remaining",
            "        [I] RUNNING | Command: polygraphy run --trt",
            "        [E] FAILED | Runtime: 0.033s | Command: polygraphy run --trt",
            "[E]     ========== CAPTURED STDERR ==========",
            "[E]     FAILED | Iteration 1 | Duration 0.14s",
            "[I] PASSED | Runtime: 1.946s | Command: polygraphy debug reduce m.onnx --check polygraphy run --trt",
        ],
        "PASSED · Polygraphy debug reduce",
    ),
    "the statistics of a runner": (
        [
            "[I]         trt-runner-N1-02/03/24-10:00:00: b | Stats: mean=0.5, min=0 at (0,), max=1 at (7,)",
            "[I]         PASSED | Output: 'b' | Difference is within tolerance (rel=1e-05, abs=1e-05)",
        ],
        "ENDED WITHOUT A VERDICT · Polygraphy · the output is valid · in the phase compare",
    ),
    "a model's load by its stamps": (
        [
            "I0102 10:00:00.100001 1 tensorrt.cc:64] TRITONBACKEND_Initialize: tensorrt",
            'I0102 10:00:00.250000 1 model_lifecycle.cc:459] "loading: crow:1"',
            "I0102 10:00:00.750000 1 model_lifecycle.cc:849] \"successfully loaded 'crow'\"",
            "I0102 10:00:05.000001 1 grpc_server.cc:2513] Started GRPCInferenceService at 0.0.0.0:8001",
        ],
        "SERVING (line 4) · Triton · stated: load time by stamps of crow 0.5 s",
    ),
    "a listed network": (
        ["[I] ==== TensorRT Network ====", "    Name: net | Explicit Batch Network", "    ---- 1 Layer(s) ----"],
        "LISTED (line 1) · Polygraphy inspect model",
    ),
    "listed data": (
        ["[I] ==== Data (1 iterations) ====", "    x [dtype=float32, shape=(1,)] | Stats: mean=1"],
        "LISTED (line 1) · Polygraphy inspect data without TensorRT",
    ),
    "listed tactics": (
        ["[I] Loading tactic replay file from a", "[I] Layer: a", "        Algorithm: (Implementation: 1, Tactic: 2)"],
        "LISTED (line 3) · Polygraphy inspect tactics",
    ),
    "a capability": (
        ["[I] ===== Summary =====", "    Operator | Count | Reason", "    Fake     |     1 | In node 0 with name: f"],
        "NOT ALL OF THE MODEL IS SUPPORTED (line 2) · Polygraphy inspect capability",
    ),
    "a model changed": (
        ["[I] Original Model:", "[I] Saving ONNX model to: b.onnx", "[I] New Model:", "    ---- 1 Graph Input(s) ----"],
        "MODEL WRITTEN (line 3) · Polygraphy surgeon without TensorRT",
    ),
    "a model not written": (
        ["[I] Original Model:", "[I] Saving ONNX model to: b.onnx", "Traceback (most recent call last):", "OSError: x"],
        "FAILED (line 4) · Python · model b",
    ),
    "a reduction": (
        ["[I] Reducing model outputs", "[I] Finished 1 iteration(s) | Passed: 0/1 | Pass Rate: 0.0%"],
        "SEARCH ENDED (line 2) · Polygraphy debug reduce without TensorRT",
    ),
    "a model that was cast": (
        ["[I] Converting float tensors to float16", "[I] Saving ONNX model to: b.onnx"],
        "MODEL WRITTEN (line 2) · Polygraphy convert without TensorRT",
    ),
    "another provider": (
        ["[ONNXRuntimeError] : 1 : FAIL", "Falling back to ['CUDAExecutionProvider', 'CPUExecutionProvider'] and"],
        "ENDED WITHOUT A VERDICT · ONNX Runtime · falls back to CUDA",
    ),
    "a verdict of a script": (["TensorRT: Building TRT engine: a", "Passed"], "PASSED"),
    "an error at the end": (
        ["gstnvinfer.cpp:679:gst_nvinfer_logger: a", "ERROR: ../nvdsinfer/nvdsinfer_model_builder.cpp:563 failed"],
        "FAILED (line 2) · DeepStream",
    ),
    "what a cell calls": (
        ["In [1]: !pip install a", "│ exit code: 1", "In [2]: ", "torch_tensorrt.compile(a)"],
        "NO CELL FAILED (line 3) · Torch-TensorRT",
    ),
    "a benchmark of processes": (
        ["[TensorRT-LLM] TensorRT-LLM version: 0.16.0", "[TensorRT-LLM][INFO] MPI size: 8, MPI local size: 8, rank: 7",
         "Request Throughput (req/sec):\t\t33.0"],
        "PASSED · TensorRT-LLM 0.16.0 · 33 qps · 8 processes",
    ),
    "a second try": (
        [
            "[I 241029 18:47:56 Wrapper:60] Building TensorRT engine from ONNX",
            "[E 241029 18:48:02 Wrapper:147] [TRT] 4: Internal Error (Network has no outputs)",
            "[I 241029 19:03:49 Wrapper:60] Building TensorRT engine, Enabled FP16 precision",
            "[I 241029 19:04:20 Wrapper:92] Engine built successfully",
        ],
        "PASSED · Python · FP16 · built in about 31 s by its time stamps",
    ),
    "the head of a traceback": (
        ["RuntimeError        Traceback (most recent call last)", "----> 1 torch_tensorrt.compile(model,"],
        "FAILED (line 1) · Torch-TensorRT",
    ),
    "a set-up in its own words": (
        [
            "&&&& RUNNING Default_Harness # ./build/bin/harness_default",
            "benchmark : Benchmark.Retinanet",
            "precision : int8",
            "| NVIDIA-SMI 535.1",
            "|   0  Tesla M60           On   | 0000:00",
            "Scenario : Offline",
        ],
        "ENDED WITHOUT A VERDICT · MLPerf · model Retinanet, INT8, Tesla M60, Offline",
    ),
    "the shapes of an engine": (
        [
            "deserialized trt engine from :/m/a.engine",
            "INFO: nvdsinfer_model_builder.cpp:610 [FullDims Engine Info]: layers num: 2",
            "0   INPUT  kFLOAT in   3x8x8   min: 1x3x8x8   opt: 4x3x8x8   Max: 8x3x8x8",
        ],
        "ENGINE LOADED (line 1) · DeepStream · input in 1x3x8x8 to 8x3x8x8 · engine a.engine",
    ),
    "sides of a comparison": (
        [
            "[TRT-LLM] [I] TensorRT-LLM (total latency: 32.0 sec)",
            "[TRT-LLM] [I] Hugging Face (total latency: 189.7 sec)",
        ],
        (
            "INFERENCE RAN (line 2) · TensorRT-LLM · stated: total latency in sec: TensorRT-LLM 32, Hugging Face 190 "
            "(TensorRT-LLM is 5.93 x as fast as Hugging Face, lines 1 and 2)"
        ),
    ),
    "a program of its own": (
        ["[info] load engine from file: /m/a.trt", "[11/08/2024-08:46:50] [I] [TRT] Loaded engine size: 6 MiB"],
        "ENGINE LOADED (line 2) · C++ · engine a.trt · 6 MiB",
    ),
    "averages of runners": (
        [
            f"[I] {runner}-runner-N0-05/13/22-22:35:48 | Completed 9 iteration(s) in 9.1 ms | "
            f"Average inference time: {ms} ms." for runner, ms in [("onnxrt", 2.5), ("trt", 1.5)]
        ],
        (
            "INFERENCE RAN (line 2) · Polygraphy · stated: average inference time in ms: onnxrt-runner 2.5, "
            "trt-runner 1.5"
        ),
    ),
    "a model that a server does not load": (
        [
            'I01 model_lifecycle.cc:46] "loading: tensorrt_llm:1"',
            "I01 model_lifecycle.cc:78] \"failed to load 'tensorrt_llm'\"",
        ],
        "FAILED (line 2) · Triton",
    ),
    "frames without their exception": (
        ["[TensorRT-LLM] TensorRT-LLM version: 0.15.0", "Traceback (most recent call last):", '  File "a.py", line 1'],
        "FAILED (line 2) · TensorRT-LLM 0.15.0",
    ),
    "a traceback without its head": (
        ['tensorrt_llm/runtime/a.py", line 81, in read_config', "    assert a", "AssertionError: world size (1)"],
        "FAILED (line 3) · TensorRT-LLM",
    ),
    "a worker that was killed": (
        ["[TensorRT-LLM] TensorRT-LLM version: 0.6.0", "a.ExitedException: process 0 terminated with signal SIGKILL"],
        "KILLED (line 2) · TensorRT-LLM 0.6.0",
    ),
    "a kernel that fails while it is timed": (
        [
            "$ make generate_engines",
            "[TensorRT] INFO: [MemUsageSnapshot] Builder begin: CPU 1046 MiB, GPU 527 MiB",
            "[TensorRT] INFO: Some tactics do not have sufficient workspace memory to run.",
            "[TensorRT] ERROR: 1: [convolutionRunner.cpp::executeConv::454] Error Code 1: Cudnn (EXECUTION_FAILED)",
        ],
        "BUILD FAILED (line 4) · MLPerf",
    ),
    "a node of ROS": (
        ["[lidar_node-1] [I] [TRT] Loaded engine size: 6 MiB", "[lidar_node-1] [V] [TRT] Total Activation Memory: 8"],
        "ENGINE LOADED (line 1) · ROS · 6 MiB",
    ),
    "samples that wait in a queue": (
        [
            "&&&& RUNNING MLPerf_Harness # ./build/bin/harness_3dunet",
            "[I] [TRT] Loaded engine size: 32 MiB",
            "Scenario : Offline",
            "Samples per second: 8.3",
            "Result is : VALID",
            "50.00 percentile latency (ns)   : 334705236494",
        ],
        "PASSED · MLPerf · Offline, VALID · 32 MiB · 8.3 samples/s",
    ),
    "frames whose objects are counted": (
        ["INFO: [TRT]: Detected 1 inputs and 2 output network tensors.", "Frame Number = 3 Bus Count = 2"],
        "INFERENCE RAN (line 2) · DeepStream",
    ),
    "no TensorRT": (
        ["[TensorRT-LLM] TensorRT LLM version: 1.1.0", "[TRT-LLM] [I] Using LLM with PyTorch backend"],
        "ENDED WITHOUT A VERDICT · TensorRT-LLM 1.1.0 without TensorRT",
    ),
}  # fmt: skip


@for_each("case", list(STATED))
def test_what_programs_state_in_their_own_words_is_what_the_run_came_to(case: str, tmp_path: Path) -> None:
    lines, expected = STATED[case]
    (tmp_path / "b.log").write_text("\n".join(lines), encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 20, on_progress=lambda _: None)
    assert headlines(log.log)[0].text == expected


CHECKS: dict[str, tuple[str, Ending, str]] = {
    "words before": (
        "  PASS  crow is there\n  PASS  it flies\n  PASS  it is back",
        Ending.PASSED,
        "all 3 checks passed",
    ),
    "marked words": ("✅ PASS: a crow\n❌ FAIL: a jay\n✅ PASS: a tit", Ending.FAILED, "1 of 3 checks failed: a jay"),
    "boxed": ("[PASS] a crow\n[FAIL] a jay: gone\n[PASS] a tit", Ending.FAILED, "1 of 3 checks failed: a jay: gone"),
    "words behind": ("a crow ... ok\na jay ... FAIL\na tit ... ok", Ending.FAILED, "1 of 3 checks failed: a jay"),
    "arrows": ("crow -> OK\njay -> OK\ntit -> OK", Ending.PASSED, "all 3 checks passed"),
    "TAP": ("ok 1 - crow\nnot ok 2 - jay\nok 3 - tit", Ending.FAILED, "1 of 3 checks failed: jay"),
    "gtest": (
        "[       OK ] Crow.Flies (7 ms)\n[  FAILED  ] Crow.Sings (9 ms)\n[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test",
        Ending.FAILED,
        "1 of 5 tests failed: Crow.Sings",
    ),
    "ctest": (
        "1/2 Test #1: a .. Passed 0.5 sec\n2/2 Test #2: jay .***Failed 1 sec\n0% tests passed, 1 tests failed out of 2",
        Ending.FAILED,
        "1 of 2 tests failed: jay",
    ),
    "pytest": (
        "t_crow.py::test_flies PASSED [ 50%]\nt_crow.py::test_sings FAILED [100%]\n== 1 failed, 1 passed in 0.70s ==",
        Ending.FAILED,
        "1 of 2 tests failed: t_crow.py::test_sings",
    ),
    "pytest's errors": ("==== 2 passed, 1 error in 0.70s ====", Ending.FAILED, "1 of 3 tests failed"),
    "ctest's success": ("100% tests passed, 0 tests failed out of 4", Ending.PASSED, "all 4 tests passed"),
    "counted": ("Summary: 7 checks passed, 2 failed", Ending.FAILED, "2 of 9 checks failed"),
    "labelled": ("nets 9  Passed: 9  Failed: 0", Ending.PASSED, "all 9 tests passed"),
    "part": ("[PASS] a crow\n7/7 checks passed", Ending.PASSED, "all 7 checks passed"),
    "marks": ("Environment check\n✓ a crow\n✗ a jay\n✓ a tit", Ending.FAILED, "1 of 3 checks failed: a jay"),
}
"""Lists of checks, how a run ends by them, and what is said."""


@for_each("case", CHECKS)
def test_a_list_of_checks_is_counted_and_those_that_failed_are_named(load: Load, case: str) -> None:
    text, ending, words = CHECKS[case]
    outcome = only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{text}\n")).outcome
    assert (outcome.ending, outcome.reached) == (ending, words)
    assert words in headlines(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{text}\n"))[0].text.replace(
        words.partition(": ")[0].upper(), words.partition(": ")[0]
    )


@for_each(
    "text",
    [
        "✓ model loaded\n✓ engine built\n✓ engine saved",
        "FAILED to open a\nFAILED to open b\nFAILED to open c",
        "a crow: OK\na jay: OK",
        "It passed 3 nets.\n2 failed logins",
        "Tests run: 9, Failures: 2, Errors: 1",
        "3 errors, 2 failures",
        "[PASS] crow\n[PASS] jay\n[PASS] tit\n" + "something else is said\n" * 25,
    ],
)
def test_what_is_no_list_of_checks_ends_no_run(load: Load, text: str) -> None:
    assert "checks" not in only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{text}\n")).outcome.reached


def test_an_error_behind_checks_that_passed_counts_for_more(load: Load) -> None:
    text = "[PASS] crow\n[PASS] jay\n[PASS] tit\n[TRT] [E] 2: [crow.cpp::fly::7] Error Code 2: Internal Error (no)\n"
    assert only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{text}")).outcome.ending is Ending.FAILED


def test_a_crash_counts_for_more_than_checks_that_passed_before_it(load: Load) -> None:
    text = "[PASS] crow\n[PASS] jay\n[PASS] tit\nSegmentation fault (core dumped)\n"
    assert only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{text}")).outcome.ending is Ending.CRASHED


def test_mlperfs_tokens_have_their_own_percentiles(load: Load) -> None:
    lines = (
        *("90.0th first token percentile latency (ns) : 7000000", "Max First Token latency (ns) : 9000000"),
        *("99.00 percentile time to output token (ns)   : 2500000", "ttft_latency (ns): 100000000"),
    )
    run = only(load(MLPERF.format("VALID") + "\n".join(lines)))
    results = {result.key: result.value for result in run.results}
    assert results["first_token_ms"] == {"p90": 7.0, "max": 9.0}
    assert results["output_token_ms"] == {"p99": 2.5}
    assert not any("ttft" in key for key in results)


def test_a_listing_names_no_models_that_ran(load: Load) -> None:
    listed = "crow-1/data/crow.onnx\nx crow-1/data/jay.onnx\n  inflating: tit.onnx\n"
    assert "models" not in str(only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{listed}")).facts)
    said = "reading crow.onnx\nreading jay.onnx\n"
    assert "models crow, jay" in str(only(load(f"[TRT] [I] Loaded engine size: 3 MiB\n{said}")).facts)
