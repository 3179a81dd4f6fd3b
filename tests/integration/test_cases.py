"""Excerpts of public threads whose cause is known are diagnosed, and pasting them in other ways changes little."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.cases.__main__ import judgements, roots_kept

if TYPE_CHECKING:
    from pathlib import Path

LEAST_DIAGNOSED = 0.9
LEAST_KEPT = 0.95
SAMPLE = 12
MUTATIONS = 5


@pytest.fixture
def cases(corpus: Path) -> Path:
    folder = corpus.parent / "cases"
    if not folder.is_dir():
        pytest.skip(f"there are no cases beside the corpus: {folder}")
    return folder


@pytest.mark.corpus
def test_nine_in_ten_are_diagnosed_and_none_gets_wrong_advice(cases: Path) -> None:
    found = list(judgements(cases))
    assert len(found) > 50
    assert not [one for one in found if one.outcome in {"wrong advice", "refused"}]
    right = [one for one in found if one.outcome == "right"]
    assert len(right) >= LEAST_DIAGNOSED * len(found), [one for one in found if one.outcome != "right"]


@pytest.mark.slow
@pytest.mark.corpus
def test_mutations_keep_the_first_finding(cases: Path, tmp_path: Path) -> None:
    sample = random.Random(20).sample(sorted(cases.glob("*.json")), SAMPLE)
    kept = sum(roots_kept(case, MUTATIONS, tmp_path / "paste.txt") for case in sample)
    assert kept >= LEAST_KEPT * SAMPLE * MUTATIONS
