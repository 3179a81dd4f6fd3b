"""Special cases of rules: each holds for its example, and what it says names the example's values."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.case import LoggedBuild
from trtforensics.findings.special_cases import SpecialCase, lines_around, special, terms_of
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUE = re.compile(r"\\\{\w+\\\}")
"""A value in a text that is escaped for a pattern."""


def _causes() -> Iterator[tuple[str, str]]:
    """Give the name of each special case, behind the code of a rule that has it alone, and its cause."""
    rules = files("trtforensics.findings.rules")
    tables = [each.read_text("utf-8") for folder in ("tables", "texts") for each in (rules / folder).iterdir()]
    for row in "\n\n".join(tables).split("\n\n"):
        lines = row.replace("\n    ", " ").split("\n")
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        for name in [field.removeprefix("when") for field in fields if re.match(r"when\b", field)]:
            yield lines[0].split(" ")[0] + name, fields[f"cause{name}"]


CAUSES = dict(_causes())
_BLOCKS = Path(__file__).with_suffix(".txt").read_text("utf-8").removeprefix("# ").split("\n\n# ")
EXAMPLES = {head: text for head, _, text in (block.partition("\n") for block in _BLOCKS)}


def test_each_special_case_has_an_example() -> None:
    assert CAUSES.keys() == EXAMPLES.keys()


@pytest.mark.slow
@for_each("name", EXAMPLES)
def test_a_special_case_holds_for_its_example(name: str, tmp_path: Path) -> None:
    wanted = re.compile(_VALUE.sub(".+", re.escape(CAUSES[name])))
    found = report_on(EXAMPLES[name], tmp_path).findings
    assert any(wanted.fullmatch(finding.cause) and not finding.general for finding in found), [
        (finding.code, finding.cause) for finding in found
    ]


CHECK = "[E] Error[2]: [warp.cpp::fold::71] Error Code 2: Internal Error (Assertion {} failed. )"
MYELIN = "[E] Error[9]: Error Code 9: Internal Error (MyelinCheckException: warp.cpp:7: CHECK({}) failed.)"
THROWN = "RuntimeError: [Error thrown at core/{}.cpp:41] Expected warp to be true but got false\n{}"
UNFOUNDED = {
    MYELIN.format("opnd->is_tensor()"): "stumbles over a slice",
    MYELIN.format("op->slice_mode() == warped"): "stumbles over a slice",
    CHECK.format("prePadding.nbDims == postPadding.nbDims"): "The padding behind the data",
    CHECK.format("scales.size() == zeroPoints.size()"): "found several scales",
    CHECK.format("channelAxis >= 0"): "merges products and sums",
    THROWN.format("conversion/warp", "Unable to create warp layer from node: 7"): "TensorRT was not asked",
    THROWN.format("runtime/warp", "No compatible warp was found"): "TensorRT was not asked",
    "[E] Could not load library libwarp.so": "mmcv and mmdeploy",
    "[!] alpha and beta are mutually exclusive.": "Only one of REFIT",
    "[E] [TRT] warp\nKeyError: 'A size must be one number or a range of three'": "looks a name up",
}
"""By text: what a cause says that the text does not show."""


def test_a_cause_says_no_more_than_the_text_shows(tmp_path: Path) -> None:
    opening = "[04/05/2026-06:07:08] [I] === Device Information ===\n"
    causes = {text: [found.cause for found in report_on(opening + text, tmp_path).findings] for text in UNFOUNDED}
    assert [text for text, said in causes.items() if not said] == []
    assert [text for text, wrong in UNFOUNDED.items() if any(wrong in cause for cause in causes[text])] == []


@pytest.fixture(scope="module")
def about(tmp_path_factory: pytest.TempPathFactory) -> LoggedBuild:
    """A build of TensorRT 8.2.5 by trtexec."""
    path = tmp_path_factory.mktemp("log") / "build.log"
    path.write_text("&&&& RUNNING TensorRT.trtexec [TensorRT v8205] # trtexec --onnx=net.onnx --fp16\n")
    log = load_build_log([str(path)])
    return LoggedBuild(log, log.builds[0])


@for_each(
    ("terms", "holds"),
    [
        ("line: wants (?P<size>[0-9]+)", True),
        ("line: wants; log: a line beside", True),
        ("not line: wants", False),
        ("line: wants; not log: a line beside", False),
        ("command: --fp16; program: trtexec", True),
        ("command: --int8", False),
        ("since: 8.2; before: 8.4", True),
        ("since: 8.4", False),
        ("not since: 8.4", True),
    ],
)
def test_a_special_case_holds_where_each_of_its_terms_does(terms: str, about: LoggedBuild, *, holds: bool) -> None:
    case = SpecialCase(terms_of(terms), "It wants {size}.", "Give {size}.")
    assert (special([case], about, "wants 12 MiB", "a line beside") is not None) is holds


def test_texts_name_the_values_of_groups_and_keep_other_braces(about: LoggedBuild) -> None:
    case = SpecialCase(terms_of("line: wants (?P<size>[0-9]+)"), "It wants {size}.", "{0} {other}")
    found = special([case], about, "wants 12 MiB", "")
    assert found is not None
    assert (found.cause, found.fix) == ("It wants 12.", "{0} {other}")


def test_lines_around_a_line_stay_in_the_file() -> None:
    assert lines_around(3, 5) == range(1, 6)
    assert 851 in lines_around(1000, 2000)
    assert 849 not in lines_around(1000, 2000)


def test_the_fix_of_an_error_in_its_own_words_stands_in_the_place_of_its_classs(tmp_path: Path) -> None:
    (finding,) = (each for each in report_on(EXAMPLES["myelin-device"], tmp_path).findings if each.code == "TF912")
    assert len(finding.fixes) == 1
