"""A view as Graphviz DOT for people, which ``dot`` draws: colours, times, types on edges, ForeignNodes as clusters."""

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from trtforensics.console.processes import completed
from trtforensics.errors import OutputError
from trtforensics.graphs.build import NodeKind
from trtforensics.graphs.export import quoted
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.notation.names import members
from trtforensics.render import colours
from trtforensics.render.names import in_two_lines, shortened


class Colouring(StrEnum):
    """What the colour of an engine layer says."""

    PRECISION = "precision"
    TYPE = "type"
    SHARE = "share"


_MOST_LABELLED = 160
"""Nodes up to which every edge says its type; in larger pictures only where it changes, the rest is in tooltips."""
_NAME = 34
_NAMES = 3
_WHOLE_NAMES = 2
"""Members of a name up to which each has two lines; of more, one."""
_ONNX_SHOWN = 12
_TOOLTIP = 1500
"""Characters of a tooltip. Graphviz takes texts of at most 16,384 bytes."""
_LARGE = 400
"""Nodes above which Graphviz is to spend less time on crossings and lengths."""
_CENTRE = "#c43a2b"
_EDGE = "#7d838f"


def drawn(graph: nx.MultiDiGraph, colouring: Colouring, title: str) -> bytes:
    """Return a view as DOT, in UTF-8; names in it hold no control characters."""
    return "".join(f"{line}\n" for line in _Canvas(graph, colouring, title).lines()).encode()


