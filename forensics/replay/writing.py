"""Writes replays byte for byte as Polygraphy does for the same entries, in a form of choice.

Fields that a form needs and a file lacks come from the log of a build with the same tactics.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from trtforensics.errors import ForensicsError
from trtforensics.model.replay import ProblemSeverity, Replay, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.parsers.files.replay_fields import CLASS, LEGACY_ALGORITHM, LEGACY_TOP, LEGACY_VALUE
from trtforensics.replay.from_log import FormatCombination, Offers, tensor_of

_MENDED_BY_WRITING = {"encoding", "no-class", "unknown-class", "tactic-unsigned"}
_FORMAT = "tensor_format"
_FORMS_WITH_FORMAT = {ReplayForm.F1, ReplayForm.F2, ReplayForm.F3, ReplayForm.F4}
_FORMS_WITH_PACKING = {ReplayForm.F4, ReplayForm.F5}
_INDENT = 4
_SIGNED = 1 << 63
_UNSIGNED = 1 << 64


class NotExpressibleError(ForensicsError):
    """An entry lacks what a form needs."""


def to_text(entries: Iterable[ReplayEntry], form: ReplayForm = ReplayForm.F5) -> str:
    """Write a replay, in ASCII and without a line feed at its end."""
    return document_text((entry_text(entry, form) for entry in entries), form)


def entry_text(entry: ReplayEntry, form: ReplayForm = ReplayForm.F5) -> str:
    """Write one entry as in a replay: its layer's name and the algorithm."""
    algorithm = {
        "implementation": _given(entry, "implementation", entry.implementation),
        "tactic": signed(_given(entry, "tactic", entry.tactic)),
        "inputs": [_tensor(entry, f"inputs[{i}]", tensor, form) for i, tensor in enumerate(entry.inputs)],
        "outputs": [_tensor(entry, f"outputs[{i}]", tensor, form) for i, tensor in enumerate(entry.outputs)],
        **_marker("Algorithm", form),
    }
    # Line feeds inside strings are escaped, so every line feed here begins a line.
    lines = json.dumps(algorithm, indent=_INDENT).replace("\n", f"\n{' ' * 2 * _INDENT}")
    return f"{json.dumps(entry.layer)}: {lines}"


def document_text(entries: Iterable[str], form: ReplayForm = ReplayForm.F5) -> str:
    """Join rendered entries to a replay."""
    indent = " " * _INDENT
    begin = f"\n{indent * 2}"
    body = f",{begin}".join(entries)
    layers = f"{{{begin}{body}\n{indent}}}" if body else "{}"
    ((key, value),) = _marker("TacticReplayData", form).items()
    return f'{{\n{indent}"replay": {layers},\n{indent}{json.dumps(key)}: {json.dumps(value)}\n}}'


def signed(tactic: int) -> int:
    """Return a 64-bit id as the signed number that TensorRT's API and replays use."""
    return tactic - _UNSIGNED if tactic >= _SIGNED else tactic


def _marker(name: str, form: ReplayForm) -> dict[str, str]:
    if form is not ReplayForm.F1:
        return {CLASS: name}
    return {LEGACY_ALGORITHM if name == "Algorithm" else LEGACY_TOP: LEGACY_VALUE}


def _tensor(entry: ReplayEntry, field: str, tensor: ReplayTensor, form: ReplayForm) -> object:
    dtype = f"DataType.{_given(entry, f'{field}.dtype', tensor.dtype)}"
    if form is ReplayForm.F5:
        return {"dtype": dtype, **_layout(entry, field, tensor)}
    kind = f"TensorFormat.{_given(entry, f'{field}.tensor_format', tensor.format)}"
    if form is ReplayForm.F4:
        return {"tensor_format": kind, "dtype": dtype, **_layout(entry, field, tensor)}
    if form is ReplayForm.F3:
        return [kind, dtype, list(_given(entry, f"{field}.strides", tensor.strides))]
    return [kind, dtype]


def _layout(entry: ReplayEntry, field: str, tensor: ReplayTensor) -> dict[str, Any]:
    strides = list(_given(entry, f"{field}.strides", tensor.strides))
    return {
        "strides": strides,
        "vectorized_dim": tensor.vectorized_dim,
        "components_per_element": tensor.components,
        CLASS: "TensorInfo",
    }


def _given(entry: ReplayEntry, field: str, value: Any) -> Any:  # noqa: ANN401 - whatever the field holds
    if value is None:
        next_step = "Name the build's log with `--log`, or another form with `--to`"
        raise _not_expressible(entry, f"{field}, which this form needs", next_step)
    return value


def _not_expressible(entry: ReplayEntry, lacks: str, next_step: str) -> NotExpressibleError:
    return NotExpressibleError(str(entry.span), f"layer {entry.layer!r} has no {lacks}", next_step)


def converted(replay: Replay, form: ReplayForm, offers: Offers | None = None) -> tuple[ReplayEntry, ...]:
    """Return the entries with all the fields that a form needs.

    A NotExpressibleError names layer and field: writing mends no other error, and what is missing must be in the log.

    Raises:
        NotExpressibleError: the replay has errors that writing does not mend, or an entry lacks a field that neither
            the file nor the log gives; it names layer and field.
    """
    for problem in replay.problems:
        if problem.severity is ProblemSeverity.ERROR and problem.code not in _MENDED_BY_WRITING:
            raise NotExpressibleError(str(problem.span), f"{problem.field}: {problem.what}", problem.next_step)
    return tuple(_converted(entry, replay.form, form, offers) for entry in replay.entries)


def _converted(entry: ReplayEntry, source: ReplayForm | None, form: ReplayForm, offers: Offers | None) -> ReplayEntry:
    missing = next(_missing(entry, source, form), None)
    if missing is None:
        return entry
    if offers is None or missing.endswith(_FORMAT):
        in_log = "Name the log of a build that offered it with `--log`"
        next_step = "No log prints it: write F5" if missing.endswith(_FORMAT) else in_log
        raise _not_expressible(entry, f"{missing} in form {source}, and form {form} needs it", next_step)
    combination = _same(entry, offers, missing)
    sides = [
        tuple(_filled(tensor, tensor_of(other)) for tensor, other in zip(tensors, offered or (), strict=True))
        for tensors, offered in ((entry.inputs, combination.inputs), (entry.outputs, combination.outputs))
    ]
    filled = replace(entry, inputs=sides[0], outputs=sides[1])
    left = next(_missing(filled, None, form), None)
    if left is not None:
        lacks = f"{left}, and line {combination.span.line} of the log does not tell it"
        raise _not_expressible(entry, lacks, "Write another form with `--to`")
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
    """Return the one combination of formats in which the build offered the entry's tactic."""
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
        lacks = f"{field}, and the log does not offer its tactic in these formats"
        raise _not_expressible(entry, lacks, "`replay lint --log` says what it offers")
    lines = ", ".join(str(combination.span.line) for combination in distinct.values())
    lacks = f"{field}, and several formats of the log fit: lines {lines}"
    raise _not_expressible(entry, lacks, "Give the log of the build that recorded it")


def _filled(tensor: ReplayTensor, offered: ReplayTensor | None) -> ReplayTensor:
    """Return a tensor with the strides and the packing that a log prints; no log prints a ``TensorFormat``."""
    return tensor if offered is None else replace(offered, dtype=tensor.dtype, format=tensor.format)
