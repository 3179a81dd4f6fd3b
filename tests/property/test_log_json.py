"""The document of a log says what the records say, and every record is printed as ``json.dumps`` prints it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.model.timings import NO_TACTIC, Candidate
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic
from trtforensics.render.json_text import kernel_facts
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import Build, BuildLog


@cache
def log() -> BuildLog:
    """Return the log whose build is changed; it is read when a test asks for it."""
    path = Path(__file__).resolve().parents[2] / "testdata" / "logs" / "emulated-trtexec-10.16-three-passes.log"
    return load_build_log([str(path)])


NAMES = st.text(max_size=4) | st.sampled_from(('"', "\\", "}, {", "\n", "\x1e", "é", "\u2028", "a%s"))
TACTICS = st.sampled_from((None, NO_TACTIC, 0, 7, (1 << 64) - 1))
TIMES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


def told(kernel: str, splits: int | None = None, outputs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what a record says of its kernel."""
    facts = read_tactic(kernel, splits, outputs)
    evidence = str(read_kernel(kernel).evidence("accumulator"))
    accumulator = {"type": facts.accumulator, "evidence": evidence} if facts.accumulator else None
    return {"accumulator": accumulator, "kernel_facts": kernel_facts(facts)}


def tactic(value: int | None) -> str | None:
    return None if value in (None, NO_TACTIC) else f"0x{value:016x}"


EXPECTED: dict[str, Callable[[Build], list[dict[str, Any]]]] = {
    "stages": lambda build: [
        {"stage": s.name, "layers": s.layers, "line": s.span.line, "pass": s.pass_index} for s in build.stages
    ],
    "fusions": lambda build: [
        {"kind": f.kind, "inputs": f.inputs, "line": f.span.line, "pass": f.pass_index} for f in build.fusions
    ],
    "onnx_nodes": lambda build: [
        {"name": n.name, "op": n.op, "layers": n.layers, "line": n.span.line} for n in build.onnx_nodes
    ],
    "choices": lambda build: [
        {
            "layer": c.layer,
            "runner": c.runner,
            "runner_id": c.runner_id,
            "tactic": tactic(c.tactic),
            "time_ms": c.time_ms,
            "runner_up_ms": c.runner_up_ms,
            "candidates": c.candidates,
            "inputs": c.inputs,
            "outputs": c.outputs,
            "line": c.span.line,
            "pass": c.pass_index,
            "final": c.final,
            "kernel": c.kernel or None,
            **told(c.kernel, c.splits, c.outputs),
        }
        for c in build.choices
    ],
    "engine_layers": lambda build: [
        {
            "name": e.name,
            "type": e.type,
            "tactic": tactic(e.tactic),
            "tactic_name": e.tactic_name or None,
            "output_types": e.output_types,
            "compute_precision": e.compute_precision,
            "onnx_nodes": e.onnx_nodes,
            "time_ms": e.time_ms,
            "time_is": e.time_is,
            "profile": e.profile,
            "choice": e.choice,
            "cached": e.cached,
            "origin": e.origin or None,
            "file": None,
            "line": e.span.line,
        }
        for e in build.engine_layers
    ],
    "timing_cache_keys": lambda build: [
        {
            "op": m.op,
            "key": m.key,
            "selected": tactic(m.selected),
            "time_ms": m.time_ms,
            "candidates": [
                {"tactic": tactic(c.tactic), "time_ms": c.time_ms, "kernel": c.kernel, **told(c.kernel)}
                for c in m.candidates
            ],
            "line": m.span.line,
        }
        for m in build.myelin_operations
        if m.key
    ],
    "myelin_operations": lambda build: [
        {
            "op": m.op,
            "foreign_node": m.foreign_node or None,
            "onnx_nodes": m.onnx_nodes,
            "key": m.key or None,
            "selected": tactic(m.selected),
            "time_ms": m.time_ms,
            "candidates": len(m.candidates),
            "line": m.span.line,
            "pass": m.pass_index,
        }
        for m in build.myelin_operations
    ],
}


@examples(60)
@given(st.lists(st.tuples(NAMES, TACTICS, TIMES), min_size=1, max_size=4))
def test_a_record_is_a_line_as_json_dumps_prints_it(drawn: list[tuple[str, int | None, float | None]]) -> None:
    (build,) = log().builds
    build = replace(
        build,
        stages=[replace(build.stages[0], name=name) for name, _, _ in drawn],
        fusions=[replace(build.fusions[0], inputs=(name, name)) for name, _, _ in drawn],
        onnx_nodes=[replace(build.onnx_nodes[0], name=name, layers=(name,)) for name, _, _ in drawn],
        choices=[
            replace(build.choices[0], layer=name, tactic=number, time_ms=ms, inputs=(name,))
            for name, number, ms in drawn
        ],
        engine_layers=[
            replace(build.engine_layers[0], name=name, tactic=number, tactic_name=name, origin=name, choice=None)
            for name, number, _ in drawn
        ],
        myelin_operations=[
            replace(
                build.myelin_operations[0],
                op=name,
                key=name,
                selected=number,
                time_ms=ms,
                candidates=(Candidate(number, ms, "", name, 1), Candidate(None, None, "", name, 2)),
            )
            for name, number, ms in drawn
        ],
    )
    text = to_json(replace(log(), builds=(build,)))
    (document,) = json.loads(text)["builds"]
    lines = text.split("\n")
    for field, expected in EXPECTED.items():
        records = expected(build)
        assert document[field] == json.loads(json.dumps(records)), field
        assert {json.dumps(record) for record in records} <= {line.strip(" ").removesuffix(",") for line in lines}, (
            field
        )
