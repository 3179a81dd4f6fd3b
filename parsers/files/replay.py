"""Reads tactic replays as Polygraphy writes them: text in, :class:`~trtforensics.model.replay.Replay` out.

Places inside an entry are read only where a field has a problem. Neither TensorRT nor Polygraphy is needed, and nothing
is ever unpickled.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotAReplayError
from trtforensics.model.replay import Problem, ProblemSeverity, Replay, ReplayForm, TextSpan
from trtforensics.parsers.files.located_json import Members, plain
from trtforensics.parsers.files.lookalikes import not_json, other_json
from trtforensics.parsers.files.replay_fields import CLASS, LEGACY_TOP, LEGACY_VALUE, EntryReader, Flaw, check_count
from trtforensics.parsers.files.replay_places import GIVE, ReplayJson, locate

if TYPE_CHECKING:
    from trtforensics.model.replay import FieldPath
    from trtforensics.parsers.text.document import Document

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
        line_start = document.data.rfind(b"\n", 0, error.start) + 1
        column = len(document.data[line_start : error.start].decode()) + 1
        line = document.data.count(b"\n", 0, error.start) + 1
        where = str(TextSpan(document.info.path, line, line_start, column))
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
    reader, fields = EntryReader(info.path), {str(key): member.value for key, member in top.last.items()}
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


def _located(flaws: list[Flaw], places: ReplayJson, file: str) -> tuple[Problem, ...]:
    repeated = list(places.repeated())
    check_count(len(repeated) + len(flaws), file)
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
    return ReplayForm.F1.written_by if top.get(LEGACY_TOP) == LEGACY_VALUE else _ANY_LATER
