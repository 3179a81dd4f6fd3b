"""A replay becomes another form where the form's fields are there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.replays import CONV, ENTRIES, POOL, made, of_form
from trtforensics.model.replay import ReplayForm
from trtforensics.replay.writing import NotExpressibleError, converted, signed, to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.corpus
def test_every_sample_of_form_f4_becomes_what_0_53_writes(replay_samples: Path) -> None:
    newest = (replay_samples / "polygraphy-0.53.6-rtx" / "good_0.json").read_bytes()
    for version in ("0.47.1", "0.48.1", "0.49.0", "0.49.7"):
        found = load_replay(str(replay_samples / f"polygraphy-{version}" / "good_0.json"))
        assert to_text(converted(found, ReplayForm.F5)).encode() == newest


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [
        ("F1", "F5", "inputs[0].strides"),
        ("F2", "F3", "inputs[0].strides"),
        ("F3", "F4", "inputs[0].vectorized_dim"),
        ("F3", "F5", "inputs[0].vectorized_dim"),
        ("F5", "F4", "inputs[0].tensor_format"),
        ("F5", "F1", "inputs[0].tensor_format"),
    ],
)
def test_what_a_form_lacks_is_refused_by_layer_and_field(source: str, target: str, field: str, tmp_path: Path) -> None:
    found = load_replay(str(made(tmp_path, ReplayForm(source))))
    with pytest.raises(NotExpressibleError) as refusal:
        converted(found, ReplayForm(target))
    assert refusal.value.what == f"layer {CONV.layer!r} has no {field} in form {source}, and form {target} needs it"
    assert refusal.value.where.endswith(f"replay-{source}.json:3:9")


@pytest.mark.parametrize(
    ("source", "targets"), [("F4", "F1 F2 F3 F4 F5"), ("F3", "F1 F2 F3"), ("F2", "F1 F2"), ("F1", "F1 F2")]
)
def test_a_form_that_has_less_can_always_be_written(source: str, targets: str, tmp_path: Path) -> None:
    found = load_replay(str(made(tmp_path, ReplayForm(source))))
    for target in map(ReplayForm, targets.split()):
        path = tmp_path / "converted.json"
        path.write_text(to_text(converted(found, target), target))
        again = load_replay(str(path))
        assert again.form is target
        assert not again.problems
        for entry, original in zip(again.entries, ENTRIES, strict=True):
            assert entry.algorithm == of_form(of_form(original, ReplayForm(source)), target).algorithm


def test_null_packing_of_an_old_tensorrt_stays_null(tmp_path: Path) -> None:
    old = replace(CONV.inputs[0], vectorized_dim=None, components=None)
    path = made(tmp_path, ReplayForm.F4, (replace(CONV, inputs=(old,)),))
    text = to_text(converted(load_replay(str(path)), ReplayForm.F5))
    assert '"vectorized_dim": null,\n' in text


def test_a_replay_with_errors_is_not_converted_but_what_writing_mends_is(tmp_path: Path) -> None:
    path = made(tmp_path)
    text = path.read_text()
    path.write_text(text.replace(f'"tactic": {CONV.tactic}', '"tactic": 1.5'))
    with pytest.raises(NotExpressibleError, match=r":5:23: .*no integer"):
        converted(load_replay(str(path)), ReplayForm.F5)
    path.write_text("\ufeff" + text.replace(str(signed(POOL.tactic or 0)), str(POOL.tactic)), encoding="utf-8")
    broken = load_replay(str(path))
    assert {problem.code for problem in broken.problems} == {"encoding", "tactic-unsigned"}
    assert to_text(converted(broken, ReplayForm.F5)) == text
