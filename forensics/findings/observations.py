"""Observations of log lines alone: lines of a kind become one, errors that explain themselves one for each sentence.

The parser knows the class of such an error (``parsers/notation/sentences.py``); rows of ``tables/classes.rules`` say
what the class means. They speak of lines that no other finding cites.
"""

from collections.abc import Iterable, Iterator, Sequence

from trtforensics.console.counting import grouped, listed
from trtforensics.console.secrets import masked
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.log import Message
from trtforensics.model.notes import Note
from trtforensics.parsers.notation.sentences import classes

_OF_THE_NETWORK = ("layer", "tensor")
NEAR = 12
"""Lines around ``While parsing node`` in which the parser says what is wrong with the node."""
_BELOW = 2
"""Lines below an error that may name its subject."""
CLASSES = tuple(classes())
"""The kinds of notes on errors that explain themselves."""
_NUMBER = regex(
    r"0x[0-9a-fA-F]+|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?!\w)|(?<=no member named ).*|^\S+(?= error: .* no member named )"
)
"""What may differ in messages that are alike: times, processes, addresses, sizes; members and places in code."""
_LONGEST = 320
"""Characters of a sentence that a title holds."""

NO_ENGINE, NO_RUN = (
    tuple(row["says"] for row in rows("passed_on", "trtforensics.findings") if row["of"] == of)
    for of in ("engine", "run")
)
"""What trtexec, TensorRT and Polygraphy add to an error printed before: no engine comes of it, or no run."""


def observe(notes: Sequence[Note], title: str, *, names: str = "", **more: object) -> Iterator[Observation]:
    """Give one observation that cites these notes; none where there are no notes.

    ``names`` is a field of the notes: its values replace ``{names}`` in the title, and names of layers and tensors are
    the observation's layers.
    """
    if notes:
        named = list(dict.fromkeys(note.text(names) for note in notes if names and note.text(names)))
        text, layers = title.replace("{names}", listed(named)), named if names in _OF_THE_NETWORK else ()
        spans = [*dict.fromkeys(note.span for note in notes)]  # a line may be of two kinds
        yield Observation(text, spans, layers=layers, **more)  # type: ignore[arg-type]  # its fields


def unexplained(case: Case, kind: str) -> list[Note]:
    """Return the notes of a kind on lines that no other finding cites; for rules that run last."""
    return [note for note in case.notes(kind) if note.span.line not in case.explained]


def quoted(text: str, most: int = 160) -> str:
    """Return a message for a title: without secrets, and no longer than that."""
    return masked(text)[:most]


def says(message: Message, texts: Sequence[str]) -> bool:
    """Whether a message has one of these texts in it."""
    return any(text in message.text for text in texts)


def followed_by(notes: Sequence[Note], others: Sequence[Note]) -> list[Note]:
    """Return the notes below which one of the others stands, on the same line or a line or two below."""
    lines = [other.span.line for other in others]
    return [note for note in notes if any(0 <= line - note.span.line <= _BELOW for line in lines)]


def near(line: int, notes: Iterable[Note]) -> bool:
    """Whether one of the notes stands within :data:`NEAR` lines."""
    return any(abs(note.span.line - line) <= NEAR for note in notes)


def sentences(kinds: Sequence[str], settle: str, case: Case) -> Iterator[Observation]:
    """Give one observation for each sentence of some classes, on lines that no other finding cites."""
    notes = case.notes(*kinds)
    if not notes:
        return
    unwritten = [message.span.line for message in case.build.messages if UNWRITTEN.search(message.text)]
    known = case.explained.union(m.span.line for m in case.build.messages if says(m, (*NO_ENGINE, *NO_RUN)))
    known = known.union(line + down for line in unwritten for down in (1, _BELOW))  # it cannot be read either
    texts = []
    for note in notes:
        below = note.span.line + 1 if note.text("below") or _HEAD.fullmatch(note.text("text")) else note.span.line
        handed_on = any(text in note.text("text") for text in (*NO_ENGINE, *NO_RUN))
        if not handed_on and not is_owners(note.text("text"), note.kind) and {note.span.line, below}.isdisjoint(known):
            before = [n for n in case.notes("parse_failed") if 0 <= note.span.line - n.span.line <= NEAR][-1:]
            names = [n for b in before for n in case.notes("node_name") if 0 <= n.span.line - b.span.line <= NEAR]
            node = note.text("node") or next((n.text("node") for n in names), "")  # the parser dumps the node there
            texts.append((_who(note, before, node) + note.text("text"), note, before, node))
    forms = [(_NUMBER.sub("#", title), _NUMBER.sub("#", note.text("text"))) for title, note, *_ in texts]
    whole = {bare: title for title, bare in sorted(forms, key=lambda form: len(form[0]))}  # said again with its place
    for alike in grouped(texts, lambda each: whole.get(form := _NUMBER.sub("#", each[0]), form)).values():
        title = alike[0][0]
        begun = [note for _, _, before, _ in alike for note in before][:1]
        yield Observation(
            quoted(title, _LONGEST),
            [note.span for note in (*(note for _, note, _, _ in alike), *begun)],
            settle=settle,
            onnx_nodes=list(dict.fromkeys(node for *_, node in alike if node)),
            same_as=title,
        )


UNWRITTEN = regex("(?:annot|ailed to) write")
"""How errors begin of a file that cannot be written."""
_HEAD = regex(r"(?:.*: )?(?:Error Code [0-9]+: )?(?:Internal Error|API Usage Error|Cuda Runtime|Myelin)\s*")
"""A class of errors without words, which stand in the line below."""


_OWNERS = [(regex(row["pattern"]), row["kind"]) for row in rows("owners", "trtforensics.findings")]
"""What the owner of a log types or says, without another's words behind a colon; of a kind: in errors of that alone."""


def is_owners(text: str, kind: str = "") -> bool:
    """Whether the log's owner typed or said a text; no program wrote it, and it is no error."""
    return any(of in {"", kind} and words.match(text) for words, of in _OWNERS)


def _who(note: Note, before: Sequence[Note], node: str) -> str:
    """Return what stands before the sentence: the node that is parsed, or the function that checks."""
    op = note.text("op") or "".join(begun.text("op") for begun in before)
    if op:
        named = node or "".join(f"node {begun.text('index')}" for begun in before)
        return f"{op} at {named}: " if named else f"{op}: "
    parts = [part for part in note.text("site").partition("(")[0].split("::") if not part.isdigit()]
    return f"{'::'.join(part for part in parts[-2:] if '.' not in part)}: " if len(parts) > 1 else ""
