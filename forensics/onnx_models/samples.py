"""Samples of a model: an array for each input, from files, folders and data loader scripts; values as files.

A script has Polygraphy's form: ``load_data()`` gives a mapping for each sample. It is the user's own program and runs
in a child process, ``python -m`` this module, so that what it prints or breaks stays there.
"""

import hashlib
import io
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from trtforensics.console.output import write_bytes, write_text
from trtforensics.console.processes import completed
from trtforensics.errors import SourceError, UsageError
from trtforensics.onnx_models.shapes import fits, sizes_of, spelled

Values = npt.NDArray[Any]
Sample = Mapping[str, Values]
Arrays = Mapping[str, Any]

_KINDS = ".npz, .npy, Polygraphy's .json, or a folder of them"
LOADER = "load_data"
"""The name of the function by Polygraphy's convention."""


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples of a search; ``notes`` say how they came about. ``drawn`` says that they are random."""

    samples: tuple[Sample, ...]
    drawn: bool = False
    notes: tuple[str, ...] = ()


def dtypes_of(model: onnx.ModelProto) -> dict[str, np.dtype[Any]]:
    """Return numpy's type of every input; a UsageError where an input is a sequence, or holds texts."""
    return {value.name: _dtype(value) for value in model.graph.input}


def fitted(model: onnx.ModelProto, arrays: Mapping[str, Any], path: str) -> Sample:
    """Return a sample of the model from arrays by name; further arrays are left out. ``path`` is named in errors.

    Raises:
        SourceError: An array is missing, or its type or shape does not fit.
    """
    dtypes = dtypes_of(model)
    missing = dtypes.keys() - arrays.keys()
    if missing:
        has = f"; it has {', '.join(map(str, arrays))}" if arrays else ""
        raise SourceError(path, f"has no array for the input {min(missing)}{has}", "Name arrays as the model does")
    sample = {}
    for value in model.graph.input:
        array = np.asarray(arrays[value.name])
        dtype = dtypes[value.name]
        whole = dtype.kind in "iu" and array.dtype.kind not in "iub"
        if array.dtype.kind not in "fiubV" or (whole and not np.array_equal(array, np.trunc(array))):
            what = f"has {array.dtype} for the input {value.name}, which the model takes as {dtype}"
            raise SourceError(path, what, f"Give it as {dtype}")
        if not fits(array.shape, sizes_of(value)):
            given = "x".join(map(str, array.shape)) or "a scalar"
            what = f"has {given} for the input {value.name}, which the model takes as {spelled(value) or 'a scalar'}"
            raise SourceError(path, what, "Give arrays of the model's shapes")
        has_bits = array.dtype.type is np.void and array.dtype.itemsize == dtype.itemsize  # NumPy's files lack its type
        sample[value.name] = array.view(dtype) if has_bits else array.astype(dtype)
    return sample


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    kind = value.type.tensor_type.elem_type
    if value.type.WhichOneof("value") != "tensor_type" or kind in {TensorProto.UNDEFINED, TensorProto.STRING}:
        raise UsageError(
            value.name, "is an input of a type that is neither numbers nor booleans", "Cut the model there"
        )
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))


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
    files, in_folder = [path], path.is_dir()
    if in_folder:
        files = sorted(each for each in path.iterdir() if each.suffix in {".npz", ".npy", ".json"})
    if not files:
        raise SourceError(str(path), "holds no sample", f"Put {_KINDS} there")
    plain = in_folder and all(each.suffix == ".npy" for each in files)
    if plain and {each.stem for each in files} >= dtypes_of(model).keys():
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
    return [{inputs[0] if len(inputs) == 1 else path.stem: loaded}]


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


def run_script(model: onnx.ModelProto, script: str, limit: int) -> tuple[Sample, ...]:
    """Run a script, ``FILE`` or ``FILE:FUNCTION``, and return its first samples, at most ``limit``.

    Raises:
        SourceError: The script cannot be run, or what it gives does not fit the model.
    """
    path, _, name = script.rpartition(":")
    path, name = (path, name) if name.isidentifier() and path else (script, LOADER)
    if not Path(path).is_file():
        raise SourceError(path, "cannot be read: no such file")
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", __spec__.name if __spec__ else __name__, path, name, str(limit), folder]
        done = completed(words)
        if done.returncode:
            last = (done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}").splitlines()[-1]
            next_step = "It must give a mapping of names to arrays for each sample; FILE:NAME names another function"
            raise SourceError(path, f"its {name}() failed: {last}", next_step)
        if not any(Path(folder).iterdir()):
            raise SourceError(path, f"its {name}() gives no sample", "Have it give one at least")
        return read_samples(model, [folder], named=path)


def digest_of(samples: Iterable[Sample]) -> str:
    """Return the SHA-256 of samples with their names, types and shapes, in hex."""
    digest = hashlib.sha256()
    for sample in samples:
        for name, array in sorted(sample.items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def write_npz(values: Mapping[str, Values], path: Path) -> None:
    """Write arrays by name; any name may be taken, such as ``file``, which ``numpy.savez`` does not.

    NumPy's files know no BF16, FP8 and 4-bit numbers: they hold the bits (``V1``, ``V2``), as ml_dtypes has them.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in values.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, _storable(array), allow_pickle=False)
    write_bytes(path, data.getvalue())


def write_feeds(values: Mapping[str, Values], path: Path) -> None:
    """Write one sample as ``polygraphy run --load-inputs`` reads it."""
    from polygraphy.json import to_json  # noqa: PLC0415 - heavy

    write_text(path, to_json([{name: _storable(array) for name, array in values.items()}]))


def _storable(array: Values) -> Values:
    """Return an array that NumPy's files hold: texts of a fixed width, bits of types that NumPy lacks."""
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return array.astype(str)
    return array if array.dtype.type.__module__ == "numpy" else array.view(f"V{array.dtype.itemsize}")


def write_golden(values: Mapping[str, Values], path: Path) -> None:
    """Write outputs as ``polygraphy run --load-outputs`` reads them."""
    from polygraphy.comparator import IterationResult, RunResults  # noqa: PLC0415 - heavy

    results = RunResults()
    arrays = {name: _storable(array) for name, array in values.items()}
    results.append(("onnxruntime", [IterationResult(outputs=arrays, runner_name="onnxruntime")]))
    write_text(path, results.to_json())


def main(arguments: list[str]) -> None:
    """Write the samples of a script into a folder, an ``.npz`` file each."""
    from polygraphy.mod import import_from_script  # noqa: PLC0415 - heavy, and needed by the child process only

    path, name, limit, folder = arguments
    for number, feed in enumerate(islice(iter(import_from_script(path, name)()), int(limit))):
        write_npz(feed, Path(folder) / f"{number:06d}.npz")


if __name__ == "__main__":
    main(sys.argv[1:])
