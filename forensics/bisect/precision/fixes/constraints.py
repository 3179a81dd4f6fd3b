"""A repair as layer precisions, which TensorRT 10 and older honour: for trtexec, and as a network script."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPLITS_TREXEC = re.compile(r"[,:*\s]")
"""trtexec cuts ``--layerPrecisions`` at commas and colons and reads ``*`` as a wildcard."""

_SCRIPT = '''"""Keeps some layers in FP32; for TensorRT 8.5 to 10 (11 has strongly typed networks only)."""

# Run it in its own folder:
# {command}

import tensorrt as trt

FP32_LAYERS = frozenset(
{names}
)


def postprocess(network):
    """Pin the layers, which the ONNX parser names after their nodes, and those of their outputs that are floats."""
    for index in range(network.num_layers):
        layer = network.get_layer(index)
        if layer.name in FP32_LAYERS:
            layer.precision = trt.float32
            for output in range(layer.num_outputs):
                if layer.get_output(output).dtype in (trt.float32, trt.float16):
                    layer.set_output_type(output, trt.float32)
'''

_HONOURED = "# TensorRT 8.5 to 10 (11 has strongly typed networks only: then build model.onnx instead).\n"

_NAMELESS = """\
# trtexec cannot keep these nodes in FP32 by name: it cuts names at commas, colons and blanks, and takes * for a
# wildcard. A build without them would not be repaired. They are:
{names}
# Build the repaired model instead, in this folder, with TensorRT 9.1 and later (or use fp32_layers.py):
trtexec --onnx=model.onnx --stronglyTyped
"""


@dataclass(frozen=True, slots=True)
class KeptLayer:
    """A layer that stays FP32. ``floats`` says that all of its outputs are floats, so that their type can be set."""

    name: str
    floats: bool


def trtexec_command(layers: Sequence[KeptLayer], flag: str, model: str) -> str:
    """Return text to paste into a shell: trtexec on the FP32 model with layer precisions.

    Where trtexec cannot name one of the layers, the command builds the repaired ``model.onnx``, strongly typed.
    """
    nameless = [layer.name for layer in layers if _SPLITS_TREXEC.search(layer.name)]
    if nameless:
        listed = "\n".join(f"#   {_one_line(name)}" for name in nameless)
        head, _, tail = _NAMELESS.partition("{names}")
        return head + listed + tail
    words = ["trtexec", f"--onnx={model}", f"--{flag}", "--precisionConstraints=obey"]
    typed = [layer.name for layer in layers if layer.floats]
    for option, names in (("--layerPrecisions", [layer.name for layer in layers]), ("--layerOutputTypes", typed)):
        words += [f"{option}={','.join(f'{name}:fp32' for name in names)}"] if names else []
    return _HONOURED + " \\\n    ".join(map(shlex.quote, words)) + "\n"


def network_script(names: Sequence[str], flag: str, model: str) -> str:
    """Return a script for Polygraphy's ``--trt-network-postprocess-script``; its head has the command."""
    words = ["polygraphy", "convert", model, f"--{flag}", "--precision-constraints", "obey"]
    words += ["--trt-network-postprocess-script", "fp32_layers.py:postprocess", "-o", "engine"]
    listed = "\n".join(["    ["] + [f"        {name!r}," for name in names] + ["    ]"])
    head, _, tail = _SCRIPT.partition("{names}")
    return head.replace("{command}", _one_line(shlex.join(words))) + listed + tail


def _one_line(text: str) -> str:
    """Keep a text inside a comment: a name or a path may hold line breaks."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
