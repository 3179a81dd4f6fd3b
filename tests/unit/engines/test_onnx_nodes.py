"""The members of ForeignNodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.foreign import Transformer
from tests.support.engine_builds import build_of, layer, tuned
from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.support.repository import LOGS
from tests.support.sample_session import Scribe
from trtforensics.engines.onnx_nodes import FateKind, fate_counts, fates, foreign_members
from trtforensics.model.log import ForeignNode
from trtforensics.parsers.text.source import open_source
from trtforensics.sources.build_log import read_build_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


@pytest.mark.parametrize(("version", "listed"), [((10, 12, 0), True), ((8, 6, 1), False)])
def test_members_of_a_foreign_node_are_listed_or_inferred(
    version: tuple[int, int, int],
    listed: bool,  # noqa: FBT001 - a column
    load: Callable[[str], BuildLog],
) -> None:
    transformer = Transformer(version)
    held = foreign_members(load(transformer.log().text()).builds[0])
    assert list(held) == list(transformer.inside)
    assert {(one.name, one.listed) for one in held.values()} == {(transformer.foreign, listed)}


LOG = """
&& 8.6.1
V Parsing node: conv [Conv]
V Registering layer: conv for ONNX node: conv
V Parsing node: relu [Relu]
V Registering layer: relu for ONNX node: relu
V Parsing node: gone [Reshape]
V Registering layer: gone for ONNX node: gone
V Parsing node: twin [Relu]
V Registering layer: twin for ONNX node: twin
V Parsing node: shape [Shape]
V Registering layer: shape for ONNX node: shape
V Parsing node: folded [Constant]
V Parsing node: scale [Mul]
V Registering layer: scale for ONNX node: scale
V Parsing node: act [Relu]
V Registering layer: act for ONNX node: act
V Original: 7 layers
V After dead-layer removal: 6 layers
V ScaleFusion: Fusing scale with conv
V Running: ShuffleErasure on gone
V Removing gone
V Running: QConvScaleFusion on conv
V Removing norm + act
V Eliminating twin which duplicates (Q) relu
V Engine Layer Information:
Layer(CaskConvolution): conv + relu, Tactic: 0x0000000000000001, x[Float(1)] -> y[Float(1)]
"""


def test_every_fate_cites_its_line(load: Callable[[str], BuildLog]) -> None:
    text = marked(LOG.replace("\nLayer(", "\nV Layer(")).text
    found = {fate.node.name: fate for fate in fates(load(text).builds[0])}
    assert {name: fate.kind for name, fate in found.items()} == {
        "conv": FateKind.ENGINE,
        "relu": FateKind.ENGINE,
        "gone": FateKind.ELIMINATED,
        "twin": FateKind.ELIMINATED,
        "shape": FateKind.NOT_TOLD,
        "folded": FateKind.NO_LAYER,
        "scale": FateKind.FUSED,
        "act": FateKind.FUSED,
    }
    assert dict(Counter(str(fate.kind) for fate in found.values())) == {
        "engine layer": 2,
        "eliminated": 2,
        "?": 1,
        "no layer": 1,
        "fused": 2,
    }
    assert found["gone"].text == "eliminated by ShuffleErasure, line 21"
    assert found["act"].text == "into conv by QConvScaleFusion, line 23"
    assert found["act"].layer is found["conv"].layer
    assert found["twin"].text == "eliminated, line 24, relu does the same"
    assert found["shape"].text.endswith("dead-layer removal took 1 without a name, line 18")
    assert found["scale"].text == "ScaleFusion put it into conv + relu"
    at = {name: text.splitlines()[fate.span.line - 1] for name, fate in found.items()}
    assert "Layer(CaskConvolution): conv + relu" in at["relu"]
    assert at["scale"].endswith("Fusing scale with conv")
    assert at["folded"].endswith("Parsing node: folded [Constant]")


def test_members_and_kernels_of_a_foreign_node() -> None:
    scribe = Scribe()
    name = "{ForeignNode[a...b]}"
    choices = tuned(scribe, name, {"Half": (0.1,)}, "Half")
    kernel = layer(scribe, "__myl_Add_myl0_1", "kgen", choice=0, nodes=("a",))
    build = build_of(scribe, choices, kernel)
    build = replace(build, foreign_nodes=(ForeignNode(name, ("a", "b"), scribe.say("metadata"), None),))
    assert [(fate.node.name, fate.kind, fate.text, fate.layer) for fate in fates(build)] == [
        ("a", FateKind.FOREIGN, f"__myl_Add_myl0_1, a kernel inside {name}", kernel),
        ("b", FateKind.FOREIGN, f"in {name}", None),
    ]


def test_without_an_engine_dump_nothing_is_claimed(load: Callable[[str], BuildLog]) -> None:
    (fate,) = fates(load(marked("&& 8.6.1\nV Parsing node: conv [Conv]\nV Original: 1 layers").text).builds[0])
    assert (fate.kind, fate.text) == (FateKind.NOT_TOLD, "the log has no engine dump")


@for_each("name", sorted(path.name for path in LOGS.glob("*.log")))
def test_each_node_has_one_fate(name: str) -> None:
    with open_source(str(LOGS / name)) as source:
        log = read_build_log(source)
    for build in log.builds:
        found = fates(build)
        assert {fate.node.name for fate in found} >= {node.name for node in build.onnx_nodes}
        assert len({fate.node.name for fate in found}) == len(found) == sum(fate_counts(found).values())
