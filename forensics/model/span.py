"""Where a fact stands in a source."""

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
