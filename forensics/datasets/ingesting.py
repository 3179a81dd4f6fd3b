"""Adds sources to a dataset, those that are new or have changed; of a command's sources, to a temporary one."""

from __future__ import annotations

import copy
import gc
import glob
import multiprocessing
import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from trtforensics.comparison.loading import files_in
from trtforensics.console.cluster import connected
from trtforensics.console.diagnostics import error
from trtforensics.console.own_files import file_digest
from trtforensics.datasets.judged_sources import TABLES, judged_source, pinned_or_cached
from trtforensics.datasets.store import LABEL_COLUMNS, SOURCE_COLUMNS, Dataset, is_dataset, word_of
from trtforensics.errors import ForensicsError, SourceError, UsageError
from trtforensics.model.version import __version__
from trtforensics.sources.cache import is_binary
from trtforensics.sources.kinds import Kind, kind_of
from trtforensics.tables.table import Table

_SETTLED_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may have changed again within the clock's step."""
_NAME = re.compile(r"\\\{(\w+)\\\}")


class Ingested(NamedTuple):
    """What became of a source: ``read``, ``unreadable`` (with why), ``unchanged``."""

    source: str
    status: str
    why: str = ""


def sources_of(words: Sequence[str], leave_out: Path) -> list[str]:
    """Return absolute paths of files, in folders but ``leave_out``, of a pattern's matches, on stdin (``-``)."""
    paths: dict[str, None] = {}
    for word in words:
        for each in (line.rstrip("\r\n") for line in sys.stdin) if word == "-" else (word,):
            matches = [] if os.path.lexists(each) else sorted(glob.glob(each, recursive=True))  # noqa: PTH207 - as spelled
            for path in filter(None, matches or [each]):
                files = [file for file, _ in files_in(Path(path))] if Path(path).is_dir() else [path]
                paths |= dict.fromkeys(os.path.abspath(file) for file in files)  # noqa: PTH100 - links stay as named
    excluded = f"{leave_out.absolute()}{os.sep}"
    return [path for path in paths if not path.startswith(excluded)]


def label_pattern(text: str) -> re.Pattern[str]:
    """Return what finds the labels of ``{gpu}/{commit}.log`` in a path's end. UsageError for none, or one twice."""
    try:
        pattern = re.compile("(?:^|/)" + _NAME.sub(r"(?P<\1>[^/]+?)", re.escape(text)) + r"\Z")
    except re.error as error:
        raise UsageError(text, "names a label twice or with a digit in front", "Use each name once") from error
    if not pattern.groupindex:
        raise UsageError(text, "names no label", "Write it as '{gpu}/{commit}.log'")
    return pattern


