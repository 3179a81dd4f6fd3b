"""``trtforensics tui``: browse a source in the terminal, or two of them side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.diagnostics import ExitCode
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence

    from trtforensics.bisect.session.view import DirectoryView
    from trtforensics.console.progress import Progress
    from trtforensics.diff.differences import Comparison
    from trtforensics.diff.views import BuildView
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog
    from trtforensics.parsers.text.source import Source
    from trtforensics.parsers.text.text import LogText
    from trtforensics.sources.kinds import Kind
    from trtforensics.tui.protocol import ParseProgress
    from trtforensics.tui.terminal_app import TerminalApp

EXAMPLE = """examples (? shows the keys, q quits):
  trtforensics tui build.log
  trtforensics tui replay.json
  trtforensics tui good.log bad.log        # side by side, as `diff` finds them; directories too
  trtexec --onnx=model.onnx --verbose 2>&1 | trtforensics tui -
  trtforensics tui out                     # the artifacts directory of a bisection, while it runs too"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``tui``."""
    parser.epilog = EXAMPLE
    from trtforensics.sources.kinds import Kind, add_kind_argument

    what = (
        "a build log, .gz or .zst too, or - for standard input; a tactic replay, engine-layer JSON, timing cache; "
        "two, or a directory with good/ and bad/, open as a comparison; the artifacts directory of a bisection"
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=what)
    add_kind_argument(parser, (Kind.BUILD_LOG, Kind.REPLAY, Kind.LAYER_INFO, Kind.TIMING_CACHE))


class FileSession:
    """An opened log as the TUI wants it: its text grows while it is parsed."""

    def __init__(self, source: Source) -> None:
        from trtforensics.parsers.text.text import LogText

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
        from trtforensics.sources.build_log import Cancelled, read_build_log
        from trtforensics.tui.protocol import ParseCancelledError, ParseProgress

        def report(progress: Progress) -> None:
            on_progress(ParseProgress(progress.bytes_done, progress.bytes_total, progress.lines))

        try:
            return read_build_log(
                self._source, on_window=self.text.append, on_progress=report, on_log=on_log, cancelled=cancelled
            )
        except Cancelled:
            raise ParseCancelledError from None

    def judge(self, log: BuildLog) -> Report:
        """Ask the rules; see :class:`trtforensics.tui.protocol.LogSession`."""
        from pathlib import Path

        from trtforensics.findings.engine import Inputs, judge
        from trtforensics.findings.suppression import Suppression, settings_for
        from trtforensics.sources.quoting import ShownLog

        suppression = Suppression.of(settings_for(Path.cwd()).suppress)
        return judge(Inputs([ShownLog(log, self.text)]), suppression)


class SideSession:
    """Two sides as the TUI wants them, good first."""

    def __init__(self, good: str, bad: str, *, kind: Kind | None, max_bytes: int) -> None:
        self.name = f"{good}  ↔  {bad}"
        self._paths = {"good": good, "bad": bad}
        self._kind = kind
        self._max_bytes = max_bytes

    def compare(self, on_file: Callable[[str], None], cancelled: Callable[[], bool]) -> Comparison:
        """Compare; see :class:`trtforensics.tui.protocol.CompareSession`."""
        from trtforensics.diff.compare import compare
        from trtforensics.diff.loading import load_side
        from trtforensics.tui.protocol import ParseCancelledError

        def attend(path: str) -> None:
            if cancelled():
                raise ParseCancelledError
            on_file(path)

        good, bad = (
            load_side(path, name, max_bytes=self._max_bytes, kind=self._kind, on_file=attend)
            for name, path in self._paths.items()
        )
        return compare(good, bad)

    def text(self, path: str) -> LogText:
        """Return a file's lines; see :class:`trtforensics.tui.protocol.TextSession`."""
        return _text(path, self._max_bytes)


