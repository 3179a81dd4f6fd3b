"""``trtforensics redact``: write a log with made-up names, to attach to a public issue."""

from argparse import Namespace

from trtforensics.console.diagnostics import remark
from trtforensics.console.progress import ProgressLine
from trtforensics.redaction.rewriting import redact
from trtforensics.sources.build_log import keep_sources


def run(args: Namespace) -> int:
    """Redact a log."""
    keep_sources([args.source], args.output)
    with ProgressLine(quiet=args.quiet) as progress:
        words, differs_in = redact(args.source, args.output, max_bytes=args.max_bytes, on_progress=progress)
    remark(f"{args.output}: {words:,} words replaced. Look at it before you publish it.", quiet=args.quiet)
    if differs_in:
        remark(
            f"{args.output}: its {differs_in} read differently from those of {args.source}, because a name there is a "
            "word of TensorRT's own; say so where you publish it",
            quiet=False,
        )
    return 0
