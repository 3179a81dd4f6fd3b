"""INT8, FP8 and FP4: types that the hardware emulates, missing ranges, unused calibrators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.requests import allows, precision_fact, strongly_typed
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.layers import (
    FULL,
    cost_of,
    is_quantised,
    layer_types,
    output_types,
    runs_in,
    severity_of,
    spans_of,
)
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import given_flags, options, trtexec
from trtforensics.model.layer_types import COMPUTES_NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@explained("TF212")
def calibrator(case: Case) -> Iterator[Observation]:
    """Report an ignored calibrator, and INT8 without one; trtexec makes one up where --calib gives none."""
    explicit = case.notes("calibrator_explicit")
    if options(case) and "--calib" not in given_flags(case):
        title = "The model has Q/DQ, so the calibrator that trtexec makes up is not used; that is as it should be"
        yield from observe(explicit, title, severity=Severity.NOTE)
    else:
        unused = case.notes("calibrator_unused")
        yield from observe(explicit, "The model has Q/DQ, so the calibrator is ignored")
        title = "INT8 is on without a calibrator: every tensor needs a range"
        yield from observe(unused, title, severity=Severity.NOTE)


_PLACEHOLDERS = {"-2,2]", "-4,4]"}
"""The ranges that trtexec sets where it has none: 2 for inputs, 4 for every other tensor."""


@explained("TF219")
def uncalibrated(case: Case) -> Iterator[Observation]:
    """Report ranges that are all placeholders, or INT8 without a calibration cache for a model without Q/DQ."""
    notes = case.notes("dynamic_range")
    made_up = [note for note in notes if note.text("text").replace(" ", "") in _PLACEHOLDERS]
    if len(made_up) > 1 and len(made_up) == len(notes):
        title = f"The INT8 ranges of {counted(len(made_up), 'tensor')} are trtexec's placeholders [-4,4] and [-2,2]"
        unused = runs_in(case, "Int8") is False
        title += "; no layer of the engine is of INT8" if unused else ""
        yield from observe(made_up, title, severity=Severity.NOTE if unused else None, same_as="uncalibrated")
        return
    precision = precision_fact(case.build)
    calibration = next(iter(case.printed("build", "Calibration")), None)
    if precision is None or calibration is None or is_quantised(case) or not allows(case.build, "INT8"):
        return
    if calibration.value.strip() in {"", "Dynamic"}:
        known = bool(case.build.onnx_nodes)
        yield Observation(
            "INT8 is allowed without a calibration cache" + (", and the model has no Q/DQ" if known else ""),
            (precision.span, calibration.span),
            settle="" if known else "Whether the model has Q/DQ nodes, which need no calibration",
            same_as="uncalibrated",
        )


@explained("TF221")
def absorbed_casts(case: Case) -> Iterator[Observation]:
    """Report fused attention kernels whose metadata lists a Softmax and a Cast."""
    ops = {node.name: node.op for node in case.build.onnx_nodes}
    for layer in case.engine:
        mine = [ops.get(node, "") for node in layer.onnx_nodes]
        if "_mha" in layer.name and "Softmax" in mine and "Cast" in mine and FULL not in output_types(layer):
            casts = [node for node in layer.onnx_nodes if ops.get(node) == "Cast"]
            yield Observation(
                f"{counted(len(casts), 'Cast')} around a Softmax {'is' if len(casts) == 1 else 'are'} absorbed into "
                f"{layer.name}",
                (layer.span, *(node.span for node in case.build.onnx_nodes if node.name in casts)),
                settle="The results with the scores marked as an output, compared with these",
                layers=(layer.name,),
                onnx_nodes=layer.onnx_nodes,
                same_as="absorbed",
            )


@explained("TF245")
def int8_alone(case: Case) -> Iterator[Observation]:
    """Report trtexec's hint, and the layers of a quantised engine that no option lets leave FP32."""
    title = "INT8 is allowed without FP16: layers that do not run in INT8 run in FP32"
    notes, precision = case.notes("int8_hint"), precision_fact(case.build)
    narrow = any("Int8" in layer_types(layer) for layer in case.engine)
    left = [layer for layer in case.engine if layer.type not in COMPUTES_NOTHING and layer_types(layer) == {FULL}]
    steps = (Step("Allow FP16 too", trtexec(case, "--fp16")),)
    silent = precision is None or strongly_typed(case.build) or allows(case.build, "FP16", "BF16")
    if precision is None or silent or not (narrow and left):
        yield from observe(notes, title, steps=steps)
        return
    cost = cost_of(case, left)
    yield Observation(
        f"INT8 without FP16: {len(left)} of {counted(len(case.engine), 'layer')} compute in FP32 or write nothing else",
        [*(note.span for note in notes), precision.span, *spans_of(left)],
        severity=severity_of(cost),
        layers=[layer.name for layer in left],
        steps=steps,
        same_as=title,
        cost=cost,
    )
