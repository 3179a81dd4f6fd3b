"""Replays are written as Polygraphy writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.replays import CONV
from trtforensics.replay.writing import converted, signed, to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.corpus
def test_each_form_is_written_as_its_polygraphy_wrote_it_to_the_byte(replay_samples: Path) -> None:
    files = list(replay_samples.glob("polygraphy-*/*_0.json"))
    assert len(files) == 46
    for path in files:
        found = load_replay(str(path))
        assert found.form is not None
        assert to_text(converted(found, found.form), found.form).encode() == path.read_bytes(), path


def test_an_empty_replay_is_written_as_polygraphy_does() -> None:
    assert to_text(()) == '{\n    "replay": {},\n    "polygraphy_class": "TacticReplayData"\n}'


@for_each(("unsigned", "number"), [(0, 0), ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, -(1 << 63)), (2**64 - 1, -1)])
def test_tactics_are_written_signed(unsigned: int, number: int) -> None:
    assert signed(unsigned) == number
    assert f'"tactic": {number},' in to_text((replace(CONV, tactic=unsigned),))
