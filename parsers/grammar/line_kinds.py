"""A kind of line: the regex that judges a body, its fields, and what is kept of its lines."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import AnyStr

from trtforensics.model.older_python import compiled

LINE = "line"
PREFIX = "prefix"
CAUSE = "cause"
ASIDE = "aside"
SENTENCE = "sentence"
GLUED = "glued"
LEVEL = "level"
KERNEL = "kernel"
KERNEL_WORD = "kernel_word"
GRAMMARS = (LINE, PREFIX, GLUED, LEVEL, CAUSE, ASIDE, SENTENCE, KERNEL, KERNEL_WORD)
"""The grammars, by their start rules: of line bodies, of logger prefixes, of prefixes within a line, of the levels of
other loggers, of causes in messages, of what other programs say of a run, of what an error says in its own words, of
kernel names and of the words in these."""

REGEX_FLAGS = re.ASCII | re.MULTILINE
"""ASCII: classes such as ``\\S`` mean the same for bytes and for latin-1 text. MULTILINE: ``$`` as Lark compiles it."""


@dataclass(frozen=True)
class LineKind:
    """A kind of line. ``fields`` names the capture groups in order; a name may occur twice (two alternatives)."""

    name: str
    regex: str
    fields: tuple[str, ...]
    openers: tuple[str, ...]
    """The literals that can open a body of this kind; an empty one means that some alternative opens with free text."""
    starts: tuple[str, ...]
    """Every body begins with one of these (see ``patterns.beginnings_of``); an empty one stands for any beginning."""
    needle: str
    """A literal that every body of this kind holds; empty where there is none."""
    kept: tuple[str, ...] | None
    """The fields that are kept of each line, perhaps none; None where lines of this kind are only counted."""
    noted: bool
    """Whether findings read the lines of this kind."""

    @cached_property
    def match(self) -> re.Pattern[bytes]:
        """The compiled regex; use ``fullmatch``."""
        return compiled(self.regex.encode("latin-1"), REGEX_FLAGS)

    @cached_property
    def match_text(self) -> re.Pattern[str]:
        """The regex compiled for texts."""
        return compiled(self.regex, REGEX_FLAGS)

    @cached_property
    def word(self) -> bytes:
        """A literal of every body, to be looked for before the regex runs; without blanks, which are everywhere."""
        return max(self.needle.encode("latin-1").split(b" "), key=len)

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Every text of this kind holds one of these literals; finding them is faster than compiling the regex."""
        return (self.needle,) if "" in self.openers else self.openers

    @cached_property
    def names_are_unique(self) -> bool:
        """Whether no two capture groups fill one field."""
        return len(set(self.fields)) == len(self.fields)


def named_fields(kind: LineKind, values: tuple[AnyStr | None, ...]) -> dict[str, AnyStr | None]:
    """Return the captured values by name; a name that occurs twice has the value of the alternative that matched."""
    if kind.names_are_unique:
        return dict(zip(kind.fields, values, strict=True))
    fields: dict[str, AnyStr | None] = {}
    for name, value in zip(kind.fields, values, strict=True):
        if value is not None or name not in fields:
            fields[name] = value
    return fields
