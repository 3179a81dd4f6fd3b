"""``trtforensics tui``: browse a build log in the terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from trtforensics.loading import Progress
    from trtforensics.model import BuildLog
    from trtforensics.tui.protocol import ParseProgress

EXAMPLE = "example: trtforensics tui build.log      (? shows the keys, q quits)"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``tui``."""
    parser.epilog = EXAMPLE
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a build log, .gz or .zst too")


class FileSession:
    """A log on disk as the TUI wants it: its text grows while it is parsed."""

    def __init__(self, path: str, max_bytes: int) -> None:
        from trtforensics.parsers.text import LogText  # noqa: PLC0415

        self.name = path
        self.text = LogText()
        self._max_bytes = max_bytes

    def parse(self, on_progress: Callable[[ParseProgress], None], cancelled: Callable[[], bool]) -> BuildLog:
        """Parse the log; see :class:`trtforensics.tui.protocol.LogSession`."""
        from trtforensics.loading import Cancelled, load_build_log  # noqa: PLC0415
        from trtforensics.tui.protocol import ParseCancelledError, ParseProgress  # noqa: PLC0415

        def report(progress: Progress) -> None:
            on_progress(ParseProgress(progress.bytes_done, progress.bytes_total, progress.lines))

        try:
            return load_build_log(
                [self.name],
                max_bytes=self._max_bytes,
                on_window=self.text.append,
                on_progress=report,
                cancelled=cancelled,
            )
        except Cancelled:
            raise ParseCancelledError from None


def run(args: Namespace) -> int:
    """Open the TUI; returns when the user quits.

    Raises:
        ForensicsError: The source cannot be read or is no build log; the TUI has closed by then.
    """
    if len(args.sources) > 1:
        raise UsageError(" ".join(args.sources), "comparing two sources is not supported yet", "Open one log")
    if args.sources[0] == "-":
        raise UsageError(
            "-", "the TUI cannot read a log from standard input yet", "Save the log to a file and open that"
        )
    from trtforensics.tui.app import ForensicsApp  # noqa: PLC0415 - Textual takes 0.2 s to import

    app = ForensicsApp(FileSession(args.sources[0], args.max_bytes), no_color=bool(os.environ.get("NO_COLOR")))
    failure = app.run()
    if failure is not None:
        raise failure
    return app.return_code or 0
