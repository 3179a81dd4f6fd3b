"""Judges a cut model by its emulated twin: whether it goes wrong in 16 bits on the values that were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, floating_outputs, judge_for
from trtforensics.bisection.search import Verdict
from trtforensics.errors import ForensicsError
from trtforensics.onnx_models.reading import prepare
from trtforensics.reduce.failure import NUMBERS, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trtforensics.bisection.precision.casting.storage import Storage
    from trtforensics.onnx_models.cutting import Original
    from trtforensics.onnx_models.samples import Values
    from trtforensics.reduce.recording import Recording

_NAMED = 3


def judge_numbers(
    path: Path, inputs: Mapping[str, Values], cut: frozenset[str], storage: Storage
) -> tuple[Verdict, str, Failure | None]:
    """Judge a model file on its inputs; ``cut`` are those that stand for cut tensors.

    A model is not judged where a recorded value does not fit the 16-bit type: it would go wrong before its first node.
    """
    beyond = next((name for name in sorted(cut) if exceeds(inputs[name], storage)), "")
    if beyond:
        return Verdict.UNRESOLVED, f"the recorded values of {beyond} do not fit {storage.name}", None
    try:
        caster = Caster(prepare(str(path)), storage)
        if not caster.candidates:
            return Verdict.GOOD, f"no node computes in {storage.name}", None
        oracle = Oracle(caster, [inputs])
        rules = rules_for(floating_outputs(caster.prepared.proto), (), ())
        judgement = judge_for(oracle, rules).judge(oracle.score_mixture(caster.kept([])))
    except ForensicsError as error:
        return Verdict.UNRESOLVED, f"the twin says nothing: {error.what}", None
    if judgement.passed:
        return Verdict.GOOD, f"the twin agrees in {storage.name}", None
    overflow = any(worst is None for worst in judgement.worst.values())
    failure = Failure(
        NUMBERS,
        "are not finite" if overflow else "differ beyond the tolerance",
        title=f"{storage.name}: {judgement.why}",
        lines=(judgement.why,),
    )
    return Verdict.BAD, judgement.why, failure


def first_beyond(original: Original, recording: Recording, storage: Storage) -> tuple[str, ...]:
    """Return the first nodes whose recorded results exceed the type's range while what they read does not."""
    names = []
    for node in original.nodes:
        results = [recording.values[name] for name in node.makes if name in recording.values]
        reads = [recording.values[name] for name in node.proto.input if name in recording.values]
        if any(exceeds(each, storage) for each in results) and not any(exceeds(each, storage) for each in reads):
            names.append(node.name)
    return tuple(names[:_NAMED])


def exceeds(values: Values, storage: Storage) -> bool:
    """Whether a finite value is beyond a type's range."""
    if values.dtype.kind != "f" or not values.size:
        return False
    finite = np.asarray(values, np.float64)[np.isfinite(values)]
    return bool(finite.size) and float(np.abs(finite).max()) > storage.largest
