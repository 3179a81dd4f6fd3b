"""Outputs that a build marks, and outputs that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.findings.finding import Report

RUNNERS = ("trt-runner-N0-07/03/26-08:15:02", "onnxrt-runner-N0-07/03/26-08:15:02")


@pytest.mark.parametrize(("said", "found"), [("24 tensors", 1), ("3 tensors", 0), ("all ONNX tensors", 0)])
def test_many_marked_tensors_are_found_without_the_command(said: str, found: int, tmp_path: Path) -> None:
    text = marked(f"I Detected 1 inputs and 24 output network tensors.\n| [V] Marking {said} as outputs").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF214"]
    assert len(seen) == found


@pytest.mark.parametrize(
    ("operands", "dims", "found"),
    [
        ("input0 and input1", ("1,8,64,32", "4,1,32,64"), 1),
        ("input0", ("1,8", "4,8"), 0),  # without the parser's lines, input0 may be a weight
        ("input0 and input1", ("2,1,64,32", "2,8,1,64"), 0),
    ],
)
def test_two_broadcast_operands_are_found_without_the_parsers_lines(
    operands: str, dims: tuple[str, str], found: int, tmp_path: Path
) -> None:
    told = f"dims(input0)=[{dims[0]}][NONE] dims(input1)=[{dims[1]}][NONE]."
    text = marked(f"&& 8.6.1 --fp16\nW MatMul_7: broadcasting {operands} to make tensors conform, {told}").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF217"]
    assert [one.layers for one in seen] == [("MatMul_7",)] * found


_BROADCAST = """V Adding network input: x with dtype: float32, dimensions: (1, 8)
V Importing initializer: w
V Importing initializer: unused
V Parsing node: {maker} [{op}]
V {maker} [{op}] inputs: [{source} -> (1, 8)[FLOAT]],
V {maker} [{op}] outputs: [m -> (1, 8)[FLOAT]],
V Parsing node: add [Add]
V add [Add] inputs: [m -> (1, 8)[FLOAT]], [w -> (4, 8)[FLOAT]],
V add [Add] outputs: [y -> (4, 8)[FLOAT]],
I add: broadcasting input0 to make tensors conform, dims(input0)=[1,8][NONE] dims(input1)=[4,8][NONE]."""


@pytest.mark.parametrize(("source", "cited"), [("x", [1, 10, 4, 2]), ("w", [])])
def test_the_line_of_each_broadcast_operand_is_cited(source: str, cited: list[int], tmp_path: Path) -> None:
    text = marked(_BROADCAST.format(maker="scale", op="Mul", source=source)).text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF217"]
    lines = [line.span.line for one in seen for line in one.evidence]
    assert lines == cited, "a tensor that is made of weights alone is a weight"


def compared(name: str, dtype: str, error: float, limits: tuple[str, str]) -> list[str]:
    """Return Polygraphy's lines about an output that differs, whose values lie in ``limits`` on both sides."""
    stats = "mean=1.5, std-dev=2, var=4, median=1, min={} at (0, 3), max={} at (0, 1), avg-magnitude=2"
    sides = [f"[I]         {runner}: {name} | Stats: {stats.format(*limits)}" for runner in RUNNERS]
    return [
        f"[I]     Comparing Output: '{name}' (dtype={dtype}, shape=(1, 9)) with '{name}' (dtype={dtype}, shape=(1, 9))",
        "[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error",
        *sides,
        f"[I]             Absolute Difference | Stats: mean=0.1, std-dev=1, min=0 at (0, 1), max={error} at (0, 2)",
        f"[E]         FAILED | Output: '{name}' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)",
    ]


def report_of(tmp_path: Path, *lines: str) -> Report:
    (tmp_path / "b.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return judge(
        Inputs([read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)]), Suppression()
    )


def run_of(*outputs: list[str]) -> list[str]:
    """Return the lines of a run of Polygraphy that allows FP16, and in which these outputs differ."""
    return [
        "[I] Building engine with configuration:",
        "    Flags                  | [FP16]",
        "    Memory Pools           | [WORKSPACE: 953.67 MiB]",
        f"[I] Accuracy Comparison | {RUNNERS[0]} vs. {RUNNERS[1]}",
        *(line for output in outputs for line in output),
        f"[E] Accuracy Summary | {RUNNERS[0]} vs. {RUNNERS[1]} | Passed: 0/1 iterations | Pass Rate: 0.0%",
        "[E] FAILED | Command: polygraphy run net.onnx --trt --onnxrt --fp16",
    ]


