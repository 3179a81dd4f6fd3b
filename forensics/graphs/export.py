"""Write a build's graph for other programs: node-link JSON, GraphML and DOT.

The same graph gives the same bytes. JSON reads back to an equal graph (``networkx.node_link_graph(data,
edges="edges")``). GraphML cannot hold control characters, and DOT should not: texts there, ids included, go through
:func:`escape`, which can be reversed. A list in GraphML is its JSON text. Its edges have the ids ``e0``, ``e1``, …,
because readers such as Gephi drop edges with duplicate ids; their kind is the attribute ``kind``.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, TextIOWrapper
from itertools import count
from typing import Any

import networkx as nx

from trtforensics.console.secrets import masked, masked_values
from trtforensics.graphs.build import EdgeKind
from trtforensics.knowledge.table import rows
from trtforensics.model.older_python import StrEnum

_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NOT_XML = "\ufffe\uffff"
_TWO_DIGITS, _FOUR_DIGITS = 0xFF, 0xFFFF
_PLAIN = re.compile(r"[ -\[\]-~]*")
_BLOCK = 1 << 20
_DOT_LINE = 1000
"""Characters of a label's line in DOT."""
_DOT_PIECE = 4000
"""Characters of a string in DOT: fewer than 16,384 bytes of UTF-8, also where each is an escape of two."""
_DOT_PIECES = re.compile(rf"(?:\\.|[^\\]){{1,{_DOT_PIECE}}}", re.DOTALL)

_DOT_STYLES = {row["kind"]: row["style"] for row in rows("dot_styles", "trtforensics.graphs")}
"""How DOT draws the kinds of nodes and of edges."""


class GraphForm(StrEnum):
    """The forms a graph is written in; the value is the ending of the file's name."""

    SVG = ".svg"
    PNG = ".png"
    PDF = ".pdf"
    ONNX = ".onnx"
    DOT = ".dot"
    GRAPHML = ".graphml"
    JSON = ".json"

    @property
    def drawn(self) -> bool:
        """Whether Graphviz draws it."""
        return self in {GraphForm.SVG, GraphForm.PNG, GraphForm.PDF}


def export(graph: nx.MultiDiGraph, form: GraphForm) -> Iterator[bytes]:
    """Give a graph as node-link JSON, GraphML or DOT, secrets masked, in blocks: it may be far longer than the log."""
    writers = {GraphForm.JSON: to_json, GraphForm.GRAPHML: to_graphml, GraphForm.DOT: to_dot}
    return _blocks(writers[form](without_secrets(graph)))


