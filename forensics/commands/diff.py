"""``trtforensics diff``: the differences between good and bad builds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.arguments import add_output_option, wants_json
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.streams import deliver
from trtforensics.console.terminal import wants_colour
from trtforensics.errors import UsageError
from trtforensics.sources.kinds import Kind, add_kind_argument

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """examples:
  trtforensics diff good.log bad.log
  trtforensics diff good/ bad/ -o diff.json        # directories of replays, logs, engine JSON, timing caches
  trtforensics diff polygraphy_artifacts                  # its good/ against its bad/
  trtforensics diff fast.json slow.json --good fast.profile.json --bad slow.profile.json      # why is it slower?
  trtforensics diff good.json bad.json --exit-code || echo they differ"""
_KINDS = (Kind.BUILD_LOG, Kind.REPLAY, Kind.LAYER_INFO, Kind.PROFILE, Kind.TIMES, Kind.TIMING_CACHE)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``diff``."""
    what = "a build log, tactic replay, engine-layer JSON, profile, times, timing cache, or a directory of them"
    parser.add_argument("good", metavar="GOOD", help=f"{what}; of an artifacts directory, its good/")
    parser.add_argument("bad", metavar="BAD", nargs="?", help="likewise, its bad/ (default: GOOD, if it has both)")
    for side in ("good", "bad"):
        more = f"more files about {side.upper()}'s engine: its profile, times, layers"
        parser.add_argument(f"--{side}", dest=f"{side}_files", nargs="+", default=[], metavar="FILE", help=more)
    parser.add_argument("--json", action="store_true", help="print the JSON document instead of the report")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 where there is a difference")
    parser.add_argument("--all", action="store_true", help="print every difference, however many there are")
    add_output_option(parser)
    add_kind_argument(parser, _KINDS)


def run(args: Namespace) -> int:
    """Load both sides, compare them and print the result."""
    from trtforensics.comparison.compare import compare
    from trtforensics.comparison.loading import load_side, with_files
    from trtforensics.console.progress import ProgressLine
    from trtforensics.sources.build_log import keep_sources

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
        from trtforensics.comparison.document import to_json

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
