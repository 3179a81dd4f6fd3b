"""Findings and the report: code, title, cause, the lines that show it, confidence, fixes and next steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, grouped
from trtforensics.model.older_python import StrEnum
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.ledger import TimedUnit
    from trtforensics.model.log import Coverage
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import TimeSource
    from trtforensics.render.headline import Headline
    from trtforensics.render.time_rows import TimeRow


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
    """What to do next in some builds, with the command to type; ``command`` is empty where there is none."""

    what: str
    command: str = ""
    builds: tuple[int, ...] = ()
    """Where the report puts the builds that it is of; a rule leaves it."""


_NAME = 60
"""Characters of a ForeignNode's name in a title."""

_TITLE = 160
"""Characters of a title in a finding's ``repr``."""

_LIKELIEST = "Likeliest first: "
"""What opens, in the cause of a rule, the causes that the lines alone do not tell apart; ``;`` parts them."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z0-9\"'(])")
_MOST = 260
"""Characters of the sentences that say why; the first is given whole."""
_CAUSES = 3


@dataclass(frozen=True)
class Cost:
    """How long some layers take: the units of the ledger that lie wholly in them.

    ``share`` is their part of the engine's time; None where most of its layers have no time. ``inside`` are
    ForeignNodes that were timed as a whole and of which only some kernels are among the layers. ``left_out`` says in
    words what has no time.
    """

    units: tuple[TimedUnit, ...]
    inside: tuple[TimedUnit, ...]
    source: TimeSource
    share: float | None
    left_out: str

    @property
    def ms(self) -> float:
        """The time of the units."""
        return sum(unit.time_ms or 0.0 for unit in self.units)

    def text(self, also: str = "") -> str:
        """Say the time and the share, and what more may lie inside ForeignNodes: ``0.42 ms, 46% of the tuned time``.

        ``also`` stands behind the share.
        """
        words = [f"{self.ms:.3g} ms"] if self.units else []
        words += [f"{self.share:.0%} of the {self.source} time"] if self.units and self.share is not None else []
        whole = ", ".join(words) + (f" ({self.left_out})" if words and self.left_out else "") + also
        more = " more" if self.units else ""
        within = [f"at most {unit.time_ms:.3g} ms{more} inside {shortened(unit.name, _NAME)}" for unit in self.inside]
        return "; ".join(filter(None, (whole, *within)))


@dataclass(frozen=True, slots=True)
class Observation:
    """What a rule reports of one build. The engine adds code, severity, the text of the lines and the rule's fixes.

    ``spans`` must not be empty. ``severity`` None stands for the rule's own, ``confidence`` None for likely
    where ``settle`` is given, else for certain. Findings of two builds count as the same where code and ``same_as`` are
    equal. ``because`` are lines that state its cause: it follows from the finding that cites one of them. ``cost`` is
    the time that its layers take, which stands behind the title; what a finding of more time claims too is said to be
    shared. ``fix`` mends this very cause: it stands before the rule's fixes.
    """

    title: str
    spans: Sequence[SourceSpan]
    cause: str = ""
    confidence: Confidence | None = None
    settle: str = ""
    steps: Sequence[Step] = ()
    layers: Sequence[str] = ()
    onnx_nodes: Sequence[str] = ()
    severity: Severity | None = None
    same_as: str = ""
    because: Sequence[SourceSpan] = ()
    cost: Cost | None = None
    fix: str = ""


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
    general: bool = False
    """It only repeats or classes a message."""
    message: str = ""
    """What the program said, without prefix; empty where the title has values of it."""
    cost_ms: float = 0.0
    """How long the layers that it is about take, as far as that is known."""
    of_model: bool = False
    """It is about an ONNX model: its lines are numbers of nodes, 0 is the whole model."""
    cell: str = ""
    """The notebook's cell whose output holds the first line; empty in a log."""

    def __repr__(self) -> str:
        return f"<{self.severity.word} {self.code}, {self.place}: {shortened(self.title, _TITLE)}>"

    @property
    def place(self) -> str:
        """The first line of evidence in words."""
        if not self.of_model:
            return f"line {self.line:,}" + (f" ({self.cell})" if self.cell else "")
        return f"node {self.line:,}" if self.line else "the model"

    @property
    def build(self) -> int:
        """The first of the builds."""
        return self.builds[0]

    def in_build(self, build: int) -> Finding:
        """Return the finding with the next steps of one of its builds alone."""
        steps = tuple(step for step in self.next_steps if build in (step.builds or self.builds))
        return self if steps == self.next_steps else replace(self, next_steps=steps)

    @property
    def line(self) -> int:
        """The first line of evidence."""
        return self.evidence[0].span.line


def why_of(finding: Finding) -> str:
    """Return the first sentence of the cause, and the second where both are short."""
    sentences = _SENTENCE_END.split(finding.cause.partition(_LIKELIEST)[0].strip())
    both = " ".join(sentences[:2])
    return both if len(both) <= _MOST else sentences[0]


def candidates_of(finding: Finding) -> list[str]:
    """Return the causes that come into question, likeliest first; none where the finding names one."""
    _, _, rest = finding.cause.partition(_LIKELIEST)
    return _SENTENCE_END.split(rest)[0].rstrip(".").split("; ")[:_CAUSES] if rest else []


def answer_of(finding: Finding) -> str:
    """Return what is wrong, with the log's values, and why."""
    title = f"{finding.title}: {finding.message}" if finding.message else finding.title
    return f"{title.rstrip('.')}. {why_of(finding) or '; or '.join(candidates_of(finding))}".strip()


