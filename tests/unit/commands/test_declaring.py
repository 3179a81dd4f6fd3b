"""The table of arguments lists what the code knows."""

from __future__ import annotations

from dataclasses import fields

import pytest

from trtforensics.bisection import search_options
from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search_options import BuildOptions, PrecisionOptions, SampleOptions
from trtforensics.datasets.judged_sources import TABLES
from trtforensics.findings.forms.rendering import FORMS
from trtforensics.findings.target import TYPES
from trtforensics.graphs.views import View
from trtforensics.knowledge.table import rows
from trtforensics.model.replay import ReplayForm
from trtforensics.pin.conditions import PinConditions
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


@pytest.mark.parametrize("options", [RunOptions, BuildOptions, SampleOptions, PrecisionOptions, PinConditions])
def test_every_field_that_an_option_sets_has_its_words(options: type) -> None:
    flags = [each.metadata["flags"][0] for each in fields(options) if each.metadata]
    words = [row["names"] for row in ROWS if options.__name__ in row["commands"].split() and row["help"]]
    assert sorted(words) == sorted(flags)


def test_the_words_name_the_numbers_of_samples() -> None:
    (row,) = (row for row in ROWS if row["commands"] == "SampleOptions" and row["names"] == "--samples")
    assert f"(default: {search_options._RANDOM})" in row["help"]
    assert f"(default: {search_options._FROM_A_SCRIPT})" in row["help"]
