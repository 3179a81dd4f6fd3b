"""``trtforensics trend``: what changed from run to run, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.arguments import add_format_option, add_output_option, words
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.streams import deliver

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """examples:
  trtforensics trend runs.trtf
  trtforensics trend runs.trtf --by model,gpu,release --since 2026-11-01 --fail-on regression
  trtforensics trend nightly/*.log --order commit -o trend.html

exit code 1 with --fail-on regression where something became worse"""

_FORMS = ("text", "json", "html")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``trend``."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a dataset of `ingest`, its folder or URL; or logs, folders, patterns",
    )
    what = "what runs are alike in: columns of the table of runs, or labels (default: model,gpu)"
    parser.add_argument("--by", type=words, default=("model", "gpu"), metavar="NAMES", help=what)
    what = "the column or label that orders the runs (default: started if all logs tell it, else modified)"
    parser.add_argument("--order", metavar="NAME", help=what)
    what = "only changes since then, in words of that column, as 2026-11-01"
    parser.add_argument("--since", metavar="WHEN", help=what)
    parser.add_argument("--fail-on", choices=("regression",), metavar="WHAT", help="exit code 1 from here: regression")
    add_format_option(parser, _FORMS, "text")
    add_output_option(parser)


def run(args: Namespace) -> int:
    """Print what changed in each group of runs."""
    from dataclasses import replace

    from trtforensics.console.output import form_of
    from trtforensics.console.progress import ProgressLine
    from trtforensics.datasets.ingesting import opened
    from trtforensics.datasets.trends import document_of, groups_of, page_of, text_of

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
