"""The compiled regexes and Lark's LALR read every line alike, and no line is of two kinds."""

from __future__ import annotations

import re
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support import reference_executor
from tests.support.for_each import for_each
from tests.support.judging import fields_of
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import PREFIX, LineKind
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.events import KEPT, EventColumns, Texts
from trtforensics.parsers.lines.singly import Dispatch
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Lines = set[bytes]

KINDS = {kind.name: kind for kind in tables.kinds()}
VARYING = re.compile(rb"(?<![A-Za-z])[0-9]")
"""Digits that stand for a number; lines that differ in nothing else are read alike, and LALR is slow."""

EXAMPLES = {
    "banner_task": b"&&&& TASK_BEGIN [iter=0] BuildRoute = 'default'",
    "profile_row_json": b', { "name" : "warp", "timeMs" : 7.5, "averageMs" : 0.5, "percentage" : 7 }',
    "poly_stats_old": b"    Runner: trt-runner-N0-1  | Stats: mean=1, min=-2 at (0, 1), max=3 at (0, 2)",
    "cache_invalid": b"Detected invalid timing cache, setup a local cache instead",
    "calibration_graph": b"Perform graph optimization on calibration graph.",
    "calibration_started": b"Starting Calibration.",
    "calibrator_explicit": b"Calibrator won't be used in explicit quantization mode. Please insert Quantize layers.",
    "calibration_completed": b"Calibration completed in 0.3 seconds.",
    "device_request": b"Tactic Device request: 448MB Available: 425MB. Device memory is insufficient to use tactic.",
    "llm_kv_cache": b"[MemUsageChange] Allocated 6.49 GiB for max tokens in paged KV cache (35424).",
    "llm_context": b"[MemUsageChange] Allocated 1134.01 MiB for execution context memory.",
    "llm_device": b"Memory usage when calculating max tokens in paged kv cache: total: 79.10 GiB, available: 70.48 GiB",
    "parallel_layers": b'The engine uses 1 auxiliary streams, so the "Total" latency may not be accurate',
    "dla_empty": b"setDefaultDeviceType was called but no layer in the network can run on DLA.",
    "dla_fallback": b"Default DLA is enabled but layer c1 is not supported on DLA, falling back to GPU.",
    "dla_layer_refused": b"leaky_1: ActivationLayer (with ActivationType = LEAKY_RELU) not supported for DLA.",
    "dla_memory": b"DLA Memory Consumption Summary:",
    "dla_memory_total": b"\tTotal memory required by accepted candidates : Managed SRAM = 0 MiB,\tLocal DRAM = 0 MiB",
    "dla_precision": b"DLA only supports FP16 and Int8 precision type. Switching c1 device type to GPU.",
    "dla_restriction": b"/n/Concat: DLA only supports concatenation on the C dimension.",
    "dla_split": b"Splitting DLA subgraph at: /n/Reshape because DLA validation failed for this layer.",
    "dla_candidates": b"Number of DLA node candidates offloaded : 2 out of 3",
    "dla_subgraphs": b"DLA supports only 8 subgraphs per DLA core. Switching to GPU for layer c6",
    "dla_unsupported": b"Layer '/n/Expand' (SLICE): Unsupported on DLA. Switching this layer's device type to GPU.",
    "dla_validation": b"Validation failed for DLA layer: /n/Reshape. Switching to GPU fallback.",
    "fusing_weights": b"Fusing convolution weights from c1 with scale bn1",
    "gemm_fusion_limit": b"Disabling gemm+pointwise/reduce fusions at optimization level 0",
    "graph_reduction": b"[GraphReduction] The approximate region cut reduction algorithm is called.",
    "input_types": b"IElementWiseLayer with inputs a and b: first input has type Half but second input has type Int32",
    "int64_clamped": b"onnx2trt_utils.cpp:395: One or more weights outside the range of INT32 was clamped",
    "jetson_cache": b"attempting to open cache file networks/n.caffemodel.3.tensorcache",
    "torch_input_type": b"For input x, found user specified input dtype as Float16, however when inspecting the graph, "
    b"the input type expected was inferred to be Float",
    "jetson_loaded": b"device DLA_0, loaded networks/n.onnx",
    "jetson_loading": b"loading network plan from engine cache... n.onnx.1.1.8001.GPU.FP16.engine",
    "jetson_model": b"selecting fastest native precision for GPU:  FP16",
    "jetson_uncalibrated": b"requested fasted precision for device GPU without providing valid calibrator",
    "jetson_precisions": b"native precisions detected for DLA_0: FP32, FP16, INT8",
    "kernel_blob": b"[mlir_fusion_codegen.cpp::codegen] blob.name_: gemm_0xce_sm2_acc_float",
    "llm_fmha": b"Context FMHA Enabled",
    "metadata_item": b"[ONNX Layer: /a/Conv]",
    "loaded_values": b"Using values loaded from x.bin for input x",
    "loop_heuristic": (
        b"{ForeignNode[a...b]}: Loop has insufficient context to run reliably in auto-tuner."
        b" Falling back to heuristic estimate of execution time."
    ),
    "missing_scale": b"Missing scale and zero-point for tensor t, expect fall back to non-int8 implementation for it",
    "mixed_devices": b"RuntimeError: Expected all tensors to be on the same device, but found cpu and cuda:0!",
    "myelin_assertion": b"bool myelin::ir::selection_t::analysis(): Assertion `!tensor->is_mod()' failed",
    "myelin_exception": b"Internal Error: MyelinCheckException: gvn.cpp:318: CHECK(graph().valid()) failed.",
    "no_conforming": (
        b"No implementation of layer PWN(s) obeys the requested constraints in strict mode."
        b" No conforming implementation was found."
    ),
    "node_name": b"Node name: /block/Add",
    "no_device": b"Cannot find any available devices (GPUs)!",
    "numbered_error": b"1: [codeGenerator.cpp::compileGraph::894] Error Code 1: Myelin (No Myelin Error exists)",
    "option_input": b"x<-x.bin",
    "parser_assertion": b"[6] Invalid Node - /block/Add",
    "poly_invalid": b"Invalid Engine. Please ensure the engine was built correctly",
    "poly_nonfinite": b"        NaN Detected | One or more non-finite values were encountered in this output",
    "poly_validating": b"    trt-runner-N0-07/07/26-02:09:57  | Validating output: y (check_inf=True, check_nan=True)",
    "poly_runner": b"    trt-runner-N0-07/07/26-02:09:57  | Activating and starting inference",
    "poly_shape_unfit": (
        b"Input tensor: x [shape=['A', 3]] | Cannot use provided custom shape: (4, 5) to override tensor shape. "
        b"Will use default shape instead."
    ),
    "poly_unpinned": b"Layer: conv + relu was not found in the tactic replay. Falling back to default tactics.",
    "poly_not_offered": (b"Layer: a | b | Tactic in replay was not provided by TensorRT as a choice for this layer."),
    "poly_not_taken": (
        b"Layer: fc | TensorRT selected a tactic different than the one specified in the tactic replay."
    ),
    "poly_replay_changed": b"Has the network changed since the tactic replay file was generated?",
    "poly_no_selectors": (
        b"Algorithm selectors (TacticRecorder/TacticReplayer) is not available on TensorRT version 1.7.1.116."
    ),
    "recorded_error": b"Error[2]: [builder.cpp::build::751] Error Code 2: Internal Error (Assertion engine failed. )",
    "registering_constant": b"Registering constant layer: w for ONNX initializer: w",
    "shape_precision": b"A shape layer can only run in INT32 precision",
    "sourced_error": rb"C:\source\rtSafe\safeRuntime.cpp (25) - Cuda Error in nvinfer1::allocate: 2 (out of memory)",
    "tactic_name_only": b"Tactic Name: kIMMA_V1_TILE_32x64 ",
    "weights_leaked": b"[0x30e94800]:4 :: weight zero-point in internalAllocate: at w.cpp: 102 idx: 17 time: 4.3e-08",
    "fast_skipped": b"Fast skip Tactic:0x0000000000000003 which exceed time limit during pre-run",
    "cudnn_disabled": b"CuDNN tactics have been disabled because cuDNN is not there.",
    "libraries_linked": b"TensorRT was linked against cuBLAS/cuBLAS LT 11.6.3 but loaded cuBLAS/cuBLAS LT 11.4.1",
    "type_unused": b"ITensor::setType(Half) was called on non I/O tensor: t. This will have no effect.",
    "method_deprecated": b"getBroadcastAcrossBatch is deprecated in TensorRT 10.0.",
    "cache_not_used": b"The timing cache will not be used!",
    "profile_current": b"Current optimization profile is: 0. Please ensure there are no enqueued operations pending.",
    "reformat_rules": b"No implementation obeys reformatting-free rules, at least 2 reformatting nodes are needed.",
    "calibration_cached": b"Generated calibration scales using calibration cache.",
    "calibration": b"Reading Calibration Cache for calibrator: MinMaxCalibration",
    "no_output": b"Network must have at least one output",
    "network_invalid": b"Network validation failed.",
    "importer_node": b'ModelImporter.cpp:773: While parsing node number 84 [NonZero -> "t"]:',
    "dla_offloaded": b"{ForeignNode[a...b]} successfully offloaded to DLA.",
    "dla_profiles": b"DLA requests all profiles have same min, max, and opt value. All dla layers are on the GPU",
    "poly_iteration": b"PASSED | Iteration 1 | Duration 0.21423s",
    "poly_iterations": b"Finished 10 iteration(s) | Passed: 4/10 | Pass Rate: 40.0%",
    "poly_artifact": b"    Moving replay.json to replays/good/replay_0.json",
    "poly_captured": b"========== CAPTURED STDOUT ==========",
    "poly_folding": b"Folding Constants | Pass 1",
    "poly_summary": b"Accuracy Summary | a vs. b | Passed: 0/1 iterations | Pass Rate: 0.0%",
    "shape_of_run": b"Set shape of input tensor images to: 4x3x64x64",
    "cuda_graph": b"Capturing CUDA graph for the current execution context",
    "raw_bindings": b"Writing file for output binding y (with datatype fp32 and dimensions 1.5) to y.raw",
    "run_detail": b"Engine refitted in 12.5 ms.",
    "unstrided": b"RunnerBuilder of layer implementation CaskJitConv cannot handle striding for node w + a/Conv",
    "configuration_changed": b"Modifying configuration of a/Conv + PWN(a/Sigmoid, a/Mul)",
    "setup_failed": b"Engine set up failed",
}
"""One line of every kind that is in none of the logs, of a model that does not exist."""

