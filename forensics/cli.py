"""The command line: one subcommand a module, and the only place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from trtforensics import __version__
from trtforensics.diagnostics import ExitCode, error
from trtforensics.errors import ForensicsError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "tui": "browse a build log in the terminal",
    "parse": "say what a build log says, for a person or as JSON",
    "graph": "write the graph of layers, fusions and tensors",
}


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as every other error: one sentence, exit code 2."""

    def error(self, message: str) -> NoReturn:
        error(f"{self.prog}: {message}. Try `{self.prog} --help`.")
        raise SystemExit(int(ExitCode.USAGE))


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; only the named command's module is imported, so that the others cost nothing."""
    parser = _Parser(
        prog="trtforensics",
        description="Tactic and build-log forensics for NVIDIA TensorRT.",
        epilog="example: trtforensics tui build.log",
    )
    parser.add_argument("--version", action="version", version=f"trtforensics {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == command:
            importlib.import_module(f"trtforensics.commands.{name}").add_arguments(sub)
            sub.add_argument("--max-bytes", type=_size, default=64 << 30, metavar="N", help=_MAX_BYTES_HELP)
            sub.add_argument("--quiet", action="store_true", help="no progress on stderr")
            sub.add_argument("--debug", action="store_true", help="on an error, show the traceback too")
    return parser


_MAX_BYTES_HELP = "stop with exit code 2 where a source's text is longer (default: 64G; K, M and G count 1024)"


def _size(text: str) -> int:
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal() or not int(digits):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 64G")
    return int(digits) * factor


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    command = next((a for a in arguments if a in COMMANDS), None)
    try:
        args = build_parser(command).parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        code = int(importlib.import_module(f"trtforensics.commands.{args.command}").run(args))
        sys.stdout.flush()
    except ForensicsError as failure:
        if args.debug:
            raise
        error(str(failure))
        return ExitCode.USAGE
    except KeyboardInterrupt:
        error("interrupted; run the same command again")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): not an error, but nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    return code
