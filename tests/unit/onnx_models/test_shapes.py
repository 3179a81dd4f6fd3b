"""Shapes as trtexec spells them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from onnx import TensorProto, helper

from tests.support.for_each import for_each
from tests.support.input_models import FLOAT, MIXED, model
from trtforensics.errors import UsageError
from trtforensics.onnx_models import shapes
from trtforensics.onnx_models.shapes import defaulted, input_shapes, is_dynamic, parse_shapes, types_of

if TYPE_CHECKING:
    from pathlib import Path


def test_shapes_are_read_as_trtexec_spells_them() -> None:
    assert parse_shapes(["x:2x16x64,mask:2x16", "a:b:3"]) == {"x": (2, 16, 64), "mask": (2, 16), "a:b": (3,)}
    assert parse_shapes([]) == {}
    assert input_shapes(MIXED, {"ids": (2, 7)})["ids"] == (2, 7)


@for_each("text", ["x", "x:", ":3", "x:2xa", "x:2x", "x=3", "x:-1"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a shape|does not fit|no input"):
        input_shapes(MIXED, parse_shapes([text]))


@pytest.mark.parametrize(
    ("shapes", "says"),
    [({"ids": (3, 1)}, "does not fit"), ({"ids": (2,)}, "does not fit")],
)
def test_shapes_that_do_not_fit_are_refused(shapes: dict[str, tuple[int, ...]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        input_shapes(MIXED, shapes)


def test_dynamic_dimensions_are_1_where_no_shape_is_given() -> None:
    two = model(x=(FLOAT, ["batch", 3]), y=(FLOAT, [2, -1]), z=(FLOAT, [4]))
    assert input_shapes(two, {"x": (5, 3)}) == {"x": (5, 3), "y": (2, 1), "z": (4,)}
    assert defaulted(two, {}) == ["x:1x3", "y:2x1"]
    assert defaulted(two, {"x": (5, 3)}) == ["y:2x1"]
    assert is_dynamic(two)
    assert not is_dynamic(model(z=(FLOAT, [4])))


def test_an_input_of_any_rank_needs_a_shape() -> None:
    free = model(x=(FLOAT, []))
    free.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UsageError) as caught:
        input_shapes(free, {})
    assert caught.value.what == "x may have any number of dimensions"
    assert "--shapes x:N" in caught.value.next_step


@pytest.mark.slow
def test_dimensions_that_take_too_long_to_infer_stay_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime's inference is ended then, and what onnx itself infers stands."""
    before = types_of(MIXED)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: True)
    monkeypatch.setattr(shapes, "_PATIENCE_S", 0)
    assert types_of(MIXED) == before


@pytest.mark.skipif(find_spec("sympy") is None, reason="ONNX Runtime's symbolic inference needs sympy")
def test_inference_that_fails_leaves_no_file_where_the_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = helper.make_node("Unknown", ["x"], ["y"], domain="own")
    graph = helper.make_graph(
        [unknown, helper.make_node("Add", ["y", "x"], ["z"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    monkeypatch.chdir(tmp_path)
    assert shapes._symbolic(helper.make_model(graph, opset_imports=imports, ir_version=8)) is None
    assert not list(tmp_path.iterdir())
