"""What is said of how a run was timed, and of a profile without the engine's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
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
        ROW.format(total=average * 100, average=average, median=median, percent=100 / len(rows), name=name)
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
        "Of 0.1 ms in 5 layers: ForeignNodes 50% (1), Gather 40% (2), MyPlugin 6% (1), others 4% (1); the slowest is "
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


def summary(name: str, mean: float, p99: float = 0.0, most: float = 0.0) -> str:
    """Return a line of trtexec's summary, its median equal to its mean."""
    high, highest = p99 or mean, max(most, p99, mean)
    middle = f"mean = {mean} ms, median = {mean} ms, percentile(99%) = {high} ms"
    return f"i {name}: min = {mean} ms, max = {highest} ms, {middle}"


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ((0.1, 1.0, 4.0, 3.0), ["The GPU is held up by transfers: H2D 1 ms, D2H 3 ms, GPU compute 4 ms"]),
        ((3.9, 0.1, 4.0, 0.1), ["The GPU is held up by the host (enqueue): enqueue 3.9 ms, GPU compute 4 ms"]),
        ((1.0, 1.0, 4.0, 1.0), []),
    ],
)
def test_what_holds_the_gpu_up_is_found_without_a_warning(
    means: tuple[float, ...], expected: list[str], tmp_path: Path
) -> None:
    names = ("Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency")
    text = "\n".join(["&& 10.16.1 --fp16", *map(summary, names, means)])
    assert titles(text, "TF606", tmp_path) == expected


def test_copies_that_are_much_of_the_latency_are_named(tmp_path: Path) -> None:
    names = ("Latency", "H2D Latency", "GPU Compute Time", "D2H Latency")
    text = "\n".join(["&& 10.16.1 --fp16", *map(summary, names, (16.4, 0.2, 9.5, 6.7))])
    assert titles(text, "TF606", tmp_path) == [
        "Copies are 42% of the latency: H2D 0.2 ms, D2H 6.7 ms, GPU compute 9.5 ms"
    ]


@pytest.mark.parametrize(("enqueue_ms", "severity"), [(3.9, "note"), (4.1, "warning")])
def test_a_host_that_takes_longer_than_the_gpu_is_a_warning_without_one_of_trtexec(
    enqueue_ms: float, severity: str, tmp_path: Path
) -> None:
    text = f"&& 10.16.1 --fp16\n{summary('Enqueue Time', enqueue_ms)}\n{summary('GPU Compute Time', 4.0)}"
    (finding,) = of_code(report_on(marked(text).text, tmp_path), "TF606")
    assert finding.severity.word == severity


def test_a_flag_that_was_given_is_not_advised(tmp_path: Path) -> None:
    text = f"&& 8.6.1 --useCudaGraph\n{summary('Enqueue Time', 4.0)}\n{summary('GPU Compute Time', 4.0)}"
    (finding,) = of_code(report_on(marked(text).text, tmp_path), "TF606")
    assert finding.next_steps == ()


@for_each(
    ("flags", "means", "compute_s", "expected"),
    [
        (
            "--fp16",
            (0.1, 0.2, 1.0, 0.1),
            1.5,
            (
                "The GPU is held up between queries: enqueue 0.1 ms, H2D 0.2 ms, D2H 0.1 ms, GPU compute 1 ms; it "
                "computes 50% of the time, a query comes every 2 ms"
            ),
        ),
        (
            "--fp16",
            (0.1, 1.8, 1.0, 0.1),
            1.5,
            (
                "The GPU is held up by transfers: H2D 1.8 ms, D2H 0.1 ms, GPU compute 1 ms; it computes 50% of the "
                "time, a query comes every 2 ms"
            ),
        ),
        (
            "--fp16",
            (0.1, 0.5, 1.0, 0.5),
            2.97,
            "Transfers take as long as computing, beside it: H2D 0.5 ms, D2H 0.5 ms, GPU compute 1 ms",
        ),
        (
            "--fp16",
            (0.01, 0.04, 0.05, 0.01),
            0.3,
            (
                "The GPU is held up between queries: enqueue 0.01 ms, H2D 0.04 ms, D2H 0.01 ms, GPU compute 0.05 ms; "
                "it computes 10% of the time, a query comes every 0.5 ms"
            ),
        ),
        ("--sleepTime=1", (0.1, 0.2, 1.0, 0.1), 1.5, ""),
        ("--dumpProfile", (1.1, 0.2, 1.0, 0.1), 2.97, ""),
        ("--dumpProfile --separateProfileRun", (1.1, 0.2, 1.0, 0.1), 2.97, "The GPU is held up by the host (enqueue)"),
    ],
)
def test_a_gpu_that_idles_is_found_by_the_totals(
    flags: str, means: tuple[float, ...], compute_s: float, expected: str, tmp_path: Path
) -> None:
    names = ("Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency")
    totals = ["i Total Host Walltime: 3 s", f"i Total GPU Compute Time: {compute_s} s"]
    text = "\n".join([f"&& 10.16.1 {flags}", *map(summary, names, means), *totals])
    found = titles(text, "TF606", tmp_path)
    assert len(found) == bool(expected)
    assert all(title.startswith(expected) for title in found)


