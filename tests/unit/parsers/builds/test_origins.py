"""Which choice an engine layer came from: by name, pass, tactic and formats; undecided where the log does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.ledger import ledger_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import Build, BuildLog

    Load = Callable[[str], BuildLog]

V = "[11/21/2026-10:05:00] [V] [TRT] "
GENERATED = "Engine generation completed in 1.5 seconds."
DUMP = "Engine Layer Information:"


def tuned(layer: str, formats: str, tactic: int, runner: str = "CaskConvolution") -> list[str]:
    return [
        f"*************** Autotuning format combination: {formats} ***************",
        f"--------------- Timing Runner: {layer} ({runner}[0x80000009])",
        f"Tactic: {tactic:#018x} Time: 0.5",
        f"{layer} ({runner}[0x80000009]) profiling completed in 0.1 seconds. Fastest Tactic: {tactic:#018x} Time: 0.5",
        f">>>>>>>>>>>>>>> Chose Runner Type: {runner} Tactic: {tactic:#018x}",
    ]


def cached(layer: str, formats: str, tactic: int) -> str:
    return f"{layer} [{formats}] got cached result: CaskConvolution, tactic {tactic:#018x}, 0.5 ms"


def layer(name: str, tensors: str, tactic: int, type_: str = "CaskConvolution") -> str:
    return f"Layer({type_}): {name}, Tactic: {tactic:#018x}, {tensors}"


def build_of(load: Load, *lines: str) -> Build:
    text = "".join(line + "\n" if line.startswith("Layer(") else f"{V}{line}\n" for line in lines)
    (build,) = load(text).builds
    return build


def joins(build: Build) -> list[tuple[int | None, int | None]]:
    return [(found.choice, found.cached) for found in build.engine_layers]


def test_the_tactic_decides_between_choices_of_one_layer(load: Load) -> None:
    lines = [*tuned("c", "Half(64,1) -> Half(64,1)", 7), *tuned("c", "Half(8,1) -> Half(8,1)", 9)]
    build = build_of(load, *lines, GENERATED, DUMP, layer("c", "x (Half[1,64]) -> y (Half[1,64])", 9))
    assert joins(build) == [(1, None)]
    assert [choice.final for choice in build.choices] == [False, True]


def test_the_types_decide_where_the_tactic_is_the_same(load: Load) -> None:
    lines = [*tuned("c", "Float(64,1) -> Float(64,1)", 7), *tuned("c", "Half(64,1) -> Half(64,1)", 7)]
    build = build_of(load, *lines, GENERATED, DUMP, layer("c", "x (Float[1,64]) -> y (Float[1,64])", 7))
    assert joins(build) == [(0, None)]
    assert [choice.final for choice in build.choices] == [True, False]


def test_the_vectorised_components_decide_where_types_are_the_same(load: Load) -> None:
    lines = [*tuned("c", "Half(64,1) -> Half(64,1)", 7), *tuned("c", "Half(8:8,1) -> Half(8:8,1)", 7)]
    build = build_of(load, *lines, GENERATED, DUMP, layer("c", "x (Half[64:8,1]) -> y (Half[64:8,1])", 7))
    assert joins(build) == [(1, None)]


def test_a_settled_neighbour_settles_the_strides(load: Load) -> None:
    lines = [
        *tuned("a", "Half(64,1) -> Half(1,8)", 3),
        *tuned("b", "Half(8,1) -> Half(8,1)", 7),
        *tuned("b", "Half(1,8) -> Half(8,1)", 7),
    ]
    dump = [layer("a", "x (Half[8,8]) -> y (Half[8,8])", 3), layer("b", "y (Half[8,8]) -> z (Half[8,8])", 7)]
    build = build_of(load, *lines, GENERATED, DUMP, *dump)
    assert joins(build) == [(0, None), (2, None)]
    assert [choice.final for choice in build.choices] == [True, False, True]


def test_what_cannot_be_told_apart_stays_undecided_and_says_why(load: Load) -> None:
    lines = [*tuned("c", "Half(64,1) -> Half(64,1)", 7), *tuned("c", "Half(1,64) -> Half(1,64)", 7)]
    build = build_of(load, *lines, GENERATED, DUMP, layer("c", "x (Half[8,8]) -> y (Half[8,8])", 7))
    assert joins(build) == [(None, None)]
    assert [choice.final for choice in build.choices] == [None, None]
    assert build.engine_layers[0].origin == "2 choices fit and the log does not tell them apart: lines 5, 10"


def test_a_cached_result_is_an_origin_too(load: Load) -> None:
    lines = [*tuned("c", "Half(64,1) -> Half(64,1)", 7), cached("d", "Half(64,1) -> Half(64,1)", 7)]
    dump = [layer("c", "x (Half[1,64]) -> y (Half[1,64])", 7), layer("d", "y (Half[1,64]) -> z (Half[1,64])", 7)]
    build = build_of(load, *lines, GENERATED, DUMP, *dump)
    assert joins(build) == [(0, None), (None, 0)]
    assert [result.final for result in build.cached] == [True]


def test_choices_of_a_pass_that_was_thrown_away_are_not_final(load: Load) -> None:
    tuning = tuned("c", "Half(64,1) -> Half(64,1)", 7)
    lines = [
        "Building graph using backend strategy 4",
        *tuning,
        "Use backend strategy 4 with estimated inference time (0.3) as the initial choice.",
        "Building graph using backend strategy 3",
        *tuning,
        (
            "Chose this engine with backend strategy 3 since its estimated inference time (0.2) is faster than the"
            " previous engine with estimated inference time (0.3)."
        ),
    ]
    dump = [DUMP, layer("c", "x (Half[1,64]) -> y (Half[1,64])", 7)]
    build = build_of(load, *lines, *dump)
    assert joins(build) == [(1, None)]
    assert [choice.final for choice in build.choices] == [False, True]
    undecided = build_of(load, *lines[:-1], *dump)
    assert joins(undecided) == [(None, None)]
    assert [choice.final for choice in undecided.choices] == [None, None]
    assert undecided.engine_layers[0].origin == "the log does not tell which pass the engine is from"


def test_every_layer_without_a_choice_says_why(load: Load) -> None:
    reformat = "Reformatting CopyNode for Input Tensor 0 to c"
    dump = [
        layer("c", "x (Half[1,64]) -> y (Half[1,64])", 8),
        layer("k", " -> w (Half[1])", 0, "Constant"),
        layer("n", "x (Half[1]) -> v (Half[1])", 0, "NoOp"),
        layer(reformat, "x (Half[1]) -> r (Half[1])", 0, "Reformat"),
        layer("gone", "x (Half[1]) -> v (Half[1])", 1),
        layer("cut", "x (Half[1", 1),
    ]
    build = build_of(load, *tuned("c", "Half(64,1) -> Half(64,1)", 7), GENERATED, DUMP, *dump)
    assert joins(build) == [(None, None)] * 6
    assert [found.origin.partition(";")[0] for found in build.engine_layers] == [
        "no choice of this name in the engine's pass has the engine's tactic",
        "a constant runs no kernel",
        "runs no kernel",
        "TensorRT prints no choice for a reformat layer",
        "the log has no choice of this name in the engine's pass",
        "the tensors of this line could not be read",
    ]
    assert [choice.final for choice in build.choices] == [None]


def test_without_autotuning_there_is_nothing_to_join(load: Load) -> None:
    build = build_of(load, GENERATED, DUMP, layer("c", "x (Half[1]) -> y (Half[1])", 7))
    assert [found.origin for found in build.engine_layers] == ["the log has no autotuning for this engine"]


def test_kernels_join_the_choice_of_their_foreign_node_and_profile(load: Load) -> None:
    node = "{ForeignNode[a...b]}"
    metadata = "metadata: [ONNX Layer: a]\x1e[ONNX Layer: b]"
    lines = [
        f"ForeignNode {node} {metadata}",
        *tuned(node, "Half(64,1) -> Half(64,1)", 0, "Myelin"),
        f"ForeignNode {node} [profile 1] {metadata}",
        *tuned(f"{node} [profile 1]", "Half(64,1) -> Half(64,1)", 0, "Myelin"),
        *tuned("c", "Half(64,1) -> Half(64,1)", 7),
    ]
    dump = [
        layer("a_myl7_0", "x (Half[1,64]) -> t (Half[1,64])", 0, "gemm"),
        layer("b_myl7_1", "t (Half[1,64]) -> y (Half[1,64])", 0, "gemm"),
        layer("a [profile 1]_myl15_0", "x [profile 1] (Half[1,64]) -> t [profile 1] (Half[1,64])", 0, "gemm"),
        layer("b [profile 1]_myl15_1", "t [profile 1] (Half[1,64]) -> y [profile 1] (Half[1,64])", 0, "gemm"),
    ]
    build = build_of(load, *lines, GENERATED, DUMP, *dump)
    assert joins(build) == [(0, None), (0, None), (1, None), (1, None)]
    assert [choice.final for choice in build.choices] == [True, True, None]


def test_kernels_join_the_foreign_node_whose_name_ends_in_their_onnx_nodes(load: Load) -> None:
    nodes = ["{ForeignNode[w + cast.../a/Add + /a/Reshape]}", "{ForeignNode[/b/Tile.../b/Gather]}"]
    lines = [line for node in nodes for line in tuned(node, "Half(64,1) -> Half(64,1)", 0, "Myelin")]
    dump = [
        "Layer(gemm): /b/Gather_myl9_0, Tactic: 0x0000000000000000, y (Half[1,64]) -> z (Half[1,64])",
        "Layer(gemm): /a/Reshape + /a/Add_myl7_0, Tactic: 0x0000000000000000, x (Half[1,64]) -> y (Half[1,64])",
    ]
    assert joins(build_of(load, *lines, GENERATED, DUMP, *dump)) == [(1, None), (0, None)]
    elsewhere = [dump[0], dump[0].replace("myl9", "myl7")]
    assert joins(build_of(load, *lines, GENERATED, DUMP, *elsewhere)) == [(None, None)] * 2, "two groups have the node"


def test_the_time_of_foreign_nodes_counts_where_their_kernels_are_not_told_apart(load: Load) -> None:
    nodes = ["{ForeignNode[a...b]}", "{ForeignNode[c...d]}"]
    lines = [line for node in nodes for line in tuned(node, "Half(64,1) -> Half(64,1)", 0, "Myelin")]
    dump = [
        "Layer(kgen): __myl_Add_myl7_0, Tactic: 0x0000000000000000, x (Half[1,64]) -> y (Half[1,64])",
        "Layer(kgen): __myl_Mul_myl9_0, Tactic: 0x0000000000000000, y (Half[1,64]) -> z (Half[1,64])",
    ]
    build = build_of(load, *lines, GENERATED, DUMP, *dump)
    assert [(unit.name, unit.layers, unit.time_ms) for unit in ledger_of(build).slowest] == [
        (n, (), 0.5) for n in nodes
    ]
    assert ledger_of(build).unknown_layers == len(dump)
    assert not ledger_of(build_of(load, *lines, GENERATED, DUMP, dump[0])).slowest, "one of them is in no engine"
