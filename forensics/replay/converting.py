"""A replay in another form: fields that a form lacks come from the log of a build that offered the same tactics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trtforensics.dumps import last_dump
from trtforensics.model import Choice
from trtforensics.replay.offers import tensor_of
from trtforensics.replay.writing import NotExpressibleError
from trtforensics.replay_model import ReplayForm, ReplayTensor, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model import EngineTensor
    from trtforensics.replay.offers import Combination, Offers
    from trtforensics.replay_model import Replay, ReplayEntry

_MENDED_BY_WRITING = {"encoding", "no-class", "unknown-class", "tactic-unsigned"}
_FORMS_WITH_FORMAT = {ReplayForm.F1, ReplayForm.F2, ReplayForm.F3, ReplayForm.F4}
_FORMS_WITH_PACKING = {ReplayForm.F4, ReplayForm.F5}
_DESCRIBED = {
    "Row major linear": "LINEAR",
    "Channel major FP32 format": "HWC",
    "Channel major FP16 format where channel % 8 == 0": "HWC8",
    "Two wide channel vectorized row major": "CHW2",
    "Four wide channel vectorized row major": "CHW4",
    "Sixteen wide channel vectorized row major": "CHW16",
    "Thirty-two wide channel vectorized row major": "CHW32",
}
"""How a detailed dump describes a ``TensorFormat`` (TensorRT 8.2 to 10); other descriptions fit several."""


def converted(replay: Replay, form: ReplayForm, offers: Offers | None = None) -> tuple[ReplayEntry, ...]:
    """Return the entries with all that a form needs.

    Raises:
        NotExpressibleError: the replay has errors that writing does not mend, or an entry lacks a field that neither
            the file nor the log gives; it names layer and field.
    """
    for problem in replay.problems:
        if problem.severity is Severity.ERROR and problem.code not in _MENDED_BY_WRITING:
            raise NotExpressibleError(str(problem.span), f"{problem.field}: {problem.what}", problem.next_step)
    return tuple(_entry(entry, replay.form, form, offers) for entry in replay.entries)


def _entry(entry: ReplayEntry, source: ReplayForm | None, form: ReplayForm, offers: Offers | None) -> ReplayEntry:
    missing = list(_missing(entry, source, form))
    if not missing:
        return entry
    if offers is None:
        what = f"layer {entry.layer!r} has no {missing[0]} in form {source}, and form {form} needs it"
        raise NotExpressibleError(str(entry.span), what, "Name the log of a build that offered it with `--log`")
    combination = _same(entry, offers, missing[0])
    sides = []
    for tensors, offered, described in (
        (entry.inputs, combination.inputs, _described(combination, offers, "inputs")),
        (entry.outputs, combination.outputs, _described(combination, offers, "outputs")),
    ):
        pairs = zip(tensors, offered or (), described, strict=True)
        sides.append(tuple(_filled(tensor, tensor_of(other), text) for tensor, other, text in pairs))
    filled = replace(entry, inputs=sides[0], outputs=sides[1])
    left = next(_missing(filled, form if form in _FORMS_WITH_PACKING else source, form), None)
    if left is not None:
        what = f"layer {entry.layer!r} has no {left}, and line {combination.span.line} of the log does not tell it"
        raise NotExpressibleError(str(entry.span), what, "Write another form with `--to`")
    return filled


def _missing(entry: ReplayEntry, source: ReplayForm | None, form: ReplayForm) -> Iterator[str]:
    """Give the fields that a form needs and the entry lacks; F4 and F5 may say null of packing."""
    for side, tensors in (("inputs", entry.inputs), ("outputs", entry.outputs)):
        for index, tensor in enumerate(tensors):
            field = f"{side}[{index}]"
            if form in _FORMS_WITH_FORMAT and tensor.format is None:
                yield f"{field}.tensor_format"
            if form not in {ReplayForm.F1, ReplayForm.F2} and tensor.strides is None:
                yield f"{field}.strides"
            packing_unsaid = tensor.vectorized_dim is None or tensor.components is None
            if form in _FORMS_WITH_PACKING and packing_unsaid and source not in _FORMS_WITH_PACKING:
                yield f"{field}.vectorized_dim"


def _same(entry: ReplayEntry, offers: Offers, field: str) -> Combination:
    """Return the one combination of a build in which the entry's tactic was offered."""
    every = [
        combination
        for combination in offers.of(entry.layer)
        if not combination.differences(entry) and offers.has(combination, entry)
    ]
    distinct = {combination.text: combination for combination in every}
    if len(distinct) == 1:
        return every[-1]
    if not distinct:
        what = f"layer {entry.layer!r} has no {field}, and the log does not offer its tactic in these formats"
        raise NotExpressibleError(str(entry.span), what, "`replay lint --log` says what it offers")
    lines = ", ".join(str(combination.span.line) for combination in distinct.values())
    what = f"layer {entry.layer!r} has no {field}, and several formats of the log fit: lines {lines}"
    raise NotExpressibleError(str(entry.span), what, "Give the log of the build that recorded it")


def _described(combination: Combination, offers: Offers, side: str) -> tuple[str | None, ...]:
    """Return the ``TensorFormat`` of each tensor where the engine's dump describes it."""
    tensors: tuple[EngineTensor, ...] = ()
    build, tuned = offers.build, combination.tuned
    for layer in last_dump(build.engine_layers):
        index, tuned_list = (layer.choice, build.choices) if isinstance(tuned, Choice) else (layer.cached, build.cached)
        listed: Any = tuned_list
        if index is not None and listed[index] is tuned:
            tensors = getattr(layer, side)
    offered = getattr(combination, side) or ()
    if len(tensors) != len(offered):
        return (None,) * len(offered)
    return tuple(_format_name(tensor.format) for tensor in tensors)


def _format_name(description: str) -> str | None:
    if description in _DESCRIBED:
        return _DESCRIBED[description]
    return next(
        (name for text, name in _DESCRIBED.items() if "FP" not in text and description.startswith(f"{text} ")), None
    )


def _filled(tensor: ReplayTensor, offered: ReplayTensor | None, name: str | None) -> ReplayTensor:
    if offered is None:
        return replace(tensor, format=tensor.format or name)
    return replace(offered, dtype=tensor.dtype, format=tensor.format or name)
