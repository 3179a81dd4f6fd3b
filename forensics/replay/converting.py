"""Converts a replay to another form; fields that the file lacks come from the log of a build with the same tactics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.model.replay import ProblemSeverity, ReplayForm, ReplayTensor
from trtforensics.replay.offers import tensor_of
from trtforensics.replay.writing import NotExpressibleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model.replay import Replay, ReplayEntry
    from trtforensics.replay.offers import FormatCombination, Offers

_MENDED_BY_WRITING = {"encoding", "no-class", "unknown-class", "tactic-unsigned"}
_FORMAT = "tensor_format"
_FORMS_WITH_FORMAT = {ReplayForm.F1, ReplayForm.F2, ReplayForm.F3, ReplayForm.F4}
_FORMS_WITH_PACKING = {ReplayForm.F4, ReplayForm.F5}


def converted(replay: Replay, form: ReplayForm, offers: Offers | None = None) -> tuple[ReplayEntry, ...]:
    """Return the entries with all the fields that a form needs.

    Raises:
        NotExpressibleError: the replay has errors that writing does not mend, or an entry lacks a field that neither
            the file nor the log gives; it names layer and field.
    """
    for problem in replay.problems:
        if problem.severity is ProblemSeverity.ERROR and problem.code not in _MENDED_BY_WRITING:
            raise NotExpressibleError(str(problem.span), f"{problem.field}: {problem.what}", problem.next_step)
    return tuple(_entry(entry, replay.form, form, offers) for entry in replay.entries)


def _entry(entry: ReplayEntry, source: ReplayForm | None, form: ReplayForm, offers: Offers | None) -> ReplayEntry:
    missing = next(_missing(entry, source, form), None)
    if missing is None:
        return entry
    if offers is None or missing.endswith(_FORMAT):
        what = f"layer {entry.layer!r} has no {missing} in form {source}, and form {form} needs it"
        advice = (
            "No log prints it: write F5"
            if missing.endswith(_FORMAT)
            else "Name the log of a build that offered it with `--log`"
        )
        raise NotExpressibleError(str(entry.span), what, advice)
    combination = _same(entry, offers, missing)
    sides = [
        tuple(_filled(tensor, tensor_of(other)) for tensor, other in zip(tensors, offered or (), strict=True))
        for tensors, offered in ((entry.inputs, combination.inputs), (entry.outputs, combination.outputs))
    ]
    filled = replace(entry, inputs=sides[0], outputs=sides[1])
    left = next(_missing(filled, None, form), None)
    if left is not None:
        what = f"layer {entry.layer!r} has no {left}, and line {combination.span.line} of the log does not tell it"
        raise NotExpressibleError(str(entry.span), what, "Write another form with `--to`")
    return filled


def _missing(entry: ReplayEntry, source: ReplayForm | None, form: ReplayForm) -> Iterator[str]:
    """Give the fields that a form needs and the entry lacks; in F4 and F5 the fields of packing may be null."""
    for side, tensors in (("inputs", entry.inputs), ("outputs", entry.outputs)):
        for index, tensor in enumerate(tensors):
            field = f"{side}[{index}]"
            if form in _FORMS_WITH_FORMAT and tensor.format is None:
                yield f"{field}.{_FORMAT}"
            if form not in {ReplayForm.F1, ReplayForm.F2} and tensor.strides is None:
                yield f"{field}.strides"
            packing_unsaid = tensor.vectorized_dim is None or tensor.components is None
            if form in _FORMS_WITH_PACKING and packing_unsaid and source not in _FORMS_WITH_PACKING:
                yield f"{field}.vectorized_dim"


def _same(entry: ReplayEntry, offers: Offers, field: str) -> FormatCombination:
    """Return the one combination of formats in which the build offered the entry's tactic.

    Raises:
        NotExpressibleError: there is no such combination, or more than one.
    """
    every = [
        combination
        for combination in offers.of(entry.layer)
        if combination.inputs is not None
        and combination.outputs is not None
        and not combination.mismatches(entry)
        and offers.has(combination, entry)
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


def _filled(tensor: ReplayTensor, offered: ReplayTensor | None) -> ReplayTensor:
    """Return a tensor with the strides and the packing that a log prints; no log prints a ``TensorFormat``."""
    return tensor if offered is None else replace(offered, dtype=tensor.dtype, format=tensor.format)
