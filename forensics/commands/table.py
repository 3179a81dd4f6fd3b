"""``trtforensics table``: what is known of a build as rows and columns."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from trtforensics.console.diagnostics import error
from trtforensics.console.progress import ProgressLine
from trtforensics.datasets.judged_sources import ONE_BY_ONE, QUOTING, JudgedSource, judged_source
from trtforensics.engines.joining import say_unjoined
from trtforensics.errors import ForensicsError
from trtforensics.sources.build_log import keep_sources
from trtforensics.sources.kinds import Kind
from trtforensics.tables import forms
from trtforensics.tables.table import Table


def run(args: Namespace) -> int:
    """Join the sources and print the table."""
    form = forms.form_named(args.format, args.output, "csv")
    keep_sources(args.sources, args.output)
    if args.of in ONE_BY_ONE:
        table = _shaped(_one_by_one(args), args)
    else:
        source = _read(args.sources, args)
        table = _shaped(source.table(args.of, args.build), args)
        say_unjoined(source.joined, quiet=args.quiet)
    forms.write(table, form, args.output)
    return 0


def _shaped(table: Table, args: Namespace) -> Table:
    if args.filter:
        table = table.filtered(args.filter)
    if args.sort:
        table = table.sorted_by(args.sort.split(","))
    return table.selected(args.columns.split(",")) if args.columns else table


def _read(paths: list[str], args: Namespace) -> JudgedSource:
    kind = Kind(args.kind) if args.kind else None
    with ProgressLine(quiet=args.quiet) as progress:
        return judged_source(
            paths, kind=kind, max_bytes=args.max_bytes, on_progress=progress, quoted=args.of in QUOTING
        )


def _one_by_one(args: Namespace) -> Table:
    """Return a table of sources read when their rows are wanted; stderr names the unreadable, if not all are."""
    rest = list(args.sources)

    def tables() -> Iterator[Table]:
        refused: list[ForensicsError] = []
        while rest:
            try:
                yield _read([rest.pop(0)], args).table(args.of, args.build)
            except ForensicsError as refusal:
                refused.append(refusal)
                if len(refused) == len(args.sources):
                    raise refused[0] from None
                error(str(refusal))

    every = tables()
    first = next(every)
    return replace(first, rows=chain.from_iterable(table.rows for table in chain((first,), every)))
