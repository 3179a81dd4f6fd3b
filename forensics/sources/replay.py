"""Loads replays from paths."""

from functools import cached_property

from trtforensics.model.replay import FieldPath, Replay, TextSpan
from trtforensics.parsers.files.replay import ReplayJson, check_opening, decoded, locate, read_replay
from trtforensics.parsers.text.document import Document, read_document
from trtforensics.parsers.text.source import MAX_BYTES


class ReplayFile:
    """A replay together with its text, so that messages can name the place of a field."""

    def __init__(self, path: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._document: Document = read_document(path, max_bytes=max_bytes, check=check_opening)
        self.replay: Replay = read_replay(self._document)

    @cached_property
    def _places(self) -> ReplayJson:
        return locate(decoded(self._document), self._document.info.path)

    def place(self, path: FieldPath) -> TextSpan:
        """Return the place of a value; for a missing value, the place of the object that should contain it."""
        return self._places.of(path)


def load_replay(path: str, *, max_bytes: int = MAX_BYTES) -> Replay:
    """Read a replay of any form from a file, a FIFO or standard input (``-``), compressed or not."""
    return ReplayFile(path, max_bytes=max_bytes).replay
