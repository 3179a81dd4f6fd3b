"""What findings read besides a build's fields: noted lines, causes in messages, layers short of workspace."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import TypeAlias

import numpy as np

from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.notes import Note, StarvedLayer
from trtforensics.model.timings import TacticTimings
from trtforensics.parsers.builds.views import LinesView, Log, Spans, latest
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import named_fields
from trtforensics.parsers.lines import unread
from trtforensics.parsers.lines.dialects import LEVEL_LOST, severity_of
from trtforensics.parsers.lines.events import KEPT
from trtforensics.parsers.notation.table_rows import whole_rows
from trtforensics.parsers.notation.tracebacks import is_frame, raised_at

NOTED = tuple(kind.name for kind in tables.kinds() if kind.noted)
"""The kinds of line that findings read; a log has few lines of each."""


SKIPPED = ("tactic_skipped", "tactic_skipped_old")
_SHOWN = 3
"""Lines that a starved layer keeps."""
_ERRORS = ("coded_error", "numbered_error", "sourced_error", "recorded_error")
"""Errors by their form, also where the logger does not print their level."""
_OF_TENSORRT = ("parser_assertion", *_ERRORS, "message")
SAYING = ("untyped", *_OF_TENSORRT)
"""The kinds whose text may name a cause."""
_MOST_COMPARED = 64
"""The texts of one line up to which each is compared with the others."""
_GENERAL = ("internal_check", "call_refused", "library_call", "llm_check")
"""Causes that only say what kind of error it is; they count where a message names no other."""

_WRAPPING = frozenset({"internal_check", "call_refused", "importer_refused", "unsupported_node", unread.ANY_ERROR})
"""Causes that say no more than the sentence which they wrap; where that has a class, the class counts."""

_RAISED = "python_"
"""How the names of the causes begin that Python raises, whose notes say where."""

NamedCauses: TypeAlias = "tuple[tuple[str, dict[str, str | None]], ...]"
"""Names of causes, each with what its rule captures."""

_TYPED, _SOURCE, _MEMBER, _RESULT, _FAMILY, _FAMILY_FRAME, _ANNOUNCED, _BESIDE = (
    regex(row["pattern"]) for row in rows("sayings", "trtforensics.parsers.builds")
)
"""The beginning of an echoed command or code, a legend, a note of pip or CMake: what it names did not fail; a line in a
traceback that makes the words of the error below it; a member that an object lacks; a line that says how something
ended, and not why; who prints a line, where it is a program whose messages have classes, also by a frame; the end of
a message whose reason stands in the lines below it; what such lines hold besides."""
_REASON = 2
"""Lines that hold a reason: a field's name, and what is wrong with it."""
_ECHOED = regex(f"{_TYPED.pattern}|{unread.CODE.pattern.decode()}")
_TRIED = 5
"""So many members that an object lacks are a list of members that a program tries."""
_FRAMES_ABOVE = 40
"""The lines above an exception that may show whose it is."""
_OF_NO_CLASS = "failed_word"
"""The class of an error that only says that something failed."""
_OF_ANYBODY = {"cancelled", "short_memory", "failed_cuda", "unusable_file", "failed_part"}
"""Classes that mean the same whoever says so; the others are learnt from TensorRT and the programs around it."""
_LISTED = regex(rb"\s*\w+=[^,=]*,\w+=")
"""The beginning of a row of names and values: a list of error codes says what may fail, not that it did."""


def notes(log: Log) -> Sequence[tuple[Note, ...]]:
    """Return each build's noted lines and the causes that its warnings and errors name, in the log's order."""
    records = [
        Note(kind, log.spans.of(line), dict(zip(KEPT[kind], values, strict=True)))
        for kind in log.present(NOTED)
        for line, *values in log.each(kind, *KEPT[kind])
    ]
    texts = _texts(log)
    reported = {line for kind in _OF_TENSORRT for line, _ in log.each(kind, "text")}
    said = ((line, severity_of(parts[0].encode())) for line, parts in texts.items() if line not in reported)
    told = (row for kind in ("untyped", "message") for row in log.each(kind, "severity"))
    levels = {line: level for line, level in chain(told, said) if level and level != LEVEL_LOST}
    named = list(_named(texts, reported, levels)) or list(_worded(texts, levels))
    records += [Note(kind, log.spans.of(line), fields, levels.get(line, "")) for line, kind, fields in named]
    return log.divide_records(records)


