"""Samples in files and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.input_models import FLOAT, INT64, model
from trtforensics.bisect.precision.inputs.files import read_samples
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

TWO = model(x=(FLOAT, [2]), ids=(INT64, ["n"]))


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


def test_a_file_of_one_array_is_the_only_input(tmp_path: Path) -> None:
    np.save(tmp_path / "any.npy", np.array([1.0, 2.0]))
    (sample,) = read_samples(model(x=(FLOAT, [2])), [str(tmp_path / "any.npy")])
    assert sample["x"].tolist() == [1.0, 2.0]
    with pytest.raises(SourceError, match="has no array for the input ids; it has any"):
        read_samples(TWO, [str(tmp_path / "any.npy")])


def test_a_folder_of_arrays_named_after_the_inputs_is_one_sample(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "ids.npy", np.array([3, 4, 5]))
    (sample,) = read_samples(TWO, [str(tmp_path)])
    assert sample["ids"].tolist() == [3, 4, 5]


def test_any_other_folder_has_a_sample_in_each_file(tmp_path: Path) -> None:
    for number in (2, 1, 3):
        np.savez(tmp_path / f"{number}.npz", x=np.full(2, number), ids=np.arange(number))
    (tmp_path / "notes.txt").write_text("no sample")
    assert [sample["x"][0] for sample in read_samples(TWO, [str(tmp_path)])] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"x": np.zeros(3), "ids": np.zeros(1, int)}, "has 3 for the input x, which the model takes as 2"),
        ({"x": np.zeros((2, 1)), "ids": np.zeros(1, int)}, "has 2x1 for the input x"),
        ({"x": np.zeros(2), "ids": np.array([0.5])}, "has float64 for the input ids, which the model takes as int64"),
        ({"x": np.array(["a", "b"]), "ids": np.zeros(1, int)}, "for the input x, which the model takes as float32"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray], says: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match=says):
        read_samples(TWO, [str(tmp_path / "a.npz")])


def test_whole_floats_are_integers(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros(2), ids=np.array([3.0]))
    (sample,) = read_samples(TWO, [str(tmp_path / "a.npz")])
    assert (sample["ids"].tolist(), sample["ids"].dtype) == ([3], np.dtype(np.int64))
