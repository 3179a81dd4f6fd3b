"""A build log's types are held against what was asked; the fixes name what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper

from trtforensics.bisect.precision.caster import Caster
from trtforensics.bisect.precision.evidence import differences
from trtforensics.bisect.precision.fixes import autocast_command, network_script, trtexec_flags
from trtforensics.bisect.precision.preparation import PreparedModel
from trtforensics.bisect.precision.storage import FP16

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

P = "[07/02/2026-03:31:59] [TRT] [V] "
LOG = f"""{P}Parsing node: /exp [Exp]
{P}/exp [Exp] inputs: [x__fp16 -> (4)[HALF]],
{P}/exp [Exp] outputs: [a__fp16 -> (4)[HALF]],
{P}Parsing node: /less [Less]
{P}/less [Less] inputs: [a -> (4)[FLOAT]], [x -> (4)[FLOAT]],
{P}/less [Less] outputs: [y -> (4)[BOOL]],
"""


def caster() -> Caster:
    info = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
        helper.make_tensor_value_info("y", TensorProto.BOOL, [4]),
    ]
    nodes = [
        helper.make_node("Exp", ["x"], ["a"], name="/exp"),
        helper.make_node("Less", ["a", "x"], ["y"], name="/less"),
    ]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return Caster(PreparedModel("my model.onnx", onnx.shape_inference.infer_shapes(model), frozenset(), ()), FP16)


def test_a_log_that_shows_what_was_asked(load: Callable[[str], BuildLog]) -> None:
    assert differences(caster(), {"/less"}, load(LOG).builds[0]) == []


def test_each_node_that_shows_another_type_is_named_with_its_line(load: Callable[[str], BuildLog]) -> None:
    build = load(LOG).builds[0]
    assert differences(caster(), (), build) == [
        "/less was to be HALF, and a is FLOAT (line 4)",
        "/less was to be HALF, and x is FLOAT (line 4)",
    ]
    assert differences(caster(), {"/exp", "/less"}, build) == ["/exp was to be FLOAT, and a__fp16 is HALF (line 1)"]


def test_a_node_that_the_log_lacks_is_named(load: Callable[[str], BuildLog]) -> None:
    short = "".join(LOG.splitlines(keepends=True)[:3])
    assert differences(caster(), {"/less"}, load(short).builds[0]) == ["/less is not in the log"]


def test_flags_quote_names_and_leave_out_what_trtexec_would_cut() -> None:
    assert trtexec_flags(["/a b", "/c$d", "/e:f"], "fp16").splitlines() == [
        "--fp16",
        "--precisionConstraints=obey",
        "'--layerPrecisions=/c$d:fp32'",
        "'--layerOutputTypes=/c$d:fp32'",
        "# trtexec cannot name this one: /a b",
        "# trtexec cannot name this one: /e:f",
    ]


def test_the_script_pins_layers_by_name() -> None:
    script = network_script(["/it's", "/b"], "fp16")
    assert '"/it\'s",' in script
    assert script.count("set_output_type") == 1
    compile(script, "fp32_layers.py", "exec")


def test_names_are_patterns_for_autocast() -> None:
    command = autocast_command(["/a.b+c"], caster())
    assert r"'^/a\.b\+c$'" in command
    assert "'my model.onnx'" in command
