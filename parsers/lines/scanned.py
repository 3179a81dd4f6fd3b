"""What was read of the lines of a log, and how a later part of the log is joined to an earlier one.

Any line feed is a safe place to cut a log, because everything that a line means for another one is worked out later,
from columns. The exceptions are the few facts that a scanner carries from line to line, which
:meth:`ScannedLines.join` sets right.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from trtforensics.model.log import LineCounts
from trtforensics.parsers.lines.dialects import DIALECTS
from trtforensics.parsers.lines.drift import Drift
from trtforensics.parsers.lines.events import Events


@dataclass(slots=True)
class ScannedLines:
    """The lines of a log, or of a part of one whose lines are counted from 1."""

    events: Events = field(default_factory=Events)
    drift: Drift = field(default_factory=Drift)
    """The lines that no rule reads."""
    line_starts: array[int] = field(default_factory=lambda: array("q"))
    """The byte where each line begins in the log."""
    typed: int = 0
    unprefixed: int = 0
    blank: int = 0
    unknown: int = 0
    recognised: bool = False
    """Whether any line is TensorRT's or trtexec's beyond doubt."""
    mentioned: bool = False
    """Whether a line that no rule reads names TensorRT or something of it."""
    dialect: int = -1
    """The logger of the last line that has a prefix, as its place in DIALECTS; -1 before the first."""
    after_verdict: bool = False
    """Whether the last banner is a verdict and no logger wrote behind it."""
    first_said: int | None = None
    """The first line with a prefix and text."""
    first_own: int | None = None
    """The first of these that no other program can have printed: its prefix is TensorRT's, or a rule reads it."""
    first_banner: int | None = None

    @property
    def counts(self) -> LineCounts:
        """The lines so far, each in one class."""
        return LineCounts(self.typed, self.unprefixed, self.blank, self.unknown)

    def join(self, later: ScannedLines) -> None:
        """Take over the lines that follow, the first of which carries a prefix."""
        shift = len(self.line_starts)
        before = self.events.sizes()
        self.events.extend(later.events, shift)
        if later.first_said is not None and later.dialect >= 0 and self.dialect >= 0:
            self._drop_same_dialect(before["dialect"])
        own = later.first_own
        if self.after_verdict and own is not None and (later.first_banner is None or own < later.first_banner):
            self.events["resumed"].add(own + shift, {})
            self.events.sort(before)
        self.drift.join(later.drift, shift)
        self.line_starts.extend(later.line_starts)
        self.typed += later.typed
        self.unprefixed += later.unprefixed
        self.blank += later.blank
        self.unknown += later.unknown
        self.recognised = self.recognised or later.recognised
        self.mentioned = self.mentioned or later.mentioned
        self.dialect, self.after_verdict = later.dialect, later.after_verdict

    def _drop_same_dialect(self, row: int) -> None:
        """Delete a change of logger at the cut where both sides have the same logger."""
        rows = self.events["dialect"]
        if rows.values("dialect", range(row, row + 1)) == [DIALECTS[self.dialect]]:
            rows.delete(row)
