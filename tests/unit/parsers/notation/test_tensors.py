"""The tensors of engine layers, in the forms of TensorRT 7 to 11, with awkward names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from tests.support.property_settings import examples
from trtforensics.model.log import EngineTensor
from trtforensics.parsers.notation.tensors import details, short_tensors

PIECES = ["a", "conv_1", "/b", "7", ", ", "]", "[", "{", "}", " -> ", " + ", "(Unnamed Layer* 5) [Shuffle]_output"]
names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join).map(str.strip).filter(bool)


def test_a_line_of_8_5_and_later_names_types_and_dimensions() -> None:
    assert short_tensors("x (Float[-1,1,28,28]) -> y (Half[-1,32:8,28,28]), z (Int32[])") == (
        (EngineTensor("x", "Float", (-1, 1, 28, 28), "Float[-1,1,28,28]"),),
        (
            EngineTensor("y", "Half", (-1, 32, 28, 28), "Half[-1,32:8,28,28]", 8),
            EngineTensor("z", "Int32", (), "Int32[]"),
        ),
    )


def test_a_line_of_7_to_8_4_has_its_types_in_brackets() -> None:
    assert short_tensors("x[Float(-2,1,28,28)], w[Half(3)] -> y[Int8(-2,32:4,28,28)]") == (
        (EngineTensor("x", "Float", (-2, 1, 28, 28), "Float[-2,1,28,28]"), EngineTensor("w", "Half", (3,), "Half[3]")),
        (EngineTensor("y", "Int8", (-2, 32, 28, 28), "Int8[-2,32:4,28,28]", 4),),
    )


def test_either_side_may_be_empty() -> None:
    assert short_tensors(" -> y (Float[1])") == ((), (EngineTensor("y", "Float", (1,), "Float[1]"),))
    assert short_tensors("x (Float[1]) -> ") == ((EngineTensor("x", "Float", (1,), "Float[1]"),), ())


@for_each("text", ["", "x", "x (Float[1])", "x (Float[1]) -> y"])
def test_a_line_that_was_cut_is_refused(text: str) -> None:
    assert short_tensors(text) is None


@examples(200)
@given(
    st.lists(names, max_size=3),
    st.lists(names, max_size=3),
    st.sampled_from(["{} (Half[-1,32:8])", "{}[Half(-1,32:8)]"]),
)
def test_names_may_hold_what_parts_tensors(inputs: list[str], outputs: list[str], form: str) -> None:
    sides = [", ".join(form.format(name) for name in side) for side in (inputs, outputs)]
    read = short_tensors(" -> ".join(sides))
    assert read is not None
    assert [[tensor.name for tensor in side] for side in read] == [inputs, outputs]


plain_names = names.filter(lambda name: "}]" not in name)
"""A detailed line ends its tensors with ``}]``, and does not quote a name that holds it; no real one does."""


def detailed(name: str, datatype: str = "Half", location: str = ", Location: Device") -> str:
    return f"{{ Name: {name}{location}, Dimensions: [1,32,8], Format/Datatype: {datatype} }}"


@for_each(
    ("printed", "dtype", "format_", "components"),
    [
        ("Half", "Half", "", 1),
        ("Row major linear FP32", "Float", "Row major linear FP32", 1),
        ("Row major Int8 format", "Int8", "Row major Int8 format", 1),
        (
            "Channel major FP16 format where channel % 8 == 0",
            "Half",
            "Channel major FP16 format where channel % 8 == 0",
            8,
        ),
        (
            "Two wide channel vectorized row major FP16 format",
            "Half",
            "Two wide channel vectorized row major FP16 format",
            2,
        ),
        (
            "Thirty-two wide channel vectorized row major Int8 format",
            "Int8",
            "Thirty-two wide channel vectorized row major Int8 format",
            32,
        ),
        ("BFloat16 something", "BF16", "BFloat16 something", 1),
    ],
)
def test_a_detailed_tensor_of_8_to_10_spells_its_format_in_words(
    printed: str, dtype: str, format_: str, components: int
) -> None:
    read = details(f"[ {detailed('x', printed)}], Outputs: []")
    assert read is not None
    assert read.inputs == (EngineTensor("x", dtype, (1, 32, 8), format_, components),)
    assert read.outputs == ()


def test_a_detailed_tensor_of_11_spells_type_and_format_apart() -> None:
    tensor = "{ Name: x, Location: Device, Dimensions: [1,8], Strides: [8,1], Datatype: Half, Format: kLINEAR }"
    read = details(f"[ {tensor}], Outputs: [ {tensor}]")
    assert read is not None
    assert read.inputs == read.outputs == (EngineTensor("x", "Half", (1, 8), "kLINEAR"),)


def test_fields_behind_the_outputs_keep_their_commas_braces_and_metadata() -> None:
    fields = (
        ', ParameterType: Convolution, Kernel: [3,3], Bias: {"Type": "Half", "Count": 32}, Activation: RELU'
        ", TacticName: sm80_a, b, TacticValue: 0x1, StreamId: 0"
        ", Metadata: [ONNX Layer: a, Kernel: b]\x1e[ONNX Layer: c]"
    )
    read = details(f"[ {detailed('x')}], Outputs: [ {detailed('y')}]{fields}")
    assert read is not None
    assert read.fields == {
        "ParameterType": "Convolution",
        "Kernel": "[3,3]",
        "Bias": '{"Type": "Half", "Count": 32}',
        "Activation": "RELU",
        "TacticName": "sm80_a, b",
        "TacticValue": "0x1",
        "StreamId": "0",
        "Metadata": "[ONNX Layer: a, Kernel: b]\x1e[ONNX Layer: c]",
    }


def test_constants_stand_between_the_inputs_and_the_outputs_and_belong_to_neither() -> None:
    read = details(f"[], Constants: [ {detailed('w')}], Outputs: [ {detailed('y')}]")
    assert read is not None
    assert (read.inputs, [tensor.name for tensor in read.outputs], read.fields) == ((), ["y"], {})


@examples(200)
@given(st.lists(plain_names, max_size=3), st.lists(plain_names, max_size=3), st.sampled_from(["", ", Location: Host"]))
def test_names_of_detailed_tensors_may_hold_what_parts_them(
    inputs: list[str], outputs: list[str], location: str
) -> None:
    sides = [", ".join(detailed(name, location=location) for name in side) for side in (inputs, outputs)]
    listed = [f"[ {side}]" if side else "[]" for side in sides]
    read = details(f"{listed[0]}, Outputs: {listed[1]}, TacticName: k")
    assert read is not None
    assert [[tensor.name for tensor in side] for side in (read.inputs, read.outputs)] == [inputs, outputs]
    assert read.fields == {"TacticName": "k"}


@for_each("text", ["", "[", f"[ {detailed('x')}", f"[ {detailed('x')}], Outputs: [ {{ Name: y"])
def test_a_detailed_line_that_was_cut_is_refused(text: str) -> None:
    assert details(text) is None
