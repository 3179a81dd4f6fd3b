"""A run in words: its program, how it ended with the line, what it compared; JSON says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.render.log_text import summarise
from trtforensics.render.runs import run_members, run_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

I = "[11/21/2026-10:05:00] [I] "  # noqa: E741 - as the log spells the level
COMPARED = """\
[I] RUNNING | Command: polygraphy run a.onnx --onnxrt --validate
[I]     onnxrt-runner-N0-1  | Validating output: z (check_inf=True, check_nan=True)
[E]         NaN Detected | One or more non-finite values were encountered in this output
[E]         FAILED | Errors detected in output: z
[E] FAILED | Runtime: 1.2s | Command: polygraphy run a.onnx --onnxrt --validate
"""
OLD_FORM = """\
[I]     Comparing Output: 'z' (dtype=float32, shape=(1, 2)) with 'z' (dtype=float32, shape=(1, 2))
[I]         Required tolerances: [atol=7e-05] OR [rtol=1e-05, atol=3e-05]
            Runner: trt-runner-N0-02/03/21-04:05:06          | Stats: mean=-0.1, min=-2 at (0, 0), max=1 at (0, 1)
            Runner: onnxrt-runner-N0-02/03/21-04:05:06       | Stats: mean=-0.1, min=-2 at (0, 0), max=1 at (0, 1)
[E]         FAILED | Difference exceeds tolerance (rtol=1e-05, atol=1e-05)
"""
SURVIVED = """\
[11/21/2026-10:05:00] [TRT] [I] Loaded engine size: 39 MiB
[11/21/2026-10:05:00] [TRT] [E] 3: [executionContext.cpp::enqueueV3::7] Error Code 3: API Usage Error (x)
[11/21/2026-10:05:00] [TRT] [I] said later
"""
LOADED = f"""\
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --loadEngine=a.plan
{I}=== Build Options ===
{I}Precision: FP32
{I}Load engine: a.plan
&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --loadEngine=a.plan
"""


def test_a_failed_validation_names_the_output_and_what_it_holds(load: Load) -> None:
    (run,) = load(COMPARED).runs
    assert list(run_rows(run)) == [
        ("run", "polygraphy, failed: the verdict is FAILED (line 5); compare"),
        ("", "it never uses TensorRT"),
        ("compared", "onnxrt-runner, validated alone: 1 of 1 outputs failed; NaN in z"),
    ]
    (comparison,) = run_members(run)["comparisons"]
    assert (comparison["right"], comparison["first_different"], comparison["outputs"][0]["nan"]) == (None, "z", 1)


def test_a_comparison_whose_head_is_not_shown_is_of_the_runners_whose_values_are(load: Load) -> None:
    (run,) = load(OLD_FORM).runs
    assert run.uses_tensorrt
    differ = "1 of 1 outputs differ; largest absolute error 7e-05 of z (0.00% of its range)"
    assert list(run_rows(run))[-1] == ("compared", f"trt-runner against onnxrt-runner: {differ}")


def test_an_error_that_was_survived_stands_below_the_outcome(load: Load) -> None:
    (run,) = load(SURVIVED).runs
    assert list(run_rows(run)) == [
        ("run", "python, ended: no line tells how; the last phase is load (line 1); load"),
        ("", "its last error is in line 2: inference failed, its outputs are not valid"),
    ]
    assert run_members(run)["outcome"]["survived"]["line"] == 2


def test_trtexecs_defaults_are_no_options_of_a_loaded_engine(load: Load) -> None:
    text = summarise(load(LOADED))
    assert "those that the loaded engine was built with are unknown" in text
    assert "FP32" not in text