class Ingestion:
    """A run that adds sources to a dataset. ``labels`` are of all of them, ``pattern`` finds more in their paths."""

    def __init__(self, folder: str, labels: Mapping[str, str], pattern: re.Pattern[str] | None, max_bytes: int) -> None:
        self.dataset = Dataset.made(folder)
        self.known = self.dataset.sources()
        self._labels = labels
        self._pattern = pattern
        self._max_bytes = max_bytes

    def run(
        self, sources: Sequence[str], jobs: int, tell: Callable[[str], None], executor: str | None = None
    ) -> Iterator[Ingested]:
        """Add sources, and give what became of each; ``tell`` is called with a source before or after it is read.

        Raises:
            OutputError: the dataset cannot be written to; what was added stays.
            UsageError: a process was lost, or the cluster that ``executor`` names.
        """
        if executor:
            for remote in self._on_cluster(sources, executor):
                tell(remote.source)
                yield remote
            return
        if jobs == 1 or len(sources) == 1:
            for source in sources:
                tell(source)
                added = self.add(source)
                yield added
                if added.status != "unchanged":
                    gc.collect()  # a command runs without the collector, and this one goes on
                    gc.freeze()  # what is left are modules and their tables, which need no second look
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, context, _begin, (self,)) as pool:
            try:
                for done in as_completed([pool.submit(_add, source) for source in sources]):
                    tell(done.result().source)
                    yield done.result()
            except BrokenProcessPool as error:
                what = "a process that read sources was ended, perhaps for want of memory"
                raise UsageError(self.dataset.folder, what, "Run it again, with fewer --jobs") from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _on_cluster(self, sources: Sequence[str], address: str) -> Iterator[Ingested]:
        """Add sources on workers that see the same paths; a source of a lost worker is added by another one."""
        with connected(address) as client:
            from distributed import CancelledError, as_completed  # noqa: PLC0415 - an extra, which is installed
            from distributed.comm.core import CommClosedError  # noqa: PLC0415 - as above
            from distributed.scheduler import KilledWorker  # noqa: PLC0415 - as above

            try:
                tasks = [client.submit(self._alone(source).add, source, pure=False) for source in sources]
                for done in as_completed(tasks, loop=client.loop):
                    yield done.result()
            except KilledWorker as error:
                what = f"every worker that read a source was lost ({error.last_worker}), perhaps for want of memory"
                raise UsageError("--executor", what, "Run it again: what was read stays") from error
            except (CancelledError, CommClosedError) as error:
                raise UsageError(
                    "--executor", "the scheduler was lost", "Start it, and run the same command"
                ) from error

    def _alone(self, source: str) -> Ingestion:
        """Return what a worker needs to add one source."""
        alone = copy.copy(self)
        alone.known = {source: self.known[source]} if source in self.known else {}
        return alone

    def add(self, source: str) -> Ingested:
        """Add a source unless it is there and has not changed."""
        known, stat = self.known.get(source), _stat(source)
        labels = self._labels_of(source) or (known["labels"] if known else [])  # else those that it was given before
        if known is not None and known["labels"] == labels and _is_same(source, stat, known):
            return Ingested(source, "unchanged")
        row: dict[str, Any] = {"source": source, "labels": tuple(labels), "version": __version__}
        row["ingested_ns"] = time.time_ns()
        if stat is not None:
            date = datetime.fromtimestamp(stat.st_mtime, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
            row |= {"bytes": stat.st_size, "modified_ns": stat.st_mtime_ns, "modified": date}
        tables = {"labels": Table(LABEL_COLUMNS, [(source, *text.split("=", 1)) for text in labels])}
        try:
            tables |= self._tables(source, row)
        except ForensicsError as error:
            row |= {"status": "unreadable", "why": error.what, "sha256": _digest(source)}
        self.dataset.put(source, {**tables, "sources": Table(SOURCE_COLUMNS, [row])})
        return Ingested(source, row["status"], row.get("why", ""))

    def _tables(self, source: str, row: dict[str, Any]) -> dict[str, Table]:
        """Read a source and judge it; its kind, status, digest and numbers are added to ``row``."""
        kind = kind_of(source)
        if kind is Kind.REPLAY or kind is Kind.TIMING_CACHE or is_binary(source):
            info, name, table = pinned_or_cached(source, kind, self._max_bytes)
            row |= {"kind": (kind if kind is Kind.REPLAY else Kind.TIMING_CACHE).value, "status": "read"}
            row |= {"sha256": info.sha256, "lines": info.lines}
            return {word_of(name): table}
        judged = judged_source([source], kind=kind, max_bytes=self._max_bytes)
        log = judged.joined.log
        row |= {"kind": kind.value, "status": "read", "sha256": log.source.sha256, "lines": log.source.lines}
        row |= {"builds": len(log.builds), "runs": len(log.runs)}
        return {word_of(name): judged.table(name) for name in TABLES}

    def _labels_of(self, source: str) -> list[str]:
        match = self._pattern.search(Path(source).as_posix()) if self._pattern else None
        labels = {**(match.groupdict() if match else {}), **self._labels}
        return [f"{name}={value}" for name, value in labels.items()]


def _is_same(source: str, stat: os.stat_result | None, known: Mapping[str, Any]) -> bool:
    """Whether a source is as it was read: by size and time where these are sure, else by its content."""
    if stat is None or stat.st_size != known["bytes"] or known["sha256"] is None:
        return False
    settled = bool(known["ingested_ns"] - stat.st_mtime_ns > _SETTLED_NS)
    return (settled and stat.st_mtime_ns == known["modified_ns"]) or _digest(source) == str(known["sha256"])


def _stat(source: str) -> os.stat_result | None:
    try:
        return Path(source).stat()
    except OSError:
        return None  # reading it reports why


def _digest(source: str) -> str | None:
    try:
        return file_digest(source)[1] if Path(source).is_file() else None
    except OSError:
        return None


_INGESTION: list[Ingestion] = []
"""What a process of several works for."""


def _begin(ingestion: Ingestion) -> None:
    """Begin in a process of several: it ends when its parent does, which a kill does not tell it."""
    _INGESTION.append(ingestion)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _add(source: str) -> Ingested:
    return _INGESTION[0].add(source)


def in_words(every: Iterable[Ingested]) -> str:
    """Count what became of sources: ``3 read, 1 unreadable, 2,996 unchanged``."""
    counts = Counter(each.status for each in every)
    return ", ".join(f"{counts[status]:,} {status}" for status in ("read", "unreadable", "unchanged") if counts[status])


@contextmanager
def opened(words: Sequence[str], *, max_bytes: int, tell: Callable[[str], None]) -> Iterator[Dataset]:
    """Open the folder of a dataset or sources; see :func:`sources_of`. Stderr names those that cannot be read.

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
        for each in ingestion.run(sources_of(words, Path(folder)), 1, tell):
            read += each.status == "read"
            if each.status == "unreadable":
                error(f"{each.source}: {each.why}.")
                bad += 1
        if not read:
            raise SourceError(" ".join(words[:3]), f"holds no source that can be read, of {bad}", "Name a log")
        yield ingestion.dataset


def runs_of(folder: str, max_bytes: int) -> Iterator[tuple[str, list[dict[str, Any]] | None]]:
    """Give files with rows of ``runs``: of a dataset at once, of a folder one by one; None where it cannot be read."""
    if is_dataset(folder):
        dataset = Dataset.opened(folder)
        yield folder, dataset.table("runs").to_table().to_pylist()
        yield from ((path, None) for path, row in dataset.sources().items() if row["status"] != "read")
        return
    for path, why in files_in(Path(folder)):
        try:
            table = None if why else judged_source([path], kind=Kind.BUILD_LOG, max_bytes=max_bytes).table("runs")
            names = [column.name for column in table.header] if table else []
            yield path, [dict(zip(names, row, strict=True)) for row in table.values()] if table else None
        except ForensicsError:
            yield path, None
        gc.collect()  # as after a source that is added