WORDINGS = (
    ("engine_built", b"Engine built in 12 sec."),
    (
        "plugin_tried",
        b"Plugin not found with node attribute namespace: using pluginName: MyOp, pluginVersion: 1, pluginNamespace: ",
    ),
    ("plugin_tried", b"Searching for plugin: MyOp, plugin_version: 1, plugin_namespace: "),
    (
        "plugin_tried",
        b"Plugin not found with node attribute namespace: using pluginName: MyOp, pluginVersion: 1, pluginNamespace: ",
    ),
    ("plugin_tried", b"Searching for plugin: MyOp, plugin_version: 1, plugin_namespace:"),
    ("poly_nonfinite", b"Encountered one or more NaNs"),
    ("poly_nonfinite", b"Encountered one or more non-finite values"),
)
"""Further wordings of a kind, whether or not a log has it."""

RECORDED = b"Error[10]: IBuilder::buildSerializedNetwork: Error Code 10: Internal Error ("
NO_IMPLEMENTATION = b"Could not find any implementation for node {ForeignNode[a...b]}."


def read(files: Iterable[Path]) -> tuple[Lines, Lines]:
    """Return the distinct line bodies, and the distinct prefixes, of some logs: one for each shape."""
    bodies: dict[bytes, bytes] = {}
    prefixes: dict[bytes, bytes] = {}
    for file in files:
        with open_source(str(file)) as source:
            for line in (line for window in source.windows() for line in window.lines):
                prefix = prefix_of(line)
                body = line[prefix.end :] if prefix else line.lstrip(b" ")
                bodies.setdefault(VARYING.sub(b"0", body), body)
                if prefix:
                    prefixes.setdefault(VARYING.sub(b"0", line[: prefix.end]), line[: prefix.end])
    return set(bodies.values()), set(prefixes.values())


