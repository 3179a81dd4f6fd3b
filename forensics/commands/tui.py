"""``trtforensics tui``: browse a source in the terminal, or two of them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

EXAMPLE = """examples (? shows the keys, q quits):
  trtforensics tui build.log
  trtforensics tui replay.json
  trtforensics tui build.log layers.json profile.json model.onnx    # files about one engine
  trtforensics tui good.log bad.log        # side by side, as `diff` finds them; directories too
  trtexec --onnx=model.onnx --verbose 2>&1 | trtforensics tui -
  trtforensics tui out                     # the artifacts directory of a bisection, while it runs too"""


_WHAT_TO_NAME = "Name two files or directories, or the log, layers, profiles, times and ONNX model of one engine"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``tui``."""
    parser.epilog = EXAMPLE
    from trtforensics.sources.kinds import Kind, add_kind_argument

    what = (
        "a build log, .gz or .zst too, or - for standard input; a tactic replay, engine-layer JSON, timing cache; "
        "several files about one engine (log, layers, profile, times, ONNX model) are joined; two of one kind, or a "
        "directory with good/ and bad/, open as a comparison; the artifacts directory of a bisection"
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=what)
    add_kind_argument(parser, (Kind.BUILD_LOG, Kind.REPLAY, Kind.LAYER_INFO, Kind.TIMING_CACHE))


def run(args: Namespace) -> int:
    """Open the sources in the TUI; return when the user quits.

    Raises:
        ForensicsError: A source cannot be used. If that shows only while the TUI runs, the TUI closes first.
        UsageError: There is no terminal, or the sources are not what the TUI can show.
    """
    from trtforensics.console import keyboard
    from trtforensics.parsers.text.source import open_source
    from trtforensics.sources.kinds import Kind, kind_of
    from trtforensics.tui import app

    sources, max_bytes = args.sources, args.max_bytes
    given = Kind(args.kind) if args.kind else None
    if len(sources) > 1 and given is None and _are_of_one_engine(sources):
        return _browse_joined(sources, max_bytes)
    if len(sources) > len(("good", "bad")):
        what = "are more than two sources to compare, and not the files of one engine"
        raise UsageError(" ".join(sources), what, _WHAT_TO_NAME)
    if len(sources) > 1 and "-" in sources:
        raise UsageError("-", "cannot be compared in the TUI, which reads its files again", "Save it to a file")
    if len(sources) > 1:
        with keyboard.on_standard_input():
            return app.browse_diff(*sources, kind=given, max_bytes=max_bytes)
    (path,) = sources
    kind = given or kind_of(path)
    if _is_bisection(Path(path)):
        with keyboard.on_standard_input():
            return app.browse_bisection(Path(path), max_bytes=max_bytes)
    if kind is Kind.BUILD_LOG:
        with open_source(path, max_bytes=max_bytes) as source, keyboard.on_standard_input():
            return app.browse_log(source)
    with keyboard.on_standard_input():
        if kind is Kind.ARTIFACTS:
            return app.browse_diff(path, path, kind=given, max_bytes=max_bytes)
        return app.browse_source(path, kind=kind, max_bytes=max_bytes)


def _are_of_one_engine(paths: Sequence[str]) -> bool:
    from trtforensics.engines.joining import goes_together

    return goes_together(paths)


def _browse_joined(paths: Sequence[str], max_bytes: int) -> int:
    from trtforensics.console import keyboard
    from trtforensics.parsers.text.source import open_source
    from trtforensics.sources.kinds import Kind, kind_of
    from trtforensics.tui import app

    texts = [path for path in paths if not path.endswith(".onnx")]
    log = next((path for path in texts if kind_of(path) is Kind.BUILD_LOG), None)
    first = log or texts[0]
    files = [path for path in paths if path != first]
    with open_source(first, max_bytes=max_bytes) as source, keyboard.on_standard_input():
        return app.browse_joined(source, files, has_log=log is not None)


def _is_bisection(path: Path) -> bool:
    if not path.is_dir():
        return False  # the first picture of a log does not wait for the modules of a bisection
    from trtforensics.bisect.session import job

    return (path / job.NAME).is_file()
