"""``trtforensics tui``: browse a build log in the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.diagnostics import ExitCode
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from trtforensics.loading import Progress
    from trtforensics.model import BuildLog
    from trtforensics.parsers.source import Source
    from trtforensics.parsers.text import LogText
    from trtforensics.session.view import DirectoryView
    from trtforensics.tui.protocol import ParseProgress

EXAMPLE = """examples (? shows the keys, q quits):
  trtforensics tui build.log
  trtexec --onnx=model.onnx --verbose 2>&1 | trtforensics tui -
  trtforensics tui out            # the artifacts directory of a bisection, while it runs too"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``tui``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a build log, .gz or .zst too, or - for standard input; or an artifacts directory",
    )


class FileSession:
    """An opened log as the TUI wants it: its text grows while it is parsed."""

    def __init__(self, source: Source) -> None:
        from trtforensics.parsers.text import LogText

        self.name = source.path
        self.text = LogText()
        self._source = source

    def parse(
        self,
        on_progress: Callable[[ParseProgress], None],
        on_log: Callable[[BuildLog], None],
        cancelled: Callable[[], bool],
    ) -> BuildLog:
        """Parse the log; see :class:`trtforensics.tui.protocol.LogSession`."""
        from trtforensics.loading import Cancelled, read_build_log
        from trtforensics.tui.protocol import ParseCancelledError, ParseProgress

        def report(progress: Progress) -> None:
            on_progress(ParseProgress(progress.bytes_done, progress.bytes_total, progress.lines))

        try:
            return read_build_log(
                self._source, on_window=self.text.append, on_progress=report, on_log=on_log, cancelled=cancelled
            )
        except Cancelled:
            raise ParseCancelledError from None


def run(args: Namespace) -> int:
    """Open the TUI; returns when the user quits.

    Raises:
        SourceError: The source cannot be read; where that shows only later, the TUI has closed by then.
        NotABuildLogError: It is not a build log; the TUI has closed by then.
        UsageError: There is no terminal, or the sources are not what the TUI can show.
    """
    if len(args.sources) > 1:
        raise UsageError(" ".join(args.sources), "comparing two sources is not supported yet", "Open one log")
    from trtforensics import keyboard
    from trtforensics.parsers.source import open_source

    if args.sources[0] != "-" and Path(args.sources[0]).is_dir():
        with keyboard.on_standard_input():
            return _browse_directory(Path(args.sources[0]), args.max_bytes)
    with open_source(args.sources[0], max_bytes=args.max_bytes) as source, keyboard.on_standard_input():
        return _browse(source)


class DirectorySession:
    """An artifacts directory as the TUI wants it."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def look(self) -> DirectoryView:
        """Read the directory again."""
        from trtforensics.session.view import view_directory

        return view_directory(self._path)

    def log(self, path: Path) -> LogText:
        """Read a log of a probe."""
        from trtforensics.parsers.source import open_source
        from trtforensics.parsers.text import LogText

        text = LogText()
        with open_source(str(path), max_bytes=self._max_bytes) as source:
            for window in source.windows():
                text.append(window)
        return text


def _browse_directory(path: Path, max_bytes: int) -> int:
    from trtforensics.tui.bisection import BisectionApp

    session = DirectorySession(path, max_bytes)
    session.look()  # a directory that is none of ours is refused before the screen is taken
    app = BisectionApp(session, no_color=bool(os.environ.get("NO_COLOR")))
    failure = app.run()
    if failure is not None:
        raise failure
    return ExitCode.BUG if app.return_code else ExitCode.OK


def _browse(source: Source) -> int:
    from trtforensics.tui.app import ForensicsApp

    app = ForensicsApp(FileSession(source), no_color=bool(os.environ.get("NO_COLOR")))
    failure = app.run()
    if failure is not None:
        raise failure
    return ExitCode.BUG if app.return_code else ExitCode.OK  # Textual has shown the traceback by then
