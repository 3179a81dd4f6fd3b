"""``python -m tests.benchmarks.reductions [--runs N] [--seed N]``: random reductions, judged by brute force.

A model is drawn (bodies, functions, quantization, files of weights, operator sets 9 to 23) and a failure is planted:
nodes that must be there together, or one that another must feed. A check looks for that; it may miss one failure in
five, hang or crash on some models, and the process may be killed at some probe and go on. Each run is a process of its
own; probes are judged in it. At the end the failure itself is looked for in the answer, and in the answer without
each of its nodes: an answer that is certified and does not fail, or has a needless node, is a false certificate.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from tests.support.drawn_models import drawn_model
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Verdict
from trtforensics.onnx_models.cutting import UnknownValueError, take_apart
from trtforensics.onnx_models.graphs import nodes_of
from trtforensics.reduce.deriving import Deriver, file_of, record
from trtforensics.reduce.graph_lever import ReductionLever
from trtforensics.reduce.running import reduce_model
from trtforensics.reduce.simplifying import simplifications_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.bisection.runner.probe import ProbeSpec

    Fails = Callable[[onnx.ModelProto], bool]

MISSED = 0.2
_KILLED = 9
_SHOWN = 25
_CHECK = "check {model}"


def planted(names: Sequence[str], edges: Sequence[tuple[str, str]], draws: random.Random) -> Fails:
    """Return a failure: some nodes together, or a node that feeds another, or either of two sets of nodes."""
    form = draws.choice(("together", "edge", "either", "without"))
    some = draws.sample(list(names), min(len(names), draws.randint(1, 3)))
    if form == "edge" and edges:
        edge = draws.choice(list(edges))
        return lambda model: edge in set(edges_of(model))
    others = draws.sample(list(names), min(len(names), 2))

    def fails(model: onnx.ModelProto) -> bool:
        present = {node.name for node in nodes_of(model.graph)}
        if form == "either":
            return present.issuperset(some) or present.issuperset(others)
        if form == "without":  # not monotone: the second node hides the failure unless the first of the others is there
            return present.issuperset(some) and (others[-1] not in present or others[0] in present)
        return present.issuperset(some)

    return fails


def edges_of(model: onnx.ModelProto) -> list[tuple[str, str]]:
    """Return pairs of nodes of which one reads what the other makes."""
    nodes = list(nodes_of(model.graph))
    makers = {name: node.name for node in nodes for name in node.output}
    return [(makers[name], node.name) for node in nodes for name in node.input if name in makers]


class PlantedLever(ReductionLever):
    """The lever, with a planted failure as its check."""

    fails: Fails
    manner = ""
    draws: random.Random
    probes = 0
    killed_at = 0

    def run(self, spec: ProbeSpec, commands: Callable[[ProbeSpec], ProbeOutcome]) -> ProbeOutcome:
        """Judge a probe here, in the manner of a check that misses, hangs, crashes, or is killed with its process."""
        del commands
        return super().run(spec, self._judged_here)

    def _judged_here(self, spec: ProbeSpec) -> ProbeOutcome:
        self.probes += 1
        if self.probes == self.killed_at:
            os._exit(_KILLED)
        content = Path(spec.values["model"]).read_bytes()
        odd = zlib.crc32(content) % 20
        if self.manner in {"hanging", "crashing"} and odd == 0 and not self.is_whole(spec):
            return ProbeOutcome(Verdict.UNRESOLVED, "the check timed out" if self.manner == "hanging" else "signal 11")
        fails = self.fails(onnx.load(spec.values["model"]))
        if fails and self.manner == "flaky" and self.draws.random() < MISSED and not self.is_whole(spec):
            fails = False
        (Path(spec.folder) / "check.log").write_text("ValueError: the planted failure\n" if fails else "")
        ended = (Ended(1 if fails else 0, 0.0, 0),)
        return (
            ProbeOutcome(Verdict.BAD, "exit status 1", checks=ended)
            if fails
            else ProbeOutcome(Verdict.GOOD, "exit status 0", checks=ended)
        )

    def is_whole(self, spec: ProbeSpec) -> bool:
        """Whether a probe is the original."""
        return self._is_whole(Path(spec.folder))


def reduction(folder: Path, seed: int, manner: str, *, killed: bool) -> dict[str, Any]:
    """Reduce the model of a folder; return the answer and what brute force says of it."""
    draws = random.Random(seed)
    original = take_apart(str(folder / "model.onnx"))
    file = file_of(original)
    recording = record(original, {"x": np.random.default_rng(seed).normal(0, 1, (2, 3, 4)).astype(np.float32)})
    names = [node.name for node in original.nodes]
    whole = onnx.load(folder / "model.onnx", load_external_data=False)
    named = [name for name in names if name in {node.name for node in nodes_of(whole.graph)}]
    if not named:
        return {"status": "nothing planted"}
    fails = planted(named, edges_of(whole), draws)
    if not fails(whole) or not fails(original.model):
        return {"status": "nothing planted"}
    simpler = simplifications_of(original, anonymous=False, sample=recording.values) if draws.random() < 0.3 else ()
    deriver = Deriver(original, recording, (*simpler, *file.simplifications), file)
    lever = PlantedLever(deriver, folder / "out", commands=(None, _CHECK))
    lever.fails, lever.manner, lever.draws = fails, manner, random.Random(os.getpid() if manner == "flaky" else seed)
    lever.killed_at = draws.randint(2, 12) if killed else 0
    answer, _ = reduce_model(folder / "out", lever, RunOptions(check=_CHECK, build_failure="bad"), lambda _: None)
    left = frozenset(lever.original.by_name[each.item] for each in answer.reduction.left)
    everything = frozenset(range(len(lever.items)))
    simple = frozenset(index for index in everything if index >= len(names))
    result: dict[str, Any] = {"status": answer.search.status, "left": len(left), "builds": answer.search.builds}
    result["fails"] = bool(left) and fails(onnx.load(folder / "out" / "fixed" / "reduced.onnx"))
    needless = []
    for index in left if len(left) > 1 else ():
        try:
            needless += [names[index]] if fails(deriver.derive((left - {index}) | simple).model) else []
        except UnknownValueError:
            result["uncuttable"] = True
    return {**result, "needless": needless}


def in_child(folder: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run something in a process of its own."""
    child = os.fork()
    if not child:
        status = 1
        try:
            (folder / "result").write_text(json.dumps(work()))
            status = 0
        finally:
            if status:
                (folder / "result").write_text(json.dumps({"status": "crashed", "why": traceback.format_exc()[-600:]}))
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == _KILLED:
        return {"status": "killed"}
    result: dict[str, Any] = json.loads((folder / "result").read_text())
    return result


