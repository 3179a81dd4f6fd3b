"""The graph of a build: its nodes, its edges, and the typed answers."""

from __future__ import annotations

from tests.support.graph_builds import build, engine, onnx, small_build, span, tensor
from trtforensics.engines.facts import EngineFacts
from trtforensics.graphs.build import BuildGraph, EdgeKind, NodeKind, node_id
from trtforensics.model.log import (
    BackendPass,
    CachedResult,
    EngineTensor,
    ForeignNode,
    Fusion,
)
from trtforensics.model.timings import NO_TACTIC


def members(graph: BuildGraph, engine_node: str) -> list[tuple[str, list[str], list[int]]]:
    """Return what was fused into an engine layer, with the kinds and the lines of the fusions."""
    return [
        (source, edge.get("fusions", []), edge.get("lines", []))
        for source, _, kind, edge in graph.graph.in_edges(engine_node, keys=True, data=True)
        if kind == EdgeKind.FUSED_INTO
    ]


def fed(graph: BuildGraph, node: str) -> list[str]:
    """Return what a reformat layer is for."""
    return [target for _, target, key in graph.graph.out_edges(node, keys=True) if key == EdgeKind.REFORMATS]


def test_an_engine_layer_carries_what_the_log_says_of_it_and_nothing_else() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    assert graph.graph.nodes["engine:conv1 + relu1"] == {
        "kind": "engine",
        "name": "conv1 + relu1",
        "file": "build.log",
        "line": 100,
        "type": "CaskConvolution",
        "output_types": ["Half"],
        "tactic": "0x94119b4c514b211a",
        "choice": 0,
        "time_ms": 0.25,
        "time_is": "tuned",
        "runner": "CaskConvolution",
        "final": True,
        "pass": 1,
    }


def test_no_attribute_is_none() -> None:
    graph = BuildGraph(EngineFacts(small_build())).graph
    values = [value for _, data in graph.nodes(data=True) for value in data.values()]
    values += [value for _, _, data in graph.edges(data=True) for value in data.values()]
    assert None not in values


def test_a_layer_without_a_working_tactic_has_no_tactic() -> None:
    graph = BuildGraph(EngineFacts(build(engine_layers=(engine("a", "x", "y", 5, tactic=NO_TACTIC),)))).graph
    assert "tactic" not in graph.nodes["engine:a"]


def test_an_onnx_node_and_a_tensor_carry_their_facts() -> None:
    nodes = BuildGraph(EngineFacts(small_build())).graph.nodes
    assert nodes["onnx:conv1"] == {"kind": "onnx", "name": "conv1", "file": "build.log", "line": 10, "op": "Conv"}
    assert nodes["tensor:r"] == {
        "kind": "tensor",
        "name": "r",
        "file": "build.log",
        "line": 11,
        "dtype": "Half",
        "dims": [1, 8],
    }
    assert nodes["tensor:c"] == {"kind": "tensor", "name": "c", "file": "build.log", "line": 10}


def test_the_writer_of_a_tensor_describes_it_not_its_reader() -> None:
    reader = engine("b", "t", "y", 5, inputs=(tensor("t", "Float", (9,)),))
    writer = engine("a", "x", "t", 6, outputs=(EngineTensor("t", "Half", (-1, "n"), "Linear", 8),))
    nodes = BuildGraph(EngineFacts(build(engine_layers=(reader, writer)))).graph.nodes
    described = {"dtype": "Half", "dims": [-1, "n"], "format": "Linear", "components": 8}
    assert nodes["tensor:t"].items() >= described.items()


def test_every_edge_key_is_its_kind() -> None:
    edges = BuildGraph(EngineFacts(small_build())).graph.edges(keys=True, data="kind")
    assert {key for _, _, key, _ in edges} == set(EdgeKind)
    assert all(key == kind and type(key) is str for _, _, key, kind in edges)


def test_a_fused_layer_says_which_fusion_took_it_and_where() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    assert members(graph, "engine:conv1 + relu1") == [
        ("layer:conv1", ["ConvReluFusion"], [20]),
        ("layer:relu1", ["ConvReluFusion"], [20]),
    ]
    assert members(graph, "engine:pool") == [("layer:pool", [], [])]


def test_only_the_fusions_of_the_chosen_pass_that_stay_inside_the_layer_count() -> None:
    passes = (BackendPass(4, 1, 2, chosen=False), BackendPass(2, 3, 4, chosen=True))
    fusions = (
        Fusion("Early", ("a", "b"), span(1), None),
        Fusion("Lost", ("a", "b"), span(2), 0),
        Fusion("Won", ("a", "b"), span(3), 1),
        Fusion("Elsewhere", ("a", "z"), span(4), 1),
    )
    graph = BuildGraph(
        EngineFacts(build(passes=passes, fusions=fusions, engine_layers=(engine("a + b", "x", "y", 9),)))
    )
    assert members(graph, "engine:a + b")[0] == ("layer:a", ["Early", "Won"], [1, 3])


