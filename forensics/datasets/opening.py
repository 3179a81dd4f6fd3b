"""Opens what a command is given as a dataset: the folder of one, or sources, which are read into a temporary one."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.datasets.ingesting import Ingestion, sources_of
from trtforensics.datasets.store import Dataset, is_dataset
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


@contextmanager
def opened(
    words: Sequence[str],
    listed: Iterable[str],
    *,
    max_bytes: int,
    tell: Callable[[str], None],
    refused: Callable[[str], None],
) -> Iterator[Dataset]:
    """Open the folder of a dataset or sources; see :func:`~trtforensics.datasets.ingesting.sources_of`.

    ``refused`` is called with a sentence about each source that cannot be read.

    Raises:
        SourceError: none of the sources can be read, or the dataset cannot.
        UsageError: another version wrote the dataset, or pyarrow is not installed.
        OutputError: there is no space for temporary files.
    """
    if len(words) == 1 and is_dataset(words[0]):
        yield Dataset.opened(words[0])
        return
    with tempfile.TemporaryDirectory(prefix="trtforensics-") as folder:
        ingestion = Ingestion(folder, {}, None, max_bytes)
        bad = read = 0
        for each in ingestion.run(sources_of(words, listed, Path(folder)), 1, tell):
            read += each.status == "read"
            if each.status == "unreadable":
                refused(f"{each.source}: {each.why}.")
                bad += 1
        if not read:
            raise SourceError(" ".join(words[:3]), f"holds no source that can be read, of {bad}", "Name a log")
        yield ingestion.dataset