@pytest.fixture(scope="module")
def corpus_lines(corpus: Path) -> tuple[Lines, Lines]:
    return read(sorted((corpus / "buildlog").iterdir()))


@pytest.fixture(scope="module")
def sample_lines(samples: list[Path]) -> tuple[Lines, Lines]:
    return read(samples)


@cache
def openable(start: str) -> tuple[LineKind, ...]:
    return tuple(kind for kind in KINDS.values() if start.startswith(kind.starts))


def kinds_of(body: bytes) -> list[str]:
    return [kind.name for kind in openable(body.decode("latin-1").lstrip(" ")[:8]) if kind.match.fullmatch(body)]


def by_regex(body: bytes) -> tuple[str, dict[str, bytes]] | None:
    found = fields_of(DISPATCH, body)
    return found and (found[0], {name: value for name, value in found[1].items() if value is not None})


DISPATCH = Dispatch(tables.kinds())


def disagreements(bodies: Lines) -> list[object]:
    read_twice = ((body, by_regex(body), reference_executor.parse(body)) for body in sorted(bodies))
    return [row for row in read_twice if row[1] != row[2]]


def ambiguous(bodies: Lines) -> list[object]:
    return [(body, kinds) for body in sorted(bodies) if len(kinds := kinds_of(body)) > 1]


