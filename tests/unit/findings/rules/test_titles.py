"""Titles of findings over wordings that print less, or other things, than the usual one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

SLOW = "support requested on hardware without native {} support, performance will be negatively affected."


@pytest.mark.parametrize(
    ("line", "code", "title"),
    [
        (
            "E fc: last dimension of input0 = 85 and last dimension of input1 = 64 but must match.",
            "TF103",
            "The inner dimensions of a matrix product are 85 and 64",
        ),
        (
            "E 7: Error Code 7: Internal Error (fc: attempt to multiply two matrices with mismatching dimensions",
            "TF103",
            "The inner dimensions of a matrix product differ",
        ),
        (
            "E IMatrixMultiplyLayer must have same input types. `A` is of type Float and `B` is of type Half.",
            "TF102",
            "IMatrixMultiplyLayer gets Float and Half",
        ),
        (
            "E Specified optimization profiles must satisfy MIN<=OPT<=MAX.\nE Max value of this profile is not valid",
            "TF402",
            "An optimisation profile is not MIN <= OPT <= MAX",
        ),
        ("| [E]     FAILED | Difference exceeds tolerance (rel=0.1, abs=0.1)", "TF216", "An output differs"),
        (
            "| [!] fp16 in CreateConfig is not available on TensorRT version 11.2.1.2.",
            "TF668",
            "This TensorRT has no fp16 (CreateConfig)",
        ),
        (
            "| a.cpp:3: error: 'kFP16' is not a member of 'nvinfer1::BuilderFlag'",
            "TF668",
            "This TensorRT has no kFP16 (nvinfer1::BuilderFlag)",
        ),
        (
            "| failed for 'a': configuration specified max-batch 8 but TensorRT engine only supports max-batch 1",
            "TF646",
            "The engine has batch size 1, and 8 is asked for",
        ),
        (
            "E 9: Error Code 9: API Usage Error (Networks with FP8 Q/DQ layers require hardware with FP8 support.)",
            "TF316",
            "This GPU cannot compute in FP8",
        ),
        (
            "E ../rtSafe/cuda/caskUtils.cpp (98) - Assertion Error in trtSmToCask: 0 (Unsupported SM.)",
            "TF311",
            "This TensorRT does not know the GPU's compute capability",
        ),
        ("| [E] Unrecognized Options: ['--foo']", "TF413", "Polygraphy does not know '--foo'"),
        (
            "E Could not load library libnvonnxparser.so.8: it is not there",
            "TF410",
            "The library libnvonnxparser.so.8 cannot be loaded",
        ),
        (
            f"W Int8 {SLOW.format('Int8')}",
            "TF209",
            "This GPU has no fast INT8",
        ),
    ],
)
def test_a_wording_gets_the_title_of_what_it_prints(line: str, code: str, title: str, tmp_path: Path) -> None:
    (finding,) = of_code(report_on(marked(line).text, tmp_path), code)
    assert finding.title.startswith(title)


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("W Profile kMAX values are not self-consistent. IShuffleLayer node_a: odd", Severity.WARNING),
        (
            "E 4: Error Code 4: Internal Error (kMAX values for profile 0 violate shape constraints: odd)",
            Severity.ERROR,
        ),
    ],
)
def test_a_profile_that_only_warns_is_a_warning(line: str, severity: Severity, tmp_path: Path) -> None:
    (finding,) = of_code(report_on(marked(line).text, tmp_path), "TF422")
    assert finding.severity is severity


def test_a_tensorrt_that_does_not_know_the_gpu_does_not_know_that_it_is_slow(tmp_path: Path) -> None:
    slow = f"W Half2 {SLOW.format('FP16')}"
    assert [found.code for found in report_on(marked(slow).text, tmp_path).findings].count("TF209") == 1
    unknown = f"{slow}\nE caskUtils.cpp (98) - Assertion Error in trtSmToCask: 0 (Unsupported SM.)"
    assert of_code(report_on(marked(unknown).text, tmp_path), "TF209") == []


@pytest.mark.parametrize(
    ("library", "codes"),
    [("libcudnn_cnn_infer.so.8. Error: odd", ["TF410"]), ("libmmdeploy_tensorrt_ops.so", ["TF685"])],
)
def test_only_a_library_of_ops_is_a_library_of_plugins(library: str, codes: list[str], tmp_path: Path) -> None:
    report = report_on(marked(f"&& 8.6.1 --fp16\n| Could not load library {library}").text, tmp_path)
    assert [found.code for found in report.findings if found.code in {"TF410", "TF685"}] == codes
