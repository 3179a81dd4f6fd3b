"""``trtforensics trend``: what changed from run to run, and since when."""

from argparse import Namespace
from dataclasses import replace

from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import form_of
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import deliver
from trtforensics.datasets.ingesting import opened
from trtforensics.datasets.trends import document_of, groups_of, page_of, text_of


def run(args: Namespace) -> int:
    """Print what changed in each group of runs."""
    with (
        ProgressLine(quiet=args.quiet) as progress,
        opened(args.sources, max_bytes=args.max_bytes, tell=progress.file) as dataset,
    ):
        groups = groups_of(dataset, args.by, args.order)
    if args.since is not None:
        recent = [[t for t in group.trends if str(t.run["dated"] or "") >= args.since] for group in groups]
        groups = [replace(group, trends=trends) for group, trends in zip(groups, recent, strict=True)]
    form = args.format or form_of(args.output or "", {".json": "json", ".html": "html"}, "text")
    written = {"json": document_of, "html": page_of}
    deliver((written[form](groups) if form in written else "\n".join(map(text_of, groups)),), args.output)
    worse = any(trend.worse for group in groups for trend in group.trends)
    return ExitCode.NO if args.fail_on and worse else ExitCode.OK
