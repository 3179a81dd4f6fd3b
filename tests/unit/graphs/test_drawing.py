"""The DOT of a picture: what it shows, and that no name breaks it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.graph_builds import build, engine, small_build
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import OutputError
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.drawing import Colouring, drawn, rendered
from trtforensics.graphs.views import View, viewed
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.timings import TimeSource
from trtforensics.render import colours

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx


def text(graph: nx.MultiDiGraph, colouring: Colouring = Colouring.PRECISION) -> str:
    return drawn(graph, colouring, "title").decode()


def test_a_layer_shows_its_members_type_time_and_share() -> None:
    found = text(viewed(BuildGraph(EngineFacts(small_build())), View.ENGINE))
    assert r'label="conv1\nrelu1\nConvolution  0.25 ms (100.0%)"' in found
    assert 'style="rounded,filled,dashed"' in found


def test_a_long_name_has_two_lines_before_its_middle_is_cut() -> None:
    name = "resnet50/conv2_block1_1_conv/Conv2D + resnet50/conv2_block1_1_relu/Relu"
    found = text(viewed(BuildGraph(EngineFacts(build(engine_layers=(engine(name, "x", "y", 1),)))), View.ENGINE))
    label = r"resnet50/conv2_block1_1_conv/\nConv2D\nresnet50/conv2_block1_1_relu/Relu\nConvolution"
    assert f'label="{label}"'.replace("\\\\", "\\") in found


@pytest.mark.parametrize("colouring", list(Colouring))
def test_the_legend_names_the_colours(colouring: Colouring) -> None:
    half = ComputePrecision("Half", PrecisionSource.KERNEL)
    layers = (engine("a", "x", "y", 1, compute_precision=half, time_ms=1.0, time_is=TimeSource.TUNED),)
    found = text(viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE), colouring)
    entry = {"precision": "FP16", "type": "Convolution", "share": "100.0% of the time"}[colouring.value]
    assert f'label="{entry}"' in found
    assert f'"{colours.of_precision("Half")}"' in found or colouring is not Colouring.PRECISION


def test_a_foreign_node_is_a_cluster_with_its_onnx_nodes() -> None:
    layers = (engine("{ForeignNode[a...z]}", "x", "y", 1, type="Myelin", onnx_nodes=tuple(f"n{n}" for n in range(20))),)
    found = text(viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE))
    assert "subgraph cluster_0" in found
    assert 'label="n11"' in found
    assert 'label="n12"' not in found
    assert 'label="8 more"' in found


@for_each("name", ['say "hi"', "back\\slash", "n\x1em", "a -> b;", "日本", "x" * 40_000])
def test_no_name_breaks_the_document(name: str) -> None:
    found = text(viewed(BuildGraph(EngineFacts(build(engine_layers=(engine(name, name, "y", 1),)))), View.ENGINE))
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", found)
    for line in found.split("\n"):
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, line
    labels = re.findall(r'(?:label|tooltip)="((?:[^"\\]|\\.)*)"', found)
    assert max(map(len, labels)) < 16_384  # what Graphviz takes


def test_large_pictures_label_only_changes_of_precision() -> None:
    half, full = (ComputePrecision(one, PrecisionSource.KERNEL) for one in ("Half", "Float"))
    layers = tuple(
        engine(f"l{n}", f"t{n}", f"t{n + 1}", n + 1, compute_precision=half if n < 100 else full) for n in range(200)
    )
    found = text(viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE))
    labelled = [line for line in found.split("\n") if " -> " in line and " label=" in line]
    assert len(labelled) == 1
    assert '"engine:l99" -> "engine:l100"' in labelled[0]


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Put a stand-in for ``dot`` on the path."""
    program = folder / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_without_graphviz_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OutputError, match=r"a \.svg is drawn by Graphviz, whose program `dot` is not installed"):
        rendered(b"digraph {}", "svg", "x.svg")


def test_the_document_goes_in_and_the_picture_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "print(sys.argv[1], sys.stdin.read())")
    assert rendered(b"digraph {}", "pdf", "x.pdf").split() == [b"-Tpdf", b"digraph", b"{}"]


def test_a_large_bitmap_has_fewer_dots_and_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "sys.stdin.read(); print(*sys.argv[1:])")
    assert rendered(b"digraph {}", "png", "x.png") == b"-Tpng -Gdpi=110\n"
    assert rendered(b"digraph {}" + b" " * 300_000, "png", "x.png") == b"-Tpng:cairo:gd -Gdpi=72\n"


def test_a_large_bitmap_is_drawn_without_gd_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, 'sys.stdin.read(); "gd" in sys.argv[1] and sys.exit("no gd"); print(sys.argv[1])')
    assert rendered(b"digraph {}" + b" " * 300_000, "png", "x.png") == b"-Tpng\n"


def test_what_graphviz_says_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "sys.exit('Error: bad node')")
    with pytest.raises(OutputError, match="Graphviz fails: Error: bad node"):
        rendered(b"digraph {}", "svg", "x.svg")
