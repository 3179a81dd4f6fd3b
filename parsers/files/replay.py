"""Reads tactic replays as Polygraphy writes them: text in, :class:`~trtforensics.model.replay.Replay` out.

The values come from the json module. The grammar finds places only where a field has a problem. Neither TensorRT nor
Polygraphy is needed, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.errors import NotAReplayError
from trtforensics.model.replay import Problem, ProblemSeverity, Replay, ReplayForm, TextSpan
from trtforensics.parsers.files.json_text import (
    EntryPlaces,
    Lines,
    ObjectMember,
    Places,
    locate,
    members,
    skip,
)
from trtforensics.parsers.files.lookalikes import not_json, other_json
from trtforensics.parsers.files.replay_fields import CLASS, LEGACY_TOP, LEGACY_VALUE, EntryReader, Flaw, check_count

if TYPE_CHECKING:
    from trtforensics.model.replay import FieldPath
    from trtforensics.parsers.text.document import Document

_TOP = "TacticReplayData"
_GIVE = "Give the file that Polygraphy's `--save-tactics` wrote"
_ANY_LATER = "0.30.0 and later"
"""The versions that write an empty replay, which has no tensor that shows its form."""


class _Object(list[ObjectMember]):
    """The members of an object that stands right below the top, repeated ones included."""

    __slots__ = ()

    @property
    def value(self) -> dict[str, Any]:
        return {member.key: member.value for member in self}


class _Values(NamedTuple):
    top: dict[str, Any]
    layers: list[ObjectMember]
    repeated: bool
    """Whether some object has a key twice."""


def check_opening(opening: bytes, name: str) -> None:
    """Refuse by its first bytes a file that cannot be a replay.

    Raises:
        NotAReplayError: it is a pickle, binary, or text that is no JSON; it says what it seems to be.
    """
    what = not_json(opening)
    if what is not None:
        raise NotAReplayError(name, what.sentence, what.next_step or _GIVE)


def decoded(document: Document) -> str:
    """Return the text of a document.

    Raises:
        NotAReplayError: it is no UTF-8; it says where.
    """
    try:
        return document.data.decode()
    except UnicodeDecodeError as error:
        line_start = document.data.rfind(b"\n", 0, error.start) + 1
        column = len(document.data[line_start : error.start].decode()) + 1
        line = document.data.count(b"\n", 0, error.start) + 1
        where = str(TextSpan(document.info.path, line, line_start, column))
        raise NotAReplayError(where, "is no UTF-8 text", _GIVE) from error


def read_replay(document: Document) -> Replay:
    """Read a replay of any form.

    Values that no Polygraphy accepts, or that it accepts and can never match, are problems of the replay, each with
    its place; the rest of the file is read all the same.

    Raises:
        NotAReplayError: this is no replay, or no whole JSON; it says where, and what it is instead.
    """
    info = document.info
    check_opening(document.data, info.path)
    text = decoded(document)
    values = _values(text, info.path)
    reader, lines = EntryReader(info.path), Lines(text, info.path)
    every = [reader.entry(m.key, m.value, lines.place(m.at)) for m in values.layers]
    form = reader.finish()
    flaws = [*_storing(document), *_top_class(values.top), *reader.flaws]
    problems: tuple[Problem, ...] = ()
    if flaws or values.repeated:
        problems = _located(flaws, locate(text, info.path), info.path)
    last = {entry.layer: entry for entry in every}
    shadowed = tuple(entry for entry in every if last[entry.layer] is not entry)
    return Replay(info, form, _range(form, values.top), tuple(last.values()), shadowed, problems)


def _values(text: str, file: str) -> _Values:
    repeated = False

    def joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        value = dict(pairs)
        repeated = repeated or len(value) < len(pairs)
        return value

    decode = json.JSONDecoder(object_pairs_hook=joined).raw_decode

    def below_top(text: str, at: int) -> tuple[Any, int]:
        if text[at : at + 1] != "{":
            return decode(text, at)
        found, end = members(text, at, decode, file)
        return _Object(found), end

    begin = skip(text, 0)
    damage = ""
    try:
        if text[begin] != "{":
            raise _not_this(file, json.loads(text))
        found, end = members(text, begin, below_top, file)
    except ValueError as error:
        damage = str(error)
    except RecursionError as error:
        raise NotAReplayError(file, "nests too deeply for a replay", _GIVE) from error
    if damage:  # not while the error holds the values read so far
        locate(text, file)
        raise NotAReplayError(file, f"cannot be read as JSON: {damage}", _GIVE)
    if skip(text, end) < len(text):
        locate(text, file)
    top = {m.key: m.value for m in found}
    layers = top.get("replay")
    if not isinstance(layers, _Object):
        raise _not_this(file, {k: value.value if isinstance(value, _Object) else value for k, value in top.items()})
    return _Values(top, layers, repeated or len(top) < len(found) or len(layers.value) < len(layers))


def _not_this(file: str, value: Any) -> NotAReplayError:  # noqa: ANN401 - any JSON value
    what = other_json(value)
    return NotAReplayError(file, what.sentence, what.next_step or _GIVE)


def _storing(document: Document) -> list[Flaw]:
    if not document.stored_as:
        return []
    what = f"is stored with a {document.stored_as}" if "mark" in document.stored_as else f"is {document.stored_as} data"
    advice = "Save it as plain UTF-8; `replay convert` does"
    return [Flaw("encoding", ProblemSeverity.ERROR, "", (), f"{what}, which Polygraphy does not read", advice)]


def _top_class(top: dict[str, Any]) -> list[Flaw]:
    legacy = top.get(LEGACY_TOP) == LEGACY_VALUE
    if legacy and CLASS in top:
        what = "has the class marker of form F1 and that of later forms; the older one wins"
        return [Flaw("two-classes", ProblemSeverity.WARNING, "", (), what, "Remove the one that is wrong")]
    if legacy or top.get(CLASS) == _TOP:
        return []
    advice = f'Write `"{CLASS}": "{_TOP}"` behind the `replay` object'
    if CLASS not in top:
        what = f"has no `{CLASS}` at its end, so Polygraphy cannot tell that it is {_TOP}"
        return [Flaw("no-class", ProblemSeverity.ERROR, "", (), what, advice)]
    what = f"names the class {top[CLASS]!r} where {_TOP} should be; Polygraphy does not load it"
    return [Flaw("unknown-class", ProblemSeverity.ERROR, "", (CLASS,), what, advice)]


def _located(flaws: list[Flaw], places: Places | EntryPlaces, file: str) -> tuple[Problem, ...]:
    repeated = places.repeated()
    check_count(len(repeated) + len(flaws), file)
    problems = [_repeated(path, span, places) for path, span in repeated]
    for flaw in flaws:
        span = places.of(flaw.path)
        problems.append(Problem(flaw.code, flaw.severity, flaw.layer, flaw.path, span, flaw.what, flaw.next_step))
    return tuple(sorted(problems, key=lambda problem: (problem.span.line, getattr(problem.span, "column", 0))))


def _repeated(path: FieldPath, span: TextSpan, places: Places | EntryPlaces) -> Problem:
    last = places.key(path)
    is_layer = len(path) == len(("replay", "layer")) and path[0] == "replay"
    code = "duplicate-layer" if is_layer else "duplicate-field"
    named = "layer" if is_layer else "field"
    what = f"the {named} {path[-1]!r} stands again at line {last.line}; JSON readers keep the last one without a word"
    layer = str(path[1]) if path[:1] == ("replay",) and len(path) > 1 else ""
    return Problem(code, ProblemSeverity.WARNING, layer, path, span, what, "Remove the one that is wrong")


def _range(form: ReplayForm | None, top: dict[str, Any]) -> str:
    if form is not None:
        return form.written_by
    if top["replay"]:
        return ""
    return ReplayForm.F1.written_by if top.get(LEGACY_TOP) == LEGACY_VALUE else _ANY_LATER
