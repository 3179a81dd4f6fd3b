"""What no rule reads is counted, sampled and told, and changes nothing else."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import document
from trtforensics.render.log_text import summarise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

INVENTED = (
    "Quantum tuner: probing layer conv1",
    "Widget count: 17",
    "Frobnicating the tensor t1 (Half[1,2,3])",
    "SuperFusion: joining A and B",
    "After imaginary fusions",
    ">>>>> Picked Runner Kind: Foo Tactic: 0x12",
    "Tactic 0x12 took 0.5 ms",
    "Tacticool: 0x1234 Time: 0.5",
    "Name of the layer is conv1",
    "Layer conv1 was skipped because of reasons",
    "Foo",
    "[MemUsageDelta] Init XYZ: CPU +2",
    "Memory: 17 MiB",
    "Engine created in the cloud",
    "Setting default gizmo for conv1",
    "conv1 (Foo) profiling halted after 3 seconds",
    "=============== Guessing costs for conv1",
    "*************** Dreaming of format combination: Float(1) ***************",
    "--------------- Timing Walker: conv1 (Foo)",
    "Reformatting dreams for conv1",
    "Registering whatsit: conv1 for ONNX node: conv1",
    "Searching for output: t1",
    "Parsing dreams: conv1 [Conv]",
    "Walking: Imagination on conv1",
    "Total Joy Memory: 12",
    "Some weights are sad",
    "Trying to load gizmo library lib.so",
    "Compute precision of layer conv1 is odd",
    "Detected 1 inputs and 2 outtakes",
    "Global cache was unhappy",
    "The quick brown fox",
    "a: b",
    "a = b",
    "x -> y",
    "(foreignNode) Autodreaming op x: ",
    "Using cuBLASX as a tactic source",
    "Constraint ignored: layer conv1 wanted FP32",
    "No gizmo found for layer conv1",
    "Backend 5 selected",
    "Strategy gamma starts",
    "GPU 0 has 17 gizmos",
    "Total: 17",
    "Warning: sky falls",
    "error: nothing",
    "1234",
    "0xdeadbeef",
    "{ForeignNode[a...b]}",
    "conv1 + relu1",
    '{"json": 1}',
    "100%",
)
"""Fifty lines that no TensorRT prints, some of them close to what it does print."""

PREFIXES = ("[11/21/2026-10:00:00] [V] [TRT] ", "[11/21/2026-10:00:00] [I] ", "[TRT] [V] ", "[V] ")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_invented_lines_in_a_log_are_all_unknown(
    prefix: str, load: Callable[[str], BuildLog], samples: list[Path]
) -> None:
    text = next(path for path in samples if path.name == "emulated-trtexec-8.6.log").read_text()
    plain = load(text)
    lines = text.split("\n")
    pick = random.Random(prefix)
    for body in INVENTED:
        lines.insert(pick.randrange(1, len(lines) - 3), prefix + body)
    log = load("\n".join(lines))
    assert log.lines.unknown == plain.lines.unknown + len(INVENTED)
    assert log.lines.typed == plain.lines.typed
    assert sum(sample.count for sample in log.unknown_samples) <= len(INVENTED)
    assert len(log.unknown_samples) == 20
    assert f"{len(INVENTED)} lines of {log.unknown_shapes} shapes were not understood" in summarise(log)
    said = [[len(build[part]) for part in ("choices", "cached", "engine_layers")] for build in document(log)["builds"]]
    assert said == [[len(b.choices), len(b.cached), len(b.engine_layers)] for b in plain.builds]
