"""Fingerprints of failures, and when two are the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.search import Verdict
from trtforensics.reduce.failure import Failure, Names, Sameness, failure_of, read_failure, write_failure, wrong_numbers

NAMES = Names({"/a/Resize": "Resize", "/b/Add": "Add", "/c/If": "If"}, {"/b/out": "/b/Add"}, frozenset({"x"}))
PARSER = """[11/22/2026-17:05:59] [TRT] [V] Parsing node: {node} [{op}]
[11/22/2026-17:05:59] [TRT] [E] ModelImporter.cpp:140: While parsing node number {number} [{op} -> "{out}"]:
[11/22/2026-17:05:59] [TRT] [E] ModelImporter.cpp:142: --- Begin node ---
Node name: {node}
[11/22/2026-17:05:59] [TRT] [E] ModelImporter.cpp:143: --- End node ---
[11/22/2026-17:05:59] [TRT] [E] ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:741 In function {function}:
[8] Assertion failed: (mode == 1) && "only mode 1 is supported"
"""


def built(folder: Path, log: str, status: int = 1, *, timed_out: bool = False) -> Failure:
    (folder / "build.log").write_text(log)
    outcome = ProbeOutcome(Verdict.BAD, "", Ended(status, 1.0, len(log), timed_out), timed_out=timed_out)
    return failure_of(folder, outcome, NAMES)


def log(node: str = "/a/Resize", op: str = "Resize", function: str = "checkResize", number: int = 180) -> str:
    return PARSER.format(node=node, op=op, out=f"{node}/out", function=function, number=number)


def test_a_parser_error_has_code_operator_function_and_node(tmp_path: Path) -> None:
    failure = built(tmp_path, log())
    assert (failure.stage, failure.ended, failure.code) == ("build", "failed", "TF932")
    assert (failure.operator, failure.named) == ("Resize", ("/a/Resize",))
    assert failure.functions == ("onnxOpCheckers.cpp: checkResize",)
    assert any("While parsing node number 180" in line for line in failure.lines)


def test_numbers_and_names_do_not_make_a_difference(tmp_path: Path) -> None:
    one, other = built(tmp_path, log(number=180)), built(tmp_path, log(number=0))
    assert one.lines != other.lines
    assert one.difference(other, Sameness.STRICT) == ""


@pytest.mark.parametrize(
    ("changed", "loose", "strict"),
    [
        (("/a/Resize", "Resize", "importResize"), "", "it stopped in onnxOpCheckers.cpp: importResize"),
        (("/b/Add", "Add", "checkResize"), "", "the operator is Add"),
    ],
)
def test_strict_looks_at_more_than_loose(
    tmp_path: Path, changed: tuple[str, str, str], loose: str, strict: str
) -> None:
    one, other = built(tmp_path, log()), built(tmp_path, log(*changed))
    assert one.difference(other, Sameness.LOOSE) == loose
    assert one.difference(other, Sameness.STRICT) == strict


def test_a_node_inside_an_if_fails_as_the_if_did(tmp_path: Path) -> None:
    whole = built(tmp_path, log("/c/If", "If", "checkDet"))
    assert whole.difference(built(tmp_path, log("/a/Resize", "Resize", "checkDet")), Sameness.STRICT) == ""
    assert whole.difference(built(tmp_path, log("/a/Resize", "Resize", "checkResize")), Sameness.STRICT)


def test_a_crash_a_hang_and_an_error_are_three_failures(tmp_path: Path) -> None:
    assert built(tmp_path, "", 139).ended == "ended by signal 11"  # as a shell says it
    crash, hang = built(tmp_path, "", -11), built(tmp_path, "", -9, timed_out=True)
    error = built(tmp_path, "RuntimeError: no\n")
    assert [each.ended for each in (crash, hang, error)] == ["ended by signal 11", "timed out", "failed"]
    assert crash.difference(hang, Sameness.LOOSE) == "it timed out"
    assert crash.difference(error, Sameness.LOOSE) == "it failed"


def test_a_crash_names_the_node_that_the_log_ends_at(tmp_path: Path) -> None:
    lines = "[11/22/2026-17:05:59] [TRT] [V] Parsing node: /b/Add [Add]\n"
    assert built(tmp_path, lines, -11).named == ("/b/Add",)


def test_last_words_of_another_program_are_compared_without_names(tmp_path: Path) -> None:
    one = built(tmp_path, "ValueError: /b/out has 3 rows\n")
    assert (one.code, one.named) == ("", ("/b/Add",))
    assert one.difference(built(tmp_path, "ValueError: x has 12 rows\n"), Sameness.STRICT) == ""
    assert one.difference(built(tmp_path, "ValueError: no rows\n"), Sameness.STRICT) == "it says ValueError: no rows"


def test_a_failure_is_read_back_for_its_own_check_only(tmp_path: Path) -> None:
    failure = built(tmp_path, log())
    write_failure(tmp_path, failure, "./check {model}")
    assert read_failure(tmp_path, "./check {model}") == failure
    assert read_failure(tmp_path, "./other {model}") is None
    assert read_failure(tmp_path / "nowhere", "") is None


def test_wrong_numbers_are_loosely_the_same_however_wrong() -> None:
    one = Failure("numbers", "are not finite")
    other = replace(one, ended="differ beyond the tolerance")
    assert one.difference(other, Sameness.LOOSE) == ""
    assert one.difference(other, Sameness.STRICT) == "they differ beyond the tolerance"


def test_an_error_on_the_other_stream_is_the_failure(tmp_path: Path) -> None:
    banner = "&&&& {} TensorRT.trtexec [TensorRT v101601] # trtexec --onnx=m.onnx\n"
    (tmp_path / "build.err").write_text(log())
    failure = built(tmp_path, banner.format("RUNNING") + banner.format("FAILED"))
    assert (failure.code, failure.operator) == ("TF932", "Resize")


def test_the_result_of_a_node_that_was_cut_off_is_no_operator(tmp_path: Path) -> None:
    text = (
        "[11/22/2026-17:05:59] [TRT] [E] ITensor::getDimensions: Error Code 4: API Usage Error (Network input {} is a "
        "shape tensor and must have type Int32 or Int64. Type is Float. In demandAndResolveInputTensor at a/b.cpp:1846)"
    )
    (tmp_path / "build.log").write_text(text.format("x"))
    outcome = ProbeOutcome(Verdict.BAD, "", Ended(1, 1.0, 1))
    whole = failure_of(tmp_path, outcome, NAMES)
    (tmp_path / "build.log").write_text(text.format("/b/out"))
    cut = failure_of(tmp_path, outcome, NAMES.among({"/a/Resize"}))
    assert whole.code
    assert whole.difference(cut, Sameness.STRICT) == ""
    assert whole.difference(failure_of(tmp_path, outcome, NAMES), Sameness.STRICT) != ""


MISMATCH = "[E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=0.01, abs=0.01)\n"


@pytest.mark.parametrize(
    ("log", "form", "lines"),
    [
        ("[I] run 1: y | Stats: mean=0.1, max=2\n" + MISMATCH, ": outputs differ", 1),
        ("[I] run 1: y | Stats: mean=nan, max=inf\n" + MISMATCH, ": outputs are not finite", 1),
        ("nothing that is known\n", "", 0),
    ],
)
def test_a_built_in_check_tells_how_outputs_are_wrong(tmp_path: Path, log: str, form: str, lines: int) -> None:
    (tmp_path / "check.log").write_text(log)
    failure = wrong_numbers("against", tmp_path / "check.log")
    assert (failure.form, len(failure.lines)) == (f"builtin:against does not hold{form}", lines)
