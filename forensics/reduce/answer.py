"""What the user takes away: the reduced model, its inputs and golden outputs, and how to reproduce the failure."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import onnx

from trtforensics.bisection.checks import builtin_of
from trtforensics.bisection.session.artifacts import FIXED
from trtforensics.console.output import explained, write_bytes, write_text
from trtforensics.console.own_files import is_there
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.samples import write_feeds, write_golden, write_npz
from trtforensics.onnx_models.shapes import is_dynamic
from trtforensics.onnx_models.streaming import references_as_inputs, write_model
from trtforensics.reduce.failure import FILE, read_failure
from trtforensics.reduce.reproduction import Reproduction, notes_text, raw_input, script_text
from trtforensics.reduce.simplifying import Aspect

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trtforensics.bisection.session.answer import SearchAnswer
    from trtforensics.onnx_models.samples import Values
    from trtforensics.reduce.deriving import Derived
    from trtforensics.reduce.failure import Failure
    from trtforensics.reduce.graph_lever import ReductionLever

MODEL = "reduced.onnx"


def write_answer(lever: ReductionLever, active: frozenset[int], answer: SearchAnswer, directory: Path) -> list[str]:
    """Write the files of ``fixed/`` and return a line about each; ``active`` is the smallest failing set of items.

    Raises:
        OutputError: a file cannot be written.
    """
    folder = directory / FIXED
    derived = lever.derive(active)
    inputs = _shared_inputs(lever, active, derived)
    with explained(str(folder)):
        folder.mkdir(exist_ok=True)
        data = write_model(derived.model, derived.streamed, folder / MODEL)
        write_npz(inputs, folder / "inputs.npz")
    write_feeds(inputs, folder / "inputs.json")
    size = derived.model.ByteSize() + sum(array.nbytes for array in derived.streamed.values())
    count = len(derived.model.graph.node)
    what = f"the smallest model that fails, {count} {'node' if count == 1 else 'nodes'}, {size:,} bytes"
    lines = [f"{MODEL}: {what}; {_validity(references_as_inputs(derived.model))}"]
    lines += [f"{data.name}: its large weights, which must lie beside it"] if data else []
    finite = all(np.isfinite(value).all() for value in inputs.values() if value.dtype.kind == "f")
    cut = "" if finite else "; it holds values that are not finite: what made them was cut off"
    lines.append(f"inputs.npz, inputs.json: a sample, for NumPy and for `polygraphy run --load-inputs`{cut}")
    golden = run_model(derived.model, inputs, derived.streamed)
    if isinstance(golden, str):
        lines.append(f"outputs.npz is not written: ONNX Runtime does not run the model ({golden})")
    else:
        write_npz(golden, folder / "outputs.npz")
        write_golden(golden, folder / "outputs.json")
        lines.append("outputs.npz, outputs.json: what ONNX Runtime computes from it (`--load-outputs`)")
    failure = _failure_of_answer(lever, answer, directory)
    reproduction = _reproduction(lever, active, derived, failure)
    reproduction = replace(reproduction, has_golden=not isinstance(golden, str))
    if reproduction.is_run:
        for place, value in enumerate(inputs.values()):
            write_bytes(folder / raw_input(place), value.tobytes())
        lines.append(f"{raw_input(0)} …: the sample as trtexec loads it")
    write_text(folder / "repro.sh", script_text(reproduction))
    (folder / "repro.sh").chmod(0o755)
    nodes = (len(lever.original.nodes), sum(index < len(lever.original.nodes) for index in active))
    model = onnx.printer.to_text(derived.model) if derived.model.ByteSize() < _PRINTED else ""
    write_text(folder / "repro.md", notes_text(reproduction, answer, nodes, model))
    ways = " or ".join(reproduction.ways)
    return [*lines, f"repro.sh: shows the failure, by {ways}", "repro.md: a report, ready to paste"]


def _reproduction(
    lever: ReductionLever, active: frozenset[int], derived: Derived, failure: Failure | None
) -> Reproduction:
    build, judged = lever.commands
    builtin = builtin_of(judged or "")
    if judged and builtin:
        judged = judged.replace(shlex.quote(sys.executable), "python3")
    return Reproduction(
        failure=failure,
        recipe=lever.recipe,
        shapes={name: value.shape for name, value in derived.inputs.items()},
        precision="" if lever.storage is None else lever.storage.name,
        commands=(build, judged),
        builtin=builtin,
        is_dynamic=is_dynamic(derived.model),
        is_silent=_is_renamed(lever, active) and bool(build or (judged and builtin in {"", "against"})),
    )


_PRINTED = 4096
"""Bytes of a model that is small enough to stand in a report."""


def _shared_inputs(lever: ReductionLever, active: frozenset[int], derived: Derived) -> Mapping[str, Values]:
    """Return the inputs that go with the model; random ones of the same range where they must not tell anything.

    A failed build does not read them. Wrong numbers come from them, so that they stay.
    """
    failure = lever.reference()
    if not _is_renamed(lever, active) or failure is None or failure.stage != "build":
        return derived.inputs
    random = np.random.default_rng(1)
    return {name: _of_range(random, value) for name, value in derived.inputs.items()}


def _of_range(random: np.random.Generator, value: Values) -> Values:
    if value.dtype.kind != "f" or not value.size:
        return value
    return np.asarray(random.uniform(np.nanmin(value), np.nanmax(value), value.shape)).astype(value.dtype)


def _is_renamed(lever: ReductionLever, active: frozenset[int]) -> bool:
    first = len(lever.original.nodes)
    simpler = lever.deriver.simplifications
    return any(s.aspect is Aspect.NAMES and index not in active for index, s in enumerate(simpler, first))


def _failure_of_answer(lever: ReductionLever, answer: SearchAnswer, directory: Path) -> Failure | None:
    """Return the failure of the reduced model, as a probe saw it; the original's where that is gone."""
    for probe in answer.probes:
        folder = directory / probe.folder
        if probe.verdict == "bad" and probe.purpose == "the answer" and is_there(folder / FILE):
            return read_failure(folder, lever.basis)
    return lever.reference()


def _validity(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return f"onnx says that it is not valid: {' '.join(str(error).split())[:160]}"
    return "valid ONNX"
