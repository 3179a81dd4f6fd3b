"""Values as files."""

from pathlib import Path

import numpy as np
from polygraphy.comparator import RunResults
from polygraphy.json import load_json

from trtforensics.reduce.inputs import write_feeds, write_golden, write_npz

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
    write_feeds(VALUES, tmp_path / "inputs.json")
    (feed,) = load_json(str(tmp_path / "inputs.json"))
    assert {name: (array.dtype, array.tolist()) for name, array in feed.items()} == {
        name: (array.dtype, array.tolist()) for name, array in VALUES.items()
    }
    write_golden(VALUES, tmp_path / "outputs.json")
    ((_, (run,)),) = RunResults.load(str(tmp_path / "outputs.json")).items()
    assert {name: array.tolist() for name, array in run.items()} == {n: v.tolist() for n, v in VALUES.items()}
