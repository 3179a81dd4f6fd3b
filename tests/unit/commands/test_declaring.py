"""The table of arguments lists what the code knows."""

from __future__ import annotations

import pytest

from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.datasets.judged_sources import TABLES
from trtforensics.findings.forms.rendering import FORMS
from trtforensics.findings.target import TYPES
from trtforensics.graphs.views import View
from trtforensics.knowledge.table import rows
from trtforensics.model.replay import ReplayForm
from trtforensics.plots.choosing import NEEDS
from trtforensics.repairs.repairing import REPAIRS
from trtforensics.sources.kinds import Kind

ROWS = list(rows("arguments", "trtforensics.commands"))


def choices_of(command: str, option: str) -> set[str]:
    (row,) = (row for row in ROWS if command in row["commands"].split() and option in row["names"].split())
    return set(row["choices"].split())


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        ("table", "--of", TABLES),
        ("report", "--format", FORMS),
        ("graph", "--view", View),
        ("plot", "--of", NEEDS),
        ("replay.convert", "--to", {form.value for form in ReplayForm}),
        ("reduce", "--precision", {*STORAGES} & {"fp16", "bf16"}),
        ("parse", "--kind", {kind.value for kind in Kind} - {"artifacts"}),
    ],
)
def test_what_can_be_chosen_is_what_there_is(command: str, option: str, known: set[str]) -> None:
    assert choices_of(command, option) == set(known)


@pytest.mark.parametrize(("command", "dest", "known"), [("check", "types", TYPES), ("repair", "repairs", REPAIRS)])
def test_every_type_and_repair_has_its_option(command: str, dest: str, known: set[str]) -> None:
    named = {row["names"].lstrip("-") for row in ROWS if row["commands"] == command and row["dest"] == dest}
    assert named == set(known)
