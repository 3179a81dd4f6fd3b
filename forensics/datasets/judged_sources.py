"""Sources with their report: every table that there is of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trtforensics.console.progress import Progress
from trtforensics.engines.joining import JoinedSources, load_joined, select_build
from trtforensics.findings.finding import Report, Severity, root_of
from trtforensics.findings.forms.table import finding_table
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.model.log import Choice, MyelinOperation
from trtforensics.model.replay import ReplayEntry
from trtforensics.model.run import Run
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.notation.clocks import moment_in
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.sources.cache import load_timing_cache
from trtforensics.sources.kinds import Kind
from trtforensics.sources.quoting import QuotedLog, ReadLog, read_log
from trtforensics.sources.replay import load_replay
from trtforensics.tables.catalogue import RUN_TABLES, TABLE_NAMES, LogRow, RunSummary, run_table, table_of
from trtforensics.tables.table import Table

TABLES = (*TABLE_NAMES, *RUN_TABLES, "findings")
ONE_BY_ONE = ("runs", "builds", "results", "options", "comparisons")
"""Those that take each of several sources by itself; for others, they are about one engine."""
QUOTING = ("runs", "findings")
"""Those that look at lines again."""

_LOOKED_AT = 40
"""Lines of a run among which the first dated one is looked for."""


@dataclass(frozen=True)
class JudgedSource:
    """Files about one engine, or a log of several builds. It is judged when a table first needs that."""

    joined: JoinedSources
    read: QuotedLog

    @classmethod
    def of(cls, joined: JoinedSources, max_bytes: int = MAX_BYTES) -> JudgedSource:
        """Take files that were joined, the log's lines to be quoted from its file."""
        return cls(joined, ReadLog(joined.log, joined.log.source.path, max_bytes))

    @cached_property
    def report(self) -> Report:
        """The findings."""
        info = self.joined.layer_files[-1] if self.joined.layer_files else None
        return judge(Inputs([self.read], model=self.joined.model, engine_info=info), Suppression())

    def table(self, what: str, build: int | None = None) -> Table:
        """Return one of :data:`TABLES` of all builds, or of one by its number (from 1)."""
        builds = list(self.joined.log.builds) if build is None else [select_build(self.joined.log, build)]
        if what == "findings":
            return finding_table(self.report, frozenset(each.index for each in builds))
        if what not in RUN_TABLES:
            return table_of(what, [self.joined.engine_of(each) for each in builds])
        runs = self.joined.log.runs if what == "runs" else ()
        summaries = [RunSummary(self._started(run), *_judged(run, self.report)) for run in runs]
        table = run_table(what, [(self.joined.log, summaries)])
        return table if build is None else table.filtered(f"build={build}")

    def _started(self, run: Run) -> str | None:
        texts = self.read.quote(range(run.first_line, min(run.last_line, run.first_line + _LOOKED_AT) + 1))
        return next((moment.isoformat(" ") for line in sorted(texts) if (moment := moment_in(texts[line]))), None)


def judged_source(
    paths: Sequence[str],
    *,
    kind: Kind | None = None,
    max_bytes: int,
    on_progress: Callable[[Progress], None] = lambda _: None,
    quoted: bool = True,
) -> JudgedSource:
    """Read files about one engine. Where lines are ``quoted``, a temporary file keeps what standard input sends."""
    if quoted and list(paths) == ["-"]:
        read = read_log("-", max_bytes=max_bytes, on_progress=on_progress)
        return JudgedSource(JoinedSources(read.log, has_log=True), read)
    joined = load_joined(paths, kind=kind, max_bytes=max_bytes, on_progress=on_progress)
    return JudgedSource.of(joined, max_bytes)


def pinned_or_cached(path: str, kind: Kind, max_bytes: int) -> tuple[SourceInfo, str, Table]:
    """Read a replay or a timing cache as a table of its name; of a replay's choices no time and no fate are known."""
    rows: Sequence[Choice | MyelinOperation]
    if kind is Kind.REPLAY:
        replay = load_replay(path, max_bytes=max_bytes)
        name, info, rows = "choices", replay.source, [_pinned(entry) for entry in replay.entries]
    else:
        cache = load_timing_cache(path, max_bytes=max_bytes)
        name, info, rows = "cache-keys", cache.source, cache.keys
    places = (LogRow(None, row, row.span.file, row.span.line) for row in rows)
    return info, name, Table(table_of(name, ()).header, places)


def _pinned(entry: ReplayEntry) -> Choice:
    runner = "" if entry.runner_id is None else f"0x{entry.runner_id:08x}"
    inputs, outputs = (tuple(tensor.text for tensor in side) for side in (entry.inputs, entry.outputs))
    return Choice(
        layer=entry.layer,
        runner=runner,
        runner_id=entry.runner_id,
        tactic=entry.tactic,
        time_ms=None,
        runner_up_ms=None,
        candidates=0,
        inputs=inputs,
        outputs=outputs,
        first_line=entry.span.line,
        span=entry.span,
        pass_index=None,
    )


def _judged(run: Run, report: Report) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how many findings of each severity a run has, and the roots of its errors and warnings, worst first."""
    findings = [each for each in report.findings if not set(run.builds).isdisjoint(each.builds)]
    counts = {severity.word: sum(each.severity is severity for each in findings) for severity in Severity}
    bad = sorted((each for each in findings if each.severity > Severity.NOTE), key=lambda each: -each.severity)
    roots = ((root_of(each, report.findings) or each).code for each in bad)
    return counts, tuple(dict.fromkeys(roots))
