"""A detailed engine-layer line: its tactic is looked for apart from its other fields, and found where they have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.model.timings import NO_TACTIC
from trtforensics.parsers.builds.engine import _detailed
from trtforensics.parsers.notation.tensors import details

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

PIECES = [
    "TacticValue: 0x12",
    "TacticValue:0x",
    "TacticValue: 0x",
    "TacticName: k",
    "Metadata: m",
    "Foo: {a",
    "b}",
    "[7",
    "x",
]


@examples(300)
@given(
    st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["x", "x, TacticValue: 0xab", "TacticValue: 0x1"])
)
def test_a_tactic_is_read_where_the_fields_of_a_layer_have_it(pieces: list[str], tensor: str) -> None:
    sides = f"[ {{ Name: {tensor}, Dimensions: [1], Format/Datatype: Half }}], Outputs: []"
    text = ", ".join([sides, *pieces])
    read, (tactic, printed) = details(text), _detailed(text)
    if read is None or printed is None:
        assert (read, tactic, printed) == (None, NO_TACTIC, None)
        return
    value = read.fields.pop("TacticValue", "")
    assert tactic == (int(value, 16) if value in {"0x12", "0xab", "0x1"} else NO_TACTIC)
    assert printed.tactic_name == read.fields.pop("TacticName", "")
    read.fields.pop("Metadata", None)
    assert (printed.fields, printed.inputs, printed.outputs) == (read.fields, read.inputs, read.outputs)


LAYER = "Layer(CaskConvolution): {}, Tactic: 0x0000000000000005, x (Float[1]) -> y (Float[1])"
V = "[11/21/2026-10:00:00] [V] [TRT] "


def dumps(load: Callable[[str], BuildLog], *lines: str) -> tuple[list[tuple[int, int]], int | None]:
    """Return line and length of each dump, and the first line of the one that is the engine."""
    (build,) = load("".join(f"{line}\n" for line in lines)).builds
    kept = build.engine_layers[0].span.line if build.engine_layers else None
    return [(dump.span.line, len(dump.layers)) for dump in build.engine_dumps], kept


def test_a_dump_that_is_printed_again_is_named_and_the_last_one_is_the_engine(load: Callable[[str], BuildLog]) -> None:
    engine = (LAYER.format("a"), LAYER.format("b"))
    assert dumps(load, *engine, f"{V}Layers:", *engine) == ([(1, 2), (4, 2)], 4)


def test_a_dump_cut_by_the_end_of_the_log_is_not_the_engine(load: Callable[[str], BuildLog]) -> None:
    engine = (LAYER.format("a"), LAYER.format("b"))
    assert dumps(load, *engine, f"{V}Layers:", engine[0]) == ([(1, 2), (4, 1)], 1)


def test_lines_between_layers_do_not_end_a_dump(load: Callable[[str], BuildLog]) -> None:
    assert dumps(load, LAYER.format("a"), "x", LAYER.format("b")) == ([(1, 2)], 1)


def test_the_dump_of_a_discarded_pass_is_not_the_engine(load: Callable[[str], BuildLog]) -> None:
    time = "estimated inference time"
    lines = (
        f"{V}Building graph using backend strategy 4",
        LAYER.format("a"),
        f"{V}Use backend strategy 4 with {time} (0.2) as the initial choice.",
        f"{V}Building graph using backend strategy 3",
        LAYER.format("b"),
        LAYER.format("c"),
        f"{V}Skip backend strategy 3 since its {time} (0.3) is not faster than the previous engine with {time} (0.2).",
    )
    assert dumps(load, *lines)[1] == 2


def test_a_quantize_linear_is_the_onnx_node_of_the_layer_of_its_name(load: Callable[[str], BuildLog]) -> None:
    lines = (
        f"{V}Parsing node: q [QuantizeLinear]",
        f"{V}Registering layer: scale for ONNX node: scale",
        LAYER.format("q"),
    )
    (build,) = load("".join(f"{line}\n" for line in lines)).builds
    assert build.engine_layers[0].onnx_nodes == ("q",)


METADATA = (
    "Name: {0}, LayerType: kgen, Inputs: [ {{ Name: x, Dimensions: [1,8], Format/Datatype: Half }}], Outputs: "
    "[ {{ Name: {0}_y, Dimensions: [1,8], Format/Datatype: Half }}], TacticName: k, StreamId: 0, Metadata: {1}"
)


def test_metadata_goes_on_in_further_lines_where_a_logger_broke_its_line(load: Callable[[str], BuildLog]) -> None:
    lines = (
        f"    {METADATA.format('a', '[ONNX Layer: q]')}",
        "    [ONNX Layer: conv]\x1f[ONNX Layer: relu]",
        "    [ONNX Layer: dq]",
        f"    {METADATA.format('b', '')}",
        "    [ONNX Layer: add]",
        f"    {METADATA.format('c', '[ONNX Layer: mul]')}",
        "said by another program",
        "    [ONNX Layer: of no line]",
    )
    (build,) = load("".join(f"{line}\n" for line in lines)).builds
    nodes = [layer.onnx_nodes for layer in build.engine_layers]
    assert nodes == [("q", "conv", "relu", "dq"), ("add",), ("mul",)]
    assert len(build.engine_dumps) == 1