class _Canvas:
    """The picture of one view."""

    def __init__(self, graph: nx.MultiDiGraph, colouring: Colouring, title: str) -> None:
        self._graph = graph
        self._colouring = colouring
        self._title = title
        nodes = graph.nodes(data=True)
        self._most = max((attributes.get("share", 0.0) for _, attributes in nodes), default=0.0)
        self._types = colours.of_names(_operation(attributes) for _, attributes in nodes)
        self._labelled = len(graph) <= _MOST_LABELLED

    def lines(self) -> Iterator[str]:
        """Give the lines of the document."""
        yield "digraph engine {"
        yield "  graph [rankdir=TB, nodesep=0.25, ranksep=0.45, fontname=Helvetica, fontsize=11, labelloc=t"
        effort = ", splines=polyline, nslimit=0.5, nslimit1=1, mclimit=0.3" if len(self._graph) > _LARGE else ""
        yield f"    , labeljust=l, label={quoted(self._title)}{effort}];"
        yield "  node [shape=box, style=filled, fontname=Helvetica, fontsize=10, margin=0.09, height=0.3, penwidth=1];"
        yield f'  edge [fontname=Helvetica, fontsize=8, color="{_EDGE}", fontcolor="#5a5f6a", arrowsize=0.6];'
        clusters = self._clusters()
        inside = {node for nodes in clusters.values() for node in nodes}
        for number, (name, nodes) in enumerate(clusters.items()):
            yield from self._cluster(number, name, nodes)
        yield from (f"  {self._node(node)}" for node in self._graph if node not in inside)
        for source, target, attributes in self._graph.edges(data=True):
            yield f"  {quoted(source)} -> {quoted(target)} [{_attributes(self._edge(attributes))}];"
        yield from self._legend()
        yield "}"

    def _clusters(self) -> dict[str, list[str]]:
        """Return the nodes of each ForeignNode; in a view of network layers, those of each fused engine layer."""
        clusters: dict[str, list[str]] = defaultdict(list)
        for node, attributes in self._graph.nodes(data=True):
            name = attributes.get("foreign_node") or attributes.get("engine_layer")
            if name:
                clusters[name].append(node)
        return {
            name: nodes
            for name, nodes in clusters.items()
            if len(nodes) > 1 or self._graph.nodes[nodes[0]].get("foreign_node") == name
        }

    def _cluster(self, number: int, name: str, nodes: list[str]) -> Iterator[str]:
        label = quoted(_short(name))
        yield f"  subgraph cluster_{number} {{"
        yield f'    label={label}; tooltip={label}; style="rounded,filled"; color="#9aa0ad"; fillcolor="#f3f2ee"'
        yield "    fontsize=9"
        for node in nodes:
            yield f"    {self._node(node)}"
        held = dict.fromkeys(onnx for node in nodes for onnx in self._graph.nodes[node].get("onnx_nodes", ()))
        shown = [*held][:_ONNX_SHOWN]
        style = (
            'shape=ellipse, style="filled", fillcolor="#ffffff", color="#b9bdc6", fontsize=8, height=0.2, margin=0.03'
        )
        if len(nodes) == 1 and held:
            texts = [*map(_short, shown), *([f"{len(held) - len(shown)} more"] if len(held) > len(shown) else [])]
            for at, text in enumerate(texts):
                yield f"    {quoted(f'{nodes[0]} onnx {at}')} [label={quoted(text)}, {style}];"
        yield "  }"

    def _node(self, node: str) -> str:
        return f"{quoted(node)} [{_attributes(self._style(self._graph.nodes[node]))}];"

    def _style(self, attributes: Mapping[str, Any]) -> dict[str, str]:
        kind = attributes.get("kind")
        style = {"label": _label(attributes), "tooltip": quoted(_tooltip(attributes))}
        if kind == NodeKind.TENSOR:
            style |= {"shape": "plaintext", "style": '""'}
        elif kind == NodeKind.ONNX:
            style |= {"shape": "ellipse", "fillcolor": '"#ffffff"', "color": f'"{_EDGE}"'}
        else:
            colour = self._colour(attributes)
            style |= {"fillcolor": f'"{colours.tint(colour)}"', "color": f'"{colour}"'}
        if attributes.get("reformat"):
            style |= {"style": '"rounded,filled,dashed"'}
        if attributes.get("no_kernel"):
            style |= {"style": '"dotted"'}
        if attributes.get("centre"):
            style |= {"penwidth": "3", "color": f'"{_CENTRE}"'}
        return style

    def _colour(self, attributes: Mapping[str, Any]) -> str:
        if self._colouring is Colouring.SHARE:
            return colours.of_share(attributes.get("share", 0.0), self._most)
        if self._colouring is Colouring.TYPE:
            return self._types.get(_operation(attributes), colours.NEUTRAL)
        return colours.of_precision(attributes.get("compute_precision", ""))

    def _edge(self, attributes: Mapping[str, Any]) -> dict[str, str]:
        if "hidden" in attributes:
            label = quoted(f"{attributes['hidden']} hidden")
            return {"style": "dashed", "label": label, "tooltip": label}
        if attributes.get("order"):
            return {"style": "dashed", "tooltip": quoted("only their order is known")}
        words = [attributes.get("dtype", ""), attributes.get("layout", "")]
        dims = "x".join(map(str, attributes["dims"])) if "dims" in attributes else ""
        style = {"tooltip": quoted(" ".join(filter(None, (attributes.get("tensor", ""), *words, dims)))[:_TOOLTIP])}
        if attributes.get("casts"):
            style |= {"color": f'"{_CENTRE}"', "penwidth": "1.6"}
        if self._labelled or attributes.get("casts"):
            label = " ".join(filter(None, words)) + (rf"\n{dims}" if dims and self._labelled else "")
            style["label"] = f'"{label}"' if label.isascii() and '"' not in label else quoted(" ".join(words))
        return style

    def _legend(self) -> Iterator[str]:
        """Name the colours in a separate box."""
        entries = self._legend_entries()
        if entries:
            yield "  subgraph cluster_legend {"
            yield '    label="colour"; style=rounded; color="#d5d7dc"; fontsize=9;'
            for at, (text, colour) in enumerate(entries):
                yield (
                    f'    "legend {at}" [label={quoted(text)}, fillcolor="{colours.tint(colour)}", color="{colour}"'
                    ", fontsize=8, height=0.2, margin=0.04];"
                )
            yield "  }"

    def _legend_entries(self) -> list[tuple[str, str]]:
        if self._colouring is Colouring.TYPE:
            return sorted(self._types.items())
        if self._colouring is Colouring.SHARE:
            return [(f"{self._most:.1%} of the time", colours.of_share(1, 1))] if self._most else []
        nodes = (attributes for _, attributes in self._graph.nodes(data=True))
        precisions = {node.get("compute_precision", "") for node in nodes if node.get("kind") == NodeKind.ENGINE}
        return [(colours.precision_word(name), colours.of_precision(name)) for name in sorted(precisions)]


