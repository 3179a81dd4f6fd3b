"""``trtforensics tui``: browse a source in the terminal, or two of them side by side."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trtforensics.errors import UsageError
from trtforensics.sources.kinds import Kind, kind_of
from trtforensics.tui.screen import SourceScreen

_WHAT_TO_NAME = "Name two files or directories, or the log, layers, profiles, times and ONNX model of one engine"


def run(args: Namespace) -> int:
    """Open the sources in the TUI; return when the user quits. The TUI closes before an error is raised."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy, which comes behind the first picture, needs no more
    from trtforensics.tui.app import browse

    screen = _screen(args.sources, Kind(args.kind) if args.kind else None, args.max_bytes)
    with ExitStack() as stack:
        try:
            stack.enter_context(keys_from_terminal())
        except UsageError:
            screen.discard()
            raise
        return browse(screen)


def _screen(sources: Sequence[str], given: Kind | None, max_bytes: int) -> SourceScreen:
    """Return the screen of the sources; the modules of the other screens are not imported."""
    if len(sources) > 1 and given is None:
        from trtforensics.engines.joining import goes_together

        if goes_together(sources):
            return _joined(sources, max_bytes)
    if len(sources) > len(("good", "bad")):
        what = "are more than two sources to compare, and not the files of one engine"
        raise UsageError(" ".join(sources), what, _WHAT_TO_NAME)
    if len(sources) > 1 and "-" in sources:
        raise UsageError("-", "cannot be compared in the TUI, which reads its files again", "Save it to a file")
    if len(sources) > 1:
        return _comparison(sources[0], sources[1], given, max_bytes)
    return _of_one(sources[0], given, max_bytes)


def _of_one(path: str, given: Kind | None, max_bytes: int) -> SourceScreen:
    if path.endswith(".onnx") and given is None:
        from trtforensics.tui.model import ModelScreen

        return ModelScreen(path)
    folder = _folder_screen(path, given, max_bytes)
    if folder is not None:
        return folder
    kind = given or kind_of(path)
    if kind is Kind.BUILD_LOG:
        from trtforensics.tui.log.screen import LogScreen
        from trtforensics.tui.sessions import open_log

        return LogScreen(open_log(path, max_bytes))
    if kind is Kind.ARTIFACTS:
        return _comparison(path, path, given, max_bytes)
    from trtforensics.tui.source import LayersScreen

    return LayersScreen(path, kind=kind, max_bytes=max_bytes)


def _folder_screen(path: str, given: Kind | None, max_bytes: int) -> SourceScreen | None:
    """Return the screen of a bisection's folder, a dataset or a folder of files, not of a comparison's side."""
    if "://" not in path and not os.path.isdir(path):  # noqa: PTH112 - pathlib raises for a name that is too long
        return None  # the first picture of a log does not wait for the modules of a bisection
    from trtforensics.bisection.session import job
    from trtforensics.comparison.loading import files_in

    place = Path(path)
    if (place / job.NAME).is_file():
        from trtforensics.bisection.session.view import view_directory
        from trtforensics.tui.bisection import BisectionScreen

        view_directory(place)  # an invalid directory is refused before the screen is taken
        return BisectionScreen(place, max_bytes)
    sides = all((place / each).is_dir() for each in ("good", "bad"))
    if given is None and ("://" in path or (not sides and any(True for _ in files_in(place)))):
        from trtforensics.tui.runs import RunsScreen

        return RunsScreen(path, max_bytes=max_bytes)
    return None


def _comparison(good: str, bad: str, kind: Kind | None, max_bytes: int) -> SourceScreen:
    from trtforensics.tui.diff import DiffScreen

    return DiffScreen(good, bad, kind=kind, max_bytes=max_bytes)


def _joined(paths: Sequence[str], max_bytes: int) -> SourceScreen:
    """Return the screen of files about one engine; the text of the log, if there is one, comes first."""
    from trtforensics.parsers.text.source import open_source
    from trtforensics.tui.log.screen import LogScreen
    from trtforensics.tui.sessions import LogSession

    texts = [path for path in paths if not path.endswith(".onnx")]
    log = next((path for path in texts if kind_of(path) is Kind.BUILD_LOG), None)
    first = log or texts[0]
    files = [path for path in paths if path != first]
    return LogScreen(LogSession(open_source(first, max_bytes=max_bytes), files, has_log=log is not None))


_STDIN = 0
_TERMINAL = "/dev/tty"
_UNFIT = frozenset({"dumb", "unknown"})
"""Names that mean a terminal without addressing of its cells (terminfo(5), "generic" types)."""
_INSTEAD = "Use `trtforensics parse` where there is none"


@contextmanager
def keys_from_terminal() -> Iterator[None]:
    """Connect descriptor 0, where Textual reads keys, to the terminal; restore it at the end.

    A source on standard input must be open by then: it keeps a descriptor of its own.

    Raises:
        UsageError: there is no terminal to draw on or to read keys from, or ``TERM`` says that it cannot be drawn on.
    """
    if os.environ.get("TERM") in _UNFIT:
        what = f"TERM={os.environ['TERM']} says that the terminal cannot move its cursor"
        raise UsageError("tui", what, "Set TERM to the terminal's type, or use `trtforensics parse` and `report`")
    if sys.stdin is None or sys.stderr is None or not sys.stderr.isatty():
        raise _no_terminal()
    if sys.stdin.isatty():
        yield
        return
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR)
    except OSError as error:
        raise _no_terminal() from error
    before = os.dup(_STDIN)
    os.dup2(terminal, _STDIN)
    os.close(terminal)
    try:
        yield
    finally:
        os.dup2(before, _STDIN)
        os.close(before)


def _no_terminal() -> UsageError:
    return UsageError("tui", "it needs a terminal to draw on and to read keys from", _INSTEAD)
