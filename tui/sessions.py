"""A log and files about its engine, as a screen shows them. Reading blocks; modules that read are imported late."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.parsers.text.source import Source, open_source
from trtforensics.parsers.text.text import LogText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.console.progress import Progress
    from trtforensics.engines.joining import NumberedFile
    from trtforensics.findings.finding import Report
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.log import BuildLog
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.parsers.text.source import Source


class LogSession:
    """An opened log with files about its engine, or these alone; the text of all can be shown while it is parsed."""

    def __init__(
        self, source: Source, others: Sequence[str] = (), *, has_log: bool = True, part: str | None = None
    ) -> None:
        """Take an unread source, ``others`` about its engine, and ``part``, the other stream of its program."""
        self.name = source.path
        self.text = LogText()
        self.model: CheckedModel | None = None
        """The ONNX model that the engine was built from, once it is read; None where none was given."""
        self.files: Sequence[NumberedFile] = ()
        self._source = source
        self._others = tuple(others)
        self._part = part
        self._has_log = has_log
        self._layers: EngineInfo | None = None
        self._seen = self._stat()

    def close(self) -> None:
        self._source.close()

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, which may grow and can be read again."""
        return self._source.size is not None

    @property
    def identity(self) -> list[int]:
        """Numbers that tell a source that has not changed since it was opened."""
        return list(self._seen or ())

    def _stat(self) -> tuple[int, ...] | None:
        """Return what changes when any of the files does; None where one is gone."""
        try:
            stats = [Path(path).stat() for path in (self.name, *self._others, self._part or "-") if path != "-"]
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
        source = open_source(self.name, max_bytes=self._source.max_bytes)
        return LogSession(source, self._others, has_log=self._has_log, part=self._part)

    def place(self, line: int) -> tuple[str, int]:
        """Return the file that a line of the text is of, and its number there."""
        firsts = ((file.path, file.first_line) for file in reversed(self.files) if file.first_line is not None)
        path, first = next((start for start in firsts if start[1] <= line), (self.name, 1))
        return path, line - first + 1

    def parse(
        self, on_progress: Callable[[Progress], None], on_log: Callable[[BuildLog], None], cancelled: Callable[[], bool]
    ) -> BuildLog | None:
        """Parse the log, if there is one, and join the files; called once. The source is closed then.

        ``on_progress`` is called several times a second, ``on_log`` now and then with what a log that is still being
        written says so far. None comes back where ``cancelled``, which is asked several times a second, says to stop.
        """
        from trtforensics.sources.build_log import ReadingCancelled, read_build_log

        if not self._has_log:
            self._source.close()
            return self._joined(None)
        if self._part is not None:
            return self._parsed_with(self._part)
        try:
            log = read_build_log(
                self._source,
                on_window=self.text.append,
                on_progress=on_progress,
                on_log=on_log,
                cancelled=cancelled,
                excerpt=True,
                responsive=True,
            )
        except ReadingCancelled:
            return None
        return self._joined(log) if self._others else log

    def _parsed_with(self, part: str) -> BuildLog:
        from trtforensics.engines.joining import NumberedFile
        from trtforensics.sources.build_log import load_build_log

        self._source.close()
        log = load_build_log((self.name, part), max_bytes=self._source.max_bytes, excerpt=True)
        _read_into(self.text, self.name, self._source.max_bytes)
        first = len(self.text) + 1
        _read_into(self.text, part, self._source.max_bytes)
        self.files = (NumberedFile(part, "the program's errors", first, len(self.text) - first + 1),)
        return log

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
        """Check what the files say against the rules; called once, after :meth:`parse`."""
        from trtforensics.findings.judging import Inputs, judge
        from trtforensics.findings.suppression import Suppression, settings_here
        from trtforensics.sources.quoting import ShownLog

        inputs = Inputs([ShownLog(log, self.text)], model=self.model, engine_info=self._layers)
        return judge(inputs, Suppression.of((), settings_here()))


def open_log(path: str, max_bytes: int, part: str | None = None) -> LogSession:
    """Open a build log; ``part`` is read behind it, as :class:`LogSession` says."""
    return LogSession(open_source(path, max_bytes=max_bytes), part=part)


def text_of(path: str, max_bytes: int) -> LogText:
    """Read the lines of a file."""
    text = LogText()
    _read_into(text, path, max_bytes)
    return text


def _read_into(text: LogText, path: str, max_bytes: int) -> None:
    with open_source(path, max_bytes=max_bytes) as source:
        for window in source.windows():
            text.append(window)