def test_one_element_of_many_that_is_off_is_no_gross_error(tmp_path: Path) -> None:
    lines = run_of([line.replace("mean=0.1,", "mean=3e-06,") for line in compared("a", "float32", 0.2, ("0", "1"))])
    root = report_of(tmp_path, *lines).findings[0]
    assert root.title.endswith("; in few elements: the mean error is 3e-06")
    assert "few elements of many" in root.cause


def test_a_run_that_differs_has_one_root_with_the_largest_error_of_all_outputs(tmp_path: Path) -> None:
    report = report_of(
        tmp_path,
        *run_of(compared("a", "float32", 0.01, ("-3", "5")), compared("b", "float32", 0.2, ("-30", "50"))),
    )
    assert [finding.code for finding in report.findings if finding.severity is Severity.ERROR] == ["TF717"]
    root = report.findings[0]
    assert (root.code, root.severity) == ("TF216", Severity.WARNING)
    assert root.title == (
        "a, b differ from the reference, by a tolerance that FP16 cannot meet; b by up to 0.2 where its values are "
        "-30 to 50 (trt) and -30 to 50 (onnxrt); at most 0.25% of an output's range, as rounding in FP16 may leave"
    )
    (headline,) = report.sources[0].headlines
    assert headline.text.startswith(
        "FAILED, root TF216 in line 10 · Polygraphy run · FP16+FP32 allowed · 2 of 2 outputs"
    )
    assert "differ, first a (largest error 0.2 of b)" in headline.text
    assert report.sources[0].coverage.options


def test_an_error_as_large_as_the_values_is_none_of_the_tolerance(tmp_path: Path) -> None:
    root = report_of(tmp_path, *run_of(compared("a", "float32", 4, ("-3", "5")))).findings[0]
    assert root.severity is Severity.ERROR
    assert "tolerance" not in root.title
    assert root.title.endswith("; 50% of an output's range, more than rounding leaves")


def test_outputs_that_pass_behind_those_that_differ_are_named(tmp_path: Path) -> None:
    *whole, _ = compared("b", "float32", 0, ("-3", "5"))
    passed = [*whole, "[I]         PASSED | Output: 'b' | Difference is within tolerance (rel=1e-05, abs=1e-05)"]
    differing = compared("a", "float32", 0.3, ("-3", "5"))
    assert report_of(tmp_path, *run_of(differing, passed)).findings[0].title.endswith("; b behind it passes")
    assert "behind" not in report_of(tmp_path, *run_of(passed, differing)).findings[0].title


def test_outputs_of_integers_are_set_apart(tmp_path: Path) -> None:
    both = compared("place", "int64", 70, ("0", "79")), compared("score", "float32", 0.3, ("0", "1"))
    root = report_of(tmp_path, *run_of(*both)).findings[0]
    assert root.title.endswith(
        "; place of integers may only be in another order, which moves the rows of sorted outputs too"
    )
    assert "; score by up to 0.3 where" in root.title
    alone = report_of(tmp_path, *run_of(both[0])).findings[0]
    assert alone.title.endswith("FP16 cannot meet; place of integers may only be in another order")


def test_no_flag_makes_a_quantised_network_fp32(tmp_path: Path) -> None:
    parsed = "[V] Parsing node: q1 [QuantizeLinear]\n[V] q1 [QuantizeLinear] outputs: [y -> (1, 8)[INT8]],"
    lines = [parsed, *run_of(compared("a", "float32", 0.2, ("-3", "5")))]
    root = next(finding for finding in report_of(tmp_path, *lines).findings if finding.code == "TF216")
    assert "INT8 cannot meet" in root.title
    assert [step.command for step in root.next_steps] == [""]


