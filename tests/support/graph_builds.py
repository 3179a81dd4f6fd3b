"""Builds with the facts that a graph is made of, written by hand."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from trtforensics.model.log import (
    Autotuning,
    Build,
    BuildLog,
    Choice,
    Coverage,
    EngineLayer,
    EngineTensor,
    Fusion,
    MessageCounts,
    OnnxNode,
    Outcome,
    ReformatLayer,
    Tool,
)
from trtforensics.model.span import LineCounts, SourceInfo, SourceSpan
from trtforensics.model.timings import TacticTimings, TimeSource


def no_timings() -> TacticTimings:
    """Return the timings of a build in which nothing was timed."""
    lines, texts = np.array([], np.int64), np.array([], np.int32)
    return TacticTimings(lines, np.array([], np.uint64), np.array([], np.float64), texts, lines, texts, texts, ())


def span(line: int) -> SourceSpan:
    return SourceSpan("build.log", line, 0)


def build(**facts: Any) -> Build:
    blank: dict[str, Any] = {
        "index": 0,
        "first_line": 1,
        "last_line": 999,
        "tool": Tool.TRTEXEC,
        "tensorrt_version": "10.16.1",
        "command": None,
        "outcome": Outcome.PASSED,
        "options": {},
        "autotuning": Autotuning(0, 0, 0, 0),
        "timings": no_timings(),
        "message_counts": MessageCounts(0, 0),
        "coverage": Coverage(
            verdict=True,
            engine_layers=True,
            tactics=True,
            times=None,
            options=False,
            model=False,
            own_lines=999,
            other_lines=0,
        ),
    }
    return Build(**({f.name: () for f in fields(Build)} | blank | facts))


def log(*builds: Build) -> BuildLog:
    return BuildLog(SourceInfo("build.log", 0, 0, ""), LineCounts(), 0, (), builds, np.array([], dtype=np.int64))


def onnx(name: str, op: str, reads: str, writes: str, line: int) -> OnnxNode:
    return OnnxNode(name, op, (name,), (reads,), (writes,), span(line))


def tensor(name: str, dtype: str = "Half", dims: tuple[int | str, ...] = (1, 8)) -> EngineTensor:
    return EngineTensor(name, dtype, dims)


def engine(name: str, reads: str, writes: str, line: int, **facts: Any) -> EngineLayer:
    blank: dict[str, Any] = {
        "type": "CaskConvolution",
        "tactic": 0x94119B4C514B211A,
        "tactic_name": "",
        "output_types": ("Half",),
        "onnx_nodes": (),
        "inputs": (tensor(reads),),
        "outputs": (tensor(writes),),
    }
    return EngineLayer(name=name, span=span(line), **(blank | facts))


def choice(**facts: Any) -> Choice:
    blank = {"layer": "conv1 + relu1", "runner": "CaskConvolution", "runner_id": None, "tactic": 7, "time_ms": 0.25}
    rest = {"runner_up_ms": None, "candidates": 2, "inputs": (), "outputs": (), "first_line": 50, "span": span(60)}
    return Choice(**(blank | rest | {"pass_index": 1, "final": True} | facts))


def small_build() -> Build:
    """Return conv1 -> relu1 -> pool as ONNX; the engine fuses the first two and reformats in front of pool."""
    copy = "Reformatting CopyNode for Input Tensor 0 to pool"
    made = "Reformatted Input Tensor 0 to pool"
    return build(
        onnx_nodes=(
            onnx("conv1", "Conv", "x", "c", 10),
            onnx("relu1", "Relu", "c", "r", 11),
            onnx("pool", "MaxPool", "r", "y", 12),
        ),
        fusions=(Fusion("ConvReluFusion", ("conv1", "relu1"), span(20), 0),),
        reformats=(ReformatLayer(made, "r", "Half(8,1)", "Float(8,1)", span(30), 0),),
        choices=(choice(),),
        engine_layers=(
            engine("conv1 + relu1", "x", "r", 100, choice=0, time_ms=0.25, time_is=TimeSource.TUNED),
            engine(copy, "r", made, 101, type="Reformat", tactic=None),
            engine("pool", made, "y", 102),
        ),
    )
