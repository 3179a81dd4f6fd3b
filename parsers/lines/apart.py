"""Scans lines in another process, so that the interpreter of the caller stays free for the keys of a user.

The caller reads the source, hands over each window, and gets back what they hold. So the source is read once, whatever
it is, and what the caller shows and what is parsed are the same bytes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, cast

from trtforensics.errors import SourceError
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.windows import Window

if TYPE_CHECKING:
    from typing_extensions import Self

    from trtforensics.parsers.lines.scanned import ScannedLines


class ScannerApart:
    """A scanner of the windows of ``path`` in a process of its own; a context manager that ends the process.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # numpy's linear algebra, which is not used, starts no threads
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "trtforensics.parsers.lines.apart"]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a screen is shown where it would be printed
            start_new_session=True,  # a Ctrl+C in the terminal is for the caller
        )
        self._to, self._back = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._back.close()
        with suppress(BrokenPipeError):  # the last window was not taken any more
            self._to.close()

    def feed(self, window: Window) -> None:
        """Hand over a window; return once the process has taken nearly all of it.

        Raises:
            SourceError: The process has ended.
        """
        try:
            pickle.dump((window.first_line, window.offset, bytes(window.data), window.wrapping), self._to, protocol=5)
        except BrokenPipeError as error:
            raise self._died() from error

    def scanned(self) -> ScannedLines:
        """Wait until all windows are scanned, and return what they hold; called once.

        Raises:
            SourceError: The process has ended.
        """
        try:
            self._to.close()
            found: ScannedLines = pickle.load(self._back)  # noqa: S301 - our own process wrote it
        except (BrokenPipeError, EOFError, pickle.UnpicklingError) as error:
            raise self._died() from error
        return found

    def _died(self) -> SourceError:
        what = "the process that reads it has ended too early"
        return SourceError(self._path, what, "Perhaps there is not enough memory; free some and open it again")


def _serve(windows: BinaryIO, result: BinaryIO) -> None:
    """Scan the windows that come until there are no more; send what they hold."""
    scanner = Scanner()
    while True:
        try:
            parts = pickle.load(windows)  # noqa: S301 - our own process wrote it
        except EOFError:
            break
        scanner.feed(Window(*parts))
    pickle.dump(scanner.scanned, result, protocol=5)
    result.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
