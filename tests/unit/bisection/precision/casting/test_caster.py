"""Which nodes may change, what moves with what, and what the typed model holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.small_caster import narrow_tensors
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import BF16, FP16, Storage
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.items import atoms_of, items_of
from trtforensics.onnx_models.reading import PreparedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLOAT = TensorProto.FLOAT


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    made = outputs.split()
    return helper.make_node(op, inputs.split(), made, name=f"/{made[0]}", **attributes)


def caster(
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, object] | None = None,
    *,
    opset: int = 17,
    storage: Storage = FP16,
    size: Sequence[int | str] = (4, 6),
) -> Caster:
    """Return a caster over a graph from the input x to the last node's first output."""
    initializers = [
        numpy_helper.from_array(np.asarray(value, getattr(value, "dtype", np.float32)), name)
        for name, value in (constants or {}).items()
    ]
    outs = [helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)]
    ins = [helper.make_tensor_value_info("x", FLOAT, list(size))]
    graph = helper.make_graph(nodes, "g", ins, outs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    model = onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True)
    return Caster(PreparedModel("model.onnx", model, frozenset(), ()), storage)


def int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_float_arithmetic_on_shapes_stays() -> None:
    made = caster(
        [
            node("Shape", "x", "shape"),
            node("Cast", "shape", "sizes", to=FLOAT),
            node("Mul", "sizes two", "doubled"),
            node("Cast", "doubled", "target", to=TensorProto.INT64),
            node("Tanh", "x", "t"),
            node("Expand", "t target", "y"),
        ],
        {"two": np.array([1.0, 1.0], np.float32)},
    )
    assert set(made.candidates) == {"/t", "/y"}


def test_a_scale_from_the_shape_is_computed_in_fp32_and_used_in_16_bits() -> None:
    made = caster(
        [
            node("Shape", "x", "shape"),
            node("Gather", "shape last", "width"),
            node("Cast", "width", "float_width", to=FLOAT),
            node("Sqrt", "float_width", "root"),
            node("Div", "x root", "y"),
        ],
        {"last": int64(1)},
    )
    assert set(made.candidates) == {"/y"}
    typed = made.cast(())
    onnx.checker.check_model(typed, full_check=True)
    assert [n.op_type for n in typed.graph.node if "root__fp16" in n.output] == ["Cast"]


@pytest.mark.parametrize(("opset", "eligible"), [(13, False), (19, True)])
def test_quantisation_takes_16_bits_from_opset_19(opset: int, eligible: bool) -> None:  # noqa: FBT001 - a column
    constants = {"scale": np.float32(0.1), "zero": np.int8(0)}
    nodes = [node("QuantizeLinear", "x scale zero", "q"), node("DequantizeLinear", "q scale zero", "y")]
    assert ({"/q", "/y"} <= set(caster(nodes, constants, opset=opset).candidates)) is eligible


def test_batch_normalisation_keeps_its_statistics() -> None:
    names = ("scale", "shift", "mean", "variance")
    made = caster(
        [node("BatchNormalization", f"x {' '.join(names)}", "y")],
        dict.fromkeys(names, np.full(6, 1e6, np.float32)),
    )
    assert made.candidates["/y"].inputs == (0,)
    assert not made.constants.altered


def test_scales_of_a_resize_stay() -> None:
    made = caster(
        [node("Resize", "x  scales".replace("  ", " none "), "y", mode="nearest")],
        {"none": np.zeros(0, np.float32), "scales": np.ones(2, np.float32)},
    )
    assert 2 not in made.candidates["/y"].inputs


@pytest.mark.parametrize(("opset", "eligible"), [(17, False), (22, True)])
def test_bf16_follows_the_schema(opset: int, eligible: bool) -> None:  # noqa: FBT001 - a column of the table
    made = caster(
        [node("Conv", "x w", "y")],
        {"w": np.ones((2, 1, 1, 1), np.float32)},
        opset=opset,
        storage=BF16,
        size=(1, 1, 4, 4),
    )
    assert ("/y" in made.candidates) is eligible


