"""Reads samples: NumPy's files, data that Polygraphy saved, and folders of them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.bisect.precision.inputs.sample import dtypes_of, fitted
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

    from trtforensics.bisect.precision.inputs.sample import Sample

    Arrays = Mapping[str, Any]

_KINDS = ".npz, .npy, Polygraphy's .json, or a folder of them"


def read_samples(model: onnx.ModelProto, paths: Sequence[str], *, named: str = "") -> tuple[Sample, ...]:
    """Read the samples of files and folders, in order; each file of several gives one sample or more.

    A ``.npy`` file is the input that it is named after, or the only input. A folder of ``.npy`` files named after the
    inputs is one sample; any other folder has a sample, or several, in each file. ``named`` is what errors call the
    place, if it is another.

    Raises:
        SourceError: A file cannot be read, or lacks an input, or has one of another type or shape.
    """
    samples = tuple(fitted(model, arrays, named or path) for each in paths for path, arrays in _read(model, Path(each)))
    if not samples:
        raise SourceError(" ".join(paths), "holds no sample", "Give one array an input at least")
    return samples


def _read(model: onnx.ModelProto, path: Path) -> Iterator[tuple[str, Arrays]]:
    if not path.is_dir():
        for arrays in _read_file(model, path):
            yield str(path), arrays
        return
    files = sorted(each for each in path.iterdir() if each.suffix in {".npz", ".npy", ".json"})
    if not files:
        raise SourceError(str(path), "holds no sample", f"Put {_KINDS} there")
    if all(each.suffix == ".npy" for each in files) and {each.stem for each in files} >= dtypes_of(model).keys():
        yield str(path), {each.stem: _loaded(each) for each in files}
        return
    for each in files:
        for arrays in _read_file(model, each):
            yield str(each), arrays


def _read_file(model: onnx.ModelProto, path: Path) -> Sequence[Arrays]:
    if path.suffix == ".json":
        return _read_polygraphy(str(path))
    loaded = _loaded(path)
    if isinstance(loaded, dict):
        return [loaded]
    inputs = list(dtypes_of(model))
    if len(inputs) == 1:
        return [{inputs[0]: loaded}]
    return [{path.stem: loaded}]


def _loaded(path: Path) -> Any:  # noqa: ANN401 - an array, or a mapping of names to arrays
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded as arrays:
            return {name: arrays[name] for name in arrays.files}
    except OSError as error:
        raise SourceError(str(path), f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (AttributeError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        what = "is not an .npz or .npy file, nor Polygraphy's .json"
        raise SourceError(str(path), what, "Write one with numpy.savez, an array an input") from error


def _read_polygraphy(path: str) -> Sequence[Arrays]:
    from polygraphy.exception import PolygraphyException  # noqa: PLC0415 - heavy, and needed for this form only
    from polygraphy.json import load_json  # noqa: PLC0415 - the same

    try:
        feeds = load_json(path)
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (PolygraphyException, ValueError) as error:
        raise SourceError(
            path, "is not data that Polygraphy saved", "Write it with `polygraphy run --save-inputs`"
        ) from error
    if not isinstance(feeds, list) or not all(hasattr(feed, "items") for feed in feeds):
        raise SourceError(path, "is not inputs that Polygraphy saved", "Write it with `polygraphy run --save-inputs`")
    return [{name: np.asarray(array) for name, array in feed.items()} for feed in feeds]