def main() -> None:
    """Draw, reduce, judge, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    begin, counts, false, resumed, number, runs = time.monotonic(), Counter[str](), 0, 0, 0, 0
    while runs < args.runs:
        number += 1
        seed = args.seed * 100_000 + number
        draws = random.Random(seed)
        drawn = drawn_model(draws, most=5)
        manner = draws.choice(("steady", "steady", "flaky", "hanging", "crashing"))
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            path = str(folder / "model.onnx")
            onnx.save(drawn.model, path, save_as_external_data=drawn.external, location="weights", size_threshold=0)
            killed = draws.random() < 0.3
            result = in_child(folder, partial(reduction, folder, seed, manner, killed=killed))
            if result["status"] == "killed":
                resumed += 1
                result = in_child(folder, partial(reduction, folder, seed, manner, killed=False))
        if result["status"] == "nothing planted":
            continue
        runs += 1
        counts[f"{manner}: {result['status']}"] += 1
        wrong = result["status"] == "crashed" or (
            result["status"] == "certified" and (not result["fails"] or bool(result["needless"]))
        )
        false += wrong
        if runs % _SHOWN == 0:
            print(f"{runs} reductions, {false} of them wrong", flush=True)
        if wrong:
            print(f"run {number}, {manner}, {'killed' if killed else 'whole'}: {result}", flush=True)
    print(f"{runs} reductions, {resumed} of them killed and resumed: {dict(sorted(counts.items()))}")
    print(f"{false} false certificates or crashes, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if false else 0)


if __name__ == "__main__":
    main()
