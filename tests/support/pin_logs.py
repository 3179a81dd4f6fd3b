"""Small build logs with something to pin: a layer with its tactics, or an operation with its timing-cache key."""

from __future__ import annotations

from tests.support.pin_slots import HALF, SINGLE, kernel

V = "[11/21/2026-10:00:00] [V] [TRT] "
WON, OTHER = "0x94119b4c514b211a", "0x665d000000000001"
KEY = "0x" + "0f" * 16


def layer_log(won: str = WON) -> str:
    """Return a log of one convolution: the tactic that won sums in Half, the other in Float."""
    kernels = {WON: kernel(HALF), OTHER: kernel(SINGLE)}
    times = {tactic: 0.5 if tactic == won else 0.75 for tactic in kernels}
    return _lines(
        "*************** Autotuning format combination: Half(8,4,2,1) -> Half(8,4,2,1) ***************",
        "--------------- Timing Runner: conv (CaskConvolution[0x80000009])",
        *(f"Tactic Name: {kernels[one]} Tactic: {one} Time: {time}" for one, time in times.items()),
        f">>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: {won}",
        "Engine Layer Information:",
        f"Layer(CaskConvolution): conv, Tactic: {won}, x (Half[1,8,2,2]) -> y (Half[1,8,2,2])",
    )


def key_log(won: str = WON) -> str:
    """Return a log of one matrix product inside a ForeignNode, with its key."""
    kernels = {WON: kernel(HALF), OTHER: kernel(SINGLE)}
    table = sorted(kernels, key=lambda one: one != won)
    node = "{ForeignNode[a...b]}"
    return _lines(
        "*************** Autotuning format combination: Half(8,1) -> Half(8,1) ***************",
        f"--------------- Timing Runner: {node} (Myelin[0x80000023])",
        f" (foreignNode) Autotuning op mm(key: {KEY}): [ONNX Layer: mm]",
        " (foreignNode) Sorted table of all evaluated tactics:",
        " (foreignNode) tactic_id, cost(in ms), cost/fastest_cost, prediction_correlation, kernel_name, tactic_hash",
        *(
            f" (foreignNode) {row}, 0.{row + 1}, {row + 1}.0, 0.0, {kernels[one]}, {one},"
            for row, one in enumerate(table)
        ),
        f" (foreignNode) The selected tactic is (tactic hash, cost(in ms)): {won}, 0.1",
        "Tactic: 0x0000000000000000 Time: 0.5",
        ">>>>>>>>>>>>>>> Chose Runner Type: Myelin Tactic: 0x0000000000000000",
        "Engine Layer Information:",
        f"Layer(Myelin): {node}, Tactic: 0x0000000000000000, x (Half[8]) -> y (Half[8])",
    )


def _lines(*bodies: str) -> str:
    return "".join(f"{V}{body}\n" for body in bodies)
