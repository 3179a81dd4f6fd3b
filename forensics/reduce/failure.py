"""The fingerprint of a failure: how a build or check ended, the root finding of its log, and where TensorRT stopped.

Names of the model's nodes and tensors, and numbers, are blanked out in messages, since a smaller model has others.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from trtforensics.bisect.runner.probe import check_log_name
from trtforensics.bisect.session.job import digest
from trtforensics.console.output import write_text
from trtforensics.console.own_files import read_own
from trtforensics.errors import NotABuildLogError, SourceError
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.finding import Severity
from trtforensics.findings.suppression import Suppression
from trtforensics.model.older_python import StrEnum
from trtforensics.render.json_text import dumps
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from trtforensics.bisect.runner.probe import ProbeOutcome
    from trtforensics.findings.finding import Finding
    from trtforensics.sources.quoting import QuotedLog

FILE = "failure.json"
NUMBERS = "numbers"
"""The stage of a failure that is wrong numbers."""
_BUILD_LOGS = ("build.log", "build.err", "build.out")
_LARGEST = 1 << 30
_TAIL = 1 << 16
"""Bytes of the end of an output in which its last words are looked for."""
_BY_SIGNAL, _LAST_SIGNAL = 128, 192
"""A shell exits so, plus the signal's number, where a signal ended its command."""
_LAST_LINES = 20
_NEAR = 8
"""Lines behind a finding's first one in which the parser says in which function it gave up."""
_HINTS = 3
_TOKEN = re.compile(r"[^\s'\"()\[\],;<>{}]+")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_FUNCTION = re.compile(
    r"(?P<file>\w+\.(?:cpp|cc|cu|h))(?:::(?P<own>[\w~<>]+)::\d+|:\d+ In function (?P<importer>\w+))"
    r"|\bIn (?P<inner>[\w:~<>]+)(?:\(\))? at \S*?(?P<at>\w+\.(?:cpp|cc|cu|h))"
)
"""Where a message says it comes from: ``file::function::line``, ``file:line In function …`` or ``In … at path``."""


_HOLDERS = {"If", "Loop", "Scan"}
"""Operators that the parser names where it stops at a node inside of them; the source function tells which that is."""


