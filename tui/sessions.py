"""What the screens show and how it is read: one session a screen. Reading blocks; the screens read in threads.

Modules that read are imported when a session reads, so that the first picture does not wait for them.
"""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.comparison.differences import Comparison
    from trtforensics.comparison.views import BuildView
    from trtforensics.console.progress import Progress
    from trtforensics.engines.joining import NumberedFile
    from trtforensics.findings.finding import Report
    from trtforensics.findings.target import ModelTarget
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.span import SourceSpan
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.parsers.text.source import Source
    from trtforensics.parsers.text.text import LogText
    from trtforensics.sources.kinds import Kind


_OLDEST_TARGET = (8, 0)


class LogSession:
    """An opened build log, with files about its engine, or such files without a log.

    Its text can be shown before, while and after it is parsed; it is that of all files, one behind the other.
    """

    def __init__(self, source: Source, others: Sequence[str] = (), *, has_log: bool = True) -> None:
        """Take a source that is not read yet; ``others`` are read with it: layers, profiles, times and the model.

        Without a log, ``source`` is the first of the files.
        """
        from trtforensics.parsers.text.text import LogText

        self.name = source.path
        self.text = LogText()
        self.model: CheckedModel | None = None
        """The ONNX model that the engine was built from, once it is read; None where none was given."""
        self.files: Sequence[NumberedFile] = ()
        """The files that were joined to the log; none before it is parsed."""
        self._source = source
        self._others = tuple(others)
        self._has_log = has_log
        self._layers: EngineInfo | None = None
        self._seen = self._stat()

    def close(self) -> None:
        """Close a source that is not read."""
        self._source.close()

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, which may grow and can be read again."""
        return self._source.size is not None

    def _stat(self) -> tuple[int, ...] | None:
        """Return what changes when any of the files does; None where one is gone."""
        try:
            stats = [Path(path).stat() for path in (self.name, *self._others) if path != "-"]
        except OSError:
            return None
        return tuple(value for stat in stats for value in (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))

    def change(self) -> str:
        """Return how the file differs from what was opened: ``changed``, ``gone``, or empty; each is told once."""
        now = self._stat()
        if now == self._seen:
            return ""
        if now is None:
            self._seen = None
            return "gone"
        return "changed"

    def note_change(self) -> None:
        """Take the file as it is for what was opened."""
        self._seen = self._stat()

    def again(self) -> LogSession:
        """Open the files anew.

        Raises:
            SourceError: A file cannot be read.
        """
        from trtforensics.parsers.text.source import open_source

        source = open_source(self.name, max_bytes=self._source.max_bytes)
        return LogSession(source, self._others, has_log=self._has_log)

    def place(self, line: int) -> tuple[str, int]:
        """Return the file that a line of the text is of, and its number there."""
        firsts = ((file.path, file.first_line) for file in reversed(self.files) if file.first_line is not None)
        path, first = next((start for start in firsts if start[1] <= line), (self.name, 1))
        return path, line - first + 1

    def parse(
        self,
        on_progress: Callable[[Progress], None],
        on_log: Callable[[BuildLog], None],
        cancelled: Callable[[], bool],
    ) -> BuildLog | None:
        """Parse the log, if there is one, and join the files; called once. The source is closed then.

        Args:
            on_progress: Called with the progress, several times a second.
            on_log: Called now and then with what a log that is still being written says so far.
            cancelled: Asked several times a second whether to stop.

        Returns:
            The parsed log, or None if the parse was cancelled.

        Raises:
            ForensicsError: A file cannot be read, is no build log, or is about another engine.
        """
        from trtforensics.sources.build_log import ReadingCancelled, read_build_log

        if not self._has_log:
            self._source.close()
            return self._joined(None)
        try:
            log = read_build_log(
                self._source,
                on_window=self.text.append,
                on_progress=on_progress,
                on_log=on_log,
                cancelled=cancelled,
                responsive=True,
            )
        except ReadingCancelled:
            return None
        return self._joined(log) if self._others else log

    def _joined(self, log: BuildLog | None) -> BuildLog:
        """Join the files, and put their texts behind that of the log."""
        from trtforensics.engines.joining import join_files, load_joined, number_on

        max_bytes = self._source.max_bytes
        if log is None:
            joined = load_joined((self.name, *self._others), max_bytes=max_bytes)
        else:
            joined = join_files(log, self._others, max_bytes=max_bytes)
        self.files = number_on(joined, len(self.text))
        for file in self.files:
            if file.first_line is not None:
                _read_into(self.text, file.path, max_bytes)
        self.model, self._layers = joined.model, joined.layer_files[-1] if joined.layer_files else None
        return joined.log

    def judge(self, log: BuildLog) -> Report:
        """Check what the files say against the rules; called once, after :meth:`parse`.

        Raises:
            ForensicsError: The project's settings are invalid, or a rule cannot be loaded.
        """
        from trtforensics.findings.judging import Inputs, judge
        from trtforensics.findings.suppression import Suppression, settings_for
        from trtforensics.sources.quoting import ShownLog

        inputs = Inputs([ShownLog(log, self.text)], model=self.model, engine_info=self._layers)
        return judge(inputs, Suppression.of((), settings_for(Path.cwd())))


class DiffSession:
    """Two sources to compare, good and bad."""

    def __init__(self, good: str, bad: str, *, kind: Kind | None, max_bytes: int) -> None:
        self.name = f"{good}  ↔  {bad}"
        self.command = f"trtforensics diff {shlex.quote(good)} {shlex.quote(bad)}"
        """Prints the comparison."""
        self._logs: dict[str, BuildLog] = {}
        self.text = partial(_text, max_bytes=max_bytes)
        """Reads the lines of a file of either side."""
        self._paths = {"good": good, "bad": bad}
        self._kind = kind
        self._max_bytes = max_bytes

    def compare(self, on_file: Callable[[str], None], cancelled: Callable[[], bool]) -> Comparison | None:
        """Read both sides and compare them; called once.

        Args:
            on_file: Called with the path of each file before it is read.
            cancelled: Asked before each file whether to stop.

        Returns:
            The comparison, or None if it was cancelled.

        Raises:
            ForensicsError: A source cannot be used.
        """
        from trtforensics.comparison.compare import compare
        from trtforensics.comparison.loading import load_side
        from trtforensics.sources.build_log import ReadingCancelled

        def attend(path: str) -> None:
            if cancelled():
                raise ReadingCancelled
            on_file(path)

        try:
            good, bad = (
                load_side(path, name, max_bytes=self._max_bytes, kind=self._kind, on_file=attend)
                for name, path in self._paths.items()
            )
        except ReadingCancelled:
            return None
        return compare(good, bad)

    def build_at(self, span: SourceSpan) -> Build | None:
        """Return the build that a line of a build log is of; the log is read at the first call.

        Raises:
            ForensicsError: The file is no build log, or cannot be read.
        """
        from trtforensics.sources.build_log import load_build_log

        if span.file not in self._logs:
            self._logs[span.file] = load_build_log([span.file], max_bytes=self._max_bytes)
        return self._logs[span.file].build_at(span.line)


class SourceSession:
    """A replay, an engine-layer file or a timing cache."""

    def __init__(self, path: str, *, kind: Kind, max_bytes: int) -> None:
        self.name = path
        self.text = partial(_text, max_bytes=max_bytes)
        """Reads the lines of the file."""
        self._kind = kind
        self._max_bytes = max_bytes

    def builds(self) -> Sequence[BuildView]:
        """Read the source; called once.

        Raises:
            ForensicsError: The source cannot be used.
        """
        from trtforensics.comparison.loading import load_side

        return load_side(self.name, "", max_bytes=self._max_bytes, kind=self._kind).builds


class CheckSession:
    """An ONNX model, judged before any build."""

    def __init__(self, path: str) -> None:
        from trtforensics.findings.checking import ANY
        from trtforensics.findings.target import RTX
        from trtforensics.knowledge.operators import releases_that_differ

        self.name = path
        newest_first = reversed(releases_that_differ(_OLDEST_TARGET))
        self.targets = (ANY, *(".".join(map(str, release)) for release in newest_first), RTX)
        """Releases to judge for, by the words of ``check --target``; the first is none in particular."""
        self._model: CheckedModel | None = None

    def judge(self, target: str) -> tuple[CheckedModel, Report]:
        """Judge the model for a target; the file is read at the first call.

        Raises:
            ForensicsError: The model cannot be read, or the project's settings are invalid.
        """
        from trtforensics.findings.checking import check
        from trtforensics.findings.suppression import Suppression, settings_for
        from trtforensics.onnx_models.checked import read_checked

        self._model = self._model or read_checked(self.name)
        suppression = Suppression.of((), settings_for(Path.cwd()))
        (report,) = check(self.name, [self._target(target)], suppression, self._model)
        return self._model, report

    def words(self, target: str) -> str:
        """Return a target in words."""
        return self._target(target).words

    def _target(self, target: str) -> ModelTarget:
        from trtforensics.findings.target import ModelTarget

        return ModelTarget("" if target == self.targets[0] else target)


def open_log(path: str, max_bytes: int) -> LogSession:
    """Open a build log.

    Raises:
        SourceError: The file cannot be read.
    """
    from trtforensics.parsers.text.source import open_source

    return LogSession(open_source(path, max_bytes=max_bytes))


def _text(path: str, max_bytes: int) -> LogText:
    from trtforensics.parsers.text.text import LogText

    text = LogText()
    _read_into(text, path, max_bytes)
    return text


def _read_into(text: LogText, path: str, max_bytes: int) -> None:
    from trtforensics.parsers.text.source import open_source

    with open_source(path, max_bytes=max_bytes) as source:
        for window in source.windows():
            text.append(window)
