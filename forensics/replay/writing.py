"""Writes replays byte for byte as Polygraphy does for the same entries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trtforensics.errors import ForensicsError
from trtforensics.model.replay import ReplayForm
from trtforensics.parsers.files.replay_fields import CLASS, LEGACY_ALGORITHM, LEGACY_TOP, LEGACY_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.model.replay import ReplayEntry, ReplayTensor

_INDENT = 4
_SIGNED = 1 << 63
_UNSIGNED = 1 << 64


class NotExpressibleError(ForensicsError):
    """An entry lacks what a form needs."""


def to_text(entries: Iterable[ReplayEntry], form: ReplayForm = ReplayForm.F5) -> str:
    """Write a replay, in ASCII and without a line feed at its end.

    Raises:
        NotExpressibleError: an entry lacks a field that the form has.
    """
    return document_text((entry_text(entry, form) for entry in entries), form)


def entry_text(entry: ReplayEntry, form: ReplayForm = ReplayForm.F5) -> str:
    """Write one entry as in a replay: its layer's name and the algorithm.

    Raises:
        NotExpressibleError: it lacks a field that the form has.
    """
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
        what = f"layer {entry.layer!r} has no {field}, which this form needs"
        raise NotExpressibleError(
            str(entry.span), what, "Name the build's log with `--log`, or another form with `--to`"
        )
    return value