_STATS = (
    "| [I]         {runner}: y | Stats: mean=1, std-dev=0, var=0, median=1, min={low} at (0,), max={high} at (0,), a=1"
)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((65504, 65504), "y of trt ends at 65504, the largest number of FP16"),
        ((0, 0), "y of trt is 0 everywhere"),
        ((0, 65505), "y differs from the reference"),
    ],
)
def test_values_that_were_lost_before_are_no_matter_of_the_tolerance(
    values: tuple[int, int], said: str, tmp_path: Path
) -> None:
    compared = "| [I]     Comparing Output: 'y' (dtype=float32, shape=(1,)) with 'y' (dtype=float32, shape=(1,))"
    lines = [
        compared,
        *(_STATS.format(runner=r, low=v[0], high=v[1]) for r, v in zip(RUNNERS, (values, (1, 65510)), strict=True)),
    ]
    lines.append("| [E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)")
    (tmp_path / "b.log").write_text(marked("\n".join(lines)).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert judge(Inputs([log]), Suppression()).findings[0].title.startswith(said)


@pytest.mark.parametrize(
    ("largest", "severity", "title"),
    [
        ("12.25", Severity.ERROR, "scores really differs; by up to 12.25"),
        ("0.01", Severity.NOTE, "scores differs; by up to 0.01"),
    ],
)
def test_an_error_without_a_verdict_is_weighed_by_the_outputs_range(
    largest: str, severity: Severity, title: str, tmp_path: Path
) -> None:
    stats = "Stats: mean=1.5, std-dev=2, var=4, median=1, min=-20 at (0,), max=20 at (1,), avg-magnitude=3"
    error = f"Absolute Difference | Stats: mean=0.004, std-dev=0, var=0, median=0, min=0 at (0,), max={largest} at (1,)"
    (tmp_path / "b.log").write_text(f"[I]         {RUNNERS[1]}: scores | {stats}\n[I]             {error}\n")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [each for each in judge(Inputs([log]), Suppression()).findings if each.code != "TF705"]
    assert (found.code, found.severity, found.title.startswith(title)) == ("TF216", severity, True)


def test_an_output_is_named_by_its_error_alone_and_nan_is_no_infinity(tmp_path: Path) -> None:
    error = "Absolute Difference | Stats: mean=0.004, std-dev=0, var=0, median=0, min=0 at (0,), max=0.5 at (1,)"
    (measured,) = report_of(tmp_path, "[I]         Error Metrics: masks", f"[I]             {error}").findings
    assert measured.title == "masks differs; by up to 0.5"
    report = report_of(
        tmp_path,
        f"[I]     {RUNNERS[0]}     | Validating output: path (check_inf=True, check_nan=True)",
        "[E]         NaN Detected | One or more NaNs were encountered in this output",
        "[E]         Inf Detected | One or more non-finite values were encountered in this output",
    )
    titles = [each.title for each in report.findings if each.code == "TF250"]
    assert titles == ["The output path of TensorRT holds NaN"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("FAILED | Errors detected in output: path", "path holds NaN or infinity"),
        ("FAILED | Output Validation", "An output holds NaN or infinity"),
    ],
)
def test_a_verdict_alone_shows_that_an_output_is_not_finite(line: str, title: str, tmp_path: Path) -> None:
    (found,) = (each for each in report_of(tmp_path, f"[E]     {line}").findings if each.code == "TF250")
    assert found.title == title


def test_an_output_that_is_constant_on_both_sides_shows_little_and_a_bare_verdict_counts(tmp_path: Path) -> None:
    stats = "Stats: mean=1, std-dev=0, var=0, median=1, min=1 at (0,), max=1 at (0,), avg-magnitude=1"
    shape = "'masks' (dtype=float16, shape=(1, 4))"
    report = report_of(
        tmp_path,
        f"[I] Accuracy Comparison | {RUNNERS[0]} vs. {RUNNERS[1]}",
        f"[I]     Comparing Output: {shape} with {shape}",
        *(f"[I]         {runner}: masks | {stats}" for runner in RUNNERS),
        "[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,)",
        "[I]         PASSED",
    )
    assert [each.title for each in report.findings] == ["masks is 1 everywhere, with both runners"]
    assert "the output agrees" in report.sources[0].headlines[0].text
