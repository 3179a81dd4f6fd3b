"""Judges models for the benchmark of ``reduce``: a real build by TensorRT-RTX, or the emulated twin."""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.search import Verdict
from trtforensics.console.output import write_bytes
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.reduce.failure import NUMBERS, Failure, Names, failure_of
from trtforensics.reduce.graph_lever import judge_numbers
from trtforensics.trt.build import BuildJob, build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import onnx

NOT_JUDGED = "not judged"
_LOCK = threading.Lock()


class Oracle:
    """Says how a model fails; ``kind`` is ``rtx`` or ``fp16``. Builds run in this process, their logs go to a file."""

    def __init__(self, kind: str, folder: Path) -> None:
        self._kind = kind
        self._folder = folder
        self.checks = 0

    def failure(self, model: onnx.ModelProto, inputs: Mapping[str, Any] | None, cut: frozenset[str]) -> Failure | None:
        """Return how a model fails, None where it passes; without inputs on random ones."""
        self.checks += 1
        path = self._folder / "model.onnx"
        write_bytes(path, model.SerializeToString())
        if self._kind == "rtx":
            return self._built(model, path)
        feed = inputs if inputs is not None else random_samples(model, {}, 1)[0]
        verdict, _, failure = judge_numbers(path, feed, cut, STORAGES["fp16"])
        if verdict is Verdict.UNRESOLVED:
            return Failure(NUMBERS, NOT_JUDGED)
        return failure

    def _built(self, model: onnx.ModelProto, path: Path) -> Failure | None:
        log = self._folder / "build.log"
        job = BuildJob(
            "tensorrt_rtx", str(path), str(self._folder / "report.json"), typed=False, compute_capability="SM89"
        )
        with _LOCK, log.open("wb") as sink:
            kept = [os.dup(stream) for stream in (1, 2)]
            sys.stdout.flush()
            for stream in (1, 2):
                os.dup2(sink.fileno(), stream)
            try:
                report = build(job)
            finally:
                for stream, before in zip((1, 2), kept, strict=True):
                    os.dup2(before, stream)
                    os.close(before)
        (self._folder / "report.json").write_text(json.dumps(asdict(report)))
        if report.built:
            return None
        return failure_of(self._folder, ProbeOutcome(Verdict.BAD, "", Ended(1, 0.0, 0)), names_of(model))


def names_of(model: onnx.ModelProto) -> Names:
    """Return the names of a model's nodes and tensors, those of subgraphs too."""
    nodes = list(_nodes(model.graph))
    makers = {name: node.name for node in nodes for name in node.output}
    others = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    return Names({node.name: node.op_type for node in nodes}, makers, frozenset(others))


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from _nodes(attribute.g) if attribute.HasField("g") else ()
