"""An engine as an ONNX file."""

from __future__ import annotations

from dataclasses import replace

import onnx

from tests.support.graph_builds import build, engine, small_build, span, tensor
from trtforensics.engines.facts import EngineFacts
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.netron import DOMAIN, to_onnx
from trtforensics.model.timings import LayerTime, ProfileRun, TimeSource


def test_each_layer_is_a_node_with_its_facts() -> None:
    model = onnx.load_from_string(to_onnx(BuildGraph(EngineFacts(small_build()))))
    onnx.checker.check_model(model)
    first = model.graph.node[0]
    assert (first.name, first.op_type, first.domain) == ("conv1 + relu1", "CaskConvolution", DOMAIN)
    values = {one.name: onnx.helper.get_attribute_value(one) for one in first.attribute}
    assert (values["tactic"], values["time_ms"]) == (b"0x94119b4c514b211a", 0.25)
    assert [one.name for one in model.graph.input] == ["x"]
    assert [one.name for one in model.graph.output] == ["y"]
    assert model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16


def test_the_time_of_a_layer_leaves_out_far_slower_calls_as_everywhere() -> None:
    layer = replace(engine("a", "x", "y", 1), time_ms=9.0, time_is=TimeSource.MEASURED, profile=0)
    run = ProfileRun(10, (LayerTime("a", 90.0, 9.0, 1.0, 100.0, span(2), 0),), span(2))
    model = onnx.load_from_string(to_onnx(BuildGraph(EngineFacts(build(engine_layers=(layer,), profiles=(run,))))))
    values = {one.name: onnx.helper.get_attribute_value(one) for one in model.graph.node[0].attribute}
    assert (values["time_ms"], values["time_is"]) == (1.0, b"measured")


def test_a_tensor_s_name_that_is_used_again_is_written_once() -> None:
    layers = (engine("a", "x", "t", 1), engine("b", "t", "t", 2), engine("c", "t", "y", 3))
    model = onnx.load_from_string(to_onnx(BuildGraph(EngineFacts(build(engine_layers=layers)))))
    onnx.checker.check_model(model)
    assert [(list(node.input), list(node.output)) for node in model.graph.node] == [
        (["x"], ["t"]),
        (["t"], ["t #2"]),
        (["t #2"], ["y"]),
    ]


def test_parts_of_a_concatenation_are_all_read() -> None:
    layers = (engine("a", "x", "t", 1), engine("b", "x", "t", 2), engine("c", "t", "y", 3))
    model = onnx.load_from_string(to_onnx(BuildGraph(EngineFacts(build(engine_layers=layers)))))
    assert list(model.graph.node[2].input) == ["t", "t #2"]


def test_names_and_types_that_onnx_does_not_know() -> None:
    layers = (engine("a\x1e", "x", "y", 1, outputs=(tensor("y", "Q3", (-1, "n")),)),)
    model = onnx.load_from_string(to_onnx(BuildGraph(EngineFacts(build(engine_layers=layers)))))
    assert model.graph.node[0].name == r"a\x1e"
    assert model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.UNDEFINED
    assert model.graph.output[0].doc_string == "Q3"