def advice_of(finding: Finding) -> tuple[str, Step | None]:
    """Return the first thing to do, and the step whose command is to be typed, where there is one.

    An error is mended by the rule's first fix; of any other finding a step of this build says more than the rule.
    """
    typed = next((step for step in finding.next_steps if step.command), None)
    worded = next((step.what for step in finding.next_steps), "")
    if finding.severity is Severity.ERROR:
        return (finding.fixes[0] if finding.fixes else worded), typed
    return ("" if typed is not None else worded or next(iter(finding.fixes), "")), typed


def builds_in_words(builds: Sequence[int]) -> str:
    """Return builds in words, counted from 1: ``build 2``, ``builds 1, 2 and 5``."""
    *others, last = (str(build + 1) for build in builds)
    return f"builds {', '.join(others)} and {last}" if others else f"build {last}"


_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


def without_numbers(title: str) -> str:
    """Return a title as signatures have it."""
    return _VARYING.sub("#", title)


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings have each severity, worst first, by the severity's word."""
    return {s.word: sum(finding.severity is s for finding in findings) for s in sorted(Severity, reverse=True)}


def root_of(finding: Finding, findings: Sequence[Finding]) -> Finding | None:
    """Return the root that a finding follows from, among the findings of its report; None for a root."""
    return None if finding.consequence_of is None else findings[finding.consequence_of]


def in_words(coverage: Coverage, builds: int = 1) -> str:
    """Return in words which facts a log tells about each of its ``builds``, and which it lacks for some."""
    if not builds:
        return "the source holds no build: there is nothing to judge"
    facts = {
        "verdict": coverage.verdict,
        "engine layers": coverage.engine_layers,
        "tactics": coverage.tactics,
        f"{coverage.times} times" if coverage.times else "layer times": coverage.times is not None,
        "options": coverage.options,
        "model": coverage.model,
    }
    known = [name for name, is_known in facts.items() if is_known]
    missing = [name for name, is_known in facts.items() if not is_known]
    every = " of every build" if builds > 1 else ""
    tells = f"the log tells{every}: {', '.join(known)}" if known else f"the log tells nothing of the engine{every}"
    lacks = f"; not: {', '.join(missing)}" if missing else ""
    return tells + lacks


@dataclass(frozen=True, slots=True)
class JudgedTarget:
    """A release for which a model was judged; ``operators``: nodes of each, and how it takes them.

    ``accepted`` is a forecast: False where an error ends the build, None where the tables do not know every operator.
    """

    release: str
    operators: Mapping[str, tuple[int, str]]
    accepted: bool | None


@dataclass(frozen=True, slots=True)
class ReportSource:
    """A log that was judged; ``bytes`` and ``sha256`` are of the file as stored, compressed or not.

    ``coverage`` is what it says about each of its builds; ``wrapped_in`` says in words what stood around its lines.
    ``headlines`` are of its runs; ``times`` say where the time goes, in a log of one build.
    """

    path: str
    bytes: int
    lines: int
    sha256: str
    builds: int
    coverage: Coverage
    wrapped_in: tuple[str, ...] = ()
    headlines: tuple[Headline, ...] = ()
    times: tuple[TimeRow, ...] = ()
    model: str = ""
    """What an ONNX model was judged for, in words; its lines are nodes, counted from 1. Empty for a log."""
    target: JudgedTarget | None = None
    """What an ONNX model was judged for; None for a log."""
    details: tuple[TimeRow, ...] = ()
    """What ``-v`` adds to the times."""
    own_lines: tuple[str, ...] = ()
    """What ``-v`` tells of the lines that no rule reads."""

    @property
    def words(self) -> str:
        """What the source lets one judge, in words."""
        return self.model or in_words(self.coverage, self.builds)


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
    _roots: dict[int, list[Finding]] = field(init=False, compare=False)
    _consequences: dict[int, list[Finding]] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        pairs = [(finding, root_of(finding, self.findings)) for finding in self.findings]
        roots = grouped((finding for finding, root in pairs if root is None), lambda finding: finding.source)
        object.__setattr__(self, "_roots", roots)
        below: dict[int, list[Finding]] = {}
        for finding, root in pairs:
            below.setdefault(id(root), []).append(finding)
        object.__setattr__(self, "_consequences", below)

    def __repr__(self) -> str:
        counts = ", ".join(counted(count, word) for word, count in self.counts().items() if count) or "nothing"
        return f"<report on {counted(len(self.sources), 'source')}: {counts} found>"

    def worst(self) -> Severity | None:
        """Return the highest severity among the findings; None where there is none."""
        return max((finding.severity for finding in self.findings), default=None)

    def roots(self, source: int) -> list[Finding]:
        """Return the findings about a source that follow from no other."""
        return self._roots.get(source, [])

    def consequences(self, root: Finding) -> list[Finding]:
        """Return the findings that follow from a root."""
        return self._consequences.get(id(root), [])

    def as_tree(self) -> list[Finding]:
        """Return all findings, each root with what follows from it behind it."""
        roots = (finding for finding in self.findings if finding.consequence_of is None)
        return [finding for root in roots for finding in (root, *self.consequences(root))]

    def counts(self) -> dict[str, int]:
        """Return how many findings have each severity, worst first, by the severity's word."""
        return counts(self.findings)


def worse_roots(report: Report, source: int) -> list[Finding]:
    """Return the roots about a source that are worse than a note, or that something worse follows from."""
    roots = report.roots(source)
    return [each for each in roots if max(f.severity for f in (each, *report.consequences(each))) > Severity.NOTE]
