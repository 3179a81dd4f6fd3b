"""Shapes of inputs as trtexec spells them: ``x:2x16x64,mask:2x16``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Read shapes.

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


def input_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every input, dynamic dimensions filled in from ``shapes``.

    Raises:
        UsageError: A dynamic input has no shape, or a shape does not fit.
    """
    unknown = shapes.keys() - {value.name for value in model.graph.input}
    if unknown:
        names = ", ".join(value.name for value in model.graph.input)
        raise UsageError("--shapes", f"the model has no input {min(unknown)!r}", f"Its inputs are {names}")
    filled = {value.name: _filled(value, shapes.get(value.name)) for value in model.graph.input}
    dynamic = [value for value in model.graph.input if filled[value.name] is None]
    if dynamic:
        spelled = " and ".join(f"the input {value.name} is dynamic ({_spelled(value, '?')})" for value in dynamic)
        form = ",".join(f"{value.name}:{_spelled(value, 'N')}" for value in dynamic)
        raise UsageError("--shapes", spelled, f"Add `--shapes {form}` with a number for each N, as for trtexec")
    return {name: shape for name, shape in filled.items() if shape is not None}


def is_dynamic(model: onnx.ModelProto) -> bool:
    """Whether an input has a dimension without a fixed size."""
    return any(map(_is_open, model.graph.input))


def _is_open(value: onnx.ValueInfoProto) -> bool:
    return not value.type.tensor_type.HasField("shape") or any(_size(dim) is None for dim in _dims(value))


def _dims(value: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(value.type.tensor_type.shape.dim)


def _size(dim: onnx.TensorShapeProto.Dimension) -> int | None:
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None


def _spelled(value: onnx.ValueInfoProto, unknown: str) -> str:
    if not value.type.tensor_type.HasField("shape"):
        return unknown
    return "x".join(unknown if size is None else str(size) for size in map(_size, _dims(value)))


def _filled(value: onnx.ValueInfoProto, given: Sequence[int] | None) -> tuple[int, ...] | None:
    """Return the shape; None if it is dynamic and not given."""
    fixed = [_size(dim) for dim in _dims(value)]
    if given is None:
        return None if _is_open(value) else tuple(size for size in fixed if size is not None)
    fits = len(given) == len(fixed) and all(size in {None, want} for size, want in zip(fixed, given, strict=True))
    if value.type.tensor_type.HasField("shape") and not fits:
        what = f"{'x'.join(map(str, given)) or 'a scalar'} does not fit the input {value.name}"
        raise UsageError("--shapes", what, f"The model takes {_spelled(value, '?') or 'a scalar'}")
    return tuple(given)
