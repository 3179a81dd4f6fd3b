"""From a path to a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.parsers.document import read_document
from trtforensics.parsers.replay import check_opening, read_replay
from trtforensics.parsers.source import MAX_BYTES

if TYPE_CHECKING:
    from trtforensics.replay_model import Replay


def load_replay(path: str, *, max_bytes: int = MAX_BYTES) -> Replay:
    """Read a replay of any form from a file, a FIFO or standard input (``-``), compressed or not.

    Raises:
        SourceError: the source cannot be read.
        NotAReplayError: it is no replay, or no whole JSON.
    """
    return read_replay(read_document(path, max_bytes=max_bytes, check=check_opening))
