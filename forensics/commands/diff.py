"""``trtforensics diff``: the differences between good and bad builds."""

import sys
from argparse import Namespace
from pathlib import Path

from trtforensics.comparison.compare import compare
from trtforensics.comparison.loading import load_side, with_files
from trtforensics.console.arguments import wants_json
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import deliver
from trtforensics.console.terminal import wants_colour
from trtforensics.errors import UsageError
from trtforensics.sources.build_log import keep_sources
from trtforensics.sources.kinds import Kind


def run(args: Namespace) -> int:
    """Load both sides, compare them and print the result."""
    as_json, bad_path = wants_json(args), _bad_path(args.good, args.bad)
    keep_sources([args.good, bad_path, *args.good_files, *args.bad_files], args.output)
    kind = Kind(args.kind) if args.kind else None
    with ProgressLine(quiet=args.quiet) as progress:
        good, bad = (
            with_files(
                load_side(path, name, max_bytes=args.max_bytes, kind=kind, on_file=progress.file),
                files,
                max_bytes=args.max_bytes,
                on_file=progress.file,
            )
            for path, name, files in ((args.good, "good", args.good_files), (bad_path, "bad", args.bad_files))
        )
    comparison = compare(good, bad)
    if as_json:
        from trtforensics.comparison.report import to_json

        text = to_json(comparison)
    else:
        from trtforensics.comparison.report import report

        text = report(comparison, everything=args.all, colour=args.output is None and wants_colour(sys.stdout))
    deliver((text,), args.output)
    return ExitCode.NO if args.exit_code and comparison.differences else ExitCode.OK


def _bad_path(good: str, bad: str | None) -> str:
    if bad is not None:
        if bad == good == "-":
            raise UsageError("-", "standard input can be one side only", "Name a file for the other")
        return bad
    if not all((Path(good) / side).is_dir() for side in ("good", "bad")):
        what = "is the only source, where two are compared"
        raise UsageError(good, what, "Name a bad source too, or a directory with good/ and bad/ in it")
    return good
