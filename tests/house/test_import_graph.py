"""Arrows between modules and between packages go one way, and no folder holds more than a reader can survey.

import-linter keeps the layers that ``pyproject.toml`` names. This looks for circles everywhere and counts every import,
also those inside functions and under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.import_graph import circles, import_graph, rings, sources_of
from tests.support.repository import PRODUCT, ROOT, files_of, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    import networkx as nx

MAX_MODULES = 18
MAX_MODULES_OF_ROOTS = {"forensics": 6, "parsers": 3}
HOLD_A_MODULE_A_TOPIC = "forensics/findings/rules"
"""It grows with the rules."""
EMULATOR = (("trtexec", "tensorrt"), ("engine",), ("log",))
"""The packages of the emulator, the highest first."""


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    """The imports of the product and of its tests."""
    return import_graph(sources_of({**PRODUCT, "tests": ROOT / "tests"}))


@pytest.mark.slow
def test_no_module_imports_itself_through_others(graph: nx.DiGraph) -> None:
    assert graph.number_of_edges() > 1000
    assert circles(graph) == []


@pytest.mark.slow
def test_no_packages_import_each_other(graph: nx.DiGraph) -> None:
    assert rings(graph) == {}


@pytest.mark.slow
def test_nothing_of_the_product_imports_a_test(graph: nx.DiGraph) -> None:
    assert not [edge for edge in graph.edges if edge[0].startswith("trtforensics") and edge[1].startswith("tests")]


@pytest.mark.slow
def test_each_package_of_the_emulator_imports_only_those_behind_it(graph: nx.DiGraph) -> None:
    rank = {name: rank for rank, names in enumerate(EMULATOR) for name in names}
    edges = [edge for edge in graph.edges if all(module.startswith("tests.emulator.") for module in edge)]
    packages = [tuple(module.split(".")[2] for module in edge) for edge in edges]
    assert {package for edge in packages for package in edge} == rank.keys()
    assert not [(start, end) for start, end in packages if start != end and rank[start] >= rank[end]]


LATE = "def f():\n    from p.b import x"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import b"


@for_each(
    ("sources", "found"),
    [
        pytest.param({"p": "", "p.a": "import p.b", "p.b": "import json"}, [], id="one way"),
        pytest.param({"p": "", "p.a": "import p.b", "p.b": "from p import a"}, [["p.a", "p.b"]], id="plain"),
        pytest.param({"p": "", "p.a": LATE, "p.b": "import p.a"}, [["p.a", "p.b"]], id="late"),
        pytest.param({"p": "", "p.a": FOR_TYPES, "p.b": "import p.a"}, [["p.a", "p.b"]], id="for types only"),
        pytest.param({"p": "", "p.a": "from .b import x", "p.b": "from . import a"}, [["p.a", "p.b"]], id="relative"),
        pytest.param({"p": "from .a import x", "p.a": "from p import y"}, [["p", "p.a"]], id="package and module"),
        pytest.param(
            {"p": "", "p.a": "import p.b", "p.b": "import p.c", "p.c": "from p.a import x"},
            [["p.a", "p.b", "p.c"]],
            id="of three",
        ),
    ],
)
def test_a_circle_of_modules_is_seen(sources: Mapping[str, str], found: list[list[str]]) -> None:
    assert circles(import_graph(sources)) == found


@for_each(
    ("there", "back", "ring"),
    [
        ("from p.y.c import z", "", False),
        ("from p.y.c import z", "from p.x.b import z", True),
        ("from p.y.c import z", "def f():\n    import p.x.b", True),
        ("from p.y.c import z", "if TYPE_CHECKING:\n    from p.x import b", True),
        ("from ..y import c", "from ..x.b import z", True),
    ],
)
def test_a_ring_of_packages_is_seen_where_no_module_imports_itself(there: str, back: str, *, ring: bool) -> None:
    sources = {"p": "", "p.x": "", "p.x.a": there, "p.x.b": "", "p.y": "", "p.y.c": "", "p.y.d": back}
    graph = import_graph(sources)
    assert circles(graph) == []
    assert rings(graph) == ({"p": [["p.x", "p.y"]]} if ring else {})


def modules_by_folder() -> dict[str, int]:
    """Return how many modules each folder of the product holds, those in folders below it left out."""
    counts: dict[str, int] = {}
    for folder in PRODUCT.values():
        for path in files_of(folder):
            if path.suffix == ".py":
                counts[label(path.parent)] = counts.get(label(path.parent), 0) + 1
    return counts


def limit(folder: str) -> float:
    """Return how many modules a folder may hold."""
    if folder.startswith(HOLD_A_MODULE_A_TOPIC):
        return float("inf")
    return MAX_MODULES_OF_ROOTS.get(folder, MAX_MODULES)


def test_no_folder_holds_more_modules_than_a_reader_can_survey() -> None:
    counts = modules_by_folder()
    assert counts.keys() >= MAX_MODULES_OF_ROOTS.keys()
    assert {folder: count for folder, count in counts.items() if count > limit(folder)} == {}
