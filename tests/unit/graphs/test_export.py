"""The data forms of a graph: they read back, hold no control characters, and are the same bytes each time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from io import BytesIO
from typing import Any

import networkx as nx
import pytest

from tests.support.escapes import unescape
from tests.support.for_each import for_each
from trtforensics.graphs.export import (
    GraphForm,
    escape,
    export,
    quoted,
)

DATA_FORMS = (GraphForm.JSON, GraphForm.GRAPHML, GraphForm.DOT)
NASTY = [
    'say "hi"',
    "a[0]",
    "x -> y",
    "n\x1em\x1fo",
    "back\\slash",
    "line\nend\r\t",
    "\x7f\x85\u202e",
    "日本 🙂",
    "<&>'",
]
NOT_XML = ["\x00", "\udc80", "\ufffe\uffff", "\U000e0001"]


def nasty_graph() -> nx.MultiDiGraph:
    """Return an engine layer, a tensor that it both reads and writes, and a member, for each nasty name."""
    graph = nx.MultiDiGraph(schema=1, build=0, tensorrt_version="10.16.1")
    for line, name in enumerate(NASTY + NOT_XML, start=1):
        facts: dict[str, Any] = {"type": "Myelin", "output_types": ["Half", name], "tactic": "0x0000000000000007"}
        graph.add_node(f"engine:{name}", kind="engine", name=name, line=line, time_ms=0.1, final=True, **facts)
        graph.add_node(f"tensor:{name}", kind="tensor", name=name, line=line, dtype="Half", dims=[-1, 8, "n"])
        graph.add_node(f"layer:{name}", kind="layer", name=name, line=line)
        graph.add_edge(f"tensor:{name}", f"engine:{name}", key="consumes", kind="consumes")
        graph.add_edge(f"engine:{name}", f"tensor:{name}", key="produces", kind="produces")
        graph.add_edge(f"engine:{name}", f"tensor:{name}", key="reformats", kind="reformats", from_format=name)
        fusion = {"fusions": ["ConvReluFusion"], "lines": [line]}
        graph.add_edge(f"layer:{name}", f"engine:{name}", key="fused_into", kind="fused_into", **fusion)
    return graph


def written(graph: nx.MultiDiGraph, form: GraphForm) -> bytes:
    """Return the bytes of a file."""
    return b"".join(export(graph, form))


def test_json_reads_back_to_an_equal_graph() -> None:
    graph = nasty_graph()
    back = nx.node_link_graph(json.loads(written(graph, GraphForm.JSON)), edges="edges")
    assert isinstance(back, nx.MultiDiGraph)
    assert nx.utils.graphs_equal(back, graph)


def test_json_ends_in_one_newline_and_is_plain_ascii() -> None:
    data = written(nasty_graph(), GraphForm.JSON)
    assert data.isascii()
    assert data.endswith(b"}\n")


def test_graphml_reads_back_to_the_same_nodes_edges_and_attributes() -> None:
    graph = nasty_graph()
    back = nx.read_graphml(BytesIO(written(graph, GraphForm.GRAPHML)))
    assert isinstance(back, nx.MultiDiGraph)
    assert [unescape(node) for node in back] == list(graph)
    for node, facts in back.nodes(data=True):
        assert {name: from_graphml(name, fact) for name, fact in facts.items()} == graph.nodes[unescape(node)]
    edges = [(unescape(source), unescape(target), facts) for source, target, facts in back.edges(data=True)]
    for source, target, facts in edges:
        expected = graph.edges[source, target, facts["kind"]]
        assert {name: from_graphml(name, fact) for name, fact in facts.items()} == expected
    assert len(edges) == graph.number_of_edges()


def from_graphml(name: str, fact: Any) -> Any:
    if name in {"output_types", "dims", "fusions", "lines"}:
        return json.loads(fact)
    return unescape(fact) if isinstance(fact, str) else fact


def test_graphml_keeps_facts_about_the_graph() -> None:
    facts = nx.read_graphml(BytesIO(written(nasty_graph(), GraphForm.GRAPHML))).graph
    assert facts.items() >= {"schema": 1, "build": 0, "tensorrt_version": "10.16.1"}.items()


def test_graphml_gives_every_edge_an_id_of_its_own() -> None:
    graph = nasty_graph()
    ids = [key for _, _, key in nx.read_graphml(BytesIO(written(graph, GraphForm.GRAPHML))).edges(keys=True)]
    assert len(set(ids)) == graph.number_of_edges()


def test_a_graph_without_nodes_can_be_written_and_read() -> None:
    empty = nx.MultiDiGraph()
    assert len(nx.read_graphml(BytesIO(written(empty, GraphForm.GRAPHML)))) == 0
    assert len(nx.node_link_graph(json.loads(written(empty, GraphForm.JSON)), edges="edges")) == 0
    assert written(empty, GraphForm.DOT) == b"digraph build {\n  rankdir=TB;\n}\n"


@pytest.mark.parametrize("form", DATA_FORMS)
def test_no_form_holds_a_control_character(form: GraphForm) -> None:
    text = written(nasty_graph(), form).decode()
    assert {c for c in text if not c.isprintable()} <= {"\n"}


def test_dot_says_what_the_graph_says() -> None:
    graph = nx.MultiDiGraph()
    facts: dict[str, Any] = {"type": "Cask", "output_types": ["Half"], "tactic": "0x07"}
    graph.add_node('engine:"a"', kind="engine", name='"a"', **facts)
    graph.add_node("tensor:t", kind="tensor", name="t", dtype="Half", dims=[1, 8])
    graph.add_node("onnx:x\x1e\\", kind="onnx", name="x\x1e\\", op="Relu")
    graph.add_node("layer:l", kind="layer", name="l")
    graph.add_edge('engine:"a"', "tensor:t", kind="produces")
    graph.add_edge("layer:l", 'engine:"a"', kind="fused_into", fusions=["F", "F", "G"])
    graph.add_edge("onnx:x\x1e\\", "layer:l", kind="imported_as")
    assert (
        written(graph, GraphForm.DOT).decode()
        == r"""digraph build {
  rankdir=TB;
  "engine:\"a\"" [label="\"a\"\nCask Half 0x07", shape=box, style=bold];
  "tensor:t" [label="t\nHalf [1,8]", shape=plaintext];
  "onnx:x\\x1e\\\\" [label="x\\x1e\\\\\nRelu", shape=ellipse];
  "layer:l" [label="l", shape=box, style=rounded];
  "engine:\"a\"" -> "tensor:t" [style=solid];
  "onnx:x\\x1e\\\\" -> "layer:l" [style=dotted, label="imported_as"];
  "layer:l" -> "engine:\"a\"" [style=dashed, label="F, G"];
}
"""
    )


@for_each("piece", ["a", '"', "\\", "\x1e", "層", 'a\\"é'])
@for_each("count", [1, 3999, 4001, 20_000])
def test_a_text_of_any_length_is_quoted_in_strings_that_graphviz_reads(piece: str, count: int) -> None:
    text = piece * count
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"(?: \+ |$)', quoted(text))
    assert quoted(text) == " + ".join(f'"{one}"' for one in strings)
    assert max(len(one.encode()) for one in strings) < 16_384
    assert unescape(re.sub(r"\\(.)", r"\1", "".join(strings))) == text


def test_what_does_not_print_is_shown_and_can_be_undone() -> None:
    assert escape("a\x1eb\u202ec\U000e0001d\\e") == r"a\x1eb\u202ec\U000e0001d\\e"
    assert escape('plain "text" é ] -> 🙂') == 'plain "text" é ] -> 🙂'
    for text in [*NASTY, *NOT_XML, r"\x1e", r"\\u202e", "\\"]:
        assert unescape(escape(text)) == text


@pytest.mark.slow
def test_the_same_graph_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    script = (
        "import sys, networkx as nx; from trtforensics.graphs.export import export, GraphForm\n"
        "g = nx.MultiDiGraph(schema=1)\n"
        "g.add_node('engine:a', kind='engine', name='a', output_types=['Half'], time_ms=0.5, final=True, line=3)\n"
        "g.add_node('tensor:t', kind='tensor', name='t', dims=[1], dtype='Half', line=3)\n"
        "g.add_edge('engine:a', 'tensor:t', key='produces', kind='produces')\n"
        "[sys.stdout.buffer.write(b''.join(export(g, form))) for form in map(GraphForm, ('.json', '.graphml', '.dot'))]"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
