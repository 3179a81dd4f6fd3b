"""``trtforensics ingest``: add many sources to a dataset of Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.arguments import count
from trtforensics.console.cluster import cluster_address
from trtforensics.console.diagnostics import remark
from trtforensics.console.streams import print_result
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """examples:
  trtforensics ingest nightly/ --into runs.trtf                    # again: only what is new or has changed
  trtforensics ingest nightly/ --into runs.trtf --labels-from '{gpu}/{commit}.log' --jobs 4
  find /ci -name '*.log' | trtforensics ingest - --into runs.trtf --label team=vision

exit code 0 where every source is in the dataset, those that cannot be read with their reason"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``ingest``."""
    what = "a file, a folder with all files in it, a pattern such as '**/*.log', or - for a list on standard input"
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=what)
    parser.add_argument(
        "--into", required=True, metavar="DIR", help="the dataset: a folder, made where missing, or a URL"
    )
    what = "a label of all these sources; may be given again"
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help=what)
    what = "labels from the end of each path, as '{gpu}/{commit}.log'"
    parser.add_argument("--labels-from", metavar="PATTERN", help=what)
    parser.add_argument("--jobs", type=count, default=1, metavar="P", help="read in P processes (default: 1)")
    what = "read on a Dask cluster's workers; they see sources and DIR at the same paths"
    parser.add_argument("--executor", type=cluster_address, metavar="dask://HOST:PORT", help=what)


def run(args: Namespace) -> int:
    """Add the sources and say what became of them."""
    from pathlib import Path

    from trtforensics.console.progress import ProgressLine
    from trtforensics.datasets.ingesting import Ingested, Ingestion, in_words, label_pattern, sources_of

    for text in args.label:
        if not text.partition("=")[0].isidentifier() or "=" not in text:
            raise UsageError(text, "is no label", "Write it as KEY=VALUE, as commit=3fa9c1")
    pattern = label_pattern(args.labels_from) if args.labels_from else None
    sources = sources_of(args.sources, Path(args.into))
    if not sources:
        raise UsageError(" ".join(args.sources), "names no file", "Name a log, or a folder with logs in it")
    labels = dict(text.split("=", 1) for text in args.label)
    every: list[Ingested] = []
    with ProgressLine(quiet=args.quiet) as progress:
        ingestion = Ingestion(args.into, labels, pattern, args.max_bytes)
        for each in ingestion.run(sources, args.jobs, progress.file, args.executor):
            every.append(each)
            if each.status == "unreadable":
                remark(f"trtforensics: note: {each.source}: {each.why}", quiet=args.quiet)
    print_result(f"{args.into}: {in_words(every)}\n")
    return 0