@pytest.mark.corpus
@pytest.mark.slow
def test_regexes_and_lalr_agree_on_the_kind_and_fields_of_every_corpus_line(corpus_lines: tuple[Lines, Lines]) -> None:
    bodies, _ = corpus_lines
    assert len(bodies) > 20_000
    assert disagreements(bodies) == []


@pytest.mark.corpus
@pytest.mark.slow
def test_no_corpus_line_is_of_two_kinds(corpus_lines: tuple[Lines, Lines]) -> None:
    assert ambiguous(corpus_lines[0]) == []


def test_regexes_and_lalr_agree_on_the_kind_and_fields_of_every_line_of_our_logs(
    sample_lines: tuple[Lines, Lines],
) -> None:
    bodies, _ = sample_lines
    assert len(bodies) > 1_000
    assert disagreements(bodies) == []
    assert ambiguous(bodies) == []


@pytest.mark.corpus
@pytest.mark.slow
def test_regexes_and_lalr_agree_on_every_prefix(
    corpus_lines: tuple[Lines, Lines], sample_lines: tuple[Lines, Lines]
) -> None:
    prefixes = corpus_lines[1] | sample_lines[1]
    assert len(prefixes) > 15
    for text in sorted(prefixes):
        matching = [(kind, found) for kind in tables.kinds(PREFIX) if (found := kind.match.fullmatch(text))]
        read_as = [
            (kind.name, {n: v for n, v in zip(kind.fields, found.groups(), strict=True) if v is not None})
            for kind, found in matching
        ]
        assert read_as == [reference_executor.parse(text, PREFIX)], text


@for_each(("kind", "body"), EXAMPLES.items(), ids=list(EXAMPLES))
def test_the_example_of_a_rare_kind_is_read_as_that_kind_only(kind: str, body: bytes) -> None:
    assert kinds_of(body) == [kind]
    assert by_regex(body) == reference_executor.parse(body)


@for_each(("kind", "body"), WORDINGS)
def test_another_wording_is_read_as_its_kind_only(kind: str, body: bytes) -> None:
    assert kinds_of(body) == [kind]
    assert by_regex(body) == reference_executor.parse(body)


@pytest.mark.corpus
@pytest.mark.slow
def test_every_kind_is_in_a_log_or_has_an_example_but_not_both(
    corpus_lines: tuple[Lines, Lines], sample_lines: tuple[Lines, Lines]
) -> None:
    seen = {kind for body in corpus_lines[0] | sample_lines[0] for kind in kinds_of(body)}
    assert sorted(KINDS.keys() - seen) == sorted(EXAMPLES.keys())


