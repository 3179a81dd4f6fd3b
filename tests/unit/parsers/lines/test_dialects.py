"""Each logger's prefix comes off as a whole and takes nothing of the message with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support import reference_executor
from tests.support.for_each import for_each
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import PREFIX
from trtforensics.parsers.lines.dialects import DIALECTS, WRAPPED, Prefix, prefix_of
from trtforensics.parsers.lines.prefixes import LevelMatcher
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.windows import Window

if TYPE_CHECKING:
    from trtforensics.parsers.lines.events import ScannedLines

STAMP = b"[11/21/2026-07:52:04] "
ORT = b"2026-11-21 07:52:04.123456789 [W:onnxruntime:, tensorrt_execution_provider.h:88 log] [2026-11-21 07:52:04 "
GST = b"0:00:01.234567890  123 0x55d0 WARN                 nvinfer gstnvinfer.cpp:638:gst_nvinfer_logger:<infer> "
BODY = b"Original: 7 layers"

# fmt: off
PREFIXES = [
    ("trtexec", "V", STAMP + b"[V] [TRT] "),
    ("trtexec", "I", STAMP + b"[I] "),
    ("trtexec", "E", STAMP + b"[F] [TRT] "),
    ("trtexec", "V", STAMP + STAMP + b"[V] [TRT] "),
    ("trtexec", "W", STAMP + STAMP + STAMP + b"[W] [TRT] "),
    ("trtexec", "V", b"[00/15/2020-10:38:48] [V] [TRT] "),
    ("trtexec", "I", b"> > " + STAMP + b"[I] [TRT] "),
    ("trtexec", "W", b"[1,0]<stderr>:" + STAMP + b"[W] [TRT] "),
    ("tensorrt_llm_cpp", "I", b"(Worker:a pid=12, ip=10.0.0.1) [TensorRT-LLM][INFO] "),
    ("python", "V", STAMP + b"[TRT] [V] "),
    ("python", "E", b"[TRT] [E] "),
    ("ros", "W", b"[planner_node-1] " + STAMP + b"[TRT] [W] "),
    ("python_old", "V", b"[TensorRT] VERBOSE: "),
    ("python_old", "E", b"[TensorRT] INTERNAL_ERROR: "),
    ("bare", "I", b"[I] [TRT] "),
    ("bare", "I", b"> [I] [TRT] "),
    ("ros", "E", b"[container-1] 2022-03-02 05:05:00.037 DEBUG gxf/a.cpp@151: TRT ERROR: "),
    ("ros", "I", b"[autoware_diffusion_planner_node-1] [I] [TRT] "),
    ("bare", "V", b"[X] "),
    ("bare", "V", b"[S] (08:15:57) "),
    ("bare", "V", b"[U] [backend/trt/util.py:72] "),
    ("bare", "V", b"[V] (08:15:57) [backend/trt/util.py:72] "),
    ("bare", "E", b"[!] "),
    ("bare_word", "W", b"[WARNING] "),
    ("custom", "V", b"My Logger: Severity.VERBOSE "),
    ("tensorrt_llm", "I", STAMP + b"[TRT-LLM] [I] "),
    ("tensorrt_llm", "W", STAMP + b"[TRT-LLM] [MPI_Rank 0] [W] "),
    ("tensorrt_llm", "V", STAMP + b"[TRT-LLM] [RANK 12] [D] "),
    ("tensorrt_llm", "I", b"[TRT-LLM] [I] "),
    ("tensorrt_llm_cpp", "I", b"[TensorRT-LLM][INFO] "),
    ("tensorrt_llm_cpp", "V", b"[TensorRT-LLM][DEBUG][0] "),
    ("torch_tensorrt", "V", b"DEBUG: [Torch-TensorRT TorchScript Conversion Context] - "),
    ("torch_tensorrt", "I", b"INFO: [Torch-TensorRT - Debug Build] - "),
    ("tf_trt", "I", b"2021-03-04 05:06:07.800000: I tensorflow/x/tf2tensorrt/utils/trt_logger.cc:45] DefaultLogger "),
    ("tf_trt", "W", b"W tensorflow/contrib/tensorrt/log/trt_logger.cc:34] TF-TRT Warning: DefaultLogger "),
    ("torch_tensorrt", "V", b"GRAPH: [Torch-TensorRT] - "),
    ("torch_tensorrt", "E", b"INTERNAL_ERROR: [TRTorch Conversion Context] - "),
    ("torch_tensorrt_python", "W", b"WARNING:torch_tensorrt [TensorRT Conversion Context]:"),
    ("torch_tensorrt_python", "E", b"CRITICAL:torch_tensorrt [TensorRT Conversion Context]:"),
    ("onnxruntime", "V", ORT + b"UNKNOWN] "),
    ("onnxruntime", "W", ORT + b"WARNING] "),
    ("onnxruntime", "E", ORT + b"    BUG] "),
    ("onnxruntime_site", "E", b"E onnxruntime: [2024-09-20 12:15:43   ERROR] "),
    ("dated", "W", b"[2022-11-08 06:01:48 WARNING] "),
    ("dated_tags", "V", b"[2023-12-25 12:50:09][Debug][TRT] "),
    ("dated_tags", "E", b"[2023-12-25 12:50:15][InternalError][TRT] "),
    ("triton", "I", b"I1121 07:52:04.123456 123 logging.cc:49] "),
    ("triton", "E", b"F1121 07:52:04.123456 123 logging.cc:46] "),
    ("triton", "W", b"2026-11-21T07:52:04Z W 123 logging.cc:46] "),
    ("triton_json", "I", b'I1121 07:52:04.123456 123 logging.cc:49] "'),
    ("triton_json", "E", b'2026-11-21T07:52:04Z E 123 logging.cc:46] "'),
    ("deepstream", "W", b"WARNING: [TRT]: "),
    ("deepstream", "I", b"INFO: ../nvdsinfer/nvdsinfer_func_utils.cpp:39 [TRT]: "),
    ("gstreamer", "W", GST + b"NvDsInferContext[UID 1]: Warning from trtLogger [TRT]: "),
    ("word_site", "W", b"WARN TRT: "),
    ("tagged", "?", b"[TRT]    "),
    ("tagged", "?", b"[TRT] "),
    ("tagged", "?", b"[GIE]  "),
    ("other", "?", b"[My Logger] [TRT] "),
    ("other", "?", b"2026-11-21 07:52:04,123 INFO: [TRT] "),
]
# fmt: on


def scan(text: bytes) -> ScannedLines:
    scanner = Scanner()
    scanner.feed(Window(1, 0, text))
    return scanner.scanned


def test_every_dialect_has_an_example() -> None:
    assert {dialect for dialect, _, _ in PREFIXES} | {"named"} == set(DIALECTS)


@for_each(("dialect", "severity", "prefix"), PREFIXES)
@for_each("body", [BODY, b"[MemUsageChange] Init", b"(Unnamed Layer* 0) [Shuffle]", b"{ForeignNode[a]}"])
def test_a_prefix_ends_where_the_message_begins(dialect: str, severity: str, prefix: bytes, body: bytes) -> None:
    assert prefix_of(prefix + body) == Prefix(dialect, severity, len(prefix))


@for_each("prefix", [prefix for _, _, prefix in PREFIXES if prefix != b"[TRT] "])
def test_a_blank_that_opens_the_message_stays(prefix: bytes) -> None:
    read = prefix_of(prefix + b" (foreignNode) Autotuning op a:")
    assert read is not None
    assert read.end == (len(prefix) if b"[GIE]" not in prefix else len(b"[GIE]  "))


def test_a_line_has_the_prefix_of_the_first_kind_that_reads_it_whatever_it_opens_with() -> None:
    openings = [b"", *(bytes((byte,)) for byte in range(256))]
    forms = [
        b"",
        BODY,
        b": [TRT] text",
        *{form for _, _, prefix in PREFIXES for form in (prefix + BODY, prefix[1:] + BODY)},
    ]
    for line in {opening + form for opening in openings for form in forms}:
        first = next((kind for kind in tables.kinds(PREFIX) if kind.match.match(line)), None)
        assert (prefix_of(line) or (None,))[0] == (first and first.name), line


@for_each(("dialect", "severity", "prefix"), PREFIXES)
def test_regexes_and_lalr_agree_on_a_prefix_and_no_other_rule_reads_it(
    dialect: str, severity: str, prefix: bytes
) -> None:
    assert [kind.name for kind in tables.kinds(PREFIX) if kind.match.match(prefix + BODY)] == [dialect]
    read = reference_executor.parse(prefix, PREFIX)
    assert read is not None
    assert read[0] == dialect
    assert severity


@for_each(
    "line",
    [
        b"> text",
        b">>>>>>>>>>>>>>> Chose Runner Type: Reformat Tactic: 0",
        b"Layer(Reformat): [TRT] a, Tactic: 0",
        b"I1121 07:52:04.123456 123 server.cc:49] started",
        b"2026-11-21 07:52:04.123 [V:onnxruntime:, graph.cc:88 Resolve] Removing NodeArg",
        b"WARNING: the disk is full",
        b"INFO:root:loaded",
        b"WARNING:torchvision.io:fell back",
        b"[2022-11-08 06:01:48] text",
        b"[planner_node-1] text",
        b"[TensorRT] text",
        b"[My Logger] text",
        b"[My Logger] Tactic: none",
    ],
)
def test_a_line_of_another_program_has_no_prefix(line: bytes) -> None:
    assert prefix_of(line) is None


@for_each(
    ("line", "kind"),
    [
        (b"WARNING: Default DLA is enabled but layer c1 is not running on DLA, falling back to GPU.", "dla_fallback"),
        (b"WARNING: c1: Concatenation on DLA requires at least two inputs.", "dla_restriction"),
        (b"INFO: --------------- Timing c1(3)", "timing_old"),
        (b"INFO: Tactic 0 time 0.5", "tactic_old"),
        (b"INFO: Original: 7 layers", "stage_original"),
        (b"[My Logger] Tactic: 0x00000000000003e8 Time: 0.5", "tactic_timed"),
        (
            b"[Debug] *************** Autotuning format combination: Half(1) -> Half(1) ***************",
            "format_combination",
        ),
        (b"[my.logger] [MemUsageChange] Init CUDA: CPU +1, GPU +0, now: CPU 1, GPU 1 (MiB)", "init_cuda"),
    ],
)
def test_a_name_is_a_prefix_before_unmistakable_messages(line: bytes, kind: str) -> None:
    read = prefix_of(line)
    assert read is not None
    assert read.dialect == "named"
    found = reference_executor.parse(line[read.end :])
    assert found is not None
    assert found[0] == kind


def test_a_name_is_judged_line_by_line_however_alike_lines_begin() -> None:
    same = b"WARNING: a layer whose name is very long indeed: "
    assert scan(same + b"Pooling on DLA requires blood\n" + same + b"is slow\n").counts.unprefixed == 1


@for_each(
    ("dialect", "body", "message"),
    [
        ("triton_json", rb'Layer \"a\\b\" \u2713"', 'Layer "a\\b" ✓'.encode()),
        ("triton_json", rb'first\nsecond"', b"first"),
        ("triton_json", rb"cut off \"", rb"cut off \""),
        ("triton_json", b'\\"a\\"\tb"', b'"a"\tb'),
        ("triton_json", b'\xff"', b'\xff"'),
        ("onnxruntime_site", b"a [b] [tensorrt_execution_provider.h:88 onnxruntime::TensorrtLogger::log]", b"a [b]"),
        ("onnxruntime_site", b"Loaded [1/1]", b"Loaded [1/1]"),
        ("word_site", b"Detected invalid timing cache trt_utils.cpp:252", b"Detected invalid timing cache"),
    ],
)
def test_a_wrapped_message_is_taken_out(dialect: str, body: bytes, message: bytes) -> None:
    assert WRAPPED[dialect](body) == message


def test_a_quoted_message_is_read_counted_and_kept_without_its_quotes() -> None:
    head = b'1121 07:52:04.1 12 logging.cc:46] "'
    scanner = scan(b"I" + head + b'Original: 7 layers"\nW' + head + b'a \\"b\\""\nI' + head + b'"\nI' + head + b'?"\n')
    counts = scanner.counts
    assert (counts.typed, counts.unknown, counts.blank, counts.unprefixed) == (1, 2, 1, 0)
    assert [sample.text for sample in scanner.drift.samples()] == ['a "b"', "?"]


OLD_BLOCK = b"""--------------- Timing module/slice3/conv3/Conv2D(14)
Tactic 313790760974845026 time 8.02246
Tactic -9018593586369639207 time 10.8774

