"""A layer's kernel is the one under which its tactic was timed, and none where that is not sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

V = "[11/21/2026-10:00:00] [V] [TRT] "
HASHED = "0x94119b4c514b211a"


def tuned(kernel: str, tactic: str, layer: str = "conv") -> list[str]:
    return [
        f"{V}*************** Autotuning format combination: Float(1) -> Float(1) ***************",
        f"{V}--------------- Timing Runner: {layer} (CaskConvolution[0x80000009])",
        f"{V}Tactic Name: {kernel} Tactic: {tactic} Time: 0.5",
        f"{V}>>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: {tactic}",
    ]


def kernels(load: Callable[[str], BuildLog], tactic: str, *lines: str) -> list[str]:
    layer = f"Layer(CaskConvolution): conv, Tactic: {tactic}, x (Float[1]) -> y (Float[1])"
    (build,) = load("".join(f"{line}\n" for line in (*lines, layer))).builds
    return [layer.tactic_name for layer in build.engine_layers]


def test_a_layer_without_a_kernels_name_gets_that_of_its_choice(load: Callable[[str], BuildLog]) -> None:
    assert kernels(load, "0x0000000000000005", *tuned("small", "0x0000000000000005")) == ["small"]


def test_a_hashed_id_is_the_same_kernel_in_every_layer(load: Callable[[str], BuildLog]) -> None:
    assert kernels(load, HASHED, *tuned("sm80_kernel", HASHED, layer="other")) == ["sm80_kernel"]


@pytest.mark.parametrize("tactic", ["0x0000000000000005", HASHED])
def test_an_id_that_may_be_two_kernels_names_none(load: Callable[[str], BuildLog], tactic: str) -> None:
    lines = (*tuned("one", tactic, layer="other"), *tuned("two", tactic, layer="third"))
    assert kernels(load, tactic, *lines) == [""]


def test_up_to_7_the_line_before_the_time_names_the_kernel(load: Callable[[str], BuildLog]) -> None:
    lines = (
        "[V] [TRT] --------------- Timing Runner: conv (CaskConvolution)",
        "[V] [TRT] conv (scudnn) Set Tactic Name: volta_scudnn_128x32_relu",
        "[V] [TRT] Tactic: 1062367460111450758 time 0.5",
        "[V] [TRT] >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 1062367460111450758",
    )
    assert kernels(load, "1062367460111450758", *lines) == ["volta_scudnn_128x32_relu"]


def test_a_cached_result_has_the_kernel_under_which_its_hashed_tactic_was_timed(
    load: Callable[[str], BuildLog],
) -> None:
    cached = f"{V}conv2 [Float(1) -> Float(1)] got cached result: CaskConvolution, tactic {{}}, 0.5 ms"
    counted = "0x0000000000000005"
    lines = (*tuned("sm80_kernel", HASHED), *tuned("small", counted), cached.format(HASHED), cached.format(counted))
    (build,) = load("".join(f"{line}\n" for line in lines)).builds
    assert [(one.tactic, one.kernel) for one in build.cached] == [(int(HASHED, 16), "sm80_kernel"), (5, "")]
