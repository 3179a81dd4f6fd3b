"""Errors that no other finding explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("end", "severity"), [("&&.", Severity.WARNING), ("&&!", Severity.ERROR)])
def test_an_unexplained_error_counts_as_an_error_where_the_build_failed(
    end: str, severity: Severity, tmp_path: Path
) -> None:
    lines = f"&& 10.16.1 --fp16\nE The flux capacitor hums\n{end}"
    (finding,) = of_code(report_on(marked(lines).text, tmp_path), "TF716")
    assert finding.severity is severity


STEPS = (
    "The step build ended with exit code 141 (SIGPIPE: what read its output had ended); "
    "the step check ended with exit code 99; the last phase is build (line 1)"
)


@for_each(
    ("said", "title"),
    [
        ("build_return_code=141\ncheck_return_code=99", STEPS),
        ("Command terminated by signal 7", "A step ended with a signal (SIGBUS); the last phase is build (line 1)"),
        (
            "result=FAIL",
            "The program's own result is FAIL, and no other line says why; the last phase is build (line 1)",
        ),
        (
            "raw_result=FAIL\nexit code 1",
            "A step ended with exit code 1; the last phase is build (line 1); failed: raw",
        ),
        (
            "a_return_code=1\nresult=FAIL big_gate=PASS small_gate=FAIL",
            "The program's own result is FAIL: small_gate failed (big_gate passed)",
        ),
        ("exit code 1\nexit code 0", None),
        ("| a.cpp:1: Assertion `engine' failed.\nresult=FAIL", None),
    ],
)
def test_what_a_script_says_of_its_steps_is_a_finding(said: str, title: str | None, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(f"[TRT] [V] Original: 3 layers\n{said}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    titles = [finding.title for finding in judge(Inputs([log]), Suppression()).findings if finding.code == "TF719"]
    assert titles == [title] * (title is not None)


@pytest.mark.parametrize(
    ("said", "severity", "title"),
    [
        ("Average throughput: 3393.46 images/second", Severity.NOTE, "The log does not show the engine's layers"),
        ("x", Severity.WARNING, "The log does not show how the build ended, the engine's layers"),
    ],
)
def test_a_run_that_came_to_something_lacks_no_end(said: str, severity: Severity, title: str, tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_text(f"WARNING: [Torch-TensorRT] - Mean converter takes dtype\n{said}\n" + "\n" * 60, encoding="utf-8")
    log = read_log(str(path), max_bytes=1 << 20, on_progress=lambda _: None)
    (finding,) = [each for each in judge(Inputs([log]), Suppression()).findings if each.code == "TF705"]
    assert (finding.severity, finding.title.startswith(title)) == (severity, True)


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("gstnvinfer: deserialized trt engine from :/m/a.engine", "trtexec --loadEngine=/m/a.engine --dumpLayerInfo"),
        ("[TensorRT-LLM][INFO] Loaded engine size: 7763 MiB", "Read the JSON file beside the engine"),
        (
            "Loading /m/a.engine for TensorRT inference...\n[TRT] [I] Loaded engine size: 9 MiB",
            "Read the log of the run",
        ),
    ],
)
def test_a_loaded_engine_is_looked_up_where_its_program_keeps_it(said: str, step: str, tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_text(f"{said}\n", encoding="utf-8")
    log = read_log(str(path), max_bytes=1 << 20, on_progress=lambda _: None)
    (finding,) = [each for each in judge(Inputs([log]), Suppression()).findings if each.code == "TF705"]
    assert step in finding.next_steps[0].what


def test_an_error_in_a_table_whose_cell_goes_on_below_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(
        "[TRT] [V] Original: 3 layers\n"
        "| net | 1 | UNAVAILABLE: Invalid argument: unable to load m |\n"
        "|     |   | odel 'net', the warp type is not mauve          |\n",
        encoding="utf-8",
    )
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    findings = judge(Inputs([log]), Suppression()).findings
    told = [(each.title, each.evidence[0].span.line) for each in findings if each.code.startswith("TF9")]
    assert told == [("unable to load model 'net', the warp type is not mauve", 2)]


def test_an_assertion_that_is_said_again_with_its_place_is_one_error(tmp_path: Path) -> None:
    said = '(channels < kMOST) && "More channels than this kernel takes"'
    log = (
        f"[F] [TRT] Assertion failed: {said}\n"
        f"[E] [TRT] C:/a/b.h (7) - Assertion Error in nvinfer1::checkChannels: 0 ({said})\n"
    )
    (found,) = report_on(log, tmp_path).findings
    assert [each.span.line for each in found.evidence] == [1, 2]


def test_no_engine_for_a_refitter_is_what_other_errors_led_to(tmp_path: Path) -> None:
    said = "[E] Error[2]: [r.cpp::build::71] Error Code 2: Internal Error (Assertion engine failed. )"
    (tmp_path / "b.log").write_text(f"{said}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    codes = {finding.code for finding in judge(Inputs([log]), Suppression()).findings}
    assert "TF717" in codes
    assert "TF615" not in codes


def test_a_reshape_to_a_multiple_of_the_volume_is_a_title_that_reads(tmp_path: Path) -> None:
    what = "reshape changes volume to multiple of original volume. Reshaping [4] to [1]."
    said = f"[E] Error Code 4: Miscellaneous (x: {what})"
    (tmp_path / "b.log").write_text(f"{said}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    titles = [each.title for each in judge(Inputs([log]), Suppression()).findings if each.code == "TF107"]
    assert titles == ["A reshape changes the volume. Reshaping [4] to [1]."]


@pytest.mark.parametrize(
    "said",
    [
        "[TRT] WARNING: The shape of mauve type is missing, please add it",
        "W1203 15:45:46.48 3 a.cc:715] The configuration of TensorRT failed, and another one took its place",
        "2020-02-13 02:33:41.316: W tensorflow/compiler/tf2tensorrt/a.cc:635] Failed to enqueue batch for TRT engine",
    ],
)
def test_a_warning_of_a_program_is_no_error_of_a_class(said: str, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(f"{said}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.txt"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert not [each for each in judge(Inputs([log]), Suppression()).findings if each.severity is Severity.ERROR]


@for_each(
    ("said", "is_error"),
    [
        ("I also tried to convert the input to int8, and that type is not supported.", False),
        ("My engine doesn't work, the type of the output must be float.", False),
        ("Is the plugin missing in this release?", False),
        ("Thanks, please tell what must be set.", False),
        ("python3 -m warp.fold net.onnx --error-on-fold", False),
        ("./fold net.onnx -o failed.onnx --check", False),
        ("`--fail-fast`", False),
        ('raise ValueError("the type of the input must be float")', False),
        ("  --failOnMiss, -f       The type of the input must be float, otherwise it is not supported", False),
        ("  109 |     assert(plan->getNbWarps() == 3 && type_must_be_float);", False),
        ("the type of the input must be float", True),
        ("[E] Could not load the warp library. Is it on your path?", True),
        ("We can't fold this: the type of the input must be float", True),
        ("fold.py: error: the following arguments are required: --warp", True),
    ],
)
def test_what_the_owner_says_or_types_is_no_error(said: str, *, is_error: bool, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(f"[TRT] [V] Original: 3 layers\n{said}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 20, on_progress=lambda _: None)
    found = judge(Inputs([log]), Suppression()).findings
    assert any(each.code != "TF701" for each in found) is is_error


@pytest.mark.parametrize(
    "text",
    [
        "# INT8 results are worse than those of FP16 here, the accuracy drops.\nbatch=1 ; as built\n[property]\n",
        "c++ -lnvinfer src/TensorRT/calibrator/calibrator.cpp src/detector/precision.cpp -o detect\n",
    ],
)
def test_a_file_of_settings_and_a_line_of_paths_ask_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.txt"), max_bytes=1 << 20, on_progress=lambda _: None)
    assert "TF706" not in {each.code for each in judge(Inputs([log]), Suppression()).findings}


def test_a_stub_that_crashes_ends_no_server(tmp_path: Path) -> None:
    loaded = "I0101 10:00:02.000000 1 model_lifecycle.cc:694] successfully loaded 'warp' version 1"
    text = f"== Triton Inference Server ==\nfree(): invalid pointer\n{loaded}\n^CSignal (2) received.\n"
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 20, on_progress=lambda _: None)
    (finding,) = judge(Inputs([log]), Suppression()).findings
    assert (finding.code, finding.severity) == ("TF613", Severity.WARNING)


def test_explicit_precision_needs_no_calibration(tmp_path: Path) -> None:
    options = "[I] === Build Options ===\n[I] Precision: FP32+INT8\n[I] Calibration: Dynamic\n"
    told = "[W] [TRT] Calibrator won't be used in explicit precision mode. Use quantization aware training.\n"
    command = "&&&& RUNNING TensorRT.trtexec [TensorRT v8205] # trtexec --onnx=q.onnx --int8\n"
    codes = []
    for text in (command + options, command + options + told):
        (tmp_path / "b.log").write_text(text, encoding="utf-8")
        log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 20, on_progress=lambda _: None)
        codes.append({each.code for each in judge(Inputs([log]), Suppression()).findings})
    assert "TF219" in codes[0] - codes[1]


_BEGUN = "I [MemUsageChange] Init CUDA: CPU +548, GPU +0, now: CPU 1333, GPU 0 (MiB)"


@pytest.mark.parametrize(("below", "severity"), [("", Severity.NOTE), (_BEGUN, Severity.ERROR)])
def test_a_text_that_ends_in_the_options_is_cut_and_no_process_died(
    below: str, severity: Severity, tmp_path: Path
) -> None:
    lines = f"&& 10.16.1 --fp16\nI === Build Options ===\nI Precision: FP32+FP16\n{below}"
    (finding,) = of_code(report_on(marked(lines).text, tmp_path), "TF701")
    assert finding.severity is severity