--------------- Timing module/slice3/conv3/Conv2D(1)
Tactic 2 scratch requested: 301989888, available: 16777216
Tactic -1 is the only option, timing skipped
--------------- Chose 2 (107)
"""


def test_timing_blocks_of_early_releases_are_read_without_any_prefix() -> None:
    scanner = scan(OLD_BLOCK)
    assert scanner.recognised
    assert (scanner.counts.typed, scanner.counts.blank, scanner.counts.total) == (7, 1, 8)


_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{[0-9]+(?:,[0-9]*)?\}|.", re.DOTALL)
"""What a regex is made of: escapes, classes, repetitions, characters."""


def _minds_digits(regex: str) -> bool:
    """Whether a regex may take one digit where it does not take another: it holds one that is no repetition's."""
    return any(map(_minds, _PIECE.findall(regex)))


def _minds(piece: str) -> bool:
    if piece[0] == "[":
        return len({re.match(piece, digit) is None for digit in "0123456789"}) > 1
    return piece[-1].isdigit()


@for_each("regex", ["0x[0-9a-f]+", "[1-9]", "a[^0]", r"TF32", r"(a)\1", "[a-f5]", r"x{2}2"])
def test_a_regex_with_a_digit_of_its_own_minds(regex: str) -> None:
    assert _minds_digits(regex)


