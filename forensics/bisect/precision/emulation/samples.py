"""The samples that a model is judged on: the inputs of the user, or random ones with a fixed seed."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto

from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Sample = Mapping[str, npt.NDArray[Any]]

DEFAULT_COUNT = 3
_SEED = 1


def read_samples(model: onnx.ModelProto, paths: Sequence[str]) -> tuple[Sample, ...]:
    """Read samples, from NumPy ``.npz`` files with an array for each input, or Polygraphy's JSON of several samples.

    Raises:
        SourceError: A file cannot be read, or lacks an input, or has one of another type.
    """
    wanted = {value.name: _dtype(value) for value in model.graph.input}
    samples = []
    for path in paths:
        for sample in _read(path):
            missing = wanted.keys() - sample.keys()
            if missing:
                raise SourceError(path, f"has no array for the input {min(missing)}", "Name arrays as the model does")
            samples.append({name: np.asarray(sample[name], dtype) for name, dtype in wanted.items()})
    if not samples:
        raise SourceError(" ".join(paths), "holds no sample", "Give one array an input at least")
    return tuple(samples)


def random_samples(
    model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]], count: int = DEFAULT_COUNT
) -> tuple[Sample, ...]:
    """Make samples: floats of a standard normal distribution, integers and booleans of 0 and 1.

    Raises:
        UsageError: An input has dynamic dimensions that no shape is given for, or a type without random values.
    """
    random = np.random.default_rng(_SEED)
    sizes = input_shapes(model, shapes)
    dtypes = {value.name: _dtype(value) for value in model.graph.input}
    return tuple({name: _random(random, dtypes[name], size) for name, size in sizes.items()} for _ in range(count))


def input_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every input, dynamic dimensions filled in from ``shapes``.

    Raises:
        UsageError: A dynamic input has no shape, or a shape does not fit.
    """
    unknown = shapes.keys() - {value.name for value in model.graph.input}
    if unknown:
        raise UsageError("--shapes", f"the model has no input {min(unknown)!r}", _inputs_are(model))
    return {value.name: _shape(value, shapes.get(value.name)) for value in model.graph.input}


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Read shapes as trtexec spells them: ``x:2x16x64,mask:2x16``.

    Raises:
        UsageError: A text is no shape.
    """
    shapes = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, _, dims = text.rpartition(":")
        words = dims.split("x") if dims else []
        if not name or not all(word.isdecimal() for word in words):
            raise UsageError("--shapes", f"{text!r} is not a shape", "Write them as in x:2x16x64,mask:2x16")
        shapes[name] = tuple(int(word) for word in words)
    return shapes


def is_dynamic(model: onnx.ModelProto) -> bool:
    """Whether an input has a dimension without a fixed size."""
    return any(not _is_fixed(dim) for value in model.graph.input for dim in value.type.tensor_type.shape.dim)


def _is_fixed(dim: onnx.TensorShapeProto.Dimension) -> bool:
    return dim.HasField("dim_value") and dim.dim_value >= 0


def _shape(value: onnx.ValueInfoProto, given: Sequence[int] | None) -> tuple[int, ...]:
    dims = value.type.tensor_type.shape.dim
    fixed = [dim.dim_value if _is_fixed(dim) else None for dim in dims]
    if given is None:
        if None in fixed or not value.type.tensor_type.HasField("shape"):
            spelled = "x".join(str(size) if size is not None else "?" for size in fixed) or "?"
            raise UsageError("--shapes", f"the input {value.name} is dynamic ({spelled})", f"Add {value.name}:SHAPE")
        return tuple(size for size in fixed if size is not None)
    if len(given) != len(fixed) or any(size not in {None, want} for size, want in zip(fixed, given, strict=True)):
        raise UsageError(
            "--shapes", f"{'x'.join(map(str, given))} does not fit the input {value.name}", "See the model"
        )
    return tuple(given)


def _inputs_are(model: onnx.ModelProto) -> str:
    return "Its inputs are " + ", ".join(value.name for value in model.graph.input)


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    kind = value.type.tensor_type.elem_type
    if value.type.WhichOneof("value") != "tensor_type" or kind in {TensorProto.UNDEFINED, TensorProto.STRING}:
        raise UsageError(
            value.name, "is an input of a type that is neither numbers nor booleans", "Cut the model there"
        )
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))


def _random(random: np.random.Generator, dtype: np.dtype[Any], size: tuple[int, ...]) -> npt.NDArray[Any]:
    if dtype.kind in "biu":
        return random.integers(0, 2, size).astype(dtype)
    return np.asarray(random.standard_normal(size)).astype(dtype)


def _read(path: str) -> list[Mapping[str, npt.NDArray[Any]]]:
    try:
        if path.endswith(".json"):
            return _read_polygraphy(path)
        with np.load(path, allow_pickle=False) as arrays:
            return [{name: arrays[name] for name in arrays.files}]
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (AttributeError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(path, "is not an .npz file", "Write one with numpy.savez, an array an input") from error


def _read_polygraphy(path: str) -> list[Mapping[str, npt.NDArray[Any]]]:
    from polygraphy.exception import PolygraphyException  # noqa: PLC0415 - heavy, and needed for this form only
    from polygraphy.json import load_json  # noqa: PLC0415 - the same

    try:
        feeds = load_json(path)
    except (PolygraphyException, json.JSONDecodeError) as error:
        raise SourceError(
            path, "is not data that Polygraphy saved", "Write it with `polygraphy run --save-inputs`"
        ) from error
    return [{name: np.asarray(array) for name, array in feed.items()} for feed in feeds]
