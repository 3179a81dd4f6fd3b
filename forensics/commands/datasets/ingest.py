"""``trtforensics ingest``: add many sources to a dataset of Parquet files."""

from argparse import Namespace
from pathlib import Path

from trtforensics.console.diagnostics import remark
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import print_result
from trtforensics.datasets.ingesting import Ingested, Ingestion, in_words, label_pattern, sources_of
from trtforensics.errors import UsageError


def run(args: Namespace) -> int:
    """Add the sources and say what became of them."""
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
