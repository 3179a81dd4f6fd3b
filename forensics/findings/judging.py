"""Runs the rules over every build of every log, and makes a report of their observations."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.console.counting import grouped
from trtforensics.console.secrets import masked
from trtforensics.findings.case import Case, LoggedBuild, Need
from trtforensics.findings.earlier import EarlierBuilds
from trtforensics.findings.finding import (
    Confidence,
    Evidence,
    Finding,
    NotJudged,
    Report,
    ReportSource,
    Severity,
    SharedFinding,
    root_of,
    without_numbers,
    worse_roots,
)
from trtforensics.findings.observations import CLASSES, NEAR, NO_ENGINE, NO_RUN, says
from trtforensics.findings.programs import fitting, of_release, origins_of, step_for_loaded, text_for_loaded, unheld
from trtforensics.findings.registry import rule_of, rules
from trtforensics.findings.rules.excerpts import as_excerpt, shown
from trtforensics.findings.rules.speed import long_tuning
from trtforensics.findings.special_cases import lines_around, special
from trtforensics.findings.tree import MAX_EVIDENCE, NO_NEWS, RECORD, FindingWithCauses, arranged, ranked
from trtforensics.findings.versions import Version
from trtforensics.knowledge.operators import remedy_of
from trtforensics.model.log import Build, BuildLog, Coverage
from trtforensics.model.run import Ending, Program
from trtforensics.model.timings import TimeSource
from trtforensics.parsers.builds.run_outcomes import BENIGN
from trtforensics.render.headline import Headline, headlines, with_root
from trtforensics.render.names import shortened
from trtforensics.render.own_lines import own_lines
from trtforensics.render.report_rows import detail_rows, rows_of_builds
from trtforensics.render.text_rows import listings, outputs, pauses, printed_values, telling_lines
from trtforensics.sources.quoting import QuotedLog, ReadLog, quote_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from trtforensics.findings.finding import Observation, Step, Unreadable
    from trtforensics.findings.rule import Rule
    from trtforensics.findings.suppression import Suppression
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.log import Message
    from trtforensics.model.span import SourceSpan
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.sources.replay import ReplayFile

_VALUE = re.compile(r"(?<![\w.+-])[\w.+/-]*(?:[0-9/_]|[a-z][A-Z]|[A-Z]{2})(?:[\w.+/-]*\w)?")
"""A number, or a name that is no word: with digits, ``/``, ``_`` or capitals inside."""
_QUOTED = 240
"""Characters of a message that stands below a title."""
_NAMING = ("parse_failed", "dumped_node", "importer_refused", *CLASSES)
"""What names the operator of a node that is refused, where it stands near."""
_OF_NODES = {"TF107", "TF108", "TF140", "TF141", "TF142", "TF146", "TF149", "TF151", "TF156", "TF157", "TF163"}
"""Rules about nodes of the model, beside those for classes of errors."""
_OF_OTHERS = re.compile(r"TF(?:9\d\d|60\d\d|420|657|680)")
"""Rules about Python, pip, ONNX Runtime's providers and what any program may say: a program may go on behind it."""


@dataclass(frozen=True)
class Inputs:
    """What the user gave: logs, the other files about their builds, and the sources that gave no log.

    Logs that an iterator reads are judged one by one; it may add to ``unreadable``.
    """

    logs: Iterable[QuotedLog]
    model: CheckedModel | None = None
    replay: ReplayFile | None = None
    engine_info: EngineInfo | None = None
    unreadable: Sequence[Unreadable] = ()
    detailed: bool = False
    """Whether sources get what ``-v`` shows of them."""


@dataclass(frozen=True, slots=True)
class _RuleObservation:
    """An observation with its rule and its build."""

    rule: Rule
    about: LoggedBuild
    observation: Observation


