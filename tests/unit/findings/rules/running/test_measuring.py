"""What is said of how a run was timed, and of a profile without the engine's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

LATENCY = "i Latency: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms, percentile(99%) = 2 ms"
ROW = "i    {total:.2f}       {average:.4f}       {median:.4f}      {percent:.1f}   {name}"


def titles(notation: str, code: str, folder: Path) -> list[str]:
    """Return the titles of a code's findings over a log in short notation."""
    return [one.title for one in of_code(report_on(marked(notation).text, folder), code)]


def profile(*rows: tuple[str, float, float]) -> str:
    """Return a profile of rows of name, average and median."""
    lines = [
        ROW.format(total=average * 100, average=average, median=median, percent=1.0, name=name)
        for name, average, median in rows
    ]
    return "\n".join(["i === Profile (100 iterations ) ===", *lines])


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ("--exportProfile=p.json", ["Latency and throughput were measured with the profiler on (--exportProfile)"]),
        ("--dumpProfile", ["Latency and throughput were measured with the profiler on (--dumpProfile)"]),
        ("--dumpProfile --separateProfileRun", []),
        ("--exportTimes=t.json", []),
    ],
)
def test_a_version_that_reports_times_all_the_same_is_caught_by_its_command(
    flags: str, found: list[str], tmp_path: Path
) -> None:
    assert titles(f"&& 8.0.3 {flags}\n{LATENCY}", "TF696", tmp_path) == found


def test_a_command_without_results_says_nothing_about_how_they_were_measured(tmp_path: Path) -> None:
    assert titles("&& 8.0.3 --dumpProfile\nV Original: 7 layers", "TF696", tmp_path) == []


def test_a_profile_alone_is_summed_up_by_kinds_of_layers(tmp_path: Path) -> None:
    rows = (
        ("{ForeignNode[a...b]}", 0.05, 0.05),
        ("/block.0/Gather_1", 0.02, 0.02),
        ("/block.1/Gather_2 + /block.1/Relu", 0.02, 0.02),
        ("Reformatting CopyNode for Input Tensor 0 to /block.1/Gather_2", 0.004, 0.004),
        ("MyPlugin_17", 0.006, 0.006),
    )
    (title,) = titles(profile(*rows), "TF699", tmp_path)
    assert title == (
        "Of 0.1 ms in 5 layers: ForeignNodes 50% (1), Gather 40% (2), MyPlugin 6% (1) and 1 more; the slowest is "
        "{ForeignNode[a...b]}, 0.05 ms; below 5 us: 1"
    )


def test_the_layer_whose_slow_iterations_weigh_most_is_named_first(tmp_path: Path) -> None:
    rows = (("a", 0.02, 0.005), ("b", 0.06, 0.02), ("c", 0.02, 0.02))
    assert titles(profile(*rows), "TF698", tmp_path) == [
        "A few slow iterations: b 0.06 ms on average, 0.02 in the median and 1 more"
    ]


@pytest.mark.parametrize(
    ("builder", "builds", "found"),
    [
        ((26.3,), 1, ["36.2 of the build's 62.5 s are not the builder's, which needed 26.3 s"]),
        ((26.3, 10.7, 20.1), 1, []),  # three passes
        ((26.3,), 2, []),  # which of two builds it is of is not told
        ((), 1, []),
    ],
)
def test_the_passes_of_a_build_add_up(
    builder: tuple[float, ...], builds: int, found: list[str], tmp_path: Path
) -> None:
    lines = [f"V Engine generation completed in {seconds} seconds." for seconds in builder]
    lines += ["| [I] Finished engine building in 62.5 seconds"] * builds
    assert titles("\n".join(["V Original: 7 layers", *lines]), "TF627", tmp_path) == found
