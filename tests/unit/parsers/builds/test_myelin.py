"""The operations that Myelin times itself, with and without keys of the editable timing cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import Build, BuildLog

NODE = "{ForeignNode[a...b]}"
COLUMNS = (
    "tactic_id, cost(in ms), cost/fastest_cost, prediction_correlation, kernel_name, tactic_hash, tunable_parameter"
)


def _lines(*bodies: str) -> str:
    return "".join(f"[11/21/2026-10:00:00] [V] [TRT] {body}\n" for body in bodies)


def _table(op: str, *rows: tuple[float, str, str], sub: str = " (foreignNode) ") -> list[str]:
    listed = [f"{sub}  {n}, {ms}, 1.00000, 0.9, {kernel}, {tactic}," for n, (ms, kernel, tactic) in enumerate(rows)]
    return [f"{sub}Autotuning op {op}", f"{sub}Sorted table of all evaluated tactics:", f"{sub}{COLUMNS}", *listed]


def _build(load: Callable[[str], BuildLog], *bodies: str) -> Build:
    (build,) = load(_lines(*bodies)).builds
    return build


def _block(*inner: str) -> list[str]:
    return [
        f"=============== Computing costs for {NODE}",
        "*************** Autotuning format combination: Half(4,1) -> Half(4,1) ***************",
        f"--------------- Timing Runner: {NODE} (Myelin[0x80000023])",
        *inner,
        "Tactic: 0x0000000000000000 Time: 0.03",
        f"{NODE} (Myelin[0x80000023]) profiling completed in 2 seconds. Fastest Tactic: 0x0 Time: 0.03",
        ">>>>>>>>>>>>>>> Chose Runner Type: Myelin Tactic: 0x0000000000000000",
    ]


TWO = ((0.01, "sm80_gemm", "0x665d"), (0.02, "sm80_other", "0x777"))


def test_a_table_without_a_key_is_the_foreign_nodes(load: Callable[[str], BuildLog]) -> None:
    build = _build(load, *_block(*_table("mm: [ONNX Layer: mm]\x1f[ONNX Layer: relu]", *TWO)))
    (operation,) = build.myelin_operations
    assert (operation.op, operation.key, operation.foreign_node) == ("mm", "", NODE)
    assert operation.onnx_nodes == ("mm", "relu")
    assert (operation.selected, operation.time_ms) == (0x665D, 0.01)
    assert [(c.tactic, c.time_ms, c.kernel, c.line) for c in operation.candidates] == [
        (0x665D, 0.01, "sm80_gemm", 7),
        (0x777, 0.02, "sm80_other", 8),
    ]
    assert build.timing_cache_keys == ()


def test_operations_belong_to_the_choice_they_were_timed_for(load: Callable[[str], BuildLog]) -> None:
    build = _build(load, *_block(*_table("one:", *TWO), *_table("two:", TWO[1])), *_block(*_table("one:", TWO[0])))
    assert [[op.op for op in build.operations_of(choice)] for choice in build.choices] == [["one", "two"], ["one"]]
    assert [len(op.candidates) for op in build.myelin_operations] == [2, 1, 1]


def test_what_the_log_says_was_selected_counts_and_not_the_order(load: Callable[[str], BuildLog]) -> None:
    key = "0x" + "18" * 16
    selected = " (foreignNode) The selected tactic is (tactic hash, cost(in ms)):0x777,  0.02"
    build = _build(load, *_block(*_table(f"mm(key: {key}):", *TWO), selected))
    (operation,) = build.timing_cache_keys
    assert (operation.key, operation.selected, operation.time_ms) == (key, 0x777, 0.02)


def test_a_key_without_a_selection_has_none(load: Callable[[str], BuildLog]) -> None:
    build = _build(load, *_block(*_table(f"mm(key: 0x{'18' * 16}):", *TWO)))
    assert [op.selected for op in build.timing_cache_keys] == [None]


def test_a_network_compiled_whole_is_in_no_foreign_node(load: Callable[[str], BuildLog]) -> None:
    build = _build(load, *_block(), *_table("mm:", *TWO, sub=""), "Original: 3 layers")
    assert [op.foreign_node for op in build.myelin_operations] == [""]


def test_a_table_that_is_cut_off_has_what_was_printed(load: Callable[[str], BuildLog]) -> None:
    build = _build(load, *_block()[:3], *_table("mm:", TWO[0]))
    assert [len(op.candidates) for op in build.myelin_operations] == [1]
    bare = _build(load, *_block()[:3], *_table("mm:")[:1])
    assert [(list(op.candidates), op.selected) for op in bare.myelin_operations] == [([], None)]