def _operation(attributes: Mapping[str, Any]) -> str:
    return str(attributes.get("operation", attributes.get("type", "")))


def _attributes(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _label(attributes: Mapping[str, Any]) -> str:
    """Return the name, cut to a few members; below it the type, the time and its share."""
    name = str(attributes.get("name", ""))
    parts = members(name) if attributes.get("kind") == NodeKind.ENGINE and not attributes.get("reformat") else (name,)
    if len(parts) <= _WHOLE_NAMES:
        shown = [line for part in parts or (name,) for line in in_two_lines(part, _NAME, _NAME)]
    else:
        shown = [_short(part) for part in parts[:_NAMES]]
    if len(parts) > _NAMES:
        shown.append(f"… {len(parts) - _NAMES} more")
    if attributes.get("kind") == NodeKind.TENSOR and "dims" in attributes:
        shown.append(" ".join((str(attributes.get("dtype", "")), "x".join(map(str, attributes["dims"])))).strip())
    below = [str(attributes.get("operation") or attributes.get("type") or attributes.get("op") or "")]
    if attributes.get("compute_precision"):
        below.append(colours.precision_word(attributes["compute_precision"]))
    if attributes.get("time_ms") is not None:
        share = f" ({attributes['share']:.1%})" if "share" in attributes else ""
        below.append(f"{attributes['time_ms']:.4g} ms{share}")
    lines = [*shown, "  ".join(filter(None, below))]
    return quoted(*filter(None, lines))


def _tooltip(attributes: Mapping[str, Any]) -> str:
    """Return what a reader finds under the pointer: the whole name, the tactic, the file and the line."""
    tactic = attributes.get("tactic_name") or attributes.get("tactic") or ""
    place = f"{attributes['file']}:{attributes['line']}" if "line" in attributes else ""
    parts = (attributes.get("name", ""), attributes.get("type", ""), tactic, place)
    return " | ".join(str(part) for part in parts if part)[:_TOOLTIP]


def _short(name: str) -> str:
    """Cut the middle out of a long name: both ends identify it."""
    return shortened(name, _NAME)


TIME_LIMIT_S = 120.0
_SHOWN = 200
_DPI, _COARSE_DPI = 110, 72
_LARGE_BYTES = 300_000
"""Documents above that, of about 400 nodes, become bitmaps of fewer dots: at 110 an inch they take 100 megapixels."""


def rendered(document: bytes, form: str, where: str) -> bytes:
    """Return DOT as ``svg``, ``png`` or ``pdf`` for a file. OutputError where ``dot`` is missing, fails or is slow."""
    program = shutil.which("dot")
    if program is None:
        what = f"a .{form} is drawn by Graphviz, whose program `dot` is not installed"
        raise OutputError(where, what, "Install graphviz, or write .dot, .graphml, .json or .onnx")
    for options in _ways(document, form):
        try:
            done = completed([program, *options], document, TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            what = f"Graphviz has not laid it out in {TIME_LIMIT_S:.0f} seconds"
            raise OutputError(where, what, "Draw a part: `--top 50`, `--around LAYER` or `--filter`") from None
        if done.returncode == 0 and done.stdout:
            return done.stdout
    message = done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:_SHOWN]
    raise OutputError(where, f"Graphviz fails: {message or f'exit code {done.returncode}'}", "Write .dot to see why")


def _ways(document: bytes, form: str) -> list[list[str]]:
    """Return the options for ``dot``, best first.

    A large bitmap is written by gd, in 256 colours: a 1,000-layer engine takes 1.0 s and 1.2 MB so, 2.3 s and 4 MB by
    Cairo's own writer. Graphviz can be built without gd.
    """
    if form != "png":
        return [[f"-T{form}"]]
    if len(document) <= _LARGE_BYTES:
        return [["-Tpng", f"-Gdpi={_DPI}"]]
    return [[f"-T{writer}", f"-Gdpi={_COARSE_DPI}"] for writer in ("png:cairo:gd", "png")]
