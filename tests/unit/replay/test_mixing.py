"""A mix takes the entries of some layers from one replay and the rest from another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.replays import CONV, ENTRIES, POOL, made, replay
from trtforensics.errors import UsageError
from trtforensics.model.replay import ReplayForm
from trtforensics.replay.edges import DataflowNode
from trtforensics.replay.mixing import Mixer, across_cut, check_layers, common_form
from trtforensics.replay.writing import to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path

BAD = (replace(CONV, tactic=7), POOL, replace(POOL, layer="only bad"))


def test_a_mix_takes_named_layers_from_bad_and_the_rest_from_good() -> None:
    good, bad = replay(*ENTRIES), replay(*BAD)
    mixer = Mixer(good, bad)
    assert mixer.layers == (*(entry.layer for entry in ENTRIES), "only bad")
    assert mixer.differing == (CONV.layer, ENTRIES[2].layer, "only bad")
    assert mixer.text(set()) == to_text(ENTRIES)
    assert mixer.text(set(mixer.layers)) == to_text(BAD)
    for take in ({CONV.layer}, {CONV.layer, "only bad"}, {POOL.layer}, {ENTRIES[2].layer}):
        assert mixer.text(take) == to_text(mixer.entries(take))
    assert mixer.text({CONV.layer}) == to_text((BAD[0], *ENTRIES[1:]))


@pytest.mark.parametrize(
    ("good", "bad", "form"),
    [
        ("F5", "F5", "F5"),
        ("F4", "F5", "F5"),
        ("F4", "F4", "F5"),
        ("F1", "F1", "F1"),
        ("F1", "F2", "F2"),
        ("F3", "F3", "F3"),
        ("F2", "F3", "F2"),
    ],
)
def test_a_mix_has_the_newest_form_that_both_have(good: str, bad: str, form: str, tmp_path: Path) -> None:
    replays = [load_replay(str(made(tmp_path, ReplayForm(name)))) for name in (good, bad)]
    assert common_form(replays[0], replays[1]) == form
    path = tmp_path / "mixed.json"
    path.write_text(Mixer(replays[0], replays[1]).text({CONV.layer}))
    assert load_replay(str(path)).form == form


def test_forms_that_cannot_be_mixed_and_names_that_bad_lacks_are_refused(tmp_path: Path) -> None:
    old, new = (load_replay(str(made(tmp_path, form))) for form in (ReplayForm.F2, ReplayForm.F5))
    with pytest.raises(UsageError, match=r"\(F2\) and [^ ]+ \(F5\).*no replay can hold together"):
        Mixer(old, new)
    with pytest.raises(UsageError, match=r"no entry of a layer 'conv1 \+ rel1'. Is 'conv1 \+ relu1' meant\?"):
        check_layers(new, ["conv1 + rel1"])
    assert common_form(replay(form=None), replay(form=None)) is ReplayForm.F5


def test_the_formats_across_a_cut_are_compared() -> None:
    nodes = (
        DataflowNode(CONV.layer, ("x",), ("y",)),
        DataflowNode(POOL.layer, ("y",), ("z",)),
        DataflowNode(ENTRIES[2].layer, ("z", "constant"), ("w",)),
    )
    entries = (*ENTRIES[:1], replace(POOL, inputs=CONV.inputs), ENTRIES[2])
    (first, second) = across_cut(nodes, entries, {POOL.layer})
    assert (first.edge.producer, first.edge.consumer, first.differs) == (CONV.layer, POOL.layer, True)
    assert (second.edge.producer, second.leaves, second.enters) == (POOL.layer, "HALF(392,1:8,56,8) HWC8", "")
    assert across_cut(nodes, entries, set()) == []
