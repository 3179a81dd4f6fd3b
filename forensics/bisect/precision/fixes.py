"""The files of a repair: the repaired model, and the same repair for trtexec, Polygraphy and AutoCast."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.casting.saving import save
from trtforensics.console.output import write_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from trtforensics.bisect.precision.casting.caster import Caster

_SPLITS_TREXEC = re.compile(r"[,:*\s]")
"""trtexec cuts ``--layerPrecisions`` at commas and colons and reads ``*`` as a wildcard."""

_SCRIPT = '''"""Keeps some layers in FP32; for TensorRT 10 and older (11 has strongly typed networks only).

polygraphy convert MODEL.onnx --{flag} --precision-constraints obey \\\\
    --trt-network-postprocess-script {file}:postprocess -o engine
"""

import tensorrt as trt

FP32_LAYERS = frozenset(
{names}
)


def postprocess(network):
    """Pin the layers, which the ONNX parser names after their nodes."""
    for index in range(network.num_layers):
        layer = network.get_layer(index)
        if layer.name in FP32_LAYERS:
            layer.precision = trt.float32
            for output in range(layer.num_outputs):
                layer.set_output_type(output, trt.float32)
'''

_AUTOCAST = """# NVIDIA ModelOpt AutoCast with the same nodes kept in FP32:
{command}
# AutoCast replaces a decomposed LayerNorm by LayerNormalization before it looks at names, so names inside one match
# nothing then: compare its result with model.onnx.
"""


def write_fixes(caster: Caster, chosen: Collection[str], folder: Path) -> Sequence[str]:
    """Write the files for a set of nodes into a folder, and return a line about each.

    Raises:
        OutputError: a file cannot be written.
    """
    keep = caster.kept(chosen)
    names = [name for name in caster.candidates if name in keep]
    save(caster, caster.cast(keep), folder / "model.onnx")
    write_text(folder / "trtexec.txt", trtexec_flags(names, caster.storage.name))
    write_text(folder / "fp32_layers.py", network_script(names, caster.storage.name))
    write_text(folder / "autocast.txt", autocast_command(names, caster))
    return (
        "model.onnx: the model with Casts, for a strongly typed build",
        "trtexec.txt: --layerPrecisions and --layerOutputTypes, for trtexec of TensorRT 10 and older",
        "fp32_layers.py: a network script for Polygraphy, TensorRT 10 and older",
        "autocast.txt: the exclude list for ModelOpt AutoCast; mind what it says of LayerNorm",
    )


def trtexec_flags(names: Sequence[str], flag: str) -> str:
    """Return trtexec's flags, one a line, quoted for the shell; a comment names each node that trtexec cannot name."""
    good = [name for name in names if not _SPLITS_TREXEC.search(name)]
    pairs = ",".join(f"{name}:fp32" for name in good)
    lines = [f"--{flag}", "--precisionConstraints=obey"]
    lines += [shlex.quote(f"{option}={pairs}") for option in ("--layerPrecisions", "--layerOutputTypes") if pairs]
    lines += [f"# trtexec cannot name this one: {name}" for name in names if name not in good]
    return "".join(f"{line}\n" for line in lines)


def network_script(names: Sequence[str], flag: str) -> str:
    """Return a script for Polygraphy's ``--trt-network-postprocess-script``."""
    listed = "\n".join(["    ["] + [f"        {name!r}," for name in names] + ["    ]"])
    return _SCRIPT.format(flag=flag, file="fp32_layers.py", names=listed)


def autocast_command(names: Sequence[str], caster: Caster) -> str:
    """Return AutoCast's command; it matches names by regular expressions from their beginning."""
    patterns = [f"^{re.escape(name)}$" for name in names]
    words = ["python", "-m", "modelopt.onnx.autocast", "--onnx_path", caster.prepared.path]
    words += ["--low_precision_type", caster.storage.name, *(["--nodes_to_exclude", *patterns] if patterns else [])]
    return _AUTOCAST.format(command=shlex.join(words))
