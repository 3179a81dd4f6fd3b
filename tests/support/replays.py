"""Replays made for tests.

Their entries have every kind of field, or come from a sample log. Their files are those that Polygraphy would write.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.support.repository import LOGS
from trtforensics.engines.joining import select_build
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.model.span import SourceInfo, SourceSpan
from trtforensics.replay.from_log import LeftOut, replay_of
from trtforensics.replay.writing import to_text
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import Build

NOWHERE = SourceSpan("made", 1, 0)
LINEAR = ReplayTensor("FLOAT", "LINEAR", (784, 784, 28, 1), -1, 1)
PACKED = ReplayTensor("HALF", "HWC8", (392, 1, 56, 8), 1, 8)
CONV = ReplayEntry("conv1 + relu1", 0x80000009, 0x5B8BF1B8028629D9, (LINEAR,), (PACKED,), NOWHERE)
POOL = ReplayEntry("pool1", 0x8000002F, 0xA7A495EE24D0C659, (PACKED,), (PACKED,), NOWHERE)
FOREIGN = ReplayEntry("{ForeignNode[fc1...softmax]}", 0x80000023, 0, (PACKED,), (LINEAR,), NOWHERE)
ENTRIES = (CONV, POOL, FOREIGN)
NO_SOURCE = SourceInfo("made", 0, 0, "")


@cache
def build_of(name: str) -> Build:
    """Return the build of a sample log."""
    return select_build(load_build_log([str(LOGS / f"{name}.log")]), None)


@cache
def from_log(name: str) -> tuple[Replay, tuple[LeftOut, ...]]:
    """Return the replay that a sample log becomes."""
    return replay_of(build_of(name), NO_SOURCE)


def replay(*entries: ReplayEntry, form: ReplayForm | None = ReplayForm.F5) -> Replay:
    """Return a replay of these entries."""
    return Replay(NO_SOURCE, form, "", entries)


def of_form(entry: ReplayEntry, form: ReplayForm) -> ReplayEntry:
    """Return an entry with what a form keeps of it."""
    return replace(
        entry,
        inputs=tuple(_tensor_of_form(tensor, form) for tensor in entry.inputs),
        outputs=tuple(_tensor_of_form(tensor, form) for tensor in entry.outputs),
    )


def _tensor_of_form(tensor: ReplayTensor, form: ReplayForm) -> ReplayTensor:
    if form is ReplayForm.F5:
        return replace(tensor, format=None)
    if form is ReplayForm.F4:
        return tensor
    strides = tensor.strides if form is ReplayForm.F3 else None
    return replace(tensor, strides=strides, vectorized_dim=None, components=None)


def made(folder: Path, form: ReplayForm = ReplayForm.F5, entries: tuple[ReplayEntry, ...] = ENTRIES) -> Path:
    """Write a replay."""
    path = folder / f"replay-{form}.json"
    path.write_text(to_text(entries, form), encoding="ascii")
    return path


def as_json(form: ReplayForm = ReplayForm.F5) -> Any:
    """Return a replay as the JSON value that its file holds, to be damaged."""
    return json.loads(to_text(ENTRIES, form))


def large(layers: int, seed: int = 0) -> tuple[ReplayEntry, ...]:
    """Return entries such as a transformer's, with tactics that do not repeat."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    return tuple(
        ReplayEntry(
            f"/model/layers.{number}/self_attn/MatMul + /model/layers.{number}/self_attn/Add",
            0x80000009,
            dice.getrandbits(64),
            (PACKED, LINEAR),
            (PACKED,),
            NOWHERE,
        )
        for number in range(layers)
    )