def judge(inputs: Inputs, suppression: Suppression, whole: int | None = None) -> Report:
    """Run every rule on every build for which its inputs are there.

    So many logs are kept ``whole`` (None: all). Of any further one, notes and findings that an earlier log has too are
    kept without their details.

    Raises:
        SourceError: A log whose lines are quoted cannot be read again.
        UsageError: A rule of another package cannot be loaded.
    """
    able: dict[frozenset[Need], list[Rule]] = {}
    earlier = EarlierBuilds()
    reports: list[Report] = []
    seen: set[str] = set()
    for read in inputs.logs:
        report = _reported(*_observed_in(read, inputs, earlier, able), read.log, suppression)
        report = _listed(report, read)
        report = _detailed(report, read) if inputs.detailed else report
        earlier.add(read)
        brief = whole is not None and len(reports) >= whole
        reports.append(_brief(report, seen) if brief else report)
        seen |= {root.signature for root in worse_roots(report, 0)}
        del read  # before the next one is read
    unasked = [rule for rule in rules() if not any(map(rule.needs.issubset, able))]
    report = together(reports)
    findings = ranked(report.findings)
    return replace(
        report,
        findings=findings,
        suppressed=ranked(report.suppressed),
        common=_common(findings),
        settings=suppression.settings_behind(report.suppressed),
        not_judged=tuple(NotJudged(rule.code, rule.title, tuple(sorted(rule.needs))) for rule in unasked),
        unreadable=tuple(inputs.unreadable),
    )


def _observed_in(
    read: QuotedLog, inputs: Inputs, earlier: EarlierBuilds, able: dict[frozenset[Need], list[Rule]]
) -> tuple[list[_RuleObservation], _Quotes]:
    """Run the rules on one log, and quote its lines; ``able`` gets the rules for the inputs that a build has."""
    observed: list[_RuleObservation] = []
    quotable = {read.log.source.path: read}
    for build in read.log.builds:
        logged, other = earlier.baseline(build) or (None, read)
        quotable = {other.log.source.path: other, **quotable}
        case = Case(build, read.log, inputs.model, inputs.replay, inputs.engine_info, logged)
        given = frozenset(filter(case.has, Need))
        if given not in able:
            able[given] = [rule for rule in rules() if rule.needs <= given]
        kinds = case.kinds
        observed += _with_excerpt(_observed(case, [rule for rule in able[given] if rule.concerns(kinds)]), case, read)
    return observed, _quotes(observed, quotable, inputs.model)


def _listed(report: Report, read: QuotedLog) -> Report:
    """Return a report of one log with the tensors and layers that a tool of Polygraphy lists."""
    if not _is_listing(read):
        return report
    source = report.sources[0]
    return replace(report, sources=(replace(source, times=(*source.times, *listings(read.whole()))),))


def _is_listing(read: QuotedLog) -> bool:
    return any(run.outcome.reached == "listed" for run in read.log.runs)


def _with_excerpt(observed: list[_RuleObservation], case: Case, read: QuotedLog) -> list[_RuleObservation]:
    """Return observations with what a short log without an error says by its words; what it lacks is no news then."""
    others = (each for each in observed if each.rule.code not in NO_NEWS)
    worst = max((each.observation.severity or each.rule.severity for each in others), default=Severity.NOTE)
    rules = () if worst is Severity.ERROR else (shown, long_tuning)
    excerpt, of_build = as_excerpt(case, read, worst), LoggedBuild(case.log, case.build)
    told = [_RuleObservation(rule, of_build, each) for rule in rules for each in rule.check(excerpt)]
    return [*(each for each in observed if not told or each.rule.code not in NO_NEWS), *told]


def _detailed(report: Report, read: QuotedLog) -> Report:
    """Return a report of one log with what ``-v`` adds to its times."""
    cited = {each.span.line for finding in report.findings for each in finding.evidence}
    told = telling_lines(text := read.whole())
    cited |= {line for lines, _ in told for line in lines}
    printed = printed_values(text) if any(run.program is not Program.TRTEXEC for run in read.log.runs) else ()
    values = (*outputs(text), *(() if _is_listing(read) else listings(text)), *printed)
    details = (*pauses(read), *values, *(row for _, row in told), *detail_rows(read.log))
    source = replace(report.sources[0], details=details, own_lines=own_lines(read.log, cited))
    return replace(report, sources=(source,))