def test_another_program_on_the_gpu_is_inferred(tmp_path: Path) -> None:
    broad = "min = 1.2 ms, max = 4 ms, mean = 2 ms, median = 2 ms, percentile(90%) = 2.6 ms, percentile(99%) = 3 ms"
    layers = profile(("a", 0.7, 0.7), ("b", 0.5, 0.5))
    for used, step in ((5000, "See what else uses the GPU, stop it, and measure again"), (300, "Lock the clocks")):
        cuda = f"I [MemUsageChange] Init CUDA: CPU +300, GPU +0, now: CPU 320, GPU {used} (MiB)"
        text = f"&& 8.6.1 --fp16\n{cuda}\ni GPU Compute Time: {broad}\n{layers}"
        (finding,) = of_code(report_on(marked(text).text, tmp_path), "TF508")
        assert ("another program" in finding.title) == (used > 1024), finding.title
        assert finding.next_steps[0].what.startswith(step)


def test_a_step_of_the_clock_is_no_noise_and_a_wide_spread_needs_no_warning(tmp_path: Path) -> None:
    steps = [*[1.0] * 10, *[0.8] * 30]
    averages = [f"i Average on 10 runs - GPU latency: {ms} ms - Host latency: 1 ms (enqueue 0.1 ms)" for ms in steps]
    warning = "w * GPU compute time is unstable, with coefficient of variance = 9.2%."
    stepped = "\n".join(["&& 10.16.1 --fp16", *averages, summary("GPU Compute Time", 0.85, 1.0), warning])
    (finding,) = of_code(report_on(marked(stepped).text, tmp_path), "TF508")
    assert "the running averages step from 1 to 0.8 ms (line 12) after 25% of the calls" in finding.title
    assert finding.severity.word == "note"
    (finding,) = of_code(report_on(marked(summary("GPU Compute Time", 2.0, 5.0)).text, tmp_path), "TF508")
    assert finding.title.endswith("1% of the calls take 5 ms or more, 2.5 times the median of 2")
    assert finding.severity.word == "note"
    assert not of_code(report_on(marked(summary("GPU Compute Time", 2.0, 2.5)).text, tmp_path), "TF508")


@pytest.mark.parametrize(("allowed", "expected"), [("FP32+INT8", 1), ("FP32+FP16+INT8", 0)])
def test_what_a_quantised_engine_leaves_in_fp32_is_counted_without_trtexecs_hint(
    allowed: str, expected: int, tmp_path: Path
) -> None:
    text = f"""&& 10.16.1 --int8
        i === Build Options ===
        i Precision: {allowed}
        V Engine Layer Information:
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Int8[1,8]) -> y (Int8[1,8])
        | Layer(CaskConvolution): d, Tactic: 0x0000000000000001, y (Float[1,8]) -> z (Float[1,8])
        | Layer(Reformat): e, Tactic: 0x0000000000000000, z (Float[1,8]) -> w (Float[1,8])
        """
    found = of_code(report_on(marked(text).text, tmp_path), "TF245")
    assert [finding.layers for finding in found] == [("d",)] * expected
    hint = (
        "i FP32 and INT8 precisions have been specified - more performance might be enabled by additionally specifying"
    )
    hinted = f"{text.replace('Float', 'Int8')}{hint} --fp16 or --best\n"
    assert not of_code(report_on(marked(hinted).text, tmp_path), "TF245")
