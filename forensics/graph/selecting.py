"""Parts of a view: what is around a layer, the slowest layers, or the layers that a filter names."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    import networkx as nx

_SHOWN = 5


def around(graph: nx.MultiDiGraph, name: str, hops: int, *, where: str) -> nx.MultiDiGraph:
    """Return what is within ``hops`` edges of a node, in either direction; its ``centre`` attribute is True.

    ``name`` is a node's name, that of an ONNX node in an engine layer, or a part of just one name. ``where`` is what
    was given, for the error.

    Raises:
        UsageError: no node has the name, or several have it as a part of theirs.
    """
    centre = _named(graph, name, where)
    reached = {centre: 0}
    waiting = deque([centre])
    while waiting:
        node = waiting.popleft()
        if reached[node] < hops:
            for other in (*graph.predecessors(node), *graph.successors(node)):
                if other not in reached:
                    reached[other] = reached[node] + 1
                    waiting.append(other)
    found = graph.subgraph(reached).copy()
    found.nodes[centre]["centre"] = True
    return found


def _named(graph: nx.MultiDiGraph, name: str, where: str) -> str:
    nodes = [(node, str(attributes.get("name", node)), attributes) for node, attributes in graph.nodes(data=True)]
    for fitting in (
        [node for node, own, _ in nodes if own == name],
        [node for node, _, attributes in nodes if name in attributes.get("onnx_nodes", ())],
        [node for node, own, _ in nodes if name.casefold() in own.casefold()],
    ):
        if len(fitting) == 1:
            return str(fitting[0])
        if fitting:
            names = [own for node, own, _ in nodes if node in fitting]
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            what = f"{len(names)} nodes are meant by {name!r}: {'; '.join(names[:_SHOWN])}{more}"
            raise UsageError(where, what, "Name one of them in full")
    raise UsageError(where, f"no node of this view is named {name!r}", "`trtforensics parse` lists the layers")


def top(graph: nx.MultiDiGraph, count: int, *, where: str) -> nx.MultiDiGraph:
    """Return the nodes that take most time, connected where others that are left out connect them.

    Raises:
        UsageError: no node has a time.
    """
    timed = [node for node, attributes in graph.nodes(data=True) if attributes.get("time_ms") is not None]
    if not timed:
        raise UsageError(where, "tells no layer's time", "Give a profile (`--exportProfile`) or a verbose log too")
    slowest = sorted(timed, key=lambda node: -graph.nodes[node]["time_ms"])[:count]
    return only(graph, set(slowest))


def only(graph: nx.MultiDiGraph, nodes: Collection[str]) -> nx.MultiDiGraph:
    """Return some nodes; an edge with the attribute ``hidden`` (a count) stands for the shortest way through others."""
    kept = set(nodes)
    found = graph.subgraph(kept).copy()
    for node in found.nodes:
        for target, count in _ways(graph, node, kept).items():
            if count and not found.has_edge(node, target):
                found.add_edge(node, target, key="hidden", kind="tensor", hidden=count)
    return found


def _ways(graph: nx.MultiDiGraph, source: str, kept: set[str]) -> dict[str, int]:
    """Return the kept nodes that are reached through nodes that are left out, with how many of those lie between."""
    found: dict[str, int] = {}
    seen = {source}
    waiting = deque((other, 0) for other in graph.successors(source))
    while waiting:
        node, between = waiting.popleft()
        if node in seen:
            continue
        seen.add(node)
        if node in kept:
            found[node] = between
            continue
        waiting.extend((other, between + 1) for other in graph.successors(node))
    return found