def _brief(report: Report, seen: Collection[str]) -> Report:
    """Return a report without times; roots that are notes, or that another log has too, lose their details."""
    shown = {id(root) for root in worse_roots(report, 0) if root.signature not in seen}

    def brief(finding: Finding) -> Finding:
        if id(root_of(finding, report.findings) or finding) in shown:
            return finding
        place = replace(finding.evidence[0], text="")
        return replace(finding, evidence=(place,), cause="", fixes=(), next_steps=(), layers=(), onnx_nodes=())

    sources = tuple(replace(source, times=()) for source in report.sources)
    return replace(report, sources=sources, findings=tuple(map(brief, report.findings)))


def judge_model(log: BuildLog, model: CheckedModel, words: str, suppression: Suppression) -> Report:
    """Run the rules that need a model alone on one, before any build.

    ``log`` stands for what it is to be built for (``target.as_log``), ``words`` say that.
    """
    able = [rule for rule in rules() if rule.needs == {Need.ONNX}]
    observed = _observed(Case(log.builds[0], log, model), able)
    quotes = _quotes(observed, {log.source.path: ReadLog(log, log.source.path, 0)}, model)
    report = _reported(observed, quotes, log, suppression)
    source = replace(report.sources[0], model=words, headlines=(), times=())
    shown, hidden = (
        tuple(replace(finding, of_model=True) for finding in findings)
        for findings in (report.findings, report.suppressed)
    )
    return replace(report, sources=(source,), findings=shown, suppressed=hidden)


def together(reports: Sequence[Report]) -> Report:
    """Return reports as one: of several models, or of one for several targets."""
    sources: list[ReportSource] = []
    shown: list[Finding] = []
    hidden: list[Finding] = []
    for report in reports:
        for findings, more in ((shown, report.findings), (hidden, report.suppressed)):
            findings += [_moved(each, len(sources), len(findings)) for each in more]
        sources += report.sources
    settings = next((report.settings for report in reports if report.settings), "")
    return Report(tuple(sources), tuple(shown), suppressed=tuple(hidden), settings=settings)


def _moved(finding: Finding, sources: int, findings: int) -> Finding:
    """Return a finding behind so many sources and findings of other reports."""
    root = None if finding.consequence_of is None else finding.consequence_of + findings
    return replace(finding, source=finding.source + sources, consequence_of=root)


def _reported(observed: Sequence[_RuleObservation], quotes: _Quotes, log: BuildLog, suppression: Suppression) -> Report:
    """Return the report of one log, without what depends on others."""
    findings = [_finding(entry, quotes) for entry in observed]
    shown = arranged([entry for entry in findings if not suppression.covers(entry.finding)])
    hidden = arranged([entry for entry in findings if suppression.covers(entry.finding)])
    return Report(
        sources=(_source(log, shown),), findings=shown, suppressed=hidden, settings=suppression.settings_behind(hidden)
    )


def _observed(case: Case, able: Sequence[Rule]) -> list[_RuleObservation]:
    """Run rules on a build; those that run last know which lines the others cite."""
    about = LoggedBuild(case.log, case.build)  # not the case, which keeps all that its rules worked out

    def run(judged: Case, *, last: bool) -> list[_RuleObservation]:
        every = ((rule, each) for rule in able if rule.last is last for each in rule.observations(judged))
        return [_RuleObservation(rule, about, _with_remedy(judged, rule, each)) for rule, each in every]

    first = run(case, last=False)
    cited = frozenset(span.line for entry in first for span in entry.observation.spans)
    worst = max((entry.observation.severity or entry.rule.severity for entry in first), default=None)
    return _with_costs(first + run(replace(case, explained=cited, worst=worst), last=True))


def _with_remedy(case: Case, rule: Rule, observation: Observation) -> Observation:
    """Return an observation with the remedy for the operator that stands by it; unchanged where none is known."""
    about = rule.code in _OF_NODES or (rule.last and not rule.reads.isdisjoint(CLASSES))
    if not about or observation.fix or (observation.severity or rule.severity) is not Severity.ERROR:
        return observation
    lines = [span.line for span in observation.spans]
    named = [n for n in case.notes(*_NAMING) if any(-NEAR <= line - n.span.line <= RECORD for line in lines)]
    named.sort(key=lambda note: min(abs(note.span.line - line) for line in lines))
    remedies = (remedy_of(n.text("op") or n.text("name").strip(), observation.title, case.release) for n in named)
    return replace(observation, fix=next(filter(None, remedies), ""))


