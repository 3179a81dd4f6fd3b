"""Inputs of the user's, random ones, and shapes as trtexec spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from trtforensics.bisect.precision.emulation.samples import input_shapes, parse_shapes, random_samples, read_samples
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(**inputs: tuple[int, list[int | str]]) -> onnx.ModelProto:
    ins = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()]
    return helper.make_model(helper.make_graph([], "g", ins, []))


MIXED = model(x=(FLOAT, [2, 3]), ids=(INT64, [2, "n"]), mask=(BOOL, [2]))


def test_random_samples_have_the_types_and_shapes_and_repeat() -> None:
    one, other = (random_samples(MIXED, {"ids": (2, 5)}, 2) for _ in range(2))
    assert [(array.dtype, array.shape) for array in one[0].values()] == [
        (np.dtype(np.float32), (2, 3)),
        (np.dtype(np.int64), (2, 5)),
        (np.dtype(np.bool_), (2,)),
    ]
    assert all(np.array_equal(one[1][name], other[1][name]) for name in one[1])
    assert not np.array_equal(one[0]["x"], one[1]["x"])
    assert set(np.unique(one[0]["ids"])) <= {0, 1}


def test_samples_are_read_from_npz_and_from_polygraphy(tmp_path: Path) -> None:
    json_module = pytest.importorskip("polygraphy.json", reason="Polygraphy is not installed")
    plain = model(x=(FLOAT, [2]))
    np.savez(tmp_path / "a.npz", x=np.array([1.0, 2.0]), other=np.zeros(1))
    json_module.save_json(
        [{"x": np.array([3, 4], np.float32)}, {"x": np.array([5, 6], np.float32)}], f"{tmp_path}/b.json"
    )
    samples = read_samples(plain, [str(tmp_path / "a.npz"), str(tmp_path / "b.json")])
    assert [sample["x"].tolist() for sample in samples] == [[1, 2], [3, 4], [5, 6]]
    assert {sample["x"].dtype for sample in samples} == {np.dtype(np.float32)}
    json_module.save_json([], f"{tmp_path}/none.json")
    with pytest.raises(SourceError, match="holds no sample"):
        read_samples(plain, [str(tmp_path / "none.json")])


@pytest.mark.parametrize("name", ["text.npz", "text.json", "none.npz", "folder"])
def test_what_holds_no_samples_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.npz").write_text("no arrays")
    (tmp_path / "text.json").write_text("{]")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match=name):
        read_samples(model(x=(FLOAT, [2])), [str(tmp_path / name)])


def test_shapes_are_read_as_trtexec_spells_them() -> None:
    assert parse_shapes(["x:2x16x64,mask:2x16", "a:b:3"]) == {"x": (2, 16, 64), "mask": (2, 16), "a:b": (3,)}
    assert parse_shapes([]) == {}
    assert input_shapes(MIXED, {"ids": (2, 7)})["ids"] == (2, 7)


@pytest.mark.parametrize("text", ["x", "x:", ":3", "x:2xa", "x:2x", "x=3", "x:-1"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a shape|does not fit|no input"):
        input_shapes(MIXED, parse_shapes([text]))


@pytest.mark.parametrize(
    ("shapes", "says"),
    [({}, "the input ids is dynamic"), ({"ids": (3, 1)}, "does not fit"), ({"ids": (2,)}, "does not fit")],
)
def test_shapes_that_do_not_fit_are_refused(shapes: dict[str, tuple[int, ...]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        input_shapes(MIXED, shapes)
