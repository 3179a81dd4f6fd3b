"""Samples from files, folders and scripts."""

from __future__ import annotations

import re
import wave
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.support.input_models import FLOAT, INT64, model
from tests.support.repository import ROOT
from trtforensics.errors import SourceError
from trtforensics.onnx_models.samples import read_samples, run_script, write_feeds, write_golden, write_npz

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


ONE = model(x=(FLOAT, [2]))
SCRIPT = """
import numpy as np

def load_data():
    number = 0
    while True:
        print("reading", number)
        yield {"x": np.full(2, number)}
        number += 1

def listed():
    return [{"x": np.zeros(2, np.float32)}]

def nothing():
    return []

def broken():
    raise MemoryError("too much")

def killed():
    import os
    os.abort()

def odd():
    yield 3

def other():
    yield {"z": np.zeros(2)}
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "loader.py").write_text(SCRIPT)
    return str(tmp_path / "loader.py")


def test_an_endless_script_gives_its_first_samples(script: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert [sample["x"].tolist() for sample in run_script(ONE, script, 3)] == [[0, 0], [1, 1], [2, 2]]
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_another_function_is_named(script: str) -> None:
    assert len(run_script(ONE, f"{script}:listed", 3)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        (":nothing", "gives no sample"),
        (":broken", r"its broken\(\) failed: MemoryError: too much"),
        (":killed", "failed"),
        (":odd", "failed"),
        (":absent", "absent"),
        (":other", "has no array for the input x; it has z"),
        (".missing", "no such file"),
    ],
)
def test_a_script_that_gives_no_samples_is_one_sentence(script: str, name: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        run_script(ONE, script + name, 3)
    assert caught.value.where == script + (name if name == ".missing" else "")


VALUES = {
    "file": np.arange(6, dtype=np.float32).reshape(2, 3),
    "/a/b": np.ones((), np.bool_),
    "n": np.asarray([1 << 40]),
}


def test_any_name_can_be_stored(tmp_path: Path) -> None:
    write_npz(VALUES, tmp_path / "values.npz")
    with np.load(tmp_path / "values.npz") as arrays:
        assert {name: arrays[name].tolist() for name in arrays.files} == {n: v.tolist() for n, v in VALUES.items()}


def test_polygraphy_reads_inputs_and_outputs(tmp_path: Path) -> None:
    load_json = pytest.importorskip("polygraphy.json", reason="Polygraphy is not installed").load_json
    results = pytest.importorskip("polygraphy.comparator", reason="Polygraphy is not installed").RunResults
    write_feeds(VALUES, tmp_path / "inputs.json")
    (feed,) = load_json(str(tmp_path / "inputs.json"))
    assert {name: (array.dtype, array.tolist()) for name, array in feed.items()} == {
        name: (array.dtype, array.tolist()) for name, array in VALUES.items()
    }
    write_golden(VALUES, tmp_path / "outputs.json")
    ((_, (run,)),) = results.load(str(tmp_path / "outputs.json")).items()
    assert {name: array.tolist() for name, array in run.items()} == {n: v.tolist() for n, v in VALUES.items()}


@pytest.mark.parametrize(("number", "shape"), [(0, (1, 3, 224, 224)), (1, (1, 16000))])
def test_the_scripts_for_images_and_audio_give_samples(
    number: int, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    for folder in ("images", "audio"):
        (tmp_path / folder).mkdir()
    image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / "images" / "red.png")
    with wave.open(str(tmp_path / "audio" / "two.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(np.full(2 * 20000, 16384, "<i2").tobytes())
    page = (ROOT / "docs" / "how-to" / "samples.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[number], scope)  # noqa: S102 - the page's own script
    (sample,) = scope["load_data"]()
    ((_, values),) = sample.items()
    assert (values.shape, values.dtype) == (shape, np.float32)
    assert values.flat[0] == pytest.approx((1 - 0.485) / 0.229 if number == 0 else 0.5)
