"""``trtforensics collect``: build again and again, and sort the builds into good and bad."""

from argparse import Namespace
from pathlib import Path

from trtforensics.bisection.runner.placeholders import INPUTS, mentions
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.search_options import require_linux, run_options
from trtforensics.bisection.session.collection import CollectionLever, RepeatedBuilds, collect
from trtforensics.bisection.session.job import to_json
from trtforensics.console import streams
from trtforensics.console.progress import ProgressLine
from trtforensics.errors import UsageError


def run(args: Namespace) -> int:
    """Collect, and print the answer."""
    require_linux()
    options = run_options(args)
    if options.build is None:
        raise UsageError("collect", "needs a `--build` to run", "Give one")
    product = next((name for name in (*INPUTS, "engine") if mentions(options.build, name)), "engine")
    plan = RepeatedBuilds(args.until) if isinstance(args.until, int) else RepeatedBuilds(None, Verdict(args.until))
    directory = Path(args.artifacts_dir)
    with ProgressLine(quiet=args.quiet) as progress:
        answer = collect(directory, plan, CollectionLever(product), options, progress.show)
    streams.print_result(to_json(answer.document()) if args.json else answer.text(directory))
    return 0
