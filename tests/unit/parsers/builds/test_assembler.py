"""What a log of several builds says of each is what it says where each has a log of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.documents import document
from trtforensics.parsers.builds import assembler

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

V = "[11/21/2026-10:05:00] [V] [TRT] "
I = "[11/21/2026-10:05:00] [I] "  # noqa: E741 - as the log spells the level
RUNNING = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec"
PASSED = "&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec"
LINES = {"line", "first_line", "last_line"}


def moved(value: Any, by: int) -> Any:
    """Return a part of a document as it would be ``by`` lines further down, in a build of another number."""
    if isinstance(value, list):
        return [moved(item, by) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item + by if key in LINES else moved(item, by) for key, item in value.items() if key != "index"}
    if kept.get("origin"):
        head, lines, places = kept["origin"].partition(": lines ")
        kept["origin"] = head + lines + re.sub(r"\d+", lambda line: str(int(line[0]) + by), places)
    return kept


def test_builds_say_the_same_in_one_log_as_in_logs_of_their_own(load: Load, samples: list[Path]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*samples, *reversed(samples))]
    expected, lines = [], 0
    for text in texts:
        alone = document(load(text))
        expected += moved(alone["builds"], lines)
        lines += alone["source"]["lines"]
    assert moved(document(load("".join(texts)))["builds"], 0) == expected


def test_lines_behind_four_gigabytes_keep_their_places(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join([RUNNING, V + "Original: 1 layers", PASSED])
    small = load(text)
    monkeypatch.setattr(assembler, "_LARGE", len(RUNNING))
    large = load(text)
    assert (small.line_starts.itemsize, large.line_starts.itemsize) == (4, 8)
    assert small.line_starts.tolist() == large.line_starts.tolist()
    assert document(small) == document(large)


def test_nothing_is_taken_over_from_the_build_before(load: Load) -> None:
    first = [RUNNING, I + "=== Build Options ===", V + "Parsing node: a [Relu]", V + "Original: 1 layers", PASSED]
    second = [
        RUNNING,
        I + "Precision: FP32",
        V + "Registering layer: constant for ONNX node: constant",
        V + "Original: 2 layers",
        PASSED,
    ]
    one, other = load("\n".join([*first, *second])).builds
    assert not any(other.options.values())
    assert [node.layers for node in one.onnx_nodes] == [()]


def test_a_build_of_one_pass_behind_one_of_several_has_its_lines_in_the_first(load: Load) -> None:
    several = [f"Building graph using backend strategy {number}" for number in (4, 3)]
    lines = [RUNNING, V + "Original: 3 layers", *(V + line for line in several), PASSED]
    log = load("\n".join([*lines, RUNNING, V + "Original: 2 layers", PASSED]))
    assert [stage.pass_index for build in log.builds for stage in build.stages] == [None, 0]