def _with_costs(entries: Sequence[_RuleObservation]) -> list[_RuleObservation]:
    """Say behind the titles how long the layers take, and which time a finding that claims more has claimed already.

    So the times that are no other's too add up to no more than the engine's.
    """
    claimed: dict[int, str] = {}
    titled: dict[int, _RuleObservation] = {}
    costly = ((entry, entry.observation.cost) for entry in entries if entry.observation.cost is not None)
    for entry, cost in sorted(costly, key=lambda pair: -pair[1].ms):
        shared = [unit for unit in cost.units if id(unit) in claimed and unit.time_ms]
        ms = sum(unit.time_ms or 0.0 for unit in shared)
        part = "all" if len(shared) == len(cost.units) else f"{ms:.3g} ms"
        others = " and ".join(dict.fromkeys(claimed[id(unit)] for unit in shared))
        also = f", {part} of it in {others} too" if shared else ""
        claimed |= {id(unit): entry.rule.code for unit in cost.units if id(unit) not in claimed}
        title = f"{entry.observation.title}: {cost.text(also)}"
        titled[id(entry)] = replace(entry, observation=replace(entry.observation, title=title))
    return [titled.get(id(entry), entry) for entry in entries]


class _Quotes(NamedTuple):
    """The lines that findings cite, and what stands around the first line of those that ask for it."""

    cited: Mapping[SourceSpan, str]
    around: Mapping[SourceSpan, str]


def _quotes(observed: Sequence[_RuleObservation], logs: Mapping[str, QuotedLog], model: CheckedModel | None) -> _Quotes:
    """Read the lines that findings quote, from the logs and from the other files that they cite."""
    quotable = (span for entry in observed for span in entry.observation.spans[:MAX_EVIDENCE])
    asking = {entry.observation.spans[0] for entry in observed if entry.observation.spans}
    cited: dict[SourceSpan, str] = {}
    around: dict[SourceSpan, str] = {}
    for path, spans in grouped(quotable, lambda span: span.file).items():
        if model is not None and path == model.path:
            quoted = model.quote({span.line_in_file for span in spans})
        else:
            last = logs[path].log.source.lines if path in logs else sys.maxsize
            near = {each: lines_around(each.line_in_file, last) for each in spans if each in asking}
            lines = {span.line_in_file for span in spans}.union(*near.values())
            quoted = logs[path].quote(lines) if path in logs else quote_file(path, lines)
            around |= {each: "\n".join(quoted.get(line, "") for line in lines) for each, lines in near.items()}
        cited |= {span: quoted.get(span.line_in_file, "") for span in spans}
    return _Quotes(cited, around)