class Sameness(StrEnum):
    """How much of two failures must agree."""

    LOOSE = "loose"
    """How they ended, and the code of the root finding; of wrong numbers, that they are wrong."""
    STRICT = "strict"
    """Also operator, source file and function, and the message without names and numbers."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure.

    ``stage`` is build, check or numbers; ``ended`` says how it ended (``failed``, ``signal 11``, ``timed out``).
    ``code`` is that of the root finding, empty where the log has none. ``lines`` are the finding's, as they stand;
    ``named`` are the nodes that they name, the likeliest first.
    """

    stage: str
    ended: str
    code: str = ""
    operator: str = ""
    functions: tuple[str, ...] = ()
    form: str = ""
    title: str = ""
    lines: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def difference(self, other: Failure, same: Sameness) -> str:
        """Say in which part another failure differs from this one; empty where it is the same."""
        parts = [("stage", "it failed in the"), ("code", "the finding is")]
        if same is Sameness.STRICT or self.stage != NUMBERS:
            parts.append(("ended", "they" if self.stage == NUMBERS else "it"))
        if same is Sameness.STRICT:
            parts.append(("functions", "it stopped in"))
        if same is Sameness.STRICT and not (self.operator in _HOLDERS and self.functions):
            parts += [("operator", "the operator is"), ("form", "it says")]
        for part, words in parts:
            seen = getattr(other, part)
            if seen != getattr(self, part):
                spelled = ", ".join(seen) if isinstance(seen, tuple) else str(seen)
                return f"{words} {spelled or 'none'}"[:300]
        return ""

    @property
    def sentence(self) -> str:
        """The failure in one line."""
        return f"{self.code} {self.title}".strip() or self.form or f"{self.stage}: {self.ended}"


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a model: of its nodes with their operators, of tensors with the nodes that make them, of others."""

    operators: Mapping[str, str]
    makers: Mapping[str, str]
    others: frozenset[str] = frozenset()

    def blanked(self, text: str) -> str:
        """Return a text without names and numbers."""
        return _NUMBER.sub("#", _TOKEN.sub(lambda found: self._blank(found[0]), text)).strip()

    def nodes_in(self, text: str) -> Iterator[str]:
        """Yield the nodes that a text names, then those whose results it names."""
        tokens = [known for found in _TOKEN.findall(text) if (known := self._known(found))]
        yield from (token for token in tokens if token in self.operators)
        yield from (self.makers[token] for token in tokens if token in self.makers)

    def _known(self, token: str) -> str:
        bare = token.rstrip(":.")
        return next((each for each in (token, bare) if self._is_known(each)), "")

    def _is_known(self, name: str) -> bool:
        return name in self.operators or name in self.makers or name in self.others

    def _blank(self, token: str) -> str:
        known = self._known(token)
        return f"#{token[len(known) :]}" if known else token


def failure_of(folder: Path, outcome: ProbeOutcome, names: Names) -> Failure:
    """Return the fingerprint of a probe that failed, from the logs in its folder."""
    last = outcome.checks[-1] if outcome.checks else outcome.build
    status = last.status if last is not None else 0
    signal = -status if status < 0 else status - _BY_SIGNAL if _BY_SIGNAL < status <= _LAST_SIGNAL else 0
    ended = "timed out" if outcome.timed_out else f"ended by signal {signal}" if signal else "failed"
    stage = "check" if outcome.checks else "build"
    logs = [check_log_name(number) for number in range(len(outcome.checks))] if outcome.checks else _BUILD_LOGS
    paths = [folder / name for name in logs if (folder / name).is_file() and (folder / name).stat().st_size]
    for path in paths:
        found = _root(path)
        if found is not None:
            return _from_finding(stage, ended, *found, names)
    words = [line for path in paths for line in _last_lines(path)]
    named = _distinct(node for line in reversed(words) for node in names.nodes_in(line))
    spoken = next((line for line in reversed(words) if line.strip()), "")
    form = "" if signal or outcome.timed_out else names.blanked(spoken)
    lines = (spoken,) if form else ()
    return Failure(stage, ended, form=form, lines=lines, named=named)


def wrong_numbers(check: str) -> Failure:
    """Return the failure that a built-in check reports; outputs do not count, since a cut model has others."""
    return Failure("check", "failed", form=f"builtin:{check} does not hold")


def _root(path: Path) -> tuple[Finding, QuotedLog] | None:
    """Return the root finding of a log; None where it is no log of TensorRT or shows no error."""
    try:
        log = read_log(str(path), max_bytes=_LARGEST, on_progress=lambda _: None)
    except (NotABuildLogError, SourceError):
        return None
    findings = judge(Inputs([log]), Suppression()).findings
    errors = [f for f in findings if f.severity is Severity.ERROR and f.consequence_of is None]
    return (errors[0], log) if errors else None


def _from_finding(stage: str, ended: str, finding: Finding, log: QuotedLog, names: Names) -> Failure:
    first = finding.line
    build = log.log.builds[finding.build]
    beside = [m for m in build.messages if m.severity == "E" and 0 <= m.span.line - first <= _NEAR]
    cited = [one.text for one in finding.evidence]
    quoted = log.quote([message.span.line for message in beside])
    functions = {spot for text in (*cited[:1], *quoted.values()) for spot in _functions(text)}
    about = [*finding.onnx_nodes, *(node for text in cited for node in names.nodes_in(text))]
    about += [node for text in quoted.values() for node in names.nodes_in(text)]
    named = _distinct(node for node in about if node in names.operators)
    return Failure(
        stage,
        ended,
        finding.code,
        names.operators.get(named[0], "") if named else "",
        tuple(sorted(functions)),
        names.blanked(finding.signature),
        finding.title,
        tuple(dict.fromkeys((*cited, *quoted.values()))),
        named,
    )


def _functions(text: str) -> Iterator[str]:
    for found in _FUNCTION.finditer(text):
        if "CudaError" not in text:  # what a machine without a GPU adds to every failure
            name = found["own"] or found["importer"] or found["inner"]
            yield f"{found['file'] or found['at']}: {name}"


def _distinct(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_HINTS]


def _last_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read().decode(errors="replace").split("\n")[-_LAST_LINES:]


def write_failure(folder: Path, failure: Failure, check: str | None) -> None:
    """Keep a probe's failure in its folder, with the check that it is of.

    Raises:
        OutputError: the file cannot be written.
    """
    write_text(folder / FILE, dumps({"check": digest(check), **asdict(failure)}, indent=1) + "\n")


def read_failure(folder: Path, check: str | None) -> Failure | None:
    """Return the failure in a probe's folder; None where there is none, or one of another check."""
    try:
        fields = json.loads(read_own(folder / FILE))
    except (FileNotFoundError, SourceError, ValueError):
        return None
    if not isinstance(fields, dict) or fields.pop("check", None) != digest(check):
        return None
    decoded: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in fields.items()}
    try:
        return Failure(**decoded)
    except TypeError:
        return None
