"""``trtforensics redact``: write a log with made-up names, to attach to a public issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example: trtforensics redact build.log -o public.log

Only words stay that TensorRT, CUDA, ONNX and trtexec are known to print. Every other word becomes a made-up one, the
same one each time: layers, tensors, plugins, files, hosts, users. Numbers stay, secrets and addresses go. Look at the
result before you publish it."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``redact``."""
    parser.epilog = EXAMPLE
    parser.add_argument("source", metavar="LOG", help="a build log: a path, .gz or .zst")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write, whole or not at all")


def run(args: Namespace) -> int:
    """Redact a log.

    Raises:
        SourceError: The log cannot be read.
        NotABuildLogError: It is not a build log.
        OutputError: OUT cannot be written.
        UsageError: OUT is the log itself, or the log is standard input.
        RedactionError: The log would say something else once its names are replaced.
    """
    from trtforensics.console import streams
    from trtforensics.console.progress import ProgressLine
    from trtforensics.console.terminal import visible
    from trtforensics.redaction.rewriting import redact
    from trtforensics.sources.build_log import keep_sources

    keep_sources([args.source], args.output)
    with ProgressLine(quiet=args.quiet) as progress:
        count = redact(args.source, args.output, max_bytes=args.max_bytes, on_progress=progress)
    if not args.quiet:
        streams.tell(f"{visible(args.output)}: {count:,} words replaced. Look at it before you publish it.\n")
    return 0