def _named(
    texts: Mapping[int, Sequence[str]], reported: set[int], levels: Mapping[int, str]
) -> Iterator[tuple[int, str, dict[str, str | None]]]:
    """Give the causes that lines name, with the line: messages, and lines that no rule reads.

    A cause may be broken over two lines, where a mail program or a terminal wrapped them: it counts for the first. Such
    breaks are looked for in excerpts only, because a whole log was never wrapped.
    """
    excerpt = len(texts) <= unread.MOST_WRAPPED
    pairs = {
        line: (parts[-1], texts[line + 1][0])
        for line, parts in texts.items()
        if excerpt and line + 1 in texts.keys() - reported
    }
    joined = {text for pair in pairs.values() for text in _joined(*pair)}
    named_by = _causes_of([*{text for parts in texts.values() for text in parts} | joined])
    members = [line for line, parts in texts.items() if _MEMBER.match(parts[0])]
    tried = {*members} if len(members) >= _TRIED else set()
    for line, parts in texts.items():
        if (
            line in tried
            or _ECHOED.match(parts[0])
            or (_SOURCE.match(parts[0]) and is_frame(texts.get(line - 1, [""])[0]))
        ):
            continue
        certain = excerpt or line in reported
        named = {kind: fields for text in reversed(parts) for kind, fields in named_by[text]}
        if levels.get(line, "E") != "E" and line not in reported and named.keys() <= _WRAPPING:
            continue
        if certain and levels.get(line, "E") == "E" and named.keys() <= _WRAPPING and (named or line in reported):
            found = _classified(texts, line, texts.get(line + 1, [""])[0] if excerpt else "", ours=line in reported)
            named = named if found is None else dict([found])
        for kind, fields in named.items():
            if certain or kind not in unread.ANYBODY_MAY_SAY:
                yield (
                    line,
                    kind,
                    fields | raised_at(texts, line, fields.get("name")) if kind.startswith(_RAISED) else fields,
                )
        if line in pairs:
            yield from ((line, kind, fields) for kind, fields in _broken(*pairs[line], named_by))


def _worded(
    texts: Mapping[int, Sequence[str]], levels: Mapping[int, str]
) -> Iterator[tuple[int, str, dict[str, str | None]]]:
    """Give the lines of a short excerpt that say in any form that something failed; nothing in it names a cause."""
    for line, parts in texts.items() if len(texts) <= unread.FEW else ():
        text = max(parts, key=len)
        no_error = any(each.match(part) for each in (_RESULT, _MEMBER, _ECHOED) for part in parts)
        if unread.says_failure(text) and not no_error and levels.get(line, "E") == "E":
            yield line, *(_classified(texts, line, "", ours=False) or (unread.ANY_ERROR, {"text": text}))


def _classified(
    texts: Mapping[int, Sequence[str]], line: int, below: str, *, ours: bool
) -> tuple[str, dict[str, str | None]] | None:
    """Return the class of a line's error with its fields, that of no class where another program says it."""
    from trtforensics.parsers.notation.sentences import classified  # noqa: PLC0415 - few logs have such errors

    text = max(texts[line], key=len)
    found = classified(text, below)
    if found is None or ours or found[0] in _OF_ANYBODY or _FAMILY.search(text):
        return found
    if any(found[1][field] for field in ("site", "op", "node")):
        return found
    above = (part for other in range(line - _FRAMES_ABOVE, line) for part in texts.get(other, ()))
    return found if any(map(_FAMILY_FRAME.search, above)) else (_OF_NO_CLASS, found[1])


