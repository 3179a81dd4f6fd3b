"""Whatever names a log holds, the graph survives its forms."""

from __future__ import annotations

import json
from io import BytesIO

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.support.escapes import unescape
from tests.support.graph_builds import build
from trtforensics.engines.facts import EngineFacts
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.export import escape, to_dot, to_graphml, to_json
from trtforensics.model.log import Build, EngineLayer, EngineTensor, Fusion, OnnxNode
from trtforensics.model.span import SourceSpan

SEPARATORS = ["\x1e", "\x1f", " -> ", " + ", " || ", "]", '"', "\\", "\\x1e", "\x7f", "\udc80", "\ufffe", "\r", " #2"]
NAMES = st.lists(st.sampled_from(SEPARATORS) | st.text(max_size=6), max_size=5).map("".join)
SOME_NAMES = st.lists(NAMES, max_size=3).map(tuple)
SPANS = st.builds(SourceSpan, st.just("build.log"), st.integers(1, 9), st.just(0))
TENSORS = st.lists(st.builds(EngineTensor, NAMES, NAMES, SOME_NAMES), max_size=2).map(tuple)
LAYERS = st.builds(
    EngineLayer,
    name=NAMES,
    type=NAMES | st.just("Reformat"),
    tactic=st.none() | st.integers(0, 2**64 - 1),
    tactic_name=NAMES,
    output_types=SOME_NAMES,
    onnx_nodes=SOME_NAMES,
    inputs=TENSORS,
    outputs=TENSORS,
    span=SPANS,
)
ONNX = st.builds(OnnxNode, NAMES, NAMES, SOME_NAMES, SOME_NAMES, SOME_NAMES, SPANS)
FUSIONS = st.builds(Fusion, NAMES, SOME_NAMES, SPANS, st.none())
BUILDS = st.builds(
    build,
    onnx_nodes=st.lists(ONNX, max_size=3).map(tuple),
    fusions=st.lists(FUSIONS, max_size=2).map(tuple),
    engine_layers=st.lists(LAYERS, max_size=3).map(tuple),
)


@given(BUILDS)
def test_json_reads_back_to_an_equal_graph(facts: Build) -> None:
    graph = BuildGraph(EngineFacts(facts)).graph
    assert nx.utils.graphs_equal(nx.node_link_graph(json.loads("".join(to_json(graph))), edges="edges"), graph)


@given(BUILDS)
def test_graphml_reads_back_to_the_same_nodes_and_edges(facts: Build) -> None:
    graph = BuildGraph(EngineFacts(facts)).graph
    back = nx.read_graphml(BytesIO("".join(to_graphml(graph)).encode()), force_multigraph=True)
    assert [unescape(node) for node in back] == list(graph)
    assert [unescape(name) for _, name in back.nodes(data="name")] == [name for _, name in graph.nodes(data="name")]
    edges = {(unescape(source), unescape(target), kind) for source, target, kind in back.edges(data="kind")}
    assert edges == set(graph.edges(keys=True))
    assert back.number_of_edges() == graph.number_of_edges()


@given(BUILDS)
def test_dot_has_one_printable_line_a_node_and_an_edge(facts: Build) -> None:
    graph = BuildGraph(EngineFacts(facts)).graph
    lines = "".join(to_dot(graph)).split("\n")
    assert len(lines) == len(graph) + graph.number_of_edges() + 4
    assert not any(0xD800 <= ord(c) <= 0xDFFF or ord(c) < 0x20 for line in lines for c in line)


@given(BUILDS)
def test_every_engine_layer_of_the_dump_is_one_node_with_its_own_tensors(facts: Build) -> None:
    graph = BuildGraph(EngineFacts(facts))
    for node in graph.layers_by_node:
        layer = graph.layers_by_node[node].layer
        assert graph.name(node) == layer.name
        assert {graph.name(tensor) for tensor in graph.inputs_of(node)} == {tensor.name for tensor in layer.inputs}
        assert {graph.name(tensor) for tensor in graph.outputs_of(node)} == {tensor.name for tensor in layer.outputs}


@given(NAMES | st.text(st.characters()))
def test_escaping_loses_nothing(text: str) -> None:
    assert unescape(escape(text)) == text