def test_a_layer_that_only_a_fusion_names_is_there_and_ends_nowhere() -> None:
    graph = BuildGraph(EngineFacts(build(fusions=(Fusion("ConstShuffleFusion", ("w", "shuffle"), span(7), None),))))
    assert graph.nodes(NodeKind.LAYER) == ("layer:w", "layer:shuffle")
    assert graph.engine_layers_of("layer:w") == ()
    assert graph.graph.nodes["layer:w"]["line"] == 7


def test_onnx_nodes_are_reached_through_network_layers_and_back() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    assert graph.engine_layers_of("onnx:relu1") == ("engine:conv1 + relu1",)
    assert graph.layers_of("onnx:relu1") == ("layer:relu1",)


def test_a_foreign_node_takes_its_members_from_its_metadata() -> None:
    foreign = "{ForeignNode[a...c]}"
    facts = build(
        foreign_nodes=(ForeignNode(foreign, ("a", "b", "c"), span(3), None),),
        engine_layers=(engine(f"{foreign} [profile 1]", "x", "y", 9),),
    )
    graph = BuildGraph(EngineFacts(facts))
    node = f"engine:{foreign} [profile 1]"
    assert [member for member, _, _ in members(graph, node)] == ["layer:a", "layer:c", "onnx:b"]
    assert [graph.layers_of(f"onnx:{name}") for name in "ac"] == [("layer:a",), ("layer:c",)]
    assert graph.graph.nodes[node]["profile"] == 1


def test_metadata_of_an_engine_layer_links_onnx_nodes_that_the_log_never_parsed() -> None:
    graph = BuildGraph(EngineFacts(build(engine_layers=(engine("a + b", "x", "y", 9, onnx_nodes=("a", "Reshape_7")),))))
    assert graph.layers_of("onnx:a") == ("layer:a",)
    assert graph.engine_layers_of("onnx:Reshape_7") == ("engine:a + b",)


def test_data_flows_from_engine_layer_to_engine_layer() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    first, copy, last = graph.layers_by_node
    assert graph.consumers("tensor:r") == (copy,)
    assert [graph.producers(tensor) for tensor in graph.inputs_of(last)] == [(copy,)]
    assert graph.producers("tensor:r") == (first,)
    assert graph.producers("tensor:r", NodeKind.ONNX) == ("onnx:relu1",)
    assert graph.consumers("tensor:r", NodeKind.ONNX) == ("onnx:pool",)
    assert (graph.inputs_of(first), graph.outputs_of(first)) == (("tensor:x",), ("tensor:r",))


def test_a_reformat_points_to_the_layer_it_feeds_with_its_formats() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    copy = tuple(graph.layers_by_node)[1]
    assert fed(graph, copy) == ["engine:pool"]
    edge = graph.graph.edges[copy, "engine:pool", EdgeKind.REFORMATS]
    assert edge == {"kind": "reformats", "from_format": "Half(8,1)", "to_format": "Float(8,1)", "line": 30}


def test_a_reformat_of_an_output_points_to_the_tensor() -> None:
    copy = engine("Reformatting CopyNode for Output Tensor 0 to a", "t", "y", 5, type="NoOp")
    graph = BuildGraph(EngineFacts(build(engine_layers=(copy,))))
    assert fed(graph, node_id(NodeKind.ENGINE, copy.name)) == ["tensor:y"]


def test_a_reformat_is_known_by_its_type_too() -> None:
    layers = (engine("copy", "x", "t", 5, type="MyelinReformat"), engine("a", "t", "y", 6), engine("b", "t", "z", 7))
    graph = BuildGraph(EngineFacts(build(engine_layers=layers)))
    assert fed(graph, "engine:copy") == ["engine:a", "engine:b"]
    assert fed(graph, "engine:a") == []


def test_a_cached_result_counts_as_tuning() -> None:
    cached = CachedResult("a", "Myelin", 1, 0.5, (), (), span(3), 0)
    graph = BuildGraph(EngineFacts(build(cached=(cached,), engine_layers=(engine("a", "x", "y", 5, cached=0),))))
    assert graph.layers_by_node["engine:a"].choice is cached
    assert graph.graph.nodes["engine:a"]["runner"] == "Myelin"
    assert "final" not in graph.graph.nodes["engine:a"]


def test_a_name_that_comes_twice_in_a_dump_is_two_nodes() -> None:
    twice = (engine("a", "x", "t", 5), engine("a", "t", "y", 6))
    graph = BuildGraph(EngineFacts(build(engine_layers=twice)))
    assert tuple(graph.layers_by_node) == ("engine:a", "engine:a #2")
    assert graph.name("engine:a #2") == "a"
    assert graph.layers_by_node["engine:a #2"].layer is twice[1]


def test_onnx_nodes_of_one_name_stay_apart_unless_the_model_was_parsed_twice() -> None:
    first, other = onnx("", "Relu", "x", "a", 1), onnx("", "Relu", "a", "b", 2)
    graph = BuildGraph(EngineFacts(build(onnx_nodes=(first, other, first))))
    assert graph.nodes(NodeKind.ONNX) == ("onnx:", "onnx: #2")


def test_a_build_without_any_fact_is_an_empty_graph() -> None:
    graph = BuildGraph(EngineFacts(build()))
    assert len(graph.graph) == 0
    assert tuple(graph.layers_by_node) == ()
