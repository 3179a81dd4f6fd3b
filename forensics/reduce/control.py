"""The control of a reduction: a model that cannot have the failure, so that a check that fails there fails always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from trtforensics.onnx_models.cutting import take_apart, with_graph
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.streaming import digest_of
from trtforensics.reduce.deriving import Derived

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.onnx_models.cutting import Original
    from trtforensics.onnx_models.samples import Values

_MADE_UP = "control"


@dataclass(frozen=True, slots=True)
class Control:
    """A model that must pass; ``name`` says which. ``digest`` is that of the user's model, "" for one of our own."""

    name: str
    derived: Derived
    digest: str = ""


def control_of(path: str) -> Control:
    """Return a model of the user's as control, with random inputs.

    Raises:
        SourceError: it cannot be read.
    """
    model = take_apart(path)
    digest = digest_of(model.model, {})
    return Control(path, Derived(model.model, random_samples(model.model, {}, 1)[0], model.streamed), digest)


def identity_of(original: Original, values: Mapping[str, Values]) -> Control:
    """Return a model that hands an input of a model on, ones of FP32, to outputs of its names.

    It has the operator sets of the model; where that reads no FP32, the input is made up.
    """
    plain = (name for name, value in values.items() if name in original.sources and value.dtype == np.float32)
    name = next(plain, _MADE_UP)
    ones = np.ones_like(values[name]) if name in original.sources else np.ones(1, np.float32)
    declared = [output.name for output in original.model.graph.output if output.name != name]
    outputs = declared or [f"{name}_output"]
    nodes = [onnx.helper.make_node("Identity", [name], [output], name=f"{output}_control") for output in outputs]
    tensors = [
        onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, ones.shape) for tensor in (name, *outputs)
    ]
    graph = onnx.helper.make_graph(nodes, _MADE_UP, tensors[:1], tensors[1:])
    return Control(f"an Identity of {name}", Derived(with_graph(original.model, graph), {name: ones}))
