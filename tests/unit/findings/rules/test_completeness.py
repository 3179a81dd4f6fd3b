"""A log that stops is an error where a program kept it, and only a note where somebody pasted a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

NAMES_ONLY = (
    "V Engine Layer Information:\n"
    "| Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Half[2,8]) -> y (Half[2,8])\n"
    "I The profiling verbosity was set to ProfilingVerbosity::kLAYER_NAMES_ONLY when the engine was built, so only the "
    "layer names will be returned."
)
STOPPED = (
    "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --int8 --calib=ranges.cache",
    "[W] [TRT] Calibrator is not being used. Users must provide dynamic range for all tensors that are not Int32.",
    "[11/22/2026-09:36:03] [I] [TRT] Detected 1 inputs and 1 output network tensors.",
)


@pytest.mark.parametrize("front", ["", "2026-11-22T09:36:04.1234567Z "])
def test_a_log_that_stops_is_an_error(front: str, tmp_path: Path) -> None:
    (first, *_) = report_on("".join(f"{front}{line}\n" for line in STOPPED), tmp_path).findings
    assert (first.code, first.severity, first.title) == ("TF701", Severity.ERROR, "The log stops without a verdict")


@pytest.mark.parametrize("front", ["> ", "| ", "- "])
def test_what_somebody_pasted_may_stop_anywhere(front: str, tmp_path: Path) -> None:
    findings = report_on("".join(f"{front}{line}\n" for line in STOPPED), tmp_path).findings
    assert [one.code for one in findings][:2] == ["TF212", "TF701"]
    assert findings[1].severity is Severity.NOTE


@pytest.mark.parametrize(("flags", "found"), [("--exportLayerInfo=l.json", 1), ("--dumpProfile", 0)])
def test_an_exported_file_of_names_is_named_though_the_log_has_the_layers(
    flags: str, found: int, tmp_path: Path
) -> None:
    report = report_on(marked(f"&& 8.6.1 {flags}\n{NAMES_ONLY}").text, tmp_path)
    titles = [one.title for one in of_code(report, "TF704")]
    assert titles == ["The file of --exportLayerInfo holds the layers' names only"] * found


@pytest.mark.parametrize(
    ("last", "severity", "missing"),
    [
        ("Succeeded building engine!", Severity.NOTE, "the engine's layers, the tactics"),
        ("building engine", Severity.WARNING, "how the build ended, the engine's layers, the tactics"),
    ],
)
def test_a_program_that_says_it_has_the_engine_shows_how_the_build_ended(
    last: str, severity: Severity, missing: str, tmp_path: Path
) -> None:
    (found,) = of_code(report_on(f"[TensorRT] INFO: Some line that no rule reads\n{last}\n", tmp_path), "TF705")
    assert found.severity is severity
    assert found.title == f"The log does not show {missing}"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-27 09:00:01.000001: W tensorflow/compiler/tf2tensorrt/utils/trt_logger.cc:39] TF-TRT Warning: A line.",
        "[TRT] [V] A line.\nTraceback (most recent call last):\nValueError: an input is missing",
        "[TRT] [V] A line.\nError: could not make a window",
        "[I] Average on 10 runs - GPU latency: 3.06 ms - Host latency: 3.59 ms (end to end 6.08 ms, enqueue 0.54 ms)",
    ],
)
def test_a_verbose_log_is_not_asked_for_where_it_would_change_nothing(text: str, tmp_path: Path) -> None:
    assert not of_code(report_on(f"{text}\n", tmp_path), "TF705")


def test_a_verbose_build_is_not_asked_of_a_program_that_ran_before_the_build(tmp_path: Path) -> None:
    export = "ann@box:~$ netexport -w a.pt\n[I] Starting export.\n[S] Export completed successfully!\n"
    build = marked("&& 8.6.1 --fp16\n&&.").text
    (found,) = of_code(report_on(f"{export}ann@box:~$ trtexec --fp16\n{build}", tmp_path), "TF705")
    assert found.builds == (1,)


@pytest.mark.parametrize(("flags", "said"), [("--loadEngine=m.plan", True), ("--fp16", False)])
def test_of_a_loaded_engine_it_says_that_the_options_are_not_its_own(flags: str, *, said: bool, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(f"&& 8.6.1 {flags}\n&&. end").text, tmp_path), "TF705")
    assert found.cause.startswith("The run loads an engine") is said


@pytest.mark.parametrize(
    ("notation", "what", "command"),
    [
        (
            "&& 10.16.1 --loadEngine=a.plan\n&&.",
            "Load the engine again with its layers printed",
            "trtexec --onnx=m.onnx --loadEngine=a.plan --verbose --dumpLayerInfo > again.log 2>&1",
        ),
        ("&& 8.0.3 --loadEngine=a.plan\n&&.", "Read the log of the run that built the engine", ""),
        (
            "&& 10.16.1 --fp16\n&&.",
            "Build again with the layers printed",
            "trtexec --onnx=m.onnx --fp16 --verbose --profilingVerbosity=detailed --dumpLayerInfo > again.log 2>&1",
        ),
        (
            (
                "| [I] RUNNING | Command: /usr/bin/polygraphy run m.onnx --trt -v\n"
                "| [I] PASSED | Runtime: 3.000s | Command: /usr/bin/polygraphy run m.onnx --trt -v"
            ),
            "Build again with -vv, which prints more",
            "polygraphy run m.onnx --trt -v -vv",
        ),
    ],
    ids=["loads", "loads, no option for layers", "verbose already", "polygraphy is verbose already"],
)
def test_what_a_log_lacks_is_asked_for_without_what_it_has(
    notation: str, what: str, command: str, tmp_path: Path
) -> None:
    (finding,) = of_code(report_on(marked(notation).text, tmp_path), "TF705")
    assert [(step.what, step.command) for step in finding.next_steps] == [(what, command)]


def test_the_log_that_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "again.log").write_text(marked("&& 10.16.1 --fp16\n&&.").text, encoding="utf-8")
    log = read_log(str(tmp_path / "again.log"), max_bytes=1 << 20, on_progress=lambda _: None)
    (finding,) = of_code(judge(Inputs([log]), Suppression()), "TF705")
    assert finding.next_steps[0].command.endswith(" > again.again.log 2>&1")


_LOADING = """&& 8.6.1 --loadEngine=bert.plan
i === Device Information ===
i Device Global Memory: 4864 MiB
I [MemUsageChange] Init CUDA: CPU +503, GPU +0, now: CPU 1288, GPU 4503 (MiB)
I Loaded engine size: {size} MiB
&&! end
"""


@pytest.mark.parametrize(("size", "said"), [(778, "; its 778 MiB are more than was left"), (300, "")])
def test_a_loaded_engine_is_weighed_against_the_memory_that_was_left(size: int, said: str, tmp_path: Path) -> None:
    (first, *_) = report_on(marked(_LOADING.format(size=size)).text, tmp_path).findings
    assert first.title == (
        f"The run failed when it loaded the engine, but the log holds no error: stderr was not captured{said}"
    )
