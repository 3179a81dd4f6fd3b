"""What the name of an engine layer says."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.parsers.notation.names import (
    is_reformat,
    members,
    myelin_graph,
    onnx_nodes,
    profile_of,
    without_profile,
)


@for_each(
    ("name", "expected"),
    [
        ("conv1", ("conv1",)),
        ("conv1 + relu1", ("conv1", "relu1")),
        ("a || b || c", ("a", "b", "c")),
        ("a + b || c + d", ("a", "b", "c", "d")),
        ("PWN(sigmoid)", ("sigmoid",)),
        ("PWN(PWN(sigmoid), mul)", ("sigmoid", "mul")),
        ("conv + PWN(PWN(sig), mul) + add", ("conv", "sig", "mul", "add")),
        ("PWN((Unnamed Layer* 11) [ElementWise] + relu)", ("(Unnamed Layer* 11) [ElementWise]", "relu")),
        ("(Unnamed Layer* 0) [Convolution]", ("(Unnamed Layer* 0) [Convolution]",)),
        ("conv_2, 1x1 + relu", ("conv_2, 1x1", "relu")),
        ("tokens -> heads", ("tokens -> heads",)),
        ("{ForeignNode[first...last]}", ("first", "last")),
        ("{ForeignNode[only]}", ("only",)),
        ("{ForeignNode[a[0]...b]} + c", ("a[0]", "b", "c")),
        ("relu [profile 1]", ("relu",)),
        ("{ForeignNode[a...b]} [profile 1]", ("a", "b")),
        ("a + a", ("a",)),
        ("node_linear_myl7_1", ("node_linear",)),
        ("node_linear [profile 1]_myl15_1", ("node_linear",)),
        ("__myl_MaxrSubExp_myl7_3", ()),
        ("Reformatting CopyNode for Input Tensor 0 to conv1 + relu1", ()),
        ("Reformatted Output Tensor 0 to conv1", ()),
        ("PWN(a", ("PWN(a",)),
        ("a + ", ("a + ",)),
        ("{ForeignNode[first...last", ("{ForeignNode[first...last",)),
        ("a_name_of_one_layer_alone]}", ("a_name_of_one_layer_alone]}",)),
    ],
)
def test_members_are_the_network_layers_in_a_name(name: str, expected: tuple[str, ...]) -> None:
    assert members(name) == expected


@for_each(
    ("name", "profile", "bare"),
    [
        ("conv", None, "conv"),
        ("conv [profile 1]", 1, "conv"),
        ("conv [profile 12]", 12, "conv"),
        ("conv [profile 1]_myl15_1", 1, "conv_myl15_1"),
        ("conv[profile 1]", None, "conv[profile 1]"),
    ],
)
def test_a_profile_is_read_and_taken_off(name: str, profile: int | None, bare: str) -> None:
    assert profile_of(name) == profile
    assert without_profile(name) == bare


@for_each(
    ("name", "graph"),
    [
        ("__mye258_0_myl7_0", 7),
        ("node_linear_myl0_12", 0),
        ("gemm [profile 1]_myl15_1", 15),
        ("a_myl1_2_myl3_4", 3),
        ("conv_myl7", None),
        ("conv", None),
    ],
)
def test_a_kernel_of_a_foreign_node_carries_its_number(name: str, graph: int | None) -> None:
    assert myelin_graph(name) == graph


@for_each(
    ("name", "reformat"),
    [
        ("Reformatting CopyNode for Input Tensor 0 to conv", True),
        ("Reformatting CopyNode for Output Tensor 12 to conv", True),
        ("Reformatted Input Tensor 0 to conv", True),
        ("my Reformatted Input Tensor 0 to conv", False),
        ("Reformat", False),
    ],
)
def test_a_reformat_is_known_by_its_name(name: str, *, reformat: bool) -> None:
    assert is_reformat(name) is reformat


@for_each(
    ("metadata", "nodes"),
    [
        ("", ()),
        ("[ONNX Layer: a]", ("a",)),
        ("[ONNX Layer: a]\x1e[ONNX Layer: b]", ("a", "b")),
        ("[ONNX Layer: a]\x1f[ONNX Layer: b]\x1f[ONNX Layer: a]", ("a", "b")),
        ("[ONNX Layer: a][ONNX Layer: b[0]]", ("a", "b[0]")),
        (" [ONNX Layer: a, b -> c]", ("a, b -> c",)),
        ("[ONNX Layer: mul | then_g (then_branch) | if (If)]", ("mul",)),
        ("[ONNX Layer: ]", ()),
        ("[ONNX Layer: cut", ()),
        ("anything", ()),
    ],
)
def test_metadata_names_onnx_nodes_in_order_each_once(metadata: str, nodes: tuple[str, ...]) -> None:
    assert onnx_nodes(metadata) == nodes
