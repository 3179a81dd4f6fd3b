"""From a path to a replay."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.parsers.files.json_text import locate
from trtforensics.parsers.files.replay import check_opening, decoded, read_replay
from trtforensics.parsers.text.document import read_document
from trtforensics.parsers.text.source import MAX_BYTES

if TYPE_CHECKING:
    from trtforensics.model.replay import FieldPath, Replay, TextSpan
    from trtforensics.parsers.files.json_text import Places
    from trtforensics.parsers.text.document import Document


class ReplayFile:
    """A replay with the text it was read from, for whoever has something to say about its fields.

    Raises:
        SourceError: the source cannot be read.
        NotAReplayError: it is no replay, or no whole JSON.
    """

    def __init__(self, path: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._document: Document = read_document(path, max_bytes=max_bytes, check=check_opening)
        self.replay: Replay = read_replay(self._document)

    @cached_property
    def _places(self) -> Places:
        return locate(decoded(self._document), self._document.info.path)

    def place(self, path: FieldPath) -> TextSpan:
        """Return where a value stands; of what is missing, where what should hold it stands."""
        return self._places.of(path)


def load_replay(path: str, *, max_bytes: int = MAX_BYTES) -> Replay:
    """Read a replay of any form from a file, a FIFO or standard input (``-``), compressed or not.

    Raises:
        SourceError: the source cannot be read.
        NotAReplayError: it is no replay, or no whole JSON.
    """
    return read_replay(read_document(path, max_bytes=max_bytes, check=check_opening))