def _causes_of(texts: Sequence[str]) -> dict[str, NamedCauses]:
    raw = [text.encode() for text in texts]
    possible = unread.possible_causes(raw)
    return {text: _named_in(message, possible) for text, message in zip(texts, raw, strict=True)}


def _texts(log: Log) -> dict[int, list[str]]:
    """Return what each line says: one text, or several where its parts are messages of their own.

    Several kinds may read one message; of texts that hold each other, the longest counts. In a line that holds a whole
    log only equal texts are taken for one, because to compare all takes time by the square of their number.
    """
    texts: dict[int, dict[str, None]] = {}
    for kind in SAYING:
        for line, whole in log.each(kind, "text"):
            text = whole[: unread.MOST_OF_MESSAGE]
            others = texts.setdefault(line, {})
            if len(others) < _MOST_COMPARED:
                if any(text in other for other in others):
                    continue
                for shorter in [other for other in others if other in text]:
                    del others[shorter]
            others[text] = None
    whole = whole_rows({line: list(parts) for line, parts in texts.items()})
    for line, parts in whole.items():
        if _ANNOUNCED.search(parts[-1]):
            below = (whole.get(other, [""])[0] for other in range(line + 1, line + 1 + _REASON))
            reason = [*takewhile(bool, (_BESIDE.sub("", text).strip() for text in below))]
            parts[-1] = ": ".join((parts[-1].rstrip(" :"), *reason))
    return whole


def _joined(text: str, following: str) -> tuple[str, str]:
    """Return two lines as one that was broken at a blank, or within a word."""
    return (f"{text.rstrip()} {following.lstrip()}", f"{text.rstrip()}{following.lstrip()}")


def _broken(
    text: str, following: str, named_by: Mapping[str, NamedCauses]
) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Give the causes that only two lines together name."""
    known = {kind for kind, _ in (*named_by[text], *named_by[following])}
    for whole in _joined(text, following):
        for kind, fields in named_by[whole]:
            if kind not in known:
                known.add(kind)
                yield kind, fields


def causes(message: str) -> NamedCauses:
    """Return the causes that a message names (rules of ``causes.lark``), with what each captures."""
    return _causes_of([message])[message]


def _named_in(message: bytes, possible: unread.Causes) -> NamedCauses:
    every = [
        (
            kind.name,
            named_fields(kind, tuple(raw if raw is None else raw.decode(errors="replace") for raw in match.groups())),
        )
        for kind, match in unread.causes_in(message, possible)
    ]
    specific = [named for named in every if named[0] not in {*_GENERAL, unread.ANY_ERROR}]
    causes = specific or [named for named in every if named[0] != unread.ANY_ERROR]
    return tuple(causes if _LISTED.match(message) else causes or every)


def starved_layers(view: LinesView, timed: TacticTimings, spans: Spans) -> tuple[StarvedLayer, ...]:
    """Return the layers some of whose tactics wanted more workspace than there was, the largest request first.

    Sizes are bytes. TensorRT 4 to 10 print such lines.
    """
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for kind in view.present(SKIPPED):
        skipped = view.each(kind, "requested", "available")
        layers_of = latest(timed.runner_line, timed.runner_layer, np.array(view.lines(kind), np.int64)).tolist()
        for (line, requested, available), layer in zip(skipped, layers_of, strict=True):
            if requested is not None and available is not None:  # -1: in the block of no runner
                rows.setdefault(timed.texts[layer] if layer >= 0 else "", []).append((requested, available, line))
    layers = [
        StarvedLayer(layer, len(of_it), *max(of_it)[:2], tuple(map(spans.of, sorted(row[2] for row in of_it)[:_SHOWN])))
        for layer, of_it in rows.items()
    ]
    return tuple(sorted(layers, key=lambda layer: (-layer.requested, layer.spans[0].line)))
