"""Which module imports which, wherever the import stands: inside a function and for the type checker alone too."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

import networkx as nx

from tests.support.repository import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def sources_of(folders: Mapping[str, Path]) -> dict[str, str]:
    """Return the text of each module, by its dotted name; ``folders`` are those of packages, by their names."""
    sources = {}
    for package, folder in folders.items():
        for path in files_of(folder):
            if path.suffix == ".py":
                parts = path.relative_to(folder).with_suffix("").parts
                sources[".".join((package, *parts)).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return sources


@cache
def tree_of(text: str) -> ast.Module:
    """Return the syntax tree of a module, parsed once for all that look at it."""
    return ast.parse(text)


def import_graph(sources: Mapping[str, str]) -> nx.DiGraph:
    """Return the modules as nodes, with an edge from each to the modules that it imports."""
    graph = nx.DiGraph()
    graph.add_nodes_from(sources)
    for name, text in sources.items():
        for node in statements(tree_of(text)):
            for imported in _imported(node, name, sources):
                module = _module_of(imported, sources)
                if module not in {None, name}:
                    graph.add_edge(name, module)
    return graph


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a tree, also those inside others; most of a tree is expressions."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, name, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def rings(graph: nx.DiGraph) -> dict[str, list[list[str]]]:
    """Return, by package, the groups of its direct children (modules and packages) that import each other."""
    found = {}
    for package in sorted({parent for module in graph for parent in _parents(module)}):
        between = nx.DiGraph()
        for ends in graph.edges:
            start, end = (_child_of(package, module) for module in ends)
            if start is not None and end is not None and start != end:
                between.add_edge(start, end)
        if groups := circles(between):
            found[package] = groups
    return found


def _imported(node: ast.AST, module: str, sources: Mapping[str, str]) -> Iterator[str]:
    """Yield the full names that an import statement in a module asks for."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            is_package = any(other.startswith(f"{module}.") for other in sources)
            parts = module.split(".")
            above = parts[: len(parts) - node.level + is_package]
            base = ".".join([*above, *filter(None, [node.module])])
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _module_of(name: str, sources: Mapping[str, str]) -> str | None:
    """Return the module that a full name is, or is defined in; None for what is not among the sources."""
    while name and name not in sources:
        name = name.rpartition(".")[0]
    return name or None


def _parents(module: str) -> Iterator[str]:
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _child_of(package: str, module: str) -> str | None:
    """Return the direct child of a package that a module is, or lies in; None outside the package."""
    if not module.startswith(f"{package}."):
        return None
    return f"{package}.{module.removeprefix(f'{package}.').partition('.')[0]}"
