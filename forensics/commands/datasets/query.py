"""``trtforensics query``: ask a dataset or sources in SQL."""

from argparse import Namespace
from contextlib import ExitStack

from trtforensics.console.output import write_bytes
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import deliver
from trtforensics.datasets.sql import Questions
from trtforensics.datasets.store import Dataset
from trtforensics.errors import UsageError
from trtforensics.tables import forms


def run(args: Namespace) -> int:
    """Answer the question."""
    form = forms.form_named(args.format, args.output, "table")
    if bool(args.dataset) == bool(args.sources):
        raise UsageError("query", "needs --dataset DIR or sources, and not both", "Name one of them")
    with ExitStack() as stack:
        if args.dataset:
            dataset = Dataset.opened(args.dataset)
        else:
            from trtforensics.datasets.ingesting import opened  # a dataset is read without all that reads logs

            progress = stack.enter_context(ProgressLine(quiet=args.quiet))
            dataset = stack.enter_context(opened(args.sources, max_bytes=args.max_bytes, tell=progress.file))
        questions = Questions(dataset)
        if form in forms.BINARY_FORMS:
            write_bytes(args.output, forms.parquet_of(questions.arrow(args.sql)))
        else:
            deliver(forms.in_pieces(questions.ask(args.sql), form), args.output)
    return 0
