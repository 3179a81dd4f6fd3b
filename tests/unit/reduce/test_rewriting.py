"""What rewriting changes of a model's file, what of that can be kept, and the probe of the file as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from trtforensics.onnx_models.cutting import take_apart
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.running import run_model
from trtforensics.reduce.deriving import Deriver, file_of, record
from trtforensics.reduce.graph_lever import ReductionLever
from trtforensics.reduce.simplifying import Aspect, Simplification

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.reduce.deriving import Derived

ALL = frozenset({Aspect.FILE, Aspect.CONSTANTS, Aspect.INPUTS, Aspect.METADATA})


def tensor(name: str, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape or (1, 4))


def rich() -> onnx.ModelProto:
    """Return a model with everything that the rewriting changes."""
    scale = numpy_helper.from_array(np.asarray(3, np.float32), "scale")
    twice = helper.make_node("Add", ["a", "a"], ["b"], name="inner")
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.asarray(2, np.float32), "v")),
            helper.make_node("Mul", ["x", "c"], ["m"], name="mul"),
            helper.make_node("Twice", ["m"], ["t"], name="call", domain="my"),
            helper.make_node("Mul", ["t", "scale"], ["second"], name="mul"),
            helper.make_node("Neg", ["x"], ["first"], name="neg"),
            helper.make_node("Abs", ["x"], ["dead"], name="abs"),
        ],
        "rich",
        [tensor("unread"), tensor("scale"), tensor("x")],
        [tensor("first"), tensor("second")],
        [scale, numpy_helper.from_array(np.asarray(1, np.float32), "lonely")],
        value_info=[tensor("m")],
    )
    graph.input[1].type.tensor_type.shape.ClearField("dim")
    function = helper.make_function("my", "Twice", ["a"], ["b"], [twice], [helper.make_opsetid("", 17)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=[function])
    model.metadata_props.add(key="who", value="me")
    return model


def deriver_of(path: Path, model: onnx.ModelProto, *, anonymous: bool = False) -> Deriver:
    onnx.save(model, path)
    original = take_apart(str(path))
    file = file_of(original)
    names = (Simplification(Aspect.NAMES),) if anonymous else ()
    recording = record(original, random_samples(original.model, {}, 1)[0])
    return Deriver(original, recording, (*names, *file.simplifications), file)


def kept(deriver: Deriver, aspects: frozenset[Aspect]) -> Derived:
    count = len(deriver.original.nodes)
    simpler = enumerate(deriver.simplifications, count)
    return deriver.derive({*range(count), *(index for index, each in simpler if each.aspect in aspects)})


def interface(model: onnx.ModelProto) -> dict[str, object]:
    return {
        "inputs": [value.name for value in model.graph.input],
        "constants": sum(node.op_type == "Constant" for node in model.graph.node),
        "metadata": {entry.key for entry in model.metadata_props},
    }


def test_the_changes_are_counted_in_words(tmp_path: Path) -> None:
    file = deriver_of(tmp_path / "m.onnx", rich()).file
    assert file is not None
    assert file.changes == (
        "1 local function inlined (`--keep-functions` leaves them), "
        "1 Constant node made initializers, 1 unread input left out, "
        "1 input default made constants, 1 unread initializer left out, 1 unread result made outputs, "
        "2 missing or repeated node names replaced, 1 metadata field left out, 1 declared type left out"
    )
    assert {each.aspect for each in file.simplifications} == ALL
    assert file.operators.keys() >= {"inner", "call", "mul"}


@pytest.mark.parametrize(
    ("aspect", "differs"),
    [
        (Aspect.FILE, {}),
        (Aspect.CONSTANTS, {"constants": 1}),
        (Aspect.INPUTS, {"inputs": ["x", "unread", "scale"]}),
        (Aspect.METADATA, {"metadata": {"who"}}),
    ],
)
def test_each_part_of_the_file_can_be_kept(tmp_path: Path, aspect: Aspect, differs: dict[str, object]) -> None:
    deriver = deriver_of(tmp_path / "m.onnx", rich())
    plain = interface(kept(deriver, frozenset()).model)
    assert plain == {"inputs": ["x"], "constants": 0, "metadata": set()}
    derived = kept(deriver, frozenset({aspect}))
    assert interface(derived.model) == plain | differs
    onnx.checker.check_model(derived.model, full_check=True)


def test_all_that_is_kept_computes_what_the_file_does(tmp_path: Path) -> None:
    deriver = deriver_of(tmp_path / "m.onnx", rich())
    for aspects in (frozenset[Aspect](), ALL):
        derived = kept(deriver, aspects)
        outputs = run_model(derived.model, derived.inputs, derived.streamed)
        assert not isinstance(outputs, str)
        assert list(outputs)[:2] == ["first", "second"], "the file's outputs come first, in its order"
        np.testing.assert_array_equal(outputs["second"], derived.inputs["x"] * 12)
    assert derived.inputs.keys() == {"x", "unread"}


def test_nothing_of_the_file_shows_a_name_that_was_replaced(tmp_path: Path) -> None:
    model = rich()
    for value in (*model.graph.input, *model.graph.initializer, *model.graph.node):
        value.name = value.name and f"zebra_{value.name}"
    for node in model.graph.node:
        node.input[:] = [name if name in {"m", "t"} else f"zebra_{name}" for name in node.input]
        node.output[:] = [name if name in {"m", "t"} else f"zebra_{name}" for name in node.output]
    for value in model.graph.output:
        value.name = f"zebra_{value.name}"
    model.metadata_props.add(key="zebra", value="zebra")
    derived = kept(deriver_of(tmp_path / "m.onnx", model, anonymous=True), ALL)
    assert interface(derived.model)["constants"] == 1
    assert b"zebra" not in derived.model.SerializeToString()
    onnx.checker.check_model(derived.model, full_check=True)


def probed(deriver: Deriver, folder: Path, *, whole: bool) -> Path:
    lever = ReductionLever(deriver, folder)
    folder.mkdir()
    count = len(lever.items) - (not whole)
    return lever.prepare(frozenset(range(count)), folder)["model"]


def test_the_first_probe_is_the_file_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    deriver = deriver_of(path, rich())
    copy = probed(deriver, tmp_path / "1", whole=True)
    assert (copy, copy.read_bytes()) == (tmp_path / "1" / "model.onnx", path.read_bytes())
    assert probed(deriver, tmp_path / "2", whole=False).read_bytes() != path.read_bytes()


def test_a_file_with_data_beside_it_is_probed_in_its_place(tmp_path: Path) -> None:
    model = rich()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.full(4, 3, np.float32), "scale"))
    external_data_helper.convert_model_to_external_data(model, size_threshold=0, location="m.data")
    deriver = deriver_of(tmp_path / "m.onnx", model)
    assert deriver.file is not None
    assert "external data taken into the model" in deriver.file.changes
    assert probed(deriver, tmp_path / "1", whole=True) == tmp_path / "m.onnx"
    alone = probed(deriver, tmp_path / "2", whole=False)
    assert alone == tmp_path / "2" / "model.onnx"
    assert onnx.load(alone).graph.initializer[0].name == "scale"