class OneSession:
    """A source that is no log, as the TUI wants it."""

    def __init__(self, path: str, *, kind: Kind, max_bytes: int) -> None:
        self.name = path
        self._kind = kind
        self._max_bytes = max_bytes

    def builds(self) -> Sequence[BuildView]:
        """Read; see :class:`trtforensics.tui.protocol.BuildSession`."""
        from trtforensics.diff.loading import load_side

        return load_side(self.name, "", max_bytes=self._max_bytes, kind=self._kind).builds

    def text(self, path: str) -> LogText:
        """Return the file's lines; see :class:`trtforensics.tui.protocol.TextSession`."""
        return _text(path, self._max_bytes)


def _text(path: str, max_bytes: int) -> LogText:
    from trtforensics.parsers.text.source import open_source
    from trtforensics.parsers.text.text import LogText

    text = LogText()
    with open_source(path, max_bytes=max_bytes) as source:
        for window in source.windows():
            text.append(window)
    return text


def run(args: Namespace) -> int:
    """Open the TUI; returns when the user quits.

    Raises:
        ForensicsError: A source cannot be used; where that shows only later, the TUI has closed by then.
        UsageError: There is no terminal, or the sources are not what the TUI can show.
    """
    from trtforensics.bisect.session import job
    from trtforensics.console import keyboard
    from trtforensics.parsers.text.source import open_source
    from trtforensics.sources.kinds import Kind, kind_of

    if len(args.sources) > len(("good", "bad")):
        raise UsageError(" ".join(args.sources), "are more than two sources", "Name two files or directories")
    if len(args.sources) > 1 and "-" in args.sources:
        raise UsageError("-", "cannot be compared in the TUI, which reads its files again", "Save it to a file")
    kind = Kind(args.kind) if args.kind else None
    of = kind or kind_of(args.sources[0]) if len(args.sources) == 1 else Kind.ARTIFACTS
    if len(args.sources) == 1 and (Path(args.sources[0]) / job.NAME).is_file():
        with keyboard.on_standard_input():
            return _browse_directory(Path(args.sources[0]), args.max_bytes)
    if of is Kind.BUILD_LOG:
        with open_source(args.sources[0], max_bytes=args.max_bytes) as source, keyboard.on_standard_input():
            return _browse(source)
    with keyboard.on_standard_input():
        if of is not Kind.ARTIFACTS:
            return _show_one(OneSession(args.sources[0], kind=of, max_bytes=args.max_bytes))
        good, bad = args.sources if len(args.sources) > 1 else args.sources * 2
        return _show_sides(SideSession(good, bad, kind=kind, max_bytes=args.max_bytes))


def _show_sides(session: SideSession) -> int:
    from trtforensics.tui.diff.app import DiffApp

    return _run(DiffApp(session, no_color=bool(os.environ.get("NO_COLOR"))))


def _show_one(session: OneSession) -> int:
    from trtforensics.tui.source.app import SourceApp

    return _run(SourceApp(session, no_color=bool(os.environ.get("NO_COLOR"))))


class DirectorySession:
    """An artifacts directory as the TUI wants it."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def look(self) -> DirectoryView:
        """Read the directory again."""
        from trtforensics.bisect.session.view import view_directory

        return view_directory(self._path)

    def log(self, path: Path) -> LogText:
        """Read a log of a probe."""
        from trtforensics.parsers.text.source import open_source
        from trtforensics.parsers.text.text import LogText

        text = LogText()
        with open_source(str(path), max_bytes=self._max_bytes) as source:
            for window in source.windows():
                text.append(window)
        return text


def _browse_directory(path: Path, max_bytes: int) -> int:
    from trtforensics.tui.bisection.app import BisectionApp

    session = DirectorySession(path, max_bytes)
    session.look()  # a directory that is none of ours is refused before the screen is taken
    return _run(BisectionApp(session, no_color=bool(os.environ.get("NO_COLOR"))))


def _browse(source: Source) -> int:
    from trtforensics.tui.log.app import ForensicsApp

    return _run(ForensicsApp(FileSession(source), no_color=bool(os.environ.get("NO_COLOR"))))


def _run(app: TerminalApp) -> int:
    failure = app.run()
    if failure is not None:
        raise failure
    return ExitCode.BUG if app.return_code else ExitCode.OK  # Textual has shown the traceback by then
