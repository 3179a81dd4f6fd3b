"""Recognises what a source is by its content: a log, a replay, layers, a profile, times, a timing cache, artifacts."""

import os
import re
import stat

from trtforensics.errors import SourceError
from trtforensics.knowledge.table import rows
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.text.decoding import COMPRESSED, JSON_OPENING, decompress, sniff, to_utf8
from trtforensics.parsers.text.stored import StoredBytes

ONNX = ".onnx"
_OPENING = 256 << 10
"""Bytes of text that are examined: a replay names its class after the first layer, some kilobytes in."""


class Kind(StrEnum):
    """The kinds of sources; ``--kind`` takes these words."""

    BUILD_LOG = "build-log"
    REPLAY = "replay"
    LAYER_INFO = "layer-info"
    PROFILE = "profile"
    TIMES = "times"
    TIMING_CACHE = "timing-cache"
    ARTIFACTS = "artifacts"


_PATTERNS = {Kind(row["kind"]): re.compile(row["pattern"].encode()) for row in rows("kinds", "trtforensics.sources")}


def kind_of(path: str) -> Kind:
    """Return the kind of a source.

    A pipe can be read only once, so it counts as a build log, as does everything that is not recognised: reading it as
    a build log reports what is wrong with it.
    """
    if path == "-" or not _is_regular(path):
        is_folder = path != "-" and os.path.isdir(path)  # noqa: PTH112 - most sources need no pathlib
        return _kind_of_directory(path) if is_folder else Kind.BUILD_LOG
    return sniff_kind(_opening(path)) or Kind.BUILD_LOG


def is_engine_file(path: str) -> bool:
    """Whether a path names engine-layer JSON, a profile, times, or an ONNX model; reading it says why it cannot be."""
    try:
        return path.endswith(ONNX) or kind_of(path) in {Kind.LAYER_INFO, Kind.PROFILE, Kind.TIMES}
    except SourceError:
        return False


def sniff_kind(opening: bytes) -> Kind | None:
    """Return the kind of a text by its first bytes (a few hundred kilobytes); None for JSON of no known kind."""
    if not JSON_OPENING.match(opening):
        return Kind.BUILD_LOG
    known = next((kind for kind, pattern in _PATTERNS.items() if pattern.search(opening)), None)
    if known is not None:
        return known
    from trtforensics.parsers.files.layer_json import holds_layers  # noqa: PLC0415 - most sources are logs

    return Kind.LAYER_INFO if holds_layers(opening) else None


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - Path("") would be the current folder
    except OSError:
        return True  # opening it reports why it cannot be read


def _kind_of_directory(path: str) -> Kind:
    from pathlib import Path  # noqa: PLC0415 - most sources are files

    folder = Path(path)
    if (folder / "job.json").is_file() or all((folder / side).is_dir() for side in ("good", "bad")):
        return Kind.ARTIFACTS
    raise SourceError(path, "is a directory without `job.json` or `good` and `bad` in it", "Name a file in it")


def _opening(path: str) -> bytes:
    with StoredBytes(path, _OPENING) as stored:
        form, chunks = sniff(stored.chunks(), COMPRESSED)
        opening = b""
        for block in to_utf8(decompress(form, chunks, stored.path, _OPENING)):
            opening += block
            if len(opening) >= _OPENING:
                break
        return opening[:_OPENING]
