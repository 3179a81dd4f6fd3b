"""The files of a repair: the repaired model, the same repair for other tools, and a check of it on a GPU."""

from __future__ import annotations

import json
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.casting.saving import save
from trtforensics.bisect.precision.fixes.constraints import KeptLayer, network_script, trtexec_command
from trtforensics.console.output import write_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from trtforensics.bisect.precision.casting.caster import Caster

SAFE_FOLDER = "safe"
"""Where the safe repair lies, inside the folder of the minimal one."""

GPU_CHECK = "check_on_gpu.py"

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
    folder.mkdir(exist_ok=True)
    layers = layers_of(caster, caster.kept(chosen))
    names = [layer.name for layer in layers]
    precision, model = caster.storage.name, str(Path(caster.prepared.path).resolve())
    save(caster, caster.cast(caster.kept(chosen)), folder / "model.onnx")
    write_text(folder / "trtexec.txt", trtexec_command(layers, precision, model))
    write_text(folder / "fp32_layers.py", network_script(names, precision, model))
    write_text(folder / "autocast.txt", autocast_command(names, caster))
    return (
        "model.onnx: the model with Casts, for a strongly typed build",
        "trtexec.txt: a trtexec command with the same layers in FP32, for TensorRT 8.5 to 10",
        "fp32_layers.py: a network script for Polygraphy, TensorRT 8.5 to 10",
        "autocast.txt: the exclude list for ModelOpt AutoCast; mind what it says of LayerNorm",
    )


def layers_of(caster: Caster, keep: Collection[str]) -> list[KeptLayer]:
    """Return the nodes that stay FP32 in the order of the model."""
    return [
        KeptLayer(name, bool(node.outputs) and len(node.outputs) == len(caster.survey.nodes[name].output))
        for name, node in caster.candidates.items()
        if name in keep
    ]


def autocast_command(names: Sequence[str], caster: Caster) -> str:
    """Return AutoCast's command; it matches names by regular expressions from their beginning."""
    patterns = [f"^{re.escape(name)}$" for name in names]
    words = ["python", "-m", "modelopt.onnx.autocast", "--onnx_path", caster.prepared.path]
    words += ["--low_precision_type", caster.storage.name, *(["--nodes_to_exclude", *patterns] if patterns else [])]
    return _AUTOCAST.format(command=shlex.join(words))


def write_gpu_check(original: str, judged: Mapping[str, object], lowest: float, folder: Path) -> str:
    """Write the script that checks a repair on a GPU, with what it judges by, and return a line about it.

    ``judged`` gives the metrics and the tolerances of each output; values below ``lowest`` mark masked positions.

    Raises:
        OutputError: a file cannot be written.
    """
    script = files(__package__).joinpath(GPU_CHECK).read_text(encoding="utf-8")
    write_text(folder / GPU_CHECK, script)
    settings = {"original": str(Path(original).resolve()), "judged": judged, "lowest": lowest}
    write_text(folder / "check_on_gpu.json", json.dumps(settings, indent=1, ensure_ascii=False) + "\n")
    return f"{GPU_CHECK}: builds and runs the original and a repair on a GPU with samples/, and prints the errors"
