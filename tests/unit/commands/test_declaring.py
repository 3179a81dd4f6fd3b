"""The table of arguments lists what the code knows."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib import resources
from typing import Any

import pytest

from tests.support.for_each import for_each
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
from trtforensics.model.run import Program
from trtforensics.pin.conditions import PinConditions
from trtforensics.plots.engine_figures import NEEDS
from trtforensics.repairs.repairing import REPAIRS
from trtforensics.sources.kinds import Kind

ROWS = list(rows("arguments", "trtforensics.commands"))


def choices_of(command: str, option: str) -> set[str]:
    (row,) = (row for row in ROWS if command in row["commands"].split() and option in row["names"].split())
    return set(row["choices"].split())


@for_each(
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


@for_each("options", [RunOptions, BuildOptions, SampleOptions, PrecisionOptions, PinConditions])
def test_every_field_that_an_option_sets_has_its_words(options: type) -> None:
    flags = [each.metadata["flags"][0] for each in fields(options) if each.metadata]
    words = [row["names"] for row in ROWS if options.__name__ in row["commands"].split() and row["help"]]
    assert sorted(words) == sorted(flags)


@for_each("options", [RunOptions, BuildOptions, SampleOptions, PrecisionOptions, PinConditions])
def test_every_field_that_an_option_sets_is_offered_by_a_command(options: type) -> None:
    known = {each.name for each in fields(options) if each.metadata}
    offers = [
        row["choices"].split() for row in ROWS if row["how"] == "fields" and row["names"].endswith(options.__name__)
    ]
    assert known == (known if [] in offers else set().union(*offers))


def test_the_schema_of_a_log_lists_every_program() -> None:
    schema = json.loads(resources.files("trtforensics.render").joinpath("schemas/parse.schema.json").read_text())
    assert {*Program} in [set(each) for each in lists_of(schema, "enum")]


def lists_of(part: Any, key: str) -> list[list[Any]]:
    """Return the lists that stand under a key, anywhere in a document."""
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = [part[key]] if isinstance(part, dict) and isinstance(part.get(key), list) else []
    return [*own, *(each for member in inside for each in lists_of(member, key))]


def test_the_words_name_the_numbers_of_samples() -> None:
    (row,) = (row for row in ROWS if row["commands"] == "SampleOptions" and row["names"] == "--samples")
    assert f"(default: {search_options._RANDOM})" in row["help"]
    assert f"(default: {search_options._FROM_A_SCRIPT})" in row["help"]
