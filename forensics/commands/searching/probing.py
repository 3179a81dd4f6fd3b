"""Arguments and checks that ``bisect``, ``bisect precision`` and ``collect`` share: how probes are run."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.session.lever import Lever


def add_run_arguments(
    parser: ArgumentParser,
    build: str = "the command that builds a probe",
    check: str = "judges a probe: a command, or builtin:finite, rows, repeat, against:FILE (default: build's status)",
) -> None:
    """Declare the arguments that ``bisect`` and ``collect`` share; the help of the two commands may differ."""
    add_probe_arguments(parser, build, check)
    parser.add_argument(
        "--build-failure",
        choices=("unresolved", "bad"),
        default="unresolved",
        help="the verdict of a failed build (default: unresolved)",
    )


def add_probe_arguments(parser: ArgumentParser, build: str, check: str) -> None:
    """Declare the arguments of every command that runs probes."""
    parser.add_argument("--build", metavar="CMD", help=build)
    parser.add_argument("--check", metavar="CMD", help=check)
    parser.add_argument(
        "--artifacts-dir", required=True, metavar="DIR", help="where everything is kept; resumed if it exists"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help="end a build or a check after S seconds; its probe is then unresolved",
    )
    parser.add_argument("--repeat", type=count, default=1, metavar="N", help="check each build N times; all must agree")
    parser.add_argument(
        "--jobs", type=count, metavar="P", help="run P probes at once (default: 1, or one for each GPU)"
    )
    parser.add_argument(
        "--gpus", type=_words, default=(), metavar="0,1", help="give each running probe one of these GPUs"
    )
    parser.add_argument(
        "--executor", type=_executor, metavar="dask://HOST:PORT", help="run probes on a Dask cluster's workers"
    )
    parser.add_argument(
        "--keep-engines", choices=("none", "bad", "all"), default="none", help="which engines stay (default: none)"
    )
    parser.add_argument(
        "--need-free",
        type=_size,
        metavar="SIZE",
        help="end the run where its disk has less room, such as 500M: only good verdicts count there (default: 64M)",
    )
    parser.add_argument(
        "--forget",
        action="append",
        default=[],
        metavar="PROBE",
        help="take back the verdict of a probe, by number or folder, or of all: `verdicts`; repeat for several",
    )
    parser.add_argument("--json", action="store_true", help="print result.json instead of the answer in words")


def run_options(args: Namespace, judged: str = "{engine}") -> RunOptions:
    """Return the options of a command line; ``judged`` are the arguments of a built-in check.

    Raises:
        UsageError: two of them exclude each other, or there is no such built-in check.
    """
    from trtforensics.bisect.checks import command_of
    from trtforensics.bisect.runner.options import KeepEngines, RunOptions
    from trtforensics.bisect.runner.room import DEFAULT_NEED
    from trtforensics.errors import UsageError

    confidence = getattr(args, "confidence", None)
    if confidence is not None and args.repeat > 1:
        raise UsageError("--repeat", "has no use with `--confidence`, which repeats as needed", "Give one of them")
    jobs = args.jobs or len(args.gpus) or 1
    if args.gpus and jobs > len(args.gpus):
        raise UsageError("--jobs", f"asks for {jobs} probes at once on {len(args.gpus)} GPUs", "Give as many GPUs")
    return RunOptions(
        build=args.build,
        check=None if args.check is None else command_of(args.check, judged),
        timeout=args.timeout,
        confidence=confidence,
        repeat=args.repeat,
        jobs=jobs,
        gpus=args.gpus,
        max_builds=getattr(args, "max_builds", None),
        find=getattr(args, "find", "all"),
        keep_engines=KeepEngines(args.keep_engines),
        build_failure_is_bad=getattr(args, "build_failure", "") == "bad",
        executor=args.executor or "",
        retry_unresolved=getattr(args, "retry_unresolved", False),
        need_free=DEFAULT_NEED if args.need_free is None else args.need_free,
        forget=tuple(args.forget),
        from_log=getattr(args, "from_log", None) or "",
    )


def require_linux() -> None:
    """Refuse to run probes on other systems.

    Raises:
        UsageError: the system is not Linux.
    """
    from trtforensics.errors import UsageError

    if not sys.platform.startswith("linux"):
        raise UsageError(sys.platform, "probes run on Linux only", "Run it there; everything else works here")


def check_commands(options: RunOptions, lever: Lever) -> RunOptions:
    """Return the options with a build command, or refuse commands that cannot work.

    Raises:
        UsageError: the system is not Linux, there is nothing to run, or a command uses another mode's placeholder.
    """
    from dataclasses import replace

    from trtforensics.bisect.runner.placeholders import ALWAYS, unknown
    from trtforensics.errors import UsageError

    require_linux()
    options = replace(options, build=options.build or lever.build)
    if options.build is None and options.check is None and not lever.judges:
        raise UsageError(f"bisect {lever.mode}", "needs a `--build` or a `--check` to run", "Give one")
    for flag, command in (("--build", options.build), ("--check", options.check)):
        for name in unknown(command or "", frozenset((*ALWAYS, lever.placeholder, *lever.more_placeholders))):
            raise UsageError(flag, f"uses {{{name}}}, which has no value in this mode", f"Use {{{lever.placeholder}}}")
    return options


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds")
    return value


def _size(text: str) -> int:
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 2G")
    return int(digits) * factor


def count(text: str) -> int:
    """Read a number from 1 on, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a count from 1 on")
    return int(text)


def _words(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(","))
    if not all(words) or len(set(words)) < len(words):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list such as 0,1")
    return words


def _executor(text: str) -> str:
    host, _, port = text.removeprefix("dask://").rpartition(":")
    if not text.startswith("dask://") or not host or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form dask://HOST:PORT")
    return text
