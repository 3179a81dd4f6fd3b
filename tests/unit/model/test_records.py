"""A record is made, compared, shown and replaced as a dataclass, the first of its kind too."""

from __future__ import annotations

from dataclasses import field, replace

import pytest

from trtforensics.model.records import record


def _kind() -> type:
    @record(frozen=True, slots=True)
    class Timed:
        """A kind of which no record has been made."""

        name: str
        ms: float = 0.5
        notes: list[str] = field(default_factory=list)
        before: int = field(default=0, kw_only=True)
        hidden: int = field(default=7, repr=False)

    return Timed


def test_the_first_record_and_the_next_take_the_same_arguments() -> None:
    kind = _kind()
    first, second = kind("a", 1.0, ["n"], 3, before=2), kind(name="a", ms=1.0, notes=["n"], hidden=3, before=2)
    assert first == second
    assert repr(first) == repr(second) == "_kind.<locals>.Timed(name='a', ms=1.0, notes=['n'], before=2)"


def test_defaults_are_filled_in_and_made_lists_are_not_shared() -> None:
    kind = _kind()
    one, other = kind("a"), kind("a")
    one.notes.append("x")
    assert (other.ms, other.notes, other.before, other.hidden) == (0.5, [], 0, 7)
    assert one != other


@pytest.mark.parametrize("arguments", [(), ("a", 1.0, [], 7, 2)], ids=["too few", "a keyword by place"])
def test_the_first_record_refuses_what_no_record_takes(arguments: tuple[object, ...]) -> None:
    kind = _kind()
    with pytest.raises(TypeError):
        kind(*arguments)
    assert kind("a").name == "a"


def test_a_record_has_slots_and_can_be_replaced() -> None:
    kind = _kind()
    with pytest.raises(AttributeError):
        kind("a").other = 1
    assert replace(kind("a"), ms=2.0) == kind("a", 2.0)
    assert hash(kind("a", notes=())) == hash(kind("a", notes=()))