def _finding(entry: _RuleObservation, quotes: _Quotes) -> FindingWithCauses:
    rule, observation = entry.rule, entry.observation
    if not observation.spans:
        raise ValueError(f"{rule.code} gave no line for: {observation.title}")
    evidence = tuple(Evidence(span, quotes.cited[span]) for span in observation.spans[:MAX_EVIDENCE])
    lines = "\n".join([observation.title, *(each.text for each in evidence)])
    around = quotes.around.get(observation.spans[0], "")
    case = special(rule.cases, entry.about, lines, around)
    version = Version.of(entry.about.build)
    discarded = all(_in_discarded_pass(entry.about, span) for span in observation.spans)
    severity = Severity.NOTE if discarded else observation.severity or rule.severity
    survived = _survived(entry.about, rule, observation.spans) if severity is Severity.ERROR else None
    loads = entry.about.loads_engine
    usual = [*_fixes(rule, version)]
    usual.sort(key=lambda fix: not any(name in observation.title for name in _NAME.findall(fix.partition(": ")[0])))
    special_fixes = [*filter(None, [case.fix if case else "", observation.fix])]
    origins = origins_of(entry.about.program, lines, around)
    own = (case is not None and case.fix) or (observation.cause and observation.fix)
    fixes = fitting(rule.code, special_fixes, [] if own else usual, origins, of_any=rule.last)
    fixes = special_fixes if rule is shown else fixes or fitting(rule.code, [], usual, origins, of_any=rule.last)
    fixes = of_release(unheld(fixes, entry.about.build.command or "", around), version)
    new = (step for step in observation.steps if not step.command or step.command != entry.about.build.command)
    steps = (step_for_loaded(step) if loads else step for step in new)
    sure = observation.confidence or (Confidence.LIKELY if observation.settle else Confidence.CERTAIN)
    finding = Finding(
        code=rule.code,
        severity=severity if survived is None else Severity.WARNING,
        title=observation.title + (" (in a pass that was discarded)" if discarded else "") + (survived or ""),
        cause=(case.cause if case else "") or observation.cause or rule.explanation.cause,
        confidence=sure,
        settle=observation.settle,
        source=0,
        builds=(entry.about.build.index,),
        evidence=evidence,
        evidence_total=len(observation.spans),
        fixes=tuple(text_for_loaded(fix) if loads else fix for fix in fixes),
        next_steps=tuple(_of_build(step, entry.about.build) for step in steps),
        layers=tuple(observation.layers),
        onnx_nodes=tuple(observation.onnx_nodes),
        signature=f"{rule.code} {observation.same_as or without_numbers(observation.title)}",
        pass_discarded=discarded,
        general=rule.general and case is None,
        cost_ms=observation.cost.ms if observation.cost is not None else 0.0,
        message=_message(entry, quotes.cited),
        cell=entry.about.log.source.cell_of(observation.spans[0].line),
    )
    follows = () if case is not None and case.alone else rule.follows
    return FindingWithCauses(finding, frozenset(observation.spans), frozenset(observation.because), follows)


def _message(entry: _RuleObservation, quotes: Mapping[SourceSpan, str]) -> str:
    """Return the first message that is cited and says a number or name, where the title repeats none of these."""
    title, rule, spans = entry.observation.title, entry.rule, set(entry.observation.spans)
    usual = f"{rule.title} {rule.explanation.cause}"
    if rule is shown or rule.general or (entry.observation.severity or rule.severity) is Severity.NOTE:
        return ""
    worded = {message.span: message.text for message in entry.about.build.messages if message.span in spans}
    texts = [worded.get(span, quotes[span]).strip() for span in entry.observation.spans[:MAX_EVIDENCE]]
    if any(value in title and value not in usual for text in texts for value in _VALUE.findall(text)):
        return ""
    return next((shortened(masked(text), _QUOTED) for text in texts if _VALUE.search(text)), "")


_NAME = re.compile(r"\w*_\w+")
"""A name in the head of a fix: where the title has it, that fix goes first."""


def _fixes(rule: Rule, version: Version | None) -> Iterator[str]:
    """Give the fixes of a rule that apply to a version, or all with their versions where that is not known."""
    for fix in rule.explanation.fixes:
        if version is None or (version.has(fix.since, fix.before) and (fix.rtx or not version.rtx)):
            yield fix.text if version else fix.of_versions


def _of_build(step: Step, build: Build) -> Step:
    """Return a build's step; a command that holds a secret is left out, because it cannot be typed without it."""
    if masked(step.command) != step.command:
        step = replace(step, what=f"{step.what} (its command holds a secret)", command="")
    return replace(step, builds=(build.index,))


def _in_discarded_pass(about: LoggedBuild, span: SourceSpan) -> bool:
    """Whether a line is of a pass that the log says was discarded; then it says nothing about the engine."""
    discarded = (run for run in about.build.passes if run.chosen is False)
    return span.file == about.log.source.path and any(p.first_line <= span.line <= p.last_line for p in discarded)


_SETTER = re.compile(
    r"(?:Error\[\d+\]: |\d+: )?\[?(?:I?(?:Builder)?Config|INetwork\w*|builderConfig|network)(?:\.cpp)?::set\w+"
)
"""A call that sets an option: where it is refused, the build goes on without."""