def test_what_is_no_tensor_and_what_nobody_knows_stays() -> None:
    made = caster([node("SequenceConstruct", "x x", "s"), node("ConcatFromSequence", "s", "y", axis=0)])
    assert not made.candidates


def test_one_cast_a_tensor_and_constants_per_reader() -> None:
    made = caster([node("Mul", "x k", "a"), node("Add", "x k", "b"), node("Sub", "a b", "y")], {"k": np.float32(1e5)})
    typed = made.cast({"/b"})
    casts = [(n.input[0], n.output[0]) for n in typed.graph.node if n.op_type == "Cast"]
    assert casts == [("x", "x__fp16"), ("b", "b__fp16"), ("y__fp16", "y")]
    assert {tensor.name for tensor in typed.graph.initializer} == {"k", "k__fp16"}
    assert made.constants.altered["k"].clamped == 1


def test_the_suffix_avoids_names_of_the_model() -> None:
    made = caster([node("Tanh", "x", "a__fp16"), node("Tanh", "a__fp16", "y")])
    assert made.suffix == "___fp16"
    onnx.checker.check_model(made.cast(()), full_check=True)


def test_movement_follows_its_producer() -> None:
    made = caster(
        [
            node("Reshape", "x flat", "m0"),
            node("Tanh", "m0", "t"),
            node("Reshape", "t back", "m1"),
            node("Transpose", "m1", "m2", perm=[1, 0]),
            node("Exp", "m2", "y"),
        ],
        {"flat": int64(-1), "back": int64(4, 6)},
    )
    assert made.kept(()) == {"/m0"}
    assert made.kept({"/t"}) == {"/m0", "/t", "/m1", "/m2"}
    (item,) = [item for item in items_of(made, {}) if "t" in item.tensors]
    assert item.tensors == ("t", "m1", "m2")
    assert item.nodes == {"/t", "/y"}


def test_readers_of_one_clamped_constant_are_one_item() -> None:
    made = caster([node("Mul", "x k", "a"), node("Tanh", "a", "b"), node("Div", "b k", "y")], {"k": np.float32(1e5)})
    assert atoms_of(made)["/a"] == {"/a", "/y"}
    assert all(("/a" in item.nodes) == ("/y" in item.nodes) for item in items_of(made, {}))
    assert "k" in {tensor for item in items_of(made, {}) for tensor in item.tensors}


def test_items_cover_every_node_that_computes_and_ranges_make_them_suspicious() -> None:
    made = caster([node("Exp", "x", "a"), node("Less", "a x", "b"), node("Where", "b a x", "y")])
    items = items_of(made, {"a": 1e6, "x": 1.0})
    assert {name for item in items for name in item.nodes} == {"/a", "/b", "/y"}
    assert max(items, key=lambda item: item.suspicion).name == "a"


def test_the_twin_computes_in_fp32_and_stores_in_16_bits() -> None:
    made = caster([node("Exp", "x", "a"), node("Tanh", "a", "y")])
    twin = emulate(made.cast({"/y"}))
    narrow = narrow_tensors(twin)
    assert narrow
    assert not {name for n in twin.graph.node if n.op_type != "Cast" for name in (*n.input, *n.output)} & narrow


@pytest.mark.parametrize(("opset", "inputs", "moves"), [(11, "x2", "x2"), (13, "x2", "x2"), (13, "x2 ratio on", None)])
def test_a_dropout_that_draws_nothing_moves_its_data(opset: int, inputs: str, moves: str | None) -> None:
    nodes = [node("Exp", "x", "x2"), node("Dropout", inputs, "y"), node("Exp", "y", "z")]
    constants = {"ratio": 0.5, "on": np.ones((), np.bool_)} if "on" in inputs else None
    made = caster(nodes, constants, opset=opset)
    assert made.candidates["/y"].moves == moves
    assert ("/y" in atoms_of(made)) is (moves is None)
