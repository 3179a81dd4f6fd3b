"""The command line: a module for each subcommand, and the one place where errors become a sentence and an exit code."""

import argparse
import atexit
import gc
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, NoReturn

from trtforensics.commands.declaring import declare, example_of
from trtforensics.console import streams
from trtforensics.console.arguments import size
from trtforensics.console.diagnostics import ExitCode, error, show_traceback
from trtforensics.console.secrets import shown_secrets
from trtforensics.errors import ForensicsError, RefusedError, UsageError
from trtforensics.knowledge.table import rows
from trtforensics.model.version import __version__

_ROWS = {row["command"]: row for row in rows("commands", "trtforensics.commands")}
COMMANDS = {name: row["summary"] for name, row in _ROWS.items()}

_ALIKE = 0.7
"""How alike a word and a name must be, from 0 to 1, for the one to be taken for the other misspelled."""

_OF_THE_PROGRAM = {"-h", "--help", "-V", "--version"}
_LISTED = "`trtforensics --help` names them all"
_UNPRINTED_WIDTH = 80
"""The width of a formatter whose text is not printed."""

_ONCE = "--forget"
"""Option already applied by an interrupted run."""

_COMPLETING = "_ARGCOMPLETE"
"""The variable by which the shell's script, which argcomplete writes, asks for completions."""


_NEGATIVE = re.compile(r"-\.?[0-9][0-9.,eE+-]*$")
"""What begins like an option and is a value: a negative number, or a range from one on (``--val-range -1,1``)."""