def _survived(about: LoggedBuild, rule: Rule, spans: Sequence[SourceSpan]) -> str | None:
    """Return what to say behind the title of an error that ended nothing; None where it may have.

    The program came to a good end behind what it reports in its own words or TensorRT only warns of, or
    the build went on behind a setting that was refused, to another error.
    """
    messages = {each.span.line: each for each in about.build.messages}
    evidence = [messages[span.line] for span in spans if span.line in messages]
    if evidence and all(_SETTER.match(each.text) for each in evidence):
        later = (m for m in messages.values() if m.severity == "E" and m.span.line > spans[-1].line)
        if any(not says(m, (*NO_ENGINE, *NO_RUN)) and not _SETTER.match(m.text) for m in later):
            return "; the build went on, to another error"
    went_on = "; the program went on" + (" without it" if rule.code == _CRASH else " to its end")
    return went_on if _came_to_good_end(about, rule.code, spans, evidence) else None


_CRASH = "TF613"
"""Of another process, such as a stub of Triton's, where the program works on and is interrupted later."""


def _came_to_good_end(about: LoggedBuild, code: str, spans: Sequence[SourceSpan], evidence: Sequence[Message]) -> bool:
    """Whether the program came to a good end behind what it reports in its own words, or TensorRT only warns of."""
    run = about.log.run_of(about.build)
    good = {Ending.PASSED, Ending.INTERRUPTED} if code == _CRASH else {Ending.PASSED}
    if run is None or run.outcome.ending not in good or run.outcome.span is None:
        return False
    fatal = any(each.severity == "E" and not BENIGN.search(each.text) for each in evidence)
    before = all(span.file == about.log.source.path and span.line < run.outcome.span.line for span in spans)
    ours = len(evidence) != len(spans) and code != _CRASH and _OF_OTHERS.fullmatch(code) is None
    return before and not fatal and not ours


def _common(findings: Sequence[Finding]) -> tuple[SharedFinding, ...]:
    """Return the findings that several logs share, most shared first."""
    groups = grouped(findings, lambda finding: finding.signature)
    shared = [_shared(signature, group) for signature, group in groups.items()]
    several = [finding for finding in shared if len(finding.sources) > 1]
    return tuple(sorted(several, key=lambda finding: (-len(finding.sources), -finding.severity, finding.code)))


def _shared(signature: str, group: Sequence[Finding]) -> SharedFinding:
    first = group[0]
    title = first.title if all(finding.title == first.title for finding in group) else rule_of(first.code).title
    sources = tuple(sorted({finding.source for finding in group}))
    return SharedFinding(first.code, first.severity, title, signature, sources)


def _source(log: BuildLog, findings: Sequence[Finding]) -> ReportSource:
    source = log.source
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    roots = [root_of(finding, findings) or finding for finding in errors]
    return ReportSource(
        source.path,
        source.bytes,
        source.lines,
        source.sha256,
        len(log.builds),
        coverage_of(log),
        source.wrapped_in,
        tuple(_with_root(log, headline, roots) for headline in headlines(log)),
        tuple(rows_of_builds(log)),
    )


def coverage_of(log: BuildLog) -> Coverage:
    """Return what a log says about all of its builds together: nothing where it holds none; its lines are added up."""
    each = [build.coverage for build in log.builds]
    facts = ("verdict", "engine_layers", "tactics", "options", "model")
    known = {name: bool(each) and all(getattr(coverage, name) for coverage in each) for name in facts}
    times = {coverage.times for coverage in each}
    worst = TimeSource.TUNED if TimeSource.TUNED in times else TimeSource.MEASURED
    return Coverage(
        **known,
        times=None if None in times or not times else worst,
        own_lines=sum(coverage.own_lines for coverage in each),
        other_lines=sum(coverage.other_lines for coverage in each),
    )


def _with_root(log: BuildLog, headline: Headline, roots: Sequence[Finding]) -> Headline:
    """Say in the headline of a run that did not pass which finding is the root of that, and where it stands."""
    builds = set(log.runs[headline.index].builds) if log.runs else {headline.index}
    here = [root for root in roots if not builds.isdisjoint(root.builds)]
    in_cell = [root for root in here if root.line == headline.line and log.source.cell_of(root.line)]
    root = next(iter(in_cell or here), None)
    if root is None:
        return headline
    lines = (each.span.line for each in root.evidence)
    line = next((line for line in lines if headline.first_line <= line <= headline.last_line), root.line)
    return with_root(headline, root.code, line, root.evidence[0].text)
