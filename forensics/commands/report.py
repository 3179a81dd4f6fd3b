"""``trtforensics report``: the findings about builds, with causes, lines and next steps."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import explained, form_of
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import deliver
from trtforensics.console.terminal import wants_colour
from trtforensics.errors import NotABuildLogError, SourceError, UsageError
from trtforensics.findings.finding import Report, Severity, Unreadable
from trtforensics.findings.forms.rendering import ENDINGS, Look, render
from trtforensics.findings.forms.text import MANY
from trtforensics.findings.judging import Inputs, judge, together
from trtforensics.findings.suppression import ReportSettings, Suppression, same_finding, settings_here
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.build_log import keep_sources
from trtforensics.sources.kinds import is_engine_file
from trtforensics.sources.quoting import QuotedLog, ReadLog, read_log

if TYPE_CHECKING:
    from trtforensics.plots.figure import Figure


def form_and_look(args: Namespace, settings: ReportSettings) -> tuple[str, Look]:
    """Return the form of a report, and how it looks there; a finding of its level on makes the exit code 1."""
    shown, level = args.output is None, args.fail_on or settings.fail_on
    look = Look(
        verbose=args.verbose,
        colour=shown and wants_colour(sys.stdout),
        width=shutil.get_terminal_size().columns if shown and sys.stdout.isatty() else 0,
        fails_from=None if level is None else Severity[level.upper()],
    )
    return args.format or form_of(args.output or "", ENDINGS, "text"), look


def exit_code(report: Report, look: Look) -> ExitCode:
    """Return "no" where a finding is as bad as the look's level."""
    worst = report.worst()
    failed = worst is not None and look.fails_from is not None and worst >= look.fails_from
    return ExitCode.NO if failed else ExitCode.OK


def run(args: Namespace) -> int:
    """Read the sources, judge them and print the report."""
    keep_sources([*args.sources, args.onnx, args.replay, args.layer_info, args.baseline], args.output)
    settings = settings_here()
    suppression = Suppression.of(args.suppress, settings)
    if args.baseline:
        suppression = replace(suppression, known=_known(args.baseline, args.max_bytes), baseline=args.baseline)
    models = [path for path in args.sources if path.endswith(".onnx")]
    inputs = Inputs(()) if models == args.sources else _inputs(args)
    reports: list[Report] = []
    if models:
        from trtforensics.findings.checking import check
        from trtforensics.findings.target import ModelTarget

        reports = [each for path in models for each in check(path, [ModelTarget()], suppression)]
    form, look = form_and_look(args, settings)
    whole = MANY if form in ("text", "html") and not look.verbose else None
    report = together(reports) if models == args.sources else judge(inputs, suppression, whole)
    if form == "html":
        look = replace(look, figures=_figures(inputs))
    deliver((render(report, form, look),), args.output)
    if form == "github" and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        _summarise(report, summary)
    return exit_code(report, look)


def _summarise(report: Report, path: str) -> None:
    """Add the report to the summary of a job of GitHub's."""
    from trtforensics.findings.forms.github import summary

    with explained(path), open(path, "a", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as it is named
        file.write(summary(report))


def _figures(inputs: Inputs) -> tuple[Figure, ...]:
    """Return the figures of the one log's last build with engine layers; none where there may be several logs."""
    from trtforensics.engines.facts import EngineFacts
    from trtforensics.plots.engine_figures import figures_of

    log = inputs.logs[0].log if isinstance(inputs.logs, list) and len(inputs.logs) == 1 else None
    described = [build for build in log.builds if build.engine_layers or build.tuning] if log else []
    return tuple(figures_of(EngineFacts(described[-1], log.source.path, inputs.model))) if log and described else ()


def _known(path: str, max_bytes: int) -> frozenset[str]:
    """Return the findings of a report as JSON, or of a dataset."""
    import json

    from trtforensics.datasets.store import Dataset, is_dataset

    if is_dataset(path):
        findings = Dataset.opened(path).table("findings").to_table(columns=["code", "title"]).to_pylist()
    else:
        try:
            document = json.loads(read_document(path, max_bytes=max_bytes).data)
            findings = [*document["findings"], *document["suppressed"]]
            findings = [{"code": str(each["code"]), "title": str(each["title"])} for each in findings]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UsageError(path, "is no report", "Write one with `trtforensics report LOG -o FILE.json`") from error
    return frozenset(same_finding(each["code"], each["title"]) for each in findings)


def _inputs(args: Namespace) -> Inputs:
    unreadable: list[Unreadable] = []
    files = [path for path in args.sources if is_engine_file(path)]  # others are read as logs
    paths = [path for path in args.sources if path not in files]
    reading = _logs(paths, args, unreadable)
    logs = [] if len(paths) > 1 and not files else list(reading)
    if files and len(logs) > 1:
        raise UsageError(files[0], "could be about any of several logs", "Name one log, and the files of its engine")
    limit = args.max_bytes
    joined = None
    if files:
        from trtforensics.engines.joining import join_files, load_joined, say_unjoined

        joined = join_files(logs[0].log, files, max_bytes=limit) if logs else load_joined(files, max_bytes=limit)
        say_unjoined(joined, quiet=args.quiet)
        logs = [replace(logs[0], log=joined.log) if logs else ReadLog(joined.log, joined.log.source.path, limit)]
    info = joined.layer_files[-1] if joined is not None and joined.layer_files else None
    model = joined.model if joined is not None else None
    if args.onnx:
        from trtforensics.onnx_models.checked import read_checked  # imports onnx, which is slow

        model = read_checked(args.onnx)
    replay = None
    if args.replay:
        from trtforensics.sources.replay import ReplayFile

        replay = ReplayFile(args.replay, max_bytes=limit)
    if args.layer_info:
        from trtforensics.parsers.files.layer_json import read_layer_json

        info = read_layer_json(read_document(args.layer_info, max_bytes=limit))
    given = Inputs(logs or reading, model=model, replay=replay, engine_info=info, unreadable=unreadable)
    return replace(given, detailed=args.verbose)


def _logs(paths: Sequence[str], args: Namespace, unreadable: list[Unreadable]) -> Iterator[QuotedLog]:
    """Read logs one after the other; ``unreadable`` gets those that cannot be read."""
    refused: list[SourceError | NotABuildLogError] = []
    for path in paths:
        try:
            with ProgressLine(quiet=args.quiet) as progress:
                read = [read_log(path, max_bytes=args.max_bytes, on_progress=progress)]  # not held while it is judged
        except (SourceError, NotABuildLogError) as error:
            if args.strict:
                raise
            refused.append(error)
            unreadable.append(Unreadable(error.where, error.what))
            continue
        yield read.pop()
        gc.collect(1)  # a command runs without the collector, and this one goes on
    if paths and len(refused) == len(paths):
        raise refused[0]
