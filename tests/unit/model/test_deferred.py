"""Fields of a build that are computed on first access look like any other field; so do regexes."""

from __future__ import annotations

import gc
import pickle
import re
from dataclasses import fields, replace
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT
from trtforensics.model.deferred import DeferredRegex, regex
from trtforensics.model.log import Build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]


@pytest.fixture
def build(load: Load, samples: list[Path]) -> Build:
    """The last of several builds, of which nothing was read yet."""
    return load("".join(path.read_text(encoding="utf-8") for path in samples)).builds[-1]


def test_a_deferred_field_is_computed_once(build: Build) -> None:
    assert build.messages is build.messages
    assert build.message_counts.warning + build.message_counts.error == len(build.messages)


def test_a_field_that_a_build_does_not_have_is_named(build: Build) -> None:
    with pytest.raises(AttributeError, match="'Build' object has no attribute 'noted'"):
        _ = build.noted  # type: ignore[attr-defined]


def test_a_replaced_field_is_what_it_was_replaced_by(build: Build) -> None:
    without = replace(build, notes=())
    assert (without.notes, without.messages) == ((), build.messages)


def test_a_pickled_build_has_every_field(build: Build) -> None:
    again = pickle.loads(pickle.dumps(build))  # noqa: S301 - its own
    for field in fields(Build):
        if field.name not in {"timings", "myelin_operations"}:  # numpy has no one answer
            assert getattr(again, field.name) == getattr(build, field.name), field.name


def test_a_regex_is_compiled_on_first_use_and_means_what_re_makes_of_it() -> None:
    word = regex(r"(?P<first>\w)\w*", re.ASCII)
    assert "search" not in vars(word)
    match = word.search("-- layer")
    assert match is not None
    assert match["first"] == "l"
    assert "search" in vars(word)
    assert (word.pattern, word.groupindex) == (r"(?P<first>\w)\w*", {"first": 1})


def test_every_deferred_regex_compiles() -> None:
    for path in (ROOT / folder for folder in ("forensics", "parsers")):
        for module in path.rglob("*.py"):
            if "regex(" in module.read_text("utf-8"):
                parts = ("parsers",) * (path.name == "parsers")
                import_module(".".join(("trtforensics", *parts, *module.relative_to(path).with_suffix("").parts)))
    gc.unfreeze()  # what was frozen is not listed
    every = [each for each in gc.get_objects() if type(each) is DeferredRegex]
    assert len(every) > 100
    for each in every:
        assert each.groups >= 0
