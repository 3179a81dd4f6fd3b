"""Where a fact stands in a source, what a source is, and how many of its lines were understood."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, unsafe_hash=True)
class SourceSpan:
    """Where a fact was read: ``file``, physical ``line`` (from 1), ``byte`` offset of the line's start in that file.

    For a compressed or UTF-16 source ``byte`` counts in the decoded stream. Where several sources are one build,
    ``line`` counts on from source to source, and ``before`` of those lines are of the sources before this file.
    """

    file: str
    line: int
    byte: int
    before: int = field(default=0, kw_only=True)

    @property
    def line_in_file(self) -> int:
        """The line as an editor that opens ``file`` counts it."""
        return self.line - self.before

    def __str__(self) -> str:
        return f"{self.file}:{self.line_in_file}"


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The file as stored: ``bytes`` and ``sha256`` are of the stored (compressed) form, ``lines`` of the text.

    ``cut`` says that the last line has no line ending. Several sources that are one build are one SourceInfo: its
    ``sha256`` is that of the files one behind the other, and ``parts`` are the files; else there are no parts.
    """

    path: str
    bytes: int
    lines: int
    sha256: str
    cut: bool = False
    parts: tuple[SourceInfo, ...] = ()
    wrapped_in: tuple[str, ...] = ()
    """What stands around the lines of the source, in words: quoting, indentation, a CI system's timestamps."""
    cells: tuple[tuple[int, str], ...] = ()
    """Of a notebook the cells with outputs: the line where each begins, and its name (``In [4]``)."""

    def cell_of(self, line: int) -> str:
        """Return the notebook's cell that holds a line, empty where there is none."""
        part, before = self.part_of(line)
        return next((name for begin, name in reversed(part.cells) if begin <= line - before), "")

    def part_of(self, line: int) -> tuple[SourceInfo, int]:
        """Return the file that holds a line, and how many lines are of the files before it."""
        before = 0
        for part in self.parts:
            if line <= before + part.lines:
                return part, before
            before += part.lines
        return self, 0


@dataclass(slots=True, unsafe_hash=True)
class LineCounts:
    """Every physical line in exactly one class; the four add up to the lines of the source."""

    typed: int = 0
    unprefixed: int = 0
    blank: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """All lines."""
        return self.typed + self.unprefixed + self.blank + self.unknown


@dataclass(frozen=True, slots=True)
class UnknownShape:
    """A shape of line that no rule reads: how often, and the first line that has it."""

    line: int
    text: str
    count: int