@for_each("regex", ["[0-9]{2}x", r"\d+\S.", "[^ ]{1,3}", "[a-z]", r"[^\]0-9]x", r"\[[0-9a-f]\]", "a{12}"])
def test_a_regex_without_one_does_not(regex: str) -> None:
    assert not _minds_digits(regex)


def test_prefixes_that_differ_in_digits_only_are_one_to_every_rule() -> None:
    assert [kind.name for kind in tables.kinds(PREFIX) if _minds_digits(kind.regex)] == []


@pytest.mark.parametrize(
    ("levels", "lines"),
    [("E", [2, 6]), ("EW", [2, 4, 5, 6]), ("EWI", [1, 2, 4, 5, 6])],
)
def test_lines_of_some_levels_are_found_whichever_logger_wrote_them(levels: str, lines: list[int]) -> None:
    text = (
        b"[11/21/2026-07:52:04] [I] Building\n"
        b"[11/21/2026-07:52:04] [E] Error[4]: no\n"
        b"[TRT] [V] ERROR is only a word here\n"
        b"2023-01-01 [W:onnxruntime:Default, x.cc:1 f] odd\n"
        b"WARNING: [Torch-TensorRT] - odd\n"
        b"FATAL: the program's own\n"
        b"nothing"
    )
    starts = [0, *(place + 1 for place, byte in enumerate(text) if byte == ord("\n"))]
    assert [starts.index(place) + 1 for place in LevelMatcher(levels).places(text)] == lines