@for_each("opening", [b"", RECORDED, b"[optimizer.cpp::computeCosts::3728] Error Code 10: ("])
@for_each("reason", [b"", b" due to insufficient workspace"])
def test_a_missing_implementation_is_read_however_the_error_is_wrapped(opening: bytes, reason: bytes) -> None:
    body = opening + NO_IMPLEMENTATION[:-1] + reason + b"."
    assert kinds_of(body) == ["no_implementation"]
    assert by_regex(body) == reference_executor.parse(body)
    assert (by_regex(body) or ("", {}))[1]["layer"] == b"{ForeignNode[a...b]}"


@for_each("kind", sorted(EXAMPLES.keys() & KEPT.keys()))
def test_each_kept_field_of_a_rare_kind_fits_the_type_that_its_name_decides(kind: str) -> None:
    _, fields = by_regex(EXAMPLES[kind]) or ("", {})
    rows = EventColumns(kind, Texts())
    rows.add(1, fields)
    stored = {name: rows.values(name, range(1))[0] for name in rows.names}
    assert {name for name, value in stored.items() if value is not None} == fields.keys() & stored.keys()


def test_a_body_that_no_rule_reads_is_refused_by_both() -> None:
    body = b"a line that no TensorRT has printed"
    assert by_regex(body) is None
    assert reference_executor.parse(body) is None


def test_a_prefix_that_is_none_is_refused_by_lalr_too() -> None:
    assert prefix_of(b"[Q] text") is None
    assert reference_executor.parse(b"[Q] ", PREFIX) is None


SIZES = [1 << power for power in range(12, 19, 2)]
"""Up to 256 KB in steps: a regex that needs the square of a line's length fails early, and at the last for certain."""

USUAL = 2
"""How many of the steps are tried in every run."""

MOST_CPU_S = 2.0 if sys.version_info >= (3, 11) else 40.0
"""Processor time; the package that stands in for ``re`` on Python 3.10 is slower."""

LITERAL = re.compile(r"(?:\\.|[A-Za-z0-9_ :,><=-])+")
JUNK = [b"a", b" ", b"1", b"1.1 ", b" -> ", b" [", b"] ", b" ("]


def literals(kind: LineKind) -> list[bytes]:
    found = (re.sub(r"\\(.)", r"\1", text).encode("latin-1") for text in LITERAL.findall(kind.regex))
    return [text for text in found if 1 < len(text) < 60][:4]


def long_bodies(kind: LineKind, size: int) -> Iterable[bytes]:
    """Give bodies that begin like one of this kind and go on with one literal, over and over."""
    needle = kind.needle.encode("latin-1")
    for opener in (opener.encode("latin-1") for opener in kind.openers):
        for piece in (*literals(kind), *JUNK):
            junk = piece * (size // len(piece))
            yield from (opener + b"a [" + junk + needle, opener + b"a" + needle + b" [" + junk)


@pytest.mark.parametrize(
    "sizes", [pytest.param(SIZES[:USUAL], id="16 KB"), pytest.param(SIZES[USUAL:], id="256 KB", marks=pytest.mark.slow)]
)
@for_each("kind", KINDS.values(), ids=list(KINDS))
def test_a_long_line_is_judged_at_once(kind: LineKind, sizes: list[int]) -> None:
    for size in sizes:
        most = MOST_CPU_S / 4 if size in SIZES[:USUAL] else MOST_CPU_S
        for body in long_bodies(kind, size):
            begin = time.process_time()
            kind.match.fullmatch(body)
            assert time.process_time() - begin < most, body[:200]


@pytest.mark.parametrize("start", ["cause", "aside"])
def test_a_cause_is_looked_for_by_a_literal(start: str) -> None:
    """Without one, its regex would be tried at every byte of a message."""
    assert not [kind.name for kind in tables.kinds(start) if "" in kind.literals]


@for_each("name", ["output_values", "profile_row_old"])
@for_each("word", [b"a  ", b"1 ", b"1.1  "])
def test_a_long_line_of_words_is_judged_at_once_where_any_text_may_open_a_line(name: str, word: bytes) -> None:
    for size in SIZES:
        begin = time.process_time()
        KINDS[name].match.fullmatch(b"1 " + word * (size // len(word)) + b"x")
        assert time.process_time() - begin < 2.0
