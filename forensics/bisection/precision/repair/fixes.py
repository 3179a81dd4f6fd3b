"""The files of a repair: the repaired model, the same repair for other tools, and a check of it on a GPU."""

import inspect
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import onnx

from trtforensics.bisection.precision.casting.caster import Caster, save
from trtforensics.bisection.precision.emulation import measures
from trtforensics.bisection.session.job import to_json
from trtforensics.console.output import write_text
from trtforensics.onnx_models.graphs import integer
from trtforensics.onnx_models.shapes import Sizes, sizes_by_tensor

GPU_CHECK = "check_on_gpu.py"
NAMED = "named.onnx"
"""Of a model whose nodes lack names of their own, which no tool could tell apart: TensorRT numbers equal names."""

_SPLITS_TREXEC = re.compile(r"[,:*\s]")
"""trtexec cuts ``--layerPrecisions`` at commas and colons and reads ``*`` as a wildcard."""

_MATRIX = 2
_HONOURED = "# TensorRT 8.5 to 10 (11 has strongly typed networks only: then build model.onnx instead).\n"


def write_fixes(caster: Caster, chosen: Collection[str], folder: Path) -> Sequence[str]:
    """Write the files for a set of nodes into a folder, and return a line about each."""
    folder.mkdir(exist_ok=True)
    layers = layers_of(caster, caster.kept(chosen))
    names = list(layers)
    precision, model = caster.storage.name, str(Path(caster.prepared.path).resolve())
    more: tuple[str, ...] = ()
    if caster.prepared.renamed:
        model, more = NAMED, (f"{NAMED}: the FP32 model with a name for each node, which the commands below build",)
        save(caster, caster.cast(caster.candidates), folder / NAMED)
    save(caster, caster.cast(caster.kept(chosen)), folder / "model.onnx")
    write_text(folder / "trtexec.txt", trtexec_command(layers, precision, model))
    write_text(folder / "fp32_layers.py", network_script(names, precision, model))
    write_text(folder / "autocast.txt", autocast_command(names, caster))
    return (
        "model.onnx: the model with Casts, for a strongly typed build",
        *more,
        "trtexec.txt: a trtexec command with the same layers in FP32, for TensorRT 8.5 to 10",
        "fp32_layers.py: a network script for Polygraphy, TensorRT 8.5 to 10",
        "autocast.txt: the exclude list for ModelOpt AutoCast; mind what it says of LayerNorm",
    )


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def layers_of(caster: Caster, keep: Collection[str]) -> dict[str, bool]:
    """Return the nodes that stay FP32 and are layers, in order, each with whether all of its outputs are floats."""
    nodes, sizes = caster.survey.nodes, sizes_by_tensor(caster.prepared.proto)
    return {
        name: bool(node.outputs) and len(node.outputs) == len(nodes[name].output)
        for name, node in caster.candidates.items()
        if name in keep and _is_layer(nodes[name], sizes)
    }


def _is_layer(node: onnx.NodeProto, sizes: Mapping[str, Sizes]) -> bool:
    """Whether TensorRT's parser makes a layer of a node that bears its name (seen in TensorRT-RTX 1.7.1)."""
    is_flat = len(sizes.get(node.input[0], ())) == _MATRIX and integer(node, "axis") in {None, 1}
    return node.op_type != "Dropout" and not (node.op_type == "Flatten" and is_flat)


def autocast_command(names: Sequence[str], caster: Caster) -> str:
    """Return AutoCast's command; it matches names by regular expressions from their beginning."""
    patterns = [f"^{re.escape(name)}$" for name in names]
    model = NAMED if caster.prepared.renamed else caster.prepared.path
    words = ["python", "-m", "modelopt.onnx.autocast", "--onnx_path", model]
    words += ["--low_precision_type", caster.storage.name, *(["--nodes_to_exclude", *patterns] if patterns else [])]
    return _template("autocast.txt").format(command=shlex.join(words))


def write_gpu_check(original: str, judged: Mapping[str, object], lowest: Mapping[str, float], folder: Path) -> str:
    """Write the script that checks a repair on a GPU, with what it judges by; return a line about it."""
    script = files(__package__).joinpath(GPU_CHECK).read_text(encoding="utf-8")
    carried = script.replace(f"from {measures.__name__} import peak_of, scores_of\n", inspect.getsource(measures))
    write_text(folder / GPU_CHECK, carried)
    settings = {"original": str(Path(original).resolve()), "judged": judged, "lowest": dict(lowest)}
    write_text(folder / "check_on_gpu.json", to_json(settings))
    return f"{GPU_CHECK}: builds and runs the original and a repair on a GPU with samples/, and prints the errors"


def trtexec_command(layers: Mapping[str, bool], flag: str, model: str) -> str:
    """Return a trtexec command with the precisions of :func:`layers_of`, or of ``model.onnx`` if a name forbids it."""
    nameless = [name for name in layers if _SPLITS_TREXEC.search(name)]
    if nameless:
        listed = "\n".join(f"#   {_one_line(name)}" for name in nameless)
        return _template("nameless.txt").replace("{names}", listed)
    words = ["trtexec", f"--onnx={model}", f"--{flag}", "--precisionConstraints=obey"]
    typed = [name for name, floats in layers.items() if floats]
    for option, names in (("--layerPrecisions", list(layers)), ("--layerOutputTypes", typed)):
        words += [f"{option}={','.join(f'{name}:fp32' for name in names)}"] if names else []
    return _HONOURED + " \\\n    ".join(map(shlex.quote, words)) + "\n"


def network_script(names: Sequence[str], flag: str, model: str) -> str:
    """Return a script for Polygraphy's ``--trt-network-postprocess-script``; its head has the command."""
    words = ["polygraphy", "convert", model, f"--{flag}", "--precision-constraints", "obey"]
    words += ["--trt-network-postprocess-script", "fp32_layers.py:postprocess", "-o", "engine"]
    listed = "\n".join(["    ["] + [f"        {name!r}," for name in names] + ["    ]"])
    head, _, tail = _template("fp32_layers.txt").partition("{names}")
    return head.replace("{command}", _one_line(shlex.join(words))) + listed + tail


def _one_line(text: str) -> str:
    """Keep a text inside a comment: a name or a path may hold line breaks."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
