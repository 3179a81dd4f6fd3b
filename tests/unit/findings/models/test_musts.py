"""Each restriction of the tables has a judge: without one, every model would keep it."""

from __future__ import annotations

from trtforensics.findings.models import restrictions
from trtforensics.knowledge.operators import Restriction
from trtforensics.knowledge.table import records

BY_HAND = {"given", "absent", "ignored", "of-set", "real", "text"}
"""Words that ask whether something is given, or that tell and judge nothing."""


def test_each_must_of_the_tables_has_a_judge_and_each_judge_a_row() -> None:
    every = (*records("restrictions", Restriction), *records("dla_limits", Restriction))
    rows = [row for row in every if row.must not in BY_HAND | restrictions._NODES.keys()]
    for of, judges in ((True, restrictions._ATTRIBUTES), (False, restrictions._TENSORS)):
        asked = {row.must for row in rows if (row.of == "attribute") is of}
        assert asked == judges.keys() - BY_HAND
    assert restrictions._NODES.keys() <= {row.must for row in every}
