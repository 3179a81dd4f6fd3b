"""Builds of the logs before, among which a build finds the first of its model."""

from collections import Counter
from itertools import chain

from trtforensics.findings.case import LoggedBuild
from trtforensics.model.log import Build
from trtforensics.sources.quoting import QuotedLog, ReadLog, read_log

_SHARED = 0.5
"""Share of the names of ONNX nodes (or engine layers) that two builds of one model have in common."""
_MOST_PLACES = 64
"""Builds that are kept for one name: whatever has the name too is alike one of the first that have it."""
_KEPT_BYTES = 64 << 20
"""Size of the logs that are kept; any other is read again when a build of its model comes."""


class EarlierBuilds:
    """Builds of earlier logs, by the names of their ONNX nodes, or of their layers where they list no nodes."""

    def __init__(self) -> None:
        self._files: list[tuple[str, int]] = []  # path and max_bytes of each log
        self._logs: dict[int, QuotedLog] = {}  # by their numbers, the one used last behind the others
        self._builds: list[tuple[int, int]] = []  # the number of the log, and the build's index there
        self._known: set[int] = set()  # builds by the hash of all of their names
        self._sizes: list[int] = []  # how many names each build has
        self._places: dict[int, list[int]] = {}  # the first builds that have a name, by its hash

    def baseline(self, build: Build) -> tuple[LoggedBuild, QuotedLog] | None:
        """Return the first build of an earlier log that is of the same model, with its log; None where there is none.

        Raises:
            SourceError: its log cannot be read again.
        """
        first = self._first(_names(build))
        if first is None:
            return None
        number, index = self._builds[first]
        read = self._logs.pop(number, None)
        if read is None:
            path, max_bytes = self._files[number]
            read = read_log(path, max_bytes=max_bytes, on_progress=lambda _: None)
        self._keep(number, read)
        return LoggedBuild(read.log, read.log.builds[index]), read

    def add(self, read: QuotedLog) -> None:
        """Add a log that is earlier than those asked about from now on."""
        number, before = len(self._files), len(self._builds)
        self._files.append((read.log.source.path, read.max_bytes if isinstance(read, ReadLog) else 0))
        for index, names in enumerate(map(_names, read.log.builds)):
            key = hash(names)
            if names and key not in self._known:
                self._known.add(key)
                for name in map(hash, names):
                    places = self._places.setdefault(name, [])
                    if len(places) < _MOST_PLACES:
                        places.append(len(self._builds))
                self._builds.append((number, index))
                self._sizes.append(len(names))
        if len(self._builds) > before:
            self._keep(number, read)

    def _keep(self, number: int, read: QuotedLog) -> None:
        """Keep a log, and no more bytes of those used before it than there is space for; a pipe's text stays."""
        self._logs[number] = read
        sizes = {each: log.log.source.bytes for each, log in self._logs.items() if isinstance(log, ReadLog)}
        for each in [*sizes][:-1]:
            if sum(sizes.values()) > _KEPT_BYTES:
                del sizes[each], self._logs[each]

    def _first(self, names: frozenset[str]) -> int | None:
        shared = Counter(chain.from_iterable(self._places.get(each, ()) for each in map(hash, names)))
        alike = (build for build, count in shared.items() if count >= _SHARED * min(self._sizes[build], len(names)))
        return min(alike, default=None)


def _names(build: Build) -> frozenset[str]:
    return frozenset(node.name for node in build.onnx_nodes) or frozenset(layer.name for layer in build.engine_layers)