class _Parser(argparse.ArgumentParser):
    """A parser that reports bad usage as every other error: one sentence, exit code 2.

    For every declared argument argparse makes a formatter, which asks ``shutil`` for the terminal's width, and that
    imports modules for every kind of archive. So the width is looked up only when help is printed.
    """

    def __init__(self, **declared: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        self._printed = declared.pop("formatter_class", argparse.HelpFormatter)
        super().__init__(formatter_class=partial(self._printed, width=_UNPRINTED_WIDTH), **declared)
        self._negative_number_matcher = _NEGATIVE

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        self.formatter_class = self._printed
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        where = "".join(f"{word}: " for word in self.prog.split()[1:])
        if self._subparsers is not None and message.startswith("the following arguments are required"):
            (words,) = (each for each in self._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001 - argparse has no other way
            message = f"{words.metavar} is missing; it is one of {', '.join(words.choices)}"
        error(f"{where}{message}. Try `{self.prog} --help`.")
        raise SystemExit(int(ExitCode.USAGE))

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse has it
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            alike = _alike(str(value), known)
            meant = f"; perhaps {alike} is meant" if alike else ""
            raise argparse.ArgumentError(action, f"{value} is none of {', '.join(known)}{meant}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401 - as argparse has it
        """Parse, and refuse what no option takes, with the name of an option that is spelled alike."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            word = unknown[0]
            alike = _alike(word.partition("=")[0], [name for action in self._actions for name in action.option_strings])
            meant = f"; perhaps {alike} is meant" if alike else ""
            self.error(f"there is no option {word}{meant}" if word.startswith("-") else f"{word} is one word too many")
        return parsed, unknown


def build_parser(command: str | None = None, *, alone: bool = False) -> argparse.ArgumentParser:
    """Return the parser; only the named command's arguments are declared.

    With ``alone`` the parser knows no other command, so that the others cost no time.
    """
    parser = _Parser(
        prog="trtforensics",
        description="Tactic and build-log forensics for NVIDIA TensorRT.",
        epilog="example: `trtforensics build.log` is short for `trtforensics report build.log`",
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"trtforensics {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items() if command is None or not alone else [(command, COMMANDS[command])]:
        sub = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == command:
            sub.epilog = example_of(name)
            for each in declare(sub):
                _add_common_arguments(each)
    return parser


def _is(command: str | None, word: str) -> bool:
    """Whether a command is, by its row of the table, one of these.

    ``paged``: its text may be longer than a screen; ``resumable``: it goes on where it was interrupted; ``sourceless``:
    it reads no source, and does not name the options for sources in its help; ``secretless``: it prints nothing of a
    source, or must not print secrets.
    """
    return command is not None and word in _ROWS[command]["words"].split()


def _add_common_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.prog.split()[1]
    reads = not _is(command, "sourceless")
    help_of_size = _MAX_BYTES_HELP if reads else argparse.SUPPRESS
    parser.add_argument("--max-bytes", type=partial(size, least=1), default=64 << 30, metavar="N", help=help_of_size)
    if _is(command, "paged"):
        parser.add_argument("--no-pager", action="store_true", help="print long text as it is, without $PAGER")
    if not _is(command, "secretless"):
        parser.add_argument("--show-secrets", action="store_true", help=_SHOW_SECRETS_HELP)
    quiet = "no progress on stderr" if reads else argparse.SUPPRESS
    parser.add_argument("-q", "--quiet", action="store_true", help=quiet)
    parser.add_argument("--debug", action="store_true", help="on an error, show the traceback too")


_SHOW_SECRETS_HELP = "print passwords, tokens and keys as they stand (default: [secret] stands for each)"
_MAX_BYTES_HELP = "stop with exit code 2 where a source's text is longer (default: 64G; K, M and G count 1024)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if _COMPLETING in os.environ:
        from trtforensics.commands.completions import complete  # noqa: PLC0415 - only a shell that completes needs it

        complete(build_parser(command_of(os.environ.get("COMP_LINE", "").split()[1:])))
    streams.prepare()
    try:
        code = _run(arguments)
        streams.print_result("")
    except ForensicsError as failure:
        from trtforensics.sources.strangers import named  # noqa: PLC0415 - only an error needs it

        explained = failure
        with suppress(OSError):  # the file cannot be looked at a second time
            explained = named(failure)
        return _failed(str(explained), ExitCode.USAGE, debug="--debug" in arguments)
    except KeyboardInterrupt:
        again = "To go on where it stopped" if _is(command_of(arguments), "resumable") else "To start again"
        import shlex  # noqa: PLC0415 - only an interrupted command needs it

        line = shlex.join(["trtforensics", *_again(arguments)])
        return _failed(f"interrupted. {again}, run `{line}`.", ExitCode.INTERRUPTED, debug=False)
    except BrokenPipeError:
        return ExitCode.OK  # the reader of our output has all that it wants (`| head`)
    except Exception as bug:  # noqa: BLE001 - the one place where a bug of ours becomes a sentence and an exit code
        refusal = bug.__context__ if isinstance(bug, RuntimeError) else bug  # pathlib hides a loop of links so
        if isinstance(refusal, OSError):
            refused = RefusedError(refusal, command_of(arguments) or "trtforensics")
            return _failed(str(refused), ExitCode.USAGE, debug="--debug" in arguments)
        what = f"{type(bug).__name__}: {bug}" if str(bug) else type(bug).__name__
        advice = "This is a bug of trtforensics: `--debug` shows the traceback, please report it with that"
        return _failed(f"{what.rstrip('.')}. {advice}.", ExitCode.BUG, debug="--debug" in arguments)
    return code


def command_of(arguments: Sequence[str]) -> str | None:
    """Return which command a command line is for."""
    return next((argument for argument in arguments if argument in COMMANDS), None)


def _again(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that go on with what was interrupted: what was to be forgotten is forgotten."""
    skipped = {place + after for place, word in enumerate(arguments) if word == _ONCE for after in (0, 1)}
    kept = (word for place, word in enumerate(arguments) if place not in skipped)
    return [word for word in kept if not word.startswith(f"{_ONCE}=")]


def _understood(arguments: list[str]) -> list[str]:
    """Return a command line as it is meant: a file alone is reported on; ``help`` and ``version`` are options.

    A first word that is no command and no file is refused (UsageError).
    """
    if not arguments:
        return ["--help"]
    word, *others = arguments
    if word == "version":
        return ["--version"]
    if word == "help":
        return [*(other for other in others if other in COMMANDS), "--help"]
    if word in COMMANDS or word in _OF_THE_PROGRAM:
        return arguments
    if word.startswith("-") and word != "-":
        command = command_of(others)
        behind = f"Write it behind the command: `trtforensics {command} {word}`" if command else _LISTED
        raise UsageError(word, "there is no such option of trtforensics itself", behind)
    if word == "-" or os.path.lexists(word):
        return ["report", *arguments]
    alike = _alike(word, list(COMMANDS))
    if alike is None and any(mark in word for mark in "./"):
        raise UsageError(word, "there is no such file", "Check the path; `-` names standard input")
    meant = f"Perhaps `trtforensics {alike}` is meant" if alike else _LISTED
    raise UsageError(word, "there is no such command", meant)


def _alike(word: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    return next(iter(get_close_matches(word, known, n=1, cutoff=_ALIKE)), None)


def _run(given: list[str]) -> int:
    try:
        arguments = _understood(given)
        command = command_of(arguments)
        if command not in {None, "tui"}:
            _import_numpy()
        args = build_parser(command, alone=arguments[:1] == [command]).parse_args(arguments)
    except SystemExit as stop:  # --help, --version, bad usage
        return int(stop.code or 0)
    with ExitStack() as around:
        if "show_secrets" in args and args.show_secrets:
            around.enter_context(shown_secrets())
        if "builder_python" in args:
            from trtforensics.trt.installed import other_python  # noqa: PLC0415 - only that option needs it

            around.enter_context(other_python(args.builder_python))
        if _is(args.command, "paged") and not args.no_pager and sys.stdout is not None and sys.stdout.isatty():
            from trtforensics.console.pager import paged  # noqa: PLC0415 - the modules that start a program take time

            around.enter_context(paged())
        around.enter_context(_without_collector())
        module = importlib.import_module(f"trtforensics.commands{_ROWS[args.command]['folder']}.{args.command}")
        return int(module.run(args))


_THREADS = "OPENBLAS_NUM_THREADS"


def _import_numpy() -> None:
    """Import numpy without the threads of its linear algebra, which no command uses: they take a tenth of a second.

    The environment is then as it was, so that programs that a command starts choose for themselves.
    """
    chosen = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    try:
        importlib.import_module("numpy")
    finally:
        if not chosen:
            del os.environ[_THREADS]


@contextmanager
def _without_collector() -> Iterator[None]:
    """Run a command without Python's search for reference cycles, which is for programs that go on.

    A command makes a million objects that stay until it ends, and a search looks through all of them. The TUI, which
    does go on, turns it on again once it is drawn.
    """
    enabled = gc.isenabled()
    atexit.register(gc.freeze)  # or the interpreter searches once more when it ends
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _failed(message: str, code: ExitCode, *, debug: bool) -> int:
    if debug:
        show_traceback()
    error(message)
    return code
