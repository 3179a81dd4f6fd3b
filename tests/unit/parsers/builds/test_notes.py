"""Causes that error messages state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.parsers.builds.notes import causes

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


def test_a_cause_is_found_wherever_it_stands_in_a_message() -> None:
    text = "Error[9]: f: Error Code 9: Internal Error (Target GPU SM 61 is not supported by this TensorRT release.)"
    assert causes(text) == (("target_sm", {"sm": "61"}),)
    assert causes("nothing of the kind") == ()
    assert causes("TensorRT EP could not open shared library from") == (("ep_decryption", {"text": ""}),)


@pytest.mark.parametrize(("level", "kinds"), [("DEBUG", []), ("ERROR", ["unusable_file"])])
def test_a_line_of_another_programs_quiet_level_reports_no_error(
    load: Callable[[str], BuildLog], level: str, kinds: list[str]
) -> None:
    line = f"[1752.0] [host:1:0]  sys.c:431  UCX  {level} failed to open /sys/width: No such file or directory"
    assert [note.kind for note in load(f"[11/21/2026-10:05:00] [TRT] [V] x\n{line}").builds[0].notes] == kinds


@pytest.mark.parametrize(
    "line",
    [
        'Output [Text 0 Beam 0]: "He died in 1868."',
        "    except ImportError:",
        "        whether the nest passed or failed.",
        "CacheManager Init Failed. Error: -29",
    ],
)
def test_an_answer_code_and_alternatives_report_no_error(load: Callable[[str], BuildLog], line: str) -> None:
    assert load(f"[11/21/2026-10:05:00] [TRT] [V] x\n{line}").builds[0].notes == ()


_DYNAMIC = "input mask contains dynamic shape, provide shapes to send along with the request"


@for_each(
    ("lines", "kind"),
    [
        ([f"error: {_DYNAMIC}"], "failed_word"),
        ([f"[TensorRT EP] error: {_DYNAMIC}"], "dynamic_shape"),
        (
            ['  File "/opt/py/torch_tensorrt/ts/compiler.py", line 7, in run', f"ValueError: {_DYNAMIC}"],
            "dynamic_shape",
        ),
        (["ERROR: failed to open /sys/width: No such file or directory"], "unusable_file"),
    ],
)
def test_classes_are_of_what_tensorrt_and_the_programs_around_it_say(
    load: Callable[[str], BuildLog], lines: list[str], kind: str
) -> None:
    log = load("\n".join(["[11/21/2026-10:05:00] [TRT] [V] x", *lines]))
    assert [note.kind for note in log.builds[0].notes] == [kind]


def test_an_error_is_no_end_of_the_error_above_it(load: Callable[[str], BuildLog]) -> None:
    text = """
[E] [TRT] 4: [graphShapeAnalyzer.cpp::analyzeShapes::12] Error Code 4: Miscellaneous (a.b: reshape changes volume)
[E] [TRT] 2: [builder.cpp::build::36] Error Code 2: Internal Error (Assertion engine != nullptr failed. )
"""
    assert "shape_analysis" not in {note.kind for note in load(text.strip()).builds[0].notes}


@pytest.mark.parametrize(("number", "found"), [(1, 1), (6, 0)])
def test_members_that_a_program_tries_one_by_one_are_no_errors(
    load: Callable[[str], BuildLog], number: int, found: int
) -> None:
    tried = "".join(f"Exception: 'tensorrt.tensorrt.Runtime' object has no attribute 'm{n}'\n" for n in range(number))
    notes = load(f"[11/21/2026-10:05:00] [TRT] [V] x\n{tried}").builds[0].notes
    assert bool([note for note in notes if note.span.line > 1]) is bool(found)


@pytest.mark.parametrize(
    "line",
    [
        'sample::gLogError << "The engine could not be deserialized." << std::endl;',
        'LOG(ERROR) << "failed to deserialize the engine";',
        f"[1752.2536] [computeinstance-7:77:0]{' ' * 35}sys.c:4  UCX  DEBUG failed to open /a: No such file",
    ],
)
def test_what_code_or_a_log_of_details_says_did_not_happen(load: Callable[[str], BuildLog], line: str) -> None:
    notes = load(f"[11/21/2026-10:05:00] [TRT] [V] x\n{line}").builds[0].notes
    assert not [note for note in notes if note.span.line == 2]


@for_each(
    ("lines", "reason"),
    [
        (
            ["pydantic_core.ValidationError: 2 validation errors for Args", "depth", "  Input should be 3 [type=x]"],
            "2 validation errors for Args: depth: Input should be 3",
        ),
        (
            ["yaml.scanner.ScannerError: mapping values are not allowed here", '  in "a.yaml", line 5, column 12'],
            'mapping values are not allowed here: in "a.yaml", line 5, column 12',
        ),
    ],
)
def test_the_reason_in_the_lines_below_an_error_belongs_to_it(
    load: Callable[[str], BuildLog], lines: list[str], reason: str
) -> None:
    (note,) = load("\n".join(["[11/21/2026-10:05:00] [TRT] [V] x", *lines])).builds[0].notes
    assert note.text("text") == reason
