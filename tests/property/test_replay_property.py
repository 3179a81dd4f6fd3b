"""The two readers of a replay's JSON agree on every text, and what is written is what is read."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from tests.support.replays import ENTRIES, NOWHERE, of_form
from trtforensics.errors import NotAReplayError
from trtforensics.model.replay import FieldPath, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.files.located_json import Lines, plain
from trtforensics.parsers.files.replay import ReplayJson, locate, read_replay
from trtforensics.parsers.files.replay_fields import DTYPES, FORMATS
from trtforensics.parsers.text.document import Document
from trtforensics.replay.writing import to_text

INTEGERS = st.integers(-(1 << 63), (1 << 64) - 1)
TEXTS = st.text(max_size=8) | st.sampled_from(["replay", "tactic", "polygraphy_class", "a + b", "\x1e", "é", "\ud800"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(INTEGERS, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
TENSORS = st.builds(
    ReplayTensor,
    dtype=st.sampled_from(DTYPES),
    format=st.sampled_from(FORMATS),
    strides=st.lists(st.integers(0, 1 << 40), max_size=5).map(tuple),
    vectorized_dim=st.just(-1),
    components=st.integers(1, 32),
)
SIDES = st.lists(TENSORS, min_size=1, max_size=3).map(tuple)
LISTS_OF_ENTRIES = st.lists(
    st.builds(
        ReplayEntry,
        layer=st.text(max_size=12),
        implementation=st.integers(-(1 << 31), (1 << 32) - 1),
        tactic=st.integers(0, (1 << 64) - 1),
        inputs=SIDES,
        outputs=SIDES,
        span=st.just(NOWHERE),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda entry: entry.layer,
)


def leaves(value: Any) -> dict[FieldPath, Any]:
    """Return the scalars of a JSON value, and its empty objects and lists, by path."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {(key, *path): leaf for key, inner in items for path, leaf in leaves(inner).items()}
    return {(): value}


def spelled(found: dict[FieldPath, Any]) -> dict[FieldPath, str]:
    """Make NaN comparable, and 1 different from true and 1.0."""
    return {path: f"{type(leaf).__name__} {'nan' if leaf != leaf else leaf!r}" for path, leaf in found.items()}  # noqa: PLR0124 - NaN


def document(text: str) -> Document:
    return Document(text.encode("utf-8", "surrogatepass"), SourceInfo("made", len(text), text.count("\n") + 1, ""))


@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
@example(
    value=[math.nan, math.inf, -math.inf, -0.0, 1e300, "\\u0000\x7f", [1, 2], [-0], [], {}], indent=2, ascii_only=True
)
def test_the_reader_of_places_reads_what_json_reads(value: Any, indent: int | None, ascii_only: bool) -> None:  # noqa: FBT001
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert spelled(leaves(plain(locate(text, "made").top))) == spelled(leaves(json.loads(text)))


@given(st.sampled_from(ReplayForm), st.data())
@examples(300)
def test_both_readers_refuse_the_same_damaged_texts(form: ReplayForm, data: st.DataObject) -> None:
    text = to_text(ENTRIES[:1], form)
    at = data.draw(st.integers(0, len(text) - 1))
    cut = data.draw(st.integers(0, 3))
    text = (
        text[:at]
        + data.draw(st.sampled_from(["", '"', "{", "]", ",", "0", "-", "01", "\\", "\x01", "NaN"]))
        + text[at + cut :]
    )
    try:
        expected = spelled(leaves(json.loads(text)))
    except ValueError:
        expected = None
    try:
        found = spelled(leaves(plain(locate(text, "made").top)))
    except NotAReplayError:
        found = None
    assert found == expected


@given(VALUES.filter(lambda value: isinstance(value, dict)), st.sampled_from([None, 3]))
def test_walking_an_object_gives_what_json_gives_in_its_order(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    members = ReplayJson(text, "replay.json").top
    assert [(member.key, repr(plain(member.value))) for member in members] == [
        (key, repr(inner)) for key, inner in value.items()
    ]
    assert all(text[member.key_at] == '"' for member in members)


@given(st.text(alphabet="aé\n\U0001f600", max_size=30))
def test_a_place_is_the_line_the_column_and_the_byte_of_the_line(text: str) -> None:
    lines = Lines(text, "made")
    for offset in range(len(text)):
        place = lines.place(offset)
        before = text[:offset]
        assert place.line == before.count("\n") + 1
        assert place.column == len(before.rpartition("\n")[2]) + 1
        assert place.byte == len(before[: before.rfind("\n") + 1].encode())


@given(LISTS_OF_ENTRIES, st.sampled_from(ReplayForm))
def test_what_is_written_is_read_again(entries: list[ReplayEntry], form: ReplayForm) -> None:
    text = to_text(entries, form)
    replay = read_replay(document(text))
    assert [replace(entry, span=NOWHERE) for entry in replay.entries] == [of_form(entry, form) for entry in entries]
    assert to_text(replay.entries, form) == text
    codes = {problem.code for problem in replay.problems}
    assert not codes, codes


@given(VALUES, st.sampled_from(ENTRIES), st.data())
def test_no_value_in_any_field_is_more_than_a_problem(value: Any, entry: ReplayEntry, data: st.DataObject) -> None:
    whole: Any = json.loads(to_text((entry,), data.draw(st.sampled_from(ReplayForm))))
    path = data.draw(st.sampled_from(sorted(leaves(whole), key=str)))
    holder = whole
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    replay = read_replay(document(json.dumps(whole)))
    for problem in replay.problems:
        assert problem.what
        assert problem.next_step
        assert str(problem.span).startswith("made:1:")
