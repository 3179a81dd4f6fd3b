"""Where FP16 loses digits or speed: LayerNorm, weights, hardware without fast FP16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import count, listed, observe
from trtforensics.findings.precision import WEAK_FLAGS, foreign_members
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import model_path, trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode


@rule(
    "TF202",
    Severity.WARNING,
    "LayerNorm runs in FP16 and may overflow",
    cause="The squares that a LayerNorm adds up pass 65504 easily; FP16 then holds infinity, and the layers after it "
    "NaN or noise. On an A100 a model lost more than 20 % of its accuracy that way.",
    confirm="Mark the output of each LayerNorm and compare it with FP32; look for infinity and NaN.",
    fixes=(
        "Export with opset 17 or later: LayerNormalization becomes one node, which TensorRT normalises in FP32.",
        Fix(
            "Ask for FP32: --layerPrecisions=NAME:fp32 --precisionConstraints=obey. Inside a ForeignNode it does not "
            "reach (TF201).",
            "8.4",
            "11",
        ),
        Fix("Keep LayerNormalization out of AutoCast: --op_types_to_exclude LayerNormalization.", "10"),
    ),
    sources=("NVIDIA/TensorRT#2781, #3692, #2564, #4493", "pytorch/TensorRT#2730, #4061"),
)
def layernorm(case: Case) -> Iterator[Observation]:
    """Collect both warnings and name the nodes: from the warning, else from the parser's lines."""
    notes = case.notes("layernorm_fp16", "layernorm_overflow")
    if not notes:
        return
    said = " ".join(note.text("text") for note in notes if note.kind == "layernorm_fp16")
    known = {node.name: node for node in case.build.onnx_nodes}
    named = [node for name, node in known.items() if name and name in said]
    nodes = named or [node for node in known.values() if node.op == "LayerNormalization"]
    held = foreign_members(case.build)
    inside = sorted({held[node.name].name for node in nodes if node.name in held})
    where = f" inside {listed(inside, 2)}" if inside else ""
    what = listed([node.name for node in nodes]) if nodes else "LayerNorm"
    yield Observation(
        f"TensorRT warns that {what} runs in FP16{where} and may overflow",
        [note.span for note in notes] + [node.span for node in nodes],
        layers=inside,
        onnx_nodes=[node.name for node in nodes],
        steps=_keep_float(case, nodes),
        same_as="layernorm",
    )


def _keep_float(case: Case, nodes: list[OnnxNode]) -> tuple[Step, ...]:
    """Return the commands that keep these nodes in FP32: AutoCast from 10 on, layer precisions before."""
    if case.version is None or case.version.has("10"):
        names = " ".join(f"'{node.name}'" for node in nodes)
        what = f"--nodes_to_exclude {names}" if names else "--op_types_to_exclude LayerNormalization"
        cast = f"python -m modelopt.onnx.autocast --onnx_path {model_path(case)} --output_path mixed.onnx"
        typed = trtexec(case, "--onnx=mixed.onnx", "--stronglyTyped", without=WEAK_FLAGS)
        return Step("Keep them in FP32 in the model", f"{cast} {what}"), Step("and build strongly typed", typed)
    flag = ",".join(f"{node.name}:fp32" for node in nodes) or "NAME:fp32"
    asked = trtexec(case, f"--layerPrecisions={flag}", f"--layerOutputTypes={flag}", "--precisionConstraints=obey")
    return (Step("Ask for FP32", asked),)


@rule(
    "TF208",
    Severity.WARNING,
    "Weights do not fit into FP16",
    cause="Weights were rounded to subnormal numbers, to zero's neighbour or to the largest number of FP16 when they "
    "were converted. Subnormals lose digits; overflow changes the model.",
    confirm="The verbose log lists the weights; look at their smallest and largest values in the model.",
    fixes=(
        "Keep the layers named in FP32, or clip and regularise their weights in training.",
        Fix("AutoCast leaves weights beyond --init_max in FP32.", "10"),
    ),
    sources=("logs of 8.4 and 8.5", "NVIDIA/TensorRT#3101"),
)
def weights(case: Case) -> Iterator[Observation]:
    """Count the weights; overflow is an error."""
    notes = case.notes("weights_affected", "weights_issue", "weights_layer")
    if not notes:
        return
    summed = sum(int(note.number("count") or 0) for note in notes if note.kind == "weights_affected")
    layers = list(dict.fromkeys(note.text("layer") for note in notes if note.kind == "weights_layer"))
    overflow = [note for note in notes if "overflow" in note.text("text")]
    how = "overflowed" if overflow else "became subnormal or too small"
    number = summed or len(layers)
    yield Observation(
        f"{count(number, 'weight tensor')} {how} when converted to FP16" + (f": {listed(layers)}" if layers else ""),
        [note.span for note in notes],
        layers=layers,
        severity=Severity.ERROR if overflow else Severity.WARNING,
        same_as=how,
    )


@rule(
    "TF209",
    Severity.WARNING,
    "This hardware is slow in FP16",
    cause="The GPU has no fast FP16 arithmetic: FP16 costs accuracy and gains nothing.",
    confirm="Build with and without FP16 and compare throughput.",
    fixes=("Build in FP32 for this GPU.",),
    sources=("8.x logs",),
)
def slow_half(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    step = Step("Build in FP32", trtexec(case, without=("--fp16", "--best")))
    yield from observe(case.notes("fp16_slow"), "This GPU has no fast FP16", steps=(step,))
