"""Runs the rules over every build of every log, and makes a report of their observations."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.findings.baseline import LoggedBuild, baseline_of
from trtforensics.findings.case import Case, Need
from trtforensics.findings.coverage import coverage_of
from trtforensics.findings.finding import (
    Evidence,
    Finding,
    NotJudged,
    Report,
    ReportSource,
    Severity,
    SharedFinding,
)
from trtforensics.findings.registry import rule_of, rules
from trtforensics.findings.tree import MAX_EVIDENCE, FindingWithCauses, arranged
from trtforensics.findings.versions import Version
from trtforensics.sources.quoting import quote_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.findings.finding import Observation, Unreadable
    from trtforensics.findings.rule import Rule
    from trtforensics.findings.suppression import Suppression
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.log import BuildLog
    from trtforensics.model.span import SourceSpan
    from trtforensics.sources.onnx_model import OnnxModel
    from trtforensics.sources.quoting import QuotedLog
    from trtforensics.sources.replay import ReplayFile

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Inputs:
    """What the user gave: logs, the other files about their builds, and the sources that gave no log."""

    logs: Sequence[QuotedLog]
    model: OnnxModel | None = None
    replay: ReplayFile | None = None
    engine_info: EngineInfo | None = None
    unreadable: Sequence[Unreadable] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """An observation with its rule, its build, and the index of its log."""

    rule: Rule
    about: LoggedBuild
    observation: Observation
    source: int


def judge(inputs: Inputs, suppression: Suppression) -> Report:
    """Run every rule on every build for which its inputs are there.

    Raises:
        SourceError: A log whose lines are quoted cannot be read again.
        UsageError: A rule of another package cannot be loaded.
    """
    seen: list[_Seen] = []
    judged: set[str] = set()
    able: dict[frozenset[Need], list[Rule]] = {}
    logs = [one.log for one in inputs.logs]
    for index, log in enumerate(logs):
        for build in log.builds:
            baseline = baseline_of(logs, index, build)
            case = Case(build, log, inputs.model, inputs.replay, inputs.engine_info, baseline)
            given = frozenset(filter(case.has, Need))
            if given not in able:
                able[given] = [rule for rule in rules() if rule.needs <= given]
                judged |= {rule.code for rule in able[given]}
            seen += _observed(case, [rule for rule in able[given] if case.may_concern(rule.reads)], index)
    quotes = _quotes(seen, inputs.logs)
    found = [_judged(one, quotes) for one in seen]
    shown = arranged([one for one in found if not suppression.covers(one.finding)])
    hidden = arranged([one for one in found if suppression.covers(one.finding)])
    return Report(
        sources=tuple(_source(log) for log in logs),
        findings=shown,
        common=_common(shown),
        suppressed=hidden,
        settings=suppression.settings_behind(hidden),
        not_judged=tuple(_not_judged(rule) for rule in rules() if rule.code not in judged),
        unreadable=tuple(inputs.unreadable),
    )


def _observed(case: Case, able: Sequence[Rule], source: int) -> list[_Seen]:
    """Run rules on a build; those that run last know which lines the others cite."""
    about = LoggedBuild(case.log, case.build)  # not the case, which keeps all that its rules worked out
    first = [_Seen(rule, about, one, source) for rule in able if not rule.last for one in rule.check(case)]
    cited = frozenset(span.line for one in first for span in one.observation.spans)
    informed = replace(case, explained=cited)
    return first + [_Seen(rule, about, one, source) for rule in able if rule.last for one in rule.check(informed)]


def _quotes(seen: Sequence[_Seen], logs: Sequence[QuotedLog]) -> dict[SourceSpan, str]:
    """Read the lines that findings quote, from the logs and from the other files that they cite."""
    wanted: dict[str, set[SourceSpan]] = {}
    for one in seen:
        for span in one.observation.spans[:MAX_EVIDENCE]:
            wanted.setdefault(span.file, set()).add(span)
    by_path = {read.log.source.path: read for read in logs}
    texts: dict[SourceSpan, str] = {}
    for path, spans in wanted.items():
        lines = {span.line_in_file for span in spans}
        found = by_path[path].quote(lines) if path in by_path else quote_file(path, lines)
        texts |= {span: found.get(span.line_in_file, "") for span in spans}
    return texts


def _judged(seen: _Seen, quotes: Mapping[SourceSpan, str]) -> FindingWithCauses:
    observation = seen.observation
    return FindingWithCauses(
        _finding(seen, quotes), frozenset(observation.spans), frozenset(observation.because), seen.rule.follows
    )


def _finding(seen: _Seen, quotes: Mapping[SourceSpan, str]) -> Finding:
    rule, observation = seen.rule, seen.observation
    if not observation.spans:
        raise ValueError(f"{rule.code} gave no line for: {observation.title}")
    version = Version.of(seen.about.build)
    discarded = all(_in_discarded_pass(seen.about, span) for span in observation.spans)
    return Finding(
        code=rule.code,
        severity=Severity.NOTE if discarded else observation.severity or rule.severity,
        title=observation.title + (" (in a pass that was discarded)" if discarded else ""),
        cause=observation.cause or rule.explanation.cause,
        confidence=observation.confidence,
        settle=observation.settle,
        source=seen.source,
        builds=(seen.about.build.index,),
        evidence=tuple(Evidence(span, quotes[span]) for span in observation.spans[:MAX_EVIDENCE]),
        evidence_total=len(observation.spans),
        fixes=tuple(
            fix.text if version or not fix.versions else f"{fix.versions}: {fix.text}"
            for fix in rule.explanation.fixes
            if version is None or version.has(fix.since, fix.before)
        ),
        next_steps=tuple(observation.steps),
        layers=tuple(observation.layers),
        onnx_nodes=tuple(observation.onnx_nodes),
        signature=f"{rule.code} {observation.same_as or _VARYING.sub('#', observation.title)}",
        pass_discarded=discarded,
    )


def _in_discarded_pass(about: LoggedBuild, span: SourceSpan) -> bool:
    """Whether a line is of a pass that the log says was discarded; then it says nothing about the engine."""
    discarded = (one for one in about.build.passes if one.chosen is False)
    return span.file == about.log.source.path and any(p.first_line <= span.line <= p.last_line for p in discarded)


def _common(findings: Sequence[Finding]) -> tuple[SharedFinding, ...]:
    """Return the findings that several logs share, most shared first."""
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one.signature, []).append(one)
    shared = [_shared(signature, group) for signature, group in groups.items()]
    several = [one for one in shared if len(one.sources) > 1]
    return tuple(sorted(several, key=lambda one: (-len(one.sources), -one.severity, one.code)))


def _shared(signature: str, group: Sequence[Finding]) -> SharedFinding:
    first = group[0]
    title = first.title if all(one.title == first.title for one in group) else rule_of(first.code).title
    return SharedFinding(first.code, first.severity, title, signature, tuple(sorted({one.source for one in group})))


def _source(log: BuildLog) -> ReportSource:
    source = log.source
    return ReportSource(
        source.path, source.bytes, source.lines, source.sha256, len(log.builds), coverage_of(log), source.wrapped_in
    )


def _not_judged(rule: Rule) -> NotJudged:
    return NotJudged(rule.code, rule.title, tuple(sorted(need.value for need in rule.needs)))
