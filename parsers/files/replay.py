"""Reads tactic replays as Polygraphy writes them: text in, :class:`~trtforensics.model.replay.Replay` out.

Places inside an entry are read only where a field has a problem. Neither TensorRT nor Polygraphy is needed, and nothing
is ever unpickled.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from trtforensics.errors import NotAReplayError
from trtforensics.model.replay import FieldPath, Problem, ProblemSeverity, Replay, ReplayForm, TextSpan
from trtforensics.parsers.files import replay_fields
from trtforensics.parsers.files.located_json import EVERYTHING, LocatedJson, Members, plain
from trtforensics.parsers.files.lookalikes import not_json, other_json
from trtforensics.parsers.text.document import Document, place_in

_ENTRIES = 2
"""The depth at which the entries of a replay lie."""
_MOST_LOCATED = 1 << 16
"""Values of a text whose every place is known: they take tens of megabytes."""
_LEAST_BYTES_A_MEMBER = 64
_LONGEST_KEY = 1 << 20
GIVE = "Give the file that Polygraphy's `--save-tactics` wrote"


class ReplayJson(LocatedJson):
    """A replay's text, read down to its entries, or further."""

    def __init__(self, text: str, file: str, depth: int = _ENTRIES) -> None:
        """Read the text.

        Raises:
            NotAReplayError: this is no JSON; it says where and what was expected.
        """
        super().__init__(text, file)
        self._file = file
        self._twice: list[str] = []
        self.repeated_below: dict[int, list[str]] = {}
        """Keys that stand twice somewhere in a value that was left to the json module, by the value's offset."""
        self.decoder = json.JSONDecoder(object_pairs_hook=self._joined)
        self.begin = self.skip(0)
        self.top, end = self.value(self.begin, depth)
        if self.skip(end) < len(text):
            raise self.missing(self.skip(end), "the end of the file")

    def refused(self, at: int, what: str, next_step: str) -> NotAReplayError:
        """Return the error for what stands at an offset."""
        return NotAReplayError(str(self.lines.place(at)), what, next_step)

    def check(self, members: Members, begin: int, end: int) -> None:
        """Refuse what no replay has.

        Raises:
            NotAReplayError: the object has more members than a replay of its size, or a key of a million characters.
        """
        last = members[-1]
        if members.is_object and len(str(last.key)) > _LONGEST_KEY:
            what = f"holds a name of {len(str(last.key)):,} characters, which no layer has"
            raise NotAReplayError(self._file, what, GIVE)
        if len(members) > _MOST_LOCATED and len(members) * _LEAST_BYTES_A_MEMBER > end - begin:
            what = f"an object begins with {len(members):,} members in {end - begin:,} characters, which no replay does"
            raise NotAReplayError(self._file, what, GIVE)
        if self._twice:
            self.repeated_below[last.at] = [*self._twice]
            self._twice.clear()

    def _joined(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            self._twice += (key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return value

    def has_repeated(self) -> bool:
        """Whether some object has a key twice."""
        return bool(self.repeated_below) or any(True for _ in self.repeated())

    def of(self, path: FieldPath) -> TextSpan:
        """Return the place of a value; of a missing value, the place of the container that should hold it."""
        value, at = self.top, self.begin
        for key in path:
            member = value.last.get(key) if isinstance(value, Members) else None
            if member is None:
                break
            value, at = member.value, member.at
        return self.lines.place(at)

    def key(self, path: FieldPath) -> TextSpan:
        """Return the place of the last of the keys of a path that is known."""
        value, at = self.top, self.begin
        for key in path:
            if not isinstance(value, Members) or key not in value.last:
                break
            _, at, value, _ = value.last[key]
        return self.lines.place(at)

    def repeated(self) -> Iterator[tuple[FieldPath, TextSpan]]:
        """Yield the keys that are repeated later in the same object, each with its own place, or with its entry's."""
        todo: list[tuple[FieldPath, Any]] = [((), self.top)]
        while todo:
            path, value = todo.pop()
            for member in value if isinstance(value, Members) else ():
                inside = (*path, member.key)
                if value.last[member.key] is not member:
                    yield inside, self.lines.place(member.key_at)
                else:
                    todo.append((inside, member.value))
                for name in self.repeated_below.get(member.at, ()):
                    yield (*inside, name), self.lines.place(member.key_at)


def locate(text: str, file: str) -> ReplayJson:
    """Read every place of a replay; of a large one, only the places of its entries.

    Raises:
        NotAReplayError: this is no JSON; it says where and what was expected.
    """
    return ReplayJson(text, file, EVERYTHING if sum(map(text.count, ",[{")) <= _MOST_LOCATED else _ENTRIES)


_TOP = "TacticReplayData"
_ANY_LATER = "0.30.0 and later"
"""The versions that write an empty replay, which has no tensor that shows its form."""


def check_opening(opening: bytes, name: str) -> None:
    """Refuse by its first bytes a file that cannot be a replay.

    Raises:
        NotAReplayError: it is a pickle, binary, or text that is no JSON; it says what it seems to be.
    """
    what = not_json(opening)
    if what is not None:
        raise NotAReplayError(name, what.sentence, what.next_step or GIVE)


def decoded(document: Document) -> str:
    """Return the text of a document.

    Raises:
        NotAReplayError: it is no UTF-8; it says where.
    """
    try:
        return document.data.decode()
    except UnicodeDecodeError as error:
        where = place_in(document.data, error.start, document.info.path)
        raise NotAReplayError(where, "is no UTF-8 text", GIVE) from error


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
    source = _read(text, info.path)
    top = source.top
    layers = top.last["replay"].value if isinstance(top, Members) and "replay" in top.last else None
    if not (isinstance(layers, Members) and top.is_object and layers.is_object):
        what = other_json(plain(top))
        raise NotAReplayError(info.path, what.sentence, what.next_step or GIVE)
    reader, fields = replay_fields.EntryReader(info.path), {str(key): member.value for key, member in top.last.items()}
    every = [reader.entry(str(m.key), plain(m.value), source.lines.place(m.key_at)) for m in layers]
    form = reader.finish()
    flaws = [*_storing(document), *_top_class(fields), *reader.flaws]
    problems: tuple[Problem, ...] = ()
    if flaws or source.has_repeated():
        problems = _located(flaws, locate(text, info.path), info.path)
    last = {entry.layer: entry for entry in every}
    shadowed = tuple(entry for entry in every if last[entry.layer] is not entry)
    return Replay(info, form, _range(form, fields), tuple(last.values()), shadowed, problems)


def _read(text: str, file: str) -> ReplayJson:
    """Read the entries; where the text is damaged, the reader of every place says it best."""
    with suppress(NotAReplayError):
        return ReplayJson(text, file)
    return locate(text, file)


def _storing(document: Document) -> list[replay_fields.Flaw]:
    if not document.stored_as:
        return []
    is_mark = "mark" in document.stored_as
    stored = f"is stored with a {document.stored_as}" if is_mark else f"is {document.stored_as} data"
    return [replay_fields.flaw_of("encoding", "", (), stored=stored)]


def _top_class(top: dict[str, Any]) -> list[replay_fields.Flaw]:
    legacy = top.get(replay_fields.LEGACY_TOP) == replay_fields.LEGACY_VALUE
    if legacy and replay_fields.CLASS in top:
        return [replay_fields.flaw_of("two-classes", "", (), marker="")]
    if legacy or top.get(replay_fields.CLASS) == _TOP:
        return []
    if replay_fields.CLASS not in top:
        return [replay_fields.flaw_of("no-class-of-file", "", (), name=_TOP)]
    return [
        replay_fields.flaw_of(
            "unknown-class-of-file", "", (replay_fields.CLASS,), marker=repr(top[replay_fields.CLASS]), name=_TOP
        )
    ]


def _located(flaws: list[replay_fields.Flaw], places: ReplayJson, file: str) -> tuple[Problem, ...]:
    repeated = list(places.repeated())
    replay_fields.check_count(len(repeated) + len(flaws), file)
    problems = [_repeated(path, span, places) for path, span in repeated]
    for flaw in flaws:
        span = places.of(flaw.path)
        problems.append(Problem(flaw.code, flaw.severity, flaw.layer, flaw.path, span, flaw.what, flaw.next_step))
    return tuple(sorted(problems, key=lambda problem: (problem.span.line, getattr(problem.span, "column", 0))))


def _repeated(path: FieldPath, span: TextSpan, places: ReplayJson) -> Problem:
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
    return ReplayForm.F1.written_by if top.get(replay_fields.LEGACY_TOP) == replay_fields.LEGACY_VALUE else _ANY_LATER
