"""What a log lets one judge of a build; lines of other programs are counted apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.log import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

PREFIX = "[11/21/2026-10:00:00] [V] [TRT] "


def test_an_excerpt_between_lines_of_an_application_lets_one_judge_nothing(load: Callable[[str], BuildLog]) -> None:
    (build,) = load(f"epoch 1\nepoch 2\n\n{PREFIX}Original: 3 layers\n{PREFIX}\n{PREFIX}no rule reads it\n").builds
    assert build.coverage == Coverage(
        verdict=False,
        engine_layers=False,
        tactics=False,
        times=None,
        options=False,
        model=False,
        own_lines=2,
        other_lines=2,
    )


def test_names_of_layers_and_banners_are_tensorrts_lines(load: Callable[[str], BuildLog]) -> None:
    banner = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx"
    (build,) = load(f"{banner}\n{PREFIX}Layers:\nconv\nfc\n{banner.replace('RUNNING', 'PASSED')}\n").builds
    covered = build.coverage
    assert (covered.own_lines, covered.other_lines, covered.verdict, covered.options) == (5, 0, True, True)
