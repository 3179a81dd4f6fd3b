"""Excerpts: lines that lost their prefix or were wrapped, messages glued together, and causes in any line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.builds.assembler import assemble
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.windows import Window

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog

STAMP = "[11/21/2026-07:52:04]"
NONE_LEFT = "Could not find any implementation for node conv1."


def log_of(text: str) -> BuildLog:
    scanner = Scanner()
    scanner.feed(Window(1, 0, text.encode()))
    return assemble(scanner.scanned, SourceInfo("paste.txt", len(text), text.count("\n"), "0"))


def kinds_of(log: BuildLog) -> dict[str, int]:
    """Return the kinds of the notes, each with its first line."""
    return {note.kind: note.span.line for build in log.builds for note in reversed(build.notes)}


def test_a_line_without_its_prefix_is_read() -> None:
    log = log_of(f"it ends so\n  10: {NONE_LEFT}\nwhy?\n")
    assert kinds_of(log)["no_implementation"] == 2
    assert (log.lines.typed, log.lines.unprefixed) == (1, 2)


def test_a_line_that_was_wrapped_is_read() -> None:
    log = log_of("Your ONNX model has been generated with INT64 weights, while TensorRT\n"
                 "does not natively support INT64. Attempting to cast down to INT32.\n")  # fmt: skip
    assert kinds_of(log)["int64_weights"] == 1
    assert log.lines.typed == 2


def test_messages_that_were_glued_together_are_both_read() -> None:
    log = log_of(f"{STAMP} [V] [TRT] odd words of nobody{STAMP} [E] [TRT] 10: {NONE_LEFT}\n")
    assert kinds_of(log)["no_implementation"] == 1
    assert log.lines.total == 1


def test_both_parts_are_read_of_a_line_that_a_rule_would_read_as_a_whole() -> None:
    glued = f"{STAMP} [V] [TRT] Parsing node: pool [MaxPool]{STAMP} [E] [TRT] 10: {NONE_LEFT}\n"
    log = log_of(f"{STAMP} [V] [TRT] Parsing node: conv [Conv]\n{glued}" * 1100)
    (build,) = log.builds
    assert {node.name for node in build.onnx_nodes} == {"conv", "pool"}
    assert kinds_of(log)["no_implementation"] == 2
    assert log.lines.typed == log.lines.total == 2200


def test_a_glued_line_counts_as_unknown_where_no_rule_reads_a_part() -> None:
    log = log_of(f"{STAMP} [V] [TRT] Parsing node: pool [MaxPool]{STAMP} [V] [TRT] odd words of nobody\n")
    assert (log.lines.typed, log.lines.unknown) == (0, 1)
    assert [sample.text for sample in log.unknown_samples] == ["odd words of nobody"]


SECOND = [
    "2026-11-22 09:36:02.1 [E:onnxruntime:, executor.cc:12 Run] ",
    "2026-11-22 09:36:02.1 [E:onnxruntime:Default, provider.h:58 log] [2026-11-22 09:36:02   ERROR] 6: ",
    "ERROR: [Torch-TensorRT] - 6: ",
    "E1122 09:36:02.123 1 logging.cc:46] 6: ",
    "E1122 09:36:02.123 1 model.cc:12] ",
]


@for_each("second", SECOND)
def test_each_part_of_a_glued_line_names_its_causes(second: str) -> None:
    message = f"{second}The engine plan file is not compatible with this version of TensorRT"
    assert {"out_of_memory", "plan_version"} <= kinds_of(
        log_of(f"{STAMP} [E] [TRT] x (out of memory){message}\n")
    ).keys()
    assert "plan_version" in kinds_of(log_of(f"1: {message}\n"))


def test_a_cause_is_found_in_a_line_of_a_program() -> None:
    log = log_of("E0101 infer.cc:7] TRT: Profile 3 has been chosen by another IExecutionContext.\n")
    (note,) = (note for build in log.builds for note in build.notes if note.kind == "profile_taken")
    assert note.text("index") == "3"


def test_a_cause_that_two_lines_name_counts_for_the_first() -> None:
    log = log_of("TRT: Profile 3 has been chosen by\n  another IExecutionContext. Use another\n")
    assert kinds_of(log)["profile_taken"] == 1


def test_in_a_whole_log_a_line_of_another_program_about_memory_is_no_cause() -> None:
    prefixed = "".join(f"{STAMP} [V] [TRT] odd words number {n} of nobody {n}\n" for n in range(2100))
    assert "out_of_memory" not in kinds_of(log_of(prefixed + "bfc_allocator: ran out of memory\n"))
    assert "out_of_memory" in kinds_of(log_of(prefixed + f"{STAMP} [E] [TRT] out of memory\n"))
