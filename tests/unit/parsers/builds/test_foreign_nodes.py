"""ForeignNodes that no metadata line describes are known from the lines that place or time them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

V = "[11/21/2026-10:00:00] [V] [TRT] "
BANNER = "&&&& RUNNING TensorRT.trtexec [TensorRT v8501] # trtexec --onnx=a.onnx"


def foreign(load: Callable[[str], BuildLog], *lines: str) -> list[list[tuple[str, tuple[str, ...], int]]]:
    log = load("".join(f"{line if line == BANNER else V + line}\n" for line in lines))
    return [[(node.name, node.onnx_nodes, node.span.line) for node in build.foreign_nodes] for build in log.builds]


def test_a_placement_or_a_runner_names_a_foreign_node_once_a_build(load: Callable[[str], BuildLog]) -> None:
    placed = "[GpuLayer] MYELIN: {ForeignNode[a...b]}"
    timed = "--------------- Timing Runner: {ForeignNode[a...b]} (Myelin[0x80000023])"
    other = "[GpuLayer] CONVOLUTION: conv1"
    found = foreign(load, BANNER, other, placed, timed, BANNER, "[GpuLayer] {ForeignNode[a...b]}", timed)
    assert found == [[("{ForeignNode[a...b]}", (), 3)], [("{ForeignNode[a...b]}", (), 6)]]


def test_a_metadata_line_tells_more_and_comes_alone(load: Callable[[str], BuildLog]) -> None:
    lines = (
        "ForeignNode {ForeignNode[a...b]} metadata:[ONNX Layer: a]\x1e[ONNX Layer: b]",
        "--------------- Timing Runner: {ForeignNode[a...b]} [profile 1] (Myelin[0x80000023])",
    )
    assert foreign(load, *lines) == [[("{ForeignNode[a...b]}", ("a", "b"), 1)]]


def test_metadata_may_go_on_in_further_lines(load: Callable[[str], BuildLog]) -> None:
    described = f"{V}ForeignNode {{ForeignNode[a...c]}} metadata:[ONNX Layer: a]"
    (build,) = load(f"{described}\n    [ONNX Layer: b]\n    [ONNX Layer: c]\n").builds
    assert [node.onnx_nodes for node in build.foreign_nodes] == [("a", "b", "c")]
