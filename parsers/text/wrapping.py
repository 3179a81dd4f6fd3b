"""What people and other programs put around the lines of a log: quoting, indentation, timestamps of CI systems.

A log that was pasted into an issue is quoted, indented or numbered; one that a CI system or a container stored has a
time and a name before each line. :func:`wrapping_of` recognises that by the first lines of a source, and a
:class:`Wrapping` takes it off, line by line: no line is added or lost, so line numbers stay those of the source.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trtforensics.knowledge.table import rows

HEAD = 1 << 15
"""The bytes of a source that decide."""

_FENCE = b"```"
_LAYERS = 4
"""How many wrappings may lie around each other: a quoted mail of an indented log of a container, say."""

_SHARE = 0.6
"""The share of the lines that must begin so: a paste may have a sentence of its author in front."""

_FRONTS = [(row["name"], row["pattern"].encode(), row["pasted"]) for row in rows("fronts", "trtforensics.parsers.text")]
"""What stands before lines, in words and as a regex, and whether only people put it there. Behind the times of runner
logs (GitHub Actions, Docker, Kubernetes) stands a mark of GitLab or of CRI."""
_ANY_FRONT = re.compile(rb"[ \t]{0,8}(?:%b)" % b"|".join(front for _, front, _ in _FRONTS))
_OTHERS = _NUMBERS, _MARKS, _INDENTED, _ENTITIES = ("line numbers", "code marks", "indented", "HTML entities")
PASTED = frozenset((*(name for name, _, pasted in _FRONTS if pasted), *_OTHERS))
"""Names of what only people put around lines that they copy, in part often; programs store whole logs."""

_FEWEST = 2
"""Lines that show whether numbers count up."""
_NUMBERED = re.compile(rb"^[ \t]*(\d{1,7})(?:[:|.)](?:[ \t]|$)|[:|](?=\S)|\t| {1,2}(?=\S|$))", re.MULTILINE)
"""Line numbers, as grep -n, cat -n and code viewers print them."""

_LOGGER = (
    rb"\[(?:\d\d/\d\d/\d{4}-|\d{4}-\d\d-\d\d |[EWIVF]\] |TRT\]|TensorRT|TRT-LLM\])|&&&& "
    rb"|(?:ERROR|WARN|WARNING|INFO|VERBOSE)(?:: | +TRT: |:torch_tensorrt )"
    rb"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[\d.]* \[[A-Z]:onnxruntime:"
)
_PREFIXED = re.compile(_LOGGER)
_INDENTED_LOGGER = re.compile(rb"^[ \t]+(?=" + _LOGGER + rb")", re.MULTILINE)
_RULE = re.compile(rb"^[ \t:]*-{2,}[-: \t]*\|[-:| \t]*$", re.MULTILINE)
"""The line below the head of a table, without its first bar."""
_TICKS = re.compile(rb"^`{1,2}(?=[^`])|(?<=[^`\n])`{1,2}$", re.MULTILINE)
_TICKED = re.compile(rb"^`{1,2}(?:" + _LOGGER + rb")", re.MULTILINE)
_ENTITY = re.compile(rb"&(?:gt|lt|amp|quot|apos|nbsp|#39|#x27|#34|#62|#60|#38);")


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What stands around the lines of a source: ``names`` says it in words, ``steps`` are taken off one by one."""

    names: tuple[str, ...]
    steps: tuple[tuple[re.Pattern[bytes], bytes | None], ...]
    """What is found, and what takes its place; None for an HTML entity, which becomes its character."""

    def undo(self, text: bytes) -> bytes:
        """Take the wrapping off every line of a text."""
        for pattern, replacement in self.steps:
            text = pattern.sub(_character if replacement is None else replacement, text)
        return text


def wrapping_of(head: bytes) -> Wrapping | None:
    """Recognise the wrapping of a source by its first bytes; None where there is none, as in most logs."""
    names: list[str] = []
    steps: list[tuple[re.Pattern[bytes], bytes | None]] = []
    text = head[:HEAD]
    if _ENTITY.search(text):
        names.append(_ENTITIES)
        steps.append((_ENTITY, None))
        text = _ENTITY.sub(_character, text)
    for _ in range(_LAYERS):
        outermost = _outermost(text)
        if outermost is None:
            break
        name, pattern = outermost
        names.append(name)
        steps.append((pattern, b""))
        text = pattern.sub(b"", text)
    return Wrapping(tuple(names), tuple(steps)) if steps else None


def _outermost(text: bytes) -> tuple[str, re.Pattern[bytes]] | None:
    """Return the front that most of the lines share."""
    lines = [line for line in text.split(b"\n") if line.strip() and not line.startswith(_FENCE)]
    if not lines:
        return None
    is_table = _RULE.search(text) is not None or all(line.count(b"|") > 1 for line in lines)  # its cells are no names
    for name, front, pasted in _FRONTS if _shared(lines, _ANY_FRONT) else ():
        indented = rb"[ \t]{0,8}" + front
        if (pasted or not is_table) and _shared(lines, re.compile(indented)):
            return name, re.compile(b"^" + indented, re.MULTILINE)
    if _is_numbered(lines):
        return _NUMBERS, _NUMBERED
    if _TICKED.search(text):
        return _MARKS, _TICKS
    if _INDENTED_LOGGER.search(text):
        return _INDENTED, _INDENTED_LOGGER
    return None


def _shared(lines: Sequence[bytes], front: re.Pattern[bytes]) -> bool:
    return sum(front.match(line) is not None for line in lines) > _SHARE * len(lines)


def _is_numbered(lines: Sequence[bytes]) -> bool:
    """Whether the lines begin with numbers that count up; of two lines, whether a logger's prefix follows one."""
    matches = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match.group(1)) if match else None for match in matches]
    steps = [later == before + 1 for before, later in pairwise(numbers) if before is not None and later is not None]
    if len(lines) == _FEWEST and steps == [True]:
        both = zip(lines, matches, strict=True)
        return any(match and _PREFIXED.match(line, match.end()) for line, match in both)
    return len(steps) > 1 and sum(steps) > _SHARE * (len(lines) - 1)


def _character(entity: re.Match[bytes]) -> bytes:
    from html import unescape  # noqa: PLC0415 - few logs hold entities

    return unescape(entity.group().decode()).replace("\xa0", " ").encode()
