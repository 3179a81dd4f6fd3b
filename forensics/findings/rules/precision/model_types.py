"""What strong and weak typing make of the model's types: silent FP32 engines, Casts inside ForeignNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.membership import foreign_members
from trtforensics.engines.requests import allows, precision_fact, strongly_typed
from trtforensics.findings.engine_facts import FULL, layer_types, output_types, spans_of
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import autocast, trtexec, typed
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

_REDUCTIONS = {"LayerNormalization", "Softmax", "Pow", "ReduceMean", "ReduceSum", "InstanceNormalization"}


@rule(
    "TF213",
    Severity.NOTE,
    "The engine computes in FP32 throughout",
    cause="A strongly typed network takes its types from the model: an FP32 model gives an FP32 engine, silently. "
    "TensorRT 11 and TensorRT-RTX always build strongly typed, and have no --fp16 to change that.",
    confirm="The engine's dump shows FP32 outputs only; the model's weights are FP32.",
    fixes=(Fix("Convert the model: python -m modelopt.onnx.autocast --onnx_path MODEL, then build that.", "10"),),
    sources=("roboflow/rf-detr#1453", "the 10.x to 11.x migration guide"),
)
def silent_float(case: Case) -> Iterator[Observation]:
    """Report an engine with FP32 outputs only, where it is strongly typed or a reduced type was allowed."""
    layers = [layer for layer in case.engine if output_types(layer)]
    hidden = any(is_foreign_node(layer.name) for layer in layers)  # their inner types are not printed
    if not layers or hidden or any(layer_types(layer) - {FULL} for layer in layers):
        return
    fact = precision_fact(case.build)
    spans = [*([fact.span] if fact else []), *(n.span for n in case.notes("strongly_typed")), *spans_of(layers)]
    if strongly_typed(case.build):
        title = f"All {len(layers)} layers of this strongly typed engine give FP32"
        yield Observation(title, spans, steps=_converted(case), same_as="typed")
    elif allows(case.build, "FP16", "BF16", "INT8"):
        yield Observation(
            f"A reduced precision was allowed, but all {len(layers)} layers give FP32",
            spans,
            cause="TensorRT was free to use a reduced type and found none faster, or constraints keep all layers in "
            "FP32.",
            confidence=Confidence.LIKELY,
            settle="A detailed engine dump: types inside a layer are not printed otherwise",
            same_as="allowed",
        )


@rule(
    "TF215",
    Severity.WARNING,
    "FP32 islands of the model are inside a ForeignNode",
    cause="With weak typing TensorRT folds Casts that follow each other and picks types again: what the model computes "
    "in FP32 between two Casts may run in FP16.",
    confirm="Build strongly typed and compare; or mark the tensors between the Casts.",
    fixes=(Fix("Build with --stronglyTyped: the model's Casts are then binding.", "10"),),
    sources=("public reports of FP16 models with FP32 islands", "NVIDIA/TensorRT#4540"),
)
def islands(case: Case) -> Iterator[Observation]:
    """Count the Casts that ForeignNodes hold, where types are not binding."""
    held = foreign_members(case.build)
    casts = [node for node in case.build.onnx_nodes if node.op == "Cast" and node.name in held]
    if len(casts) > 1 and not strongly_typed(case.build) and allows(case.build, "FP16", "BF16"):
        between = [n for n in case.build.onnx_nodes if n.op in _REDUCTIONS and n.name in held]
        typed_build = trtexec(case, "--stronglyTyped")
        yield Observation(
            f"{counted(len(casts), 'Cast')} of the model are inside "
            f"{listed(sorted({held[c.name].name for c in casts}), 1)}, "
            "where weak typing need not keep them",
            [node.span for node in casts],
            confidence=Confidence.POSSIBLE,
            settle="A strongly typed build, in which Casts are binding, compared with this one",
            onnx_nodes=[node.name for node in (*casts, *between)],
            layers=sorted({held[node.name].name for node in casts}),
            steps=(Step("Build with the model's types", typed_build),) if typed_build else (),
            same_as="islands",
        )


def _converted(case: Case) -> tuple[Step, ...]:
    cast = autocast(case, "--low_precision_type", "fp16")
    return Step(f"If FP16 was meant: {cast.what}", cast.command), typed(case)
