"""Why a layer is as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.engine_builds import build_of, layer, tuned
from tests.support.for_each import for_each
from tests.support.repository import LOGS
from tests.support.sample_session import Scribe
from trtforensics.engines.why import Reasons
from trtforensics.model.log import ForeignNode
from trtforensics.model.notes import StarvedLayer
from trtforensics.parsers.text.source import open_source
from trtforensics.sources.build_log import read_build_log

if TYPE_CHECKING:
    from trtforensics.engines.why import Reason
    from trtforensics.model.log import Build


def texts(build: Build, place: int = 0) -> list[str]:
    return [reason.text for reason in Reasons(build).why(build.engine_layers[place])]


def lines(reasons: tuple[Reason, ...]) -> list[int | None]:
    return [reason.span.line if reason.span else None for reason in reasons]


def test_an_asked_type_that_lost_is_named_with_the_line_of_its_choice() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv", {"Float": (0.1, 0.15), "Half": (0.161,)}, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0), precision="FP32+FP16+INT8")
    reasons = Reasons(build).why(build.engine_layers[0])
    assert [reason.text for reason in reasons] == ["FP16 61 % slower", "no INT8 candidate", "next tactic 50 % slower"]
    assert lines(reasons) == [choices[1].span.line, choices[0].span.line, choices[0].span.line]


def test_a_faster_type_lost_by_more_than_the_layer_itself() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv", {"Float": (0.1,), "Half": (0.08,)}, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0), precision="FP32+FP16")
    assert texts(build) == ["FP16 20 % faster, by itself", "the only tactic timed"]


def test_the_threshold_of_near_ties_can_be_changed() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv", {"Float": (0.1, 0.103)}, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0))
    assert texts(build) == ["only FP32 was asked for", "next tactic 3.0 % slower"]
    (_, tie) = Reasons(build).why(build.engine_layers[0], tie=1.05)
    assert tie.text == "near tie: next tactic 3.0 % slower"


def test_indexes_are_not_compared_with_types_that_were_asked_for() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "gather", {"Int32": (0.1,)}, "Int32")
    build = build_of(scribe, choices, layer(scribe, "gather", "Gather", choice=0), precision="FP32+FP16")
    assert texts(build) == ["the only tactic timed"]


def test_tactics_skipped_for_want_of_workspace_are_counted() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv", {"Float": (0.1,)}, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0))
    span = scribe.say("Skipping tactic 0x1 due to insufficient memory")
    starved = StarvedLayer("conv", 3, 1 << 30, 1 << 24, (span,))
    reason = Reasons(replace(build, starved=(starved,))).why(build.engine_layers[0])[1]
    assert (reason.text, reason.span) == ("3 skipped: workspace (1,024 MiB asked, 16 there)", span)


def test_a_request_that_names_a_member_is_a_constraint() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv + relu", {"Float": (0.1,)}, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv + relu", choice=0), precision="FP32+FP16")
    command = "trtexec --layerPrecisions=*:fp16,relu:fp32,other:fp16 --precisionConstraints=obey"
    assert texts(replace(build, command=command))[0] == "constraint --layerPrecisions=relu:fp32 (obey)"


def test_a_foreign_node_and_its_kernels() -> None:
    scribe = Scribe()
    name = "{ForeignNode[a...b]}"
    choices = tuned(scribe, name, {"Half": (0.1,)}, "Half")
    layers = (layer(scribe, name, "Myelin", choice=0), layer(scribe, "__myl_Fc_myl0_1", "kgen", choice=0))
    build = build_of(scribe, choices, *layers)
    span = scribe.say("metadata")
    build = replace(build, foreign_nodes=(ForeignNode(name, ("a", "b"), span, 0),))
    assert texts(build)[0] == "Myelin compiled 2 ONNX nodes as one"
    assert texts(build, 1) == ["inside {ForeignNode[a...b]}"]


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("x", "NoOp", "runs no kernel"),
        ("[trainStation1]", "TrainStation", "TensorRT put it in to synchronise streams"),
        ("Reformatting CopyNode for Input Tensor 0 to fc", "Reformat", "another layout: reformat for fc"),
    ],
)
def test_layers_that_compute_nothing(name: str, kind: str, text: str) -> None:
    scribe = Scribe()
    assert texts(build_of(scribe, (), layer(scribe, name, kind))) == [text]


def test_a_strongly_typed_network_states_its_types() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "conv", {"Half": (0.1,)}, "Half")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0), precision="FP32+FP16 (Strongly Typed)")
    assert texts(build) == ["strongly typed: the model states its types", "the only tactic timed"]


@for_each("name", sorted(path.name for path in LOGS.glob("*.log")))
def test_every_reason_cites_a_line_of_its_build(name: str) -> None:
    with open_source(str(LOGS / name)) as source:
        log = read_build_log(source)
    for build in log.builds:
        reasons = Reasons(build)
        cited = [reason for one in build.engine_layers for reason in reasons.why(one)]
        assert all(reason.span is None or build.first_line <= reason.span.line <= build.last_line for reason in cited)
        assert all(reason.text for reason in cited)
