"""Every line is counted once, in one class, whatever it is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from tests.support.judging import fields_of
from tests.support.property_settings import examples
from trtforensics.errors import NotABuildLogError, SourceError
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.lines.singly import Dispatch
from trtforensics.parsers.text.source import open_source
from trtforensics.parsers.text.windows import Window
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from trtforensics.parsers.lines.events import ScannedLines


def scan(data: bytes) -> ScannedLines:
    scanner = Scanner()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(data)
        with open_source(str(path)) as source:
            for window in source.windows():
                scanner.feed(window)
            assert scanner.scanned.counts.total == source.info().lines
    return scanner.scanned


def test_a_literal_opening_wins_over_free_text_whatever_was_read_before() -> None:
    dispatch = Dispatch(tables.kinds())
    layer_like = fields_of(dispatch, b"Searching for it [Constant] inputs: ")
    both = fields_of(dispatch, b"Searching for input: conv [Constant] inputs: ")
    assert layer_like is not None
    assert layer_like[0] == "node_inputs"
    assert both is not None
    assert both[0] == "searching_input"


INVENTED = [
    b"The scheduler took %d steps",
    b"Warming the flux buffer: %d of 9",
    b" (foreignNode) Autotuned nothing %d",
    b"Tactic: none at all %d",
    b"Layer(broken %d",
    b"Fastest Tactic %d was slow",
    b"=============== Something new %d ===============",
    b"Name: x, LayerKind: %d",
    b"key%d: value",
    b"After thought: %d layer",
]


def test_invented_lines_are_unknown_and_change_nothing_else(samples: list[Path]) -> None:
    path = next(file for file in samples if file.name == "emulated-trtexec-8.6.log")
    lines = path.read_bytes().splitlines(keepends=True)
    before = scan(b"".join(lines)).counts
    for number in range(50):
        text = INVENTED[number % len(INVENTED)] % (number // len(INVENTED))
        lines.insert(number * 20 + 5, b"[11/21/2026-10:05:00] [V] [TRT] " + text + b"\n")
    after = scan(b"".join(lines))
    assert before.unknown == 0
    assert after.counts == type(before)(before.typed, before.unprefixed, before.blank, 50)
    assert sum(sample.count for sample in after.drift.samples()) == 50


def test_a_message_without_text_may_begin_in_the_middle_of_a_line() -> None:
    counts = scan(b"[V] [TRT] a line\n" * 3 + b"[[11/21/2026-10:05:00] [V] [TRT]\n").counts
    assert (counts.total, counts.blank) == (4, 0)


STAMP = b"[11/21/2026-10:05:00] "
PREFIXES = [
    STAMP + b"[I] ",
    STAMP + STAMP + b"[F] [TRT] ",
    STAMP + b"[TRT] [E] ",
    b"[TensorRT] VERBOSE: ",
    b"[WARNING] ",
    b"[V] [TRT] ",
    b"[X] (10:05:00) [run.py:12] ",
    b"[!] ",
    b"My Logger: Severity.INTERNAL_ERROR ",
]


@for_each("prefix", PREFIXES)
def test_a_prefixed_line_is_never_unprefixed(prefix: bytes) -> None:
    counts = scan(prefix + b"no such line\n" + prefix + b"\n" + prefix + b"Original: 3 layers\nno prefix\n\n").counts
    assert (counts.unknown, counts.blank, counts.typed, counts.unprefixed) == (1, 2, 1, 1)


SHARDS = [
    b"\n",
    b"\r\n",
    b"[11/21/2026-10:05:00] [V] [TRT] ",
    b"[TensorRT] ERROR: ",
    b"[I]",
    b"Tactic: 0x0000000000000001 Time: ",
    b"0.5",
    b"1e999",
    b"Tactic: ",
    b"Original: 99999999999999999999999 layers",
    b"--------------- Chose -1",
    b"Layer(a): b, Tactic: 0x1, -> ",
    b"Building graph using backend strategy 9",
    b"Name: a, LayerType: b, Inputs: ",
    b"&&&& RUNNING x",
    b"Engine Layer Information:",
    b"Layers:",
    b"\x1e",
    b"\xff",
    b"\x00",
]


@examples(150)
@given(data=st.lists(st.sampled_from(SHARDS) | st.binary(max_size=8), max_size=40).map(b"".join))
def test_any_bytes_are_counted_line_by_line_and_never_raise(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(data)
        try:
            log = load_build_log([str(path)])
        except (NotABuildLogError, SourceError):  # SourceError: the bytes open like gzip or zstandard and are neither
            return
    assert log.lines.total == log.source.lines
    assert [build.last_line for build in log.builds][-1] == log.source.lines


def test_messages_stand_in_the_order_of_their_lines_whoever_wrapped_them() -> None:
    plain = b"[11/21/2026-10:05:00] [W] [TRT] plain %d\n"
    wrapped = b"E onnxruntime: [2026-11-21 12:15:43   ERROR] wrapped %d [provider.h:88 Logger::log]\n"
    events = scan(b"".join((plain if number % 3 else wrapped) % number for number in range(300))).events
    rows = events["message"]
    assert list(rows.lines) == list(range(1, 301))
    expected = [("W", f"plain {n}") if n % 3 else ("E", f"wrapped {n}") for n in range(300)]
    assert list(zip(rows.values("severity", range(300)), rows.values("text", range(300)), strict=True)) == expected


def test_names_go_on_in_the_next_window_and_end_at_any_other_line() -> None:
    scanner = Scanner()
    stamp = b"[11/21/2026-10:05:00] [I] "
    first = stamp + b"Layers:\n  conv1\n"
    second = b"conv2 + relu\n" + stamp + b"Bindings:\nno name\n" + stamp + b"Layers:\npool\n"
    scanner.feed(Window(1, 0, first))
    scanner.feed(Window(3, len(first), second))
    rows = scanner.scanned.events["layer_name"]
    assert list(zip(rows.lines, rows.values("name", range(len(rows.lines))), strict=True)) == [
        (2, "conv1"),
        (3, "conv2 + relu"),
        (7, "pool"),
    ]
