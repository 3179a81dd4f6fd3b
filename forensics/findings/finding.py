"""Findings and the report: code, title, cause, the lines that show it, confidence, fixes and next steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from trtforensics.model.older_python import StrEnum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Coverage
    from trtforensics.model.span import SourceSpan


class Severity(IntEnum):
    """How bad a finding is; ``--fail-on`` names the lowest severity that fails."""

    NOTE = 1
    """Worth knowing."""
    WARNING = 2
    """Likely to cost accuracy, speed or reproducibility."""
    ERROR = 3
    """The build or the run failed, or its result cannot be trusted."""

    @property
    def word(self) -> str:
        """``note``, ``warning`` or ``error``."""
        return self.name.lower()


class Confidence(StrEnum):
    """How sure a finding is. A finding that is not ``CERTAIN`` says what would settle it."""

    CERTAIN = "certain"
    """The lines state it."""
    LIKELY = "likely"
    """The lines usually mean it."""
    POSSIBLE = "possible"
    """The lines do not exclude it."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to do next, with the command to type; ``command`` is empty where there is none."""

    what: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a rule reports of one build. The engine adds code, severity, the text of the lines and the rule's fixes.

    ``spans`` must not be empty. ``severity`` None stands for the rule's own. ``settle`` must be given unless
    ``confidence`` is certain. Findings of two builds count as the same where code and ``same_as`` are equal.
    ``because`` are lines that state its cause: it follows from the finding that cites one of them.
    """

    title: str
    spans: Sequence[SourceSpan]
    cause: str = ""
    confidence: Confidence = Confidence.CERTAIN
    settle: str = ""
    steps: Sequence[Step] = ()
    layers: Sequence[str] = ()
    onnx_nodes: Sequence[str] = ()
    severity: Severity | None = None
    same_as: str = ""
    because: Sequence[SourceSpan] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that shows a finding: its place, and its text without the line ending."""

    span: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a build of a source, or several alike, that is wrong or worth knowing.

    ``source`` indexes the report's sources, ``builds`` the builds of that log. ``evidence`` holds the first
    :data:`~trtforensics.findings.tree.MAX_EVIDENCE` of ``evidence_total`` lines. ``fixes`` are those of the rule that
    apply to the TensorRT version of the log. ``consequence_of`` is the index, among the report's findings, of the root
    that this one follows from; None for a root. ``pass_discarded``: it is about passes whose engine was not kept.
    """

    code: str
    severity: Severity
    title: str
    cause: str
    confidence: Confidence
    settle: str
    source: int
    builds: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    evidence_total: int
    fixes: tuple[str, ...] = ()
    next_steps: tuple[Step, ...] = ()
    layers: tuple[str, ...] = ()
    onnx_nodes: tuple[str, ...] = ()
    signature: str = ""
    """Equal in two builds that have the same finding."""
    consequence_of: int | None = None
    pass_discarded: bool = False

    @property
    def build(self) -> int:
        """The first of the builds."""
        return self.builds[0]

    @property
    def line(self) -> int:
        """The first line of evidence."""
        return self.evidence[0].span.line


@dataclass(frozen=True, slots=True)
class ReportSource:
    """A log that was judged; ``bytes`` and ``sha256`` are of the file as stored, compressed or not.

    ``coverage`` is what it says about each of its builds; ``wrapped_in`` says in words what stood around its lines.
    """

    path: str
    bytes: int
    lines: int
    sha256: str
    builds: int
    coverage: Coverage
    wrapped_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedFinding:
    """A finding that several logs share; ``sources`` are the indexes of those logs."""

    code: str
    severity: Severity
    title: str
    signature: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A rule that did not run, and the inputs that it needs (``onnx``, ``replay`` …)."""

    code: str
    title: str
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A source that could not be read as a build log, and why not."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings: roots, worst first, then consequences in the order of their roots.

    ``suppressed`` are those that the user asked not to see; ``unreadable`` are the sources that gave no log.
    """

    sources: tuple[ReportSource, ...]
    findings: tuple[Finding, ...]
    common: tuple[SharedFinding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    settings: str = ""
    """The settings file that suppresses some of them; empty where none does."""
    not_judged: tuple[NotJudged, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()

    def worst(self) -> Severity | None:
        """Return the highest severity among the findings; None where there is none."""
        return max((finding.severity for finding in self.findings), default=None)

    def roots(self, source: int) -> list[Finding]:
        """Return the findings about a source that follow from no other."""
        return [one for one in self.findings if one.source == source and one.consequence_of is None]

    def consequences(self, root: Finding) -> list[Finding]:
        """Return the findings that follow from a root."""
        return [one for one in self.findings if one.consequence_of is not None and self._root(one) is root]

    def as_tree(self) -> list[Finding]:
        """Return all findings, each root with what follows from it behind it."""
        roots = (one for one in self.findings if one.consequence_of is None)
        return [one for root in roots for one in (root, *self.consequences(root))]

    def _root(self, finding: Finding) -> Finding | None:
        return None if finding.consequence_of is None else self.findings[finding.consequence_of]

    def counts(self) -> dict[str, int]:
        """Return how many findings have each severity, worst first, by the severity's word."""
        severities = sorted(Severity, reverse=True)
        return {s.word: sum(f.severity is s for f in self.findings) for s in severities}


@dataclass(frozen=True, slots=True)
class Fix:
    """How to mend it. ``since`` and ``before`` bound the TensorRT versions (``10.8``); empty means no bound."""

    text: str
    since: str = ""
    before: str = ""

    @property
    def versions(self) -> str:
        """The versions in words, empty for all."""
        if self.since and self.before:
            return f"TensorRT {self.since} and later, before {self.before}"
        if self.since:
            return f"TensorRT {self.since} and later"
        return f"TensorRT before {self.before}" if self.before else ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The text of ``explain CODE``: the cause, how to confirm it, fixes by version, and the sources of all that."""

    cause: str
    confirm: str
    fixes: tuple[Fix, ...]
    sources: tuple[str, ...] = field(default=())
