"""Fields of a build that are computed on first access look like any other field."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

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
