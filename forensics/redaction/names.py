"""Finds the names in a log that may reveal its owner: of layers, tensors and ONNX nodes, paths, hosts and users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model.log import Build, BuildLog, EngineLayer

PATH = re.compile(
    r"(?:[A-Za-z]:)?(?:[\\/][^\s\\/:'\"<>|,;()\[\]{}=]+){2,}"  # /srv/models/model.onnx, C:\models\model.onnx
    r"|[^\s\\/:'\"<>|,;()\[\]{}=]+\.(?:onnx|engine|plan|trt|cache|json|npz|bin|py|txt|log)\b"
    r"|[\w.+-]+@[\w.-]+"  # a user at a host
)
SOURCE_FILE = re.compile(r".*\.(?:cpp|cc|cu|h|hpp|inl)")
"""Source files of TensorRT, which its errors name."""

ADDRESS = re.compile(
    r"(?P<version>(?:TensorRT|[Vv]ersion|\bv)[ :=v]*[\d.]+)"
    r"|\b(?P<address>(?:\d{1,3}\.){3}\d{1,3})\b(?!\.\d)"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
)
"""An IP address, or the UUID of a GPU; a version of four numbers, which looks like an IP address, is recognised too."""


def named(log: BuildLog) -> Iterator[str]:
    """Yield every text of a log that contains the user's names."""
    for build in log.builds:
        yield from _of_build(build)


def _of_build(build: Build) -> Iterator[str]:
    yield from (value for word in (build.command or "").split() for value in word.split("=")[1:])
    yield from (fact.value for fact in build.options.get("model", ()))
    for block in build.options.values():
        yield from (fact.value for fact in block)
    yield from (choice.layer for choice in build.choices)
    yield from (cached.layer for cached in build.cached)
    for layer in build.engine_layers:
        yield from _of_layer(layer)
    yield from (name for fusion in build.fusions for name in fusion.inputs)
    for reformat in build.reformats:
        yield from (reformat.name, reformat.tensor)
    for node in build.onnx_nodes:
        yield from (node.name, *node.layers, *node.inputs, *node.outputs)
    for foreign in build.foreign_nodes:
        yield from (foreign.name, *foreign.onnx_nodes)
    for operation in build.myelin_operations:
        yield from (operation.op, *operation.onnx_nodes)
    yield from build.layer_names


def _of_layer(layer: EngineLayer) -> Iterator[str]:
    yield from (layer.name, *layer.onnx_nodes)
    yield from (tensor.name for tensor in (*layer.inputs, *layer.outputs))


def in_line(text: str) -> Iterator[str]:
    """Yield the paths, users and hosts that a text mentions."""
    return (found for found in PATH.findall(text) if not SOURCE_FILE.fullmatch(found))
