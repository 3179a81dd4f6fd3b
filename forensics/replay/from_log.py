"""Makes a replay of a build's final choices from its verbose log (TensorRT 8.6 and later, which print runner ids).

A replay states for each layer a runner's id, a tactic and a combination of formats, and the log prints all three
(checked on logs and replays of TensorRT 8.6 and 10). A layer for which the log lacks one of them is left out and named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.errors import ForensicsError
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, Tool
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.parsers.notation.names import is_tried_reformat
from trtforensics.replay.offers import combination_of, tensor_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.span import SourceInfo, SourceSpan
    from trtforensics.parsers.notation.formats import Format

_LAST_WITH_SELECTOR = 10
_NEXT = "Give the verbose log of a build with TensorRT 8.6 or later"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A layer, or a part of it, that the replay cannot express, and why."""

    layer: str
    span: SourceSpan
    why: str


def without_selector(build: Build) -> tuple[str, str]:
    """Say why no replay can be loaded where a build ran, and what to use instead; both "" where one may be."""
    major = (build.tensorrt_version or "").partition(".")[0]
    if build.tool is Tool.TENSORRT_RTX:
        return "TensorRT-RTX has no algorithm selector", "It times no tactics, so there is nothing to pin"
    if major.isdecimal() and int(major) > _LAST_WITH_SELECTOR:
        return f"TensorRT {major} has no algorithm selector", "Use the editable timing cache instead"
    return "", ""


def replay_of(build: Build, source: SourceInfo) -> tuple[Replay, tuple[LeftOut, ...]]:
    """Make a replay of the final choices and cached results of a build, and name the layers that it leaves out.

    An entry's span is the line of the result. A TensorRT that loads no replays, or prints no ids of runners, has none.

    Raises:
        ForensicsError: the TensorRT of the build loads no replays, the log has no choices, or prints no ids of runners.
    """
    where = f"{source.path}:{build.first_line}"
    refusal, instead = without_selector(build)
    if refusal:
        raise ForensicsError(where, f"{refusal}, so a replay of this build would be refused", instead)
    if not (build.choices or build.cached):
        raise ForensicsError(where, "this build has no autotuning, so no tactic to replay", _NEXT)
    if not build.runner_ids:
        raise ForensicsError(where, "prints no ids of runners, which a replay needs", _NEXT)
    entries: dict[str, ReplayEntry] = {}
    left_out: list[LeftOut] = []
    finals = final_results(build)
    for tuned in finals.values():
        made = _entry(build, tuned)
        if isinstance(made, LeftOut):
            left_out.append(made)
            continue
        entries[made.layer] = made
        if is_foreign_node(made.layer):
            why = "a ForeignNode is one entry: which kernels it runs inside cannot be pinned"
            left_out.append(LeftOut(made.layer, made.span, why))
    left_out += _without_final(build, finals)
    replay = Replay(source, ReplayForm.F5, "", tuple(entries.values()))
    return replay, tuple(sorted(left_out, key=lambda layer: layer.span.line))


def final_results(build: Build) -> dict[str, Choice | CachedResult]:
    """Return the final result of each layer that was tuned, in the log's order; of a layer tuned twice, the last."""
    final = (result for result in build.tuned_results if result.final and not is_tried_reformat(result.layer))
    return {result.layer: result for result in sorted(final, key=lambda result: result.span.line)}


def _entry(build: Build, tuned: Choice | CachedResult) -> ReplayEntry | LeftOut:
    runner_id = runner_id_of(build, tuned)
    if runner_id is None:
        kind = (
            "a cached result names its runner without the id" if isinstance(tuned, CachedResult) else "no id is printed"
        )
        return LeftOut(tuned.layer, tuned.span, f"{kind}, and no other line has that of {tuned.runner}")
    if tuned.tactic is None:
        return LeftOut(tuned.layer, tuned.span, "no tactic worked")
    if not tuned.inputs and not tuned.outputs:
        return LeftOut(tuned.layer, tuned.span, "the log does not print its formats")
    combination = combination_of(tuned)
    inputs, outputs = _tensors(combination.inputs), _tensors(combination.outputs)
    if inputs is None or outputs is None:
        return LeftOut(tuned.layer, tuned.span, "its strides are symbolic (dynamic shapes); a replay holds numbers")
    return ReplayEntry(tuned.layer, runner_id, tuned.tactic, inputs, outputs, tuned.span)


def runner_id_of(build: Build, tuned: Choice | CachedResult) -> int | None:
    """Return the id of the runner of a result; None where no line has it."""
    runner_id = tuned.runner_id if isinstance(tuned, Choice) else None
    return build.runner_ids.get(tuned.runner) if runner_id is None else runner_id


def _tensors(formats: Sequence[Format] | None) -> tuple[ReplayTensor, ...] | None:
    tensors = [tensor_of(printed) for printed in formats or ()]
    known = tuple(tensor for tensor in tensors if tensor is not None)
    return None if formats is None or len(known) < len(tensors) else known


def _without_final(build: Build, finals: dict[str, Choice | CachedResult]) -> list[LeftOut]:
    """Return the layers of the engine that have no final result, and why."""
    undecided = {
        result.layer: result
        for result in build.tuned_results
        if result.final is None and not is_tried_reformat(result.layer)
    }
    layers = build.engine_layers
    left_out = [
        LeftOut(layer.name, layer.span, layer.origin)
        for layer in layers
        if layer.choice is None and layer.cached is None and layer.origin and layer.name not in undecided
    ]
    why = "the log does not tell which of its choices the engine uses"
    return [*left_out, *(LeftOut(n, result.span, why) for n, result in undecided.items() if n not in finals)]