def without_secrets(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """Return the graph with every text masked; nodes that differ in secrets alone stay apart by a number."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node in graph:
        shown = masked(node)
        numbered = (shown if number == 1 else f"{shown} ({number})" for number in count(1))
        names[node] = next(name for name in numbered if name not in taken)
        taken.add(names[node])
    plain = nx.MultiDiGraph(**masked_values(graph.graph))
    plain.add_nodes_from((names[node], masked_values(attributes)) for node, attributes in graph.nodes(data=True))
    edges = graph.edges(data=True, keys=True)
    plain.add_edges_from((names[a], names[b], masked_values(key), masked_values(data)) for a, b, key, data in edges)
    return plain


def _blocks(texts: Iterable[str]) -> Iterator[bytes]:
    """Encode texts, the short ones together, so that each block is worth a write."""
    held, size = list[str](), 0
    for text in texts:
        if size + len(text) >= _BLOCK:
            yield "".join(held).encode()
            yield text.encode()
            held, size = [], 0
        else:
            held.append(text)
            size += len(text)
    yield "".join(held).encode()


def to_json(graph: nx.MultiDiGraph) -> Iterator[str]:
    """Render node-link JSON, in ASCII, one value a line; give it in pieces."""
    yield from json.JSONEncoder(indent=1, allow_nan=False).iterencode(nx.node_link_data(graph, edges="edges"))
    yield "\n"


def to_graphml(graph: nx.MultiDiGraph) -> Iterator[str]:
    """Render GraphML, in UTF-8, with names escaped and lists as JSON text."""
    plain = nx.MultiDiGraph(**_graphml_attributes(graph.graph))
    ids = {node: escape(node) for node in graph}
    for node, attributes in graph.nodes(data=True):
        plain.add_node(ids[node], **_graphml_attributes(attributes))
    for number, (source, target, attributes) in enumerate(graph.edges(data=True)):
        plain.add_edge(ids[source], ids[target], key=f"e{number}", **_graphml_attributes(attributes))
    written = BytesIO()
    nx.write_graphml_xml(plain, written)  # not write_graphml: its bytes depend on whether lxml is installed
    written.seek(0)
    yield from TextIOWrapper(written, "utf-8", newline="\n")
    yield "\n"


def to_dot(graph: nx.MultiDiGraph) -> Iterator[str]:
    """Render Graphviz DOT; a label holds the name and the node's most important attributes. Give it line by line."""
    yield "digraph build {\n  rankdir=TB;\n"
    for node, attributes in graph.nodes(data=True):
        yield f"  {quoted(node)} [label={_label(attributes)}, {_DOT_STYLES[attributes['kind']]}];\n"
    for source, target, attributes in graph.edges(data=True):
        kind = attributes["kind"]
        shown = ", ".join(dict.fromkeys(attributes.get("fusions", ()))) or kind
        label = "" if kind in {EdgeKind.PRODUCES, EdgeKind.CONSUMES} else f", label={quoted(_shown(shown))}"
        yield f"  {quoted(source)} -> {quoted(target)} [{_DOT_STYLES[kind]}{label}];\n"
    yield "}\n"


def escape(text: str) -> str:
    r"""Escape characters that do not print (0x1E: ``\x1e``) and double backslashes."""
    return text if _PLAIN.fullmatch(text) else text.translate(_ESCAPES)


class _Escapes(dict[int, str]):
    """A table for ``str.translate`` that fills itself as it meets new characters."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character == "\\":
            self[code] = r"\\"
        elif unicodedata.category(character) not in _UNPRINTABLE and character not in _NOT_XML:
            self[code] = character
        else:
            letter, digits = ("x", 2) if code <= _TWO_DIGITS else ("u", 4) if code <= _FOUR_DIGITS else ("U", 8)
            self[code] = f"\\{letter}{code:0{digits}x}"
        return self[code]


_ESCAPES = _Escapes()


def _graphml_attributes(attributes: Mapping[str, object]) -> dict[str, Any]:
    return {name: _graphml_value(value) for name, value in attributes.items()}


def _graphml_value(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value)
    return escape(value) if isinstance(value, str) else value


def _label(attributes: Mapping[str, Any]) -> str:
    """Return the name, and below it the op, or the type, output types and tactic, or a tensor's type and shape."""
    dims = f"[{','.join(map(str, attributes['dims']))}]" if "dims" in attributes else ""
    values = (
        *(attributes.get(name, "") for name in ("op", "type")),
        ",".join(attributes.get("output_types", ())),
        *(attributes.get(name, "") for name in ("tactic", "dtype")),
        dims,
    )
    below = " ".join(filter(None, values))
    lines = (attributes["name"], below) if below else (attributes["name"],)
    return quoted(*map(_shown, lines))


def _shown(text: str) -> str:
    """Return a text, or its two ends: Graphviz refuses to lay out labels much wider; a node's id has the whole name."""
    return text if len(text) <= _DOT_LINE else f"{text[: _DOT_LINE // 2]}…{text[-_DOT_LINE // 2 + 1 :]}"


def quoted(*lines: str) -> str:
    """Quote lines for DOT; Graphviz shows them in their escaped form, and different texts stay different.

    Graphviz refuses a string of more than 16,384 bytes, and joins strings with ``+`` between them.
    """
    escaped = r"\n".join(escape(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    pieces = [escaped] if len(escaped) <= _DOT_PIECE else _DOT_PIECES.findall(escaped)
    return " + ".join(f'"{piece}"' for piece in pieces)
