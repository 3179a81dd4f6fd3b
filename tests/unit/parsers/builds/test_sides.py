"""Which side of a comparison a figure belongs to that comes again under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from trtforensics.render.stated_rows import first_stated, stated_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

CASES = {
    "=== FP32 ===\nmean latency: 9 ms\n=== INT8 ===\nmean latency: 3 ms": "FP32 9, INT8 3",
    "PyTorch Results:\n  FPS: 30.5\nTensorRT Results:\n  FPS: 91.5": "PyTorch 30.5, TensorRT 91.5",
    "Mean rate: 20 images/s\nConverting to TF-TRT FP16...\nMean rate: 80 images/s": "TensorFlow 20, TF-TRT FP16 80",
    "Testing ONNX Runtime\nlatency: 8 ms\nTesting TensorRT\nlatency: 2 ms": "ONNX Runtime 8, TensorRT 2",
    "running fp16 nets..\nlatency: 4 ms\nrunning int8 nets..\nlatency: 2 ms": "FP16 4, INT8 2",
    "precision: fp32\nlatency: 4 ms\nprecision: int8\nlatency: 2 ms": "FP32 4, INT8 2",
    "TRT beam 0 result\n rouge2 : 3.5\nHF beam 0 result\n rouge2 : 3.25": "TensorRT 3.5, Hugging Face 3.25",
    "[torch.onnx] Run it...\nlatency: 8 ms\nBuilding TensorRT engine\nlatency: 2 ms": "PyTorch 8, TensorRT 2",
    "latency: 8 ms\nBuilding TensorRT engine\nlatency: 2 ms": "before TensorRT 8, TensorRT 2",
    "mean time 6 ms\nWARNING: [Torch-TensorRT] - Dilation not used in Max pooling converter\nmean time 2 ms": (
        "PyTorch 6, Torch-TensorRT 2"
    ),
    "using trt --fp16\nlatency: 4 ms\nusing pytorch_quant int8\nlatency: 5 ms": "TensorRT FP16 4, TensorRT INT8 5",
    "Compiling ONNX -> TensorRT\nlatency: 2 ms\nTiming PyTorch on CPU\nlatency: 9 ms": "TensorRT 2, PyTorch CPU 9",
}
"""Lines, and the sides with their values."""
UNTOLD = [
    "latency: 8 ms\nlatency: 2 ms",
    "Exporting to ONNX: a.onnx...\nlatency: 8 ms\nONNX export done\nlatency: 2 ms",
    "FP16 is not supported here\nlatency: 8 ms\nTensorRT version: 10.0\nlatency: 2 ms",
    "Testing TensorRT\nlatency: 8 ms\nlatency: 2 ms",
    "float16\nlatency: 8 ms\nfloat32\nlatency: 2 ms",
    "Successfully built tensorrt alpha\nlatency: 8 ms\nRequirement already satisfied: torch\nlatency: 2 ms",
]
"""Lines that do not tell what ran."""


def told(load: Load, text: str) -> str:
    results = [each for build in load("[TRT] [I] Loaded engine size: 21 MiB\n" + text).builds for each in build.results]
    return "; ".join([*first_stated(results), *(words for words, _ in stated_rows(results))])


@for_each(("text", "sides"), CASES.items())
def test_a_figure_belongs_to_what_was_begun_before_it(load: Load, text: str, sides: str) -> None:
    assert f": {sides}" in told(load, text)


@for_each("text", UNTOLD)
def test_where_nothing_tells_what_ran_no_side_is_said(load: Load, text: str) -> None:
    words = told(load, text)
    assert "8, 2 ms" in words or "8 ms" in words
    assert " x as fast" not in words


def test_many_figures_of_a_side_are_one(load: Load) -> None:
    steps = "".join(f"Step {n}: {ms} ms\n" for n, ms in enumerate([9.1, 9.0, 8.9, 9.0] * 3))
    text = f"{steps}Converting to TF-TRT INT8...\n{steps.replace(': 9', ': 3').replace(': 8', ': 3')}"
    assert "TensorFlow 9, TF-TRT INT8 3.05 (TF-TRT INT8 is 2.95 x as fast as TensorFlow, lines 2 and 15)" in told(
        load, text
    )


def test_times_of_inputs_of_other_sizes_have_no_quotient(load: Load) -> None:
    text = "Testing PyTorch\nbatch size: 1\nlatency: 9 ms\nTesting TensorRT\nbatch size: 8\nlatency: 20 ms"
    assert told(load, text) == "stated: latency in ms: PyTorch, input 1 9, TensorRT, input 8 20"


def test_unlike_figures_are_compared_one_by_one(load: Load) -> None:
    text = "".join(
        f"net: {net}\nrunning fp16..\ninfer time: {one} ms\nrunning int8..\ninfer time: {two} ms\n"
        for net, one, two in (("a", 4, 2), ("b", 30, 10))
    )
    assert "FP16 4, 30, INT8 2, 10 (INT8 is 2 to 3 x as fast as FP16, lines 4 and 6)" in told(load, text)


def test_a_speedup_belongs_to_what_is_faster(load: Load) -> None:
    text = "ONNX Runtime Results:\n  Speedup over PyTorch: 2.5x\nTensorRT Results:\n  Speedup over PyTorch: 7.5x"
    assert "Speedup over PyTorch in x: ONNX Runtime 2.5, TensorRT 7.5" in told(load, text)


def test_engines_of_several_models_keep_the_names_of_their_files(load: Load) -> None:
    text = "".join(
        f"--- Results ({kind}) ---\nLoading /m/{model}_{kind}.engine for TensorRT inference...\nlatency: {ms} ms\n"
        for model, kind, ms in (("n", "fp32", 3), ("n", "fp16", 2), ("s", "fp32", 9), ("s", "fp16", 4))
    )
    assert "n_fp32 3, n_fp16 2, s_fp32 9, s_fp16 4" in told(load, text)


def test_a_first_rate_of_almost_nothing_holds_the_build_and_is_told_with_its_line(load: Load) -> None:
    rates = [("FP32", "0.00"), ("FP16", "80.5"), ("FP32", "40.25"), ("FP16", "80.5")]
    words = told(load, "\n".join(f"running {of.lower()} nets..\navg(ms):7 ,fps:{rate}" for of, rate in rates))
    assert "FP32 40.2, " in words
    assert "FP16 is 2 x as fast as" in words
    assert "FP32 first 0, line 3, as of warm-up, building or loading" in words


def test_first_calls_which_hold_loading_have_no_quotient(load: Load) -> None:
    rows = [("FP32", "2190"), ("FP16", "226")]
    words = told(load, "\n".join(f"running {of.lower()} nets..\nfirst call: {ms} ms" for of, ms in rows))
    assert "FP32 2190, FP16 226" in words
    assert " x as fast" not in words


def test_rates_of_nothing_have_no_quotient(load: Load) -> None:
    rates = [("FP32", "9"), ("FP16", "80"), ("FP32", "0.0"), ("FP16", "20")]
    words = told(load, "\n".join(f"running {of.lower()} nets..\nfps: {rate}" for of, rate in rates))
    assert " x as fast" not in words


RUN = "{}\ninfer time: {} ms\ninfer time: {} ms\ninfer time: {} ms\n"


def test_runs_of_machines_have_their_own_figures(load: Load) -> None:
    log = load(
        "[TRT] [I] Loaded engine size: 7 MiB\n"
        + RUN.format("# on an Orin", 61, 60, 60)
        + RUN.format("# on a T4", 10, 9, 9)
    )
    assert [[each.number for each in run.results if each.stated] for run in log.runs] == [[61, 60, 60], [10, 9, 9]]


@for_each("heads", [("# on an Orin", "# on an Orin"), ("# on an Orin", "## on a T4"), ("an Orin", "a T4")])
def test_headings_that_tell_no_runs_apart_divide_nothing(load: Load, heads: tuple[str, str]) -> None:
    assert "on a" not in told(load, RUN.format(heads[0], 61, 60, 60) + RUN.format(heads[1], 10, 9, 9))


def test_the_first_of_many_is_no_start_where_those_next_to_it_take_as_long(load: Load) -> None:
    def shown(*values: int) -> str:
        return told(load, "".join(f"infer time: {value} ms\n" for value in values))

    assert "first 40 ms" in shown(40, 10, 10, 10, 10, 10)
    assert "first 40 ms" not in shown(40, 39, 10, 10, 10, 10, 10, 10, 10)


def test_names_that_differ_by_a_digit_inside_a_word_are_different_things(load: Load) -> None:
    words = told(load, "branch_3a/conv time: 4 ms\nbranch_4a/conv time: 2 ms\nstage 1 time: 7 ms\nstage 2 time: 5 ms")
    assert "branch_3a/conv time 4 ms" in words
    assert "branch_4a/conv time 2 ms" in words
    assert "stage N time 7, 5 ms" in words
