"""Rewrites a log word by word, and checks that its builds, layers and tactics stay the same."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import open_output
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.parsers.lines.prefixes import PrefixReader
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.parsers.text.source import open_source
from trtforensics.redaction.names import ADDRESS, in_line, named
from trtforensics.redaction.vocabulary import WORD, vocabulary, words
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from trtforensics.console.progress import Progress
    from trtforensics.model.log import BuildLog
    from trtforensics.parsers.text.source import Window

_ADDRESS = "0.0.0.0"  # noqa: S104 - stands for an address, none is bound
_SERIAL = "00000000-0000-0000-0000-000000000000"
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"


class RedactionError(ForensicsError):
    """The log would parse differently with its names replaced."""


class Pseudonyms:
    """Made-up words for the user's words: always the same for a word, and never a word of TensorRT's own."""

    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept
        self._made = _made_up(kept)
        self.replacements: dict[str, str] = {}

    def add(self, text: str) -> None:
        """Add the words of a text that contains the user's names."""
        for word in words(text):
            if word not in self._kept and word not in self.replacements:
                self.replacements[word] = next(self._made)

    def rewrite(self, text: str) -> str:
        """Replace the user's words, addresses and serial numbers in a text."""
        return ADDRESS.sub(_no_address, WORD.sub(self._replacement, text))

    def _replacement(self, found: re.Match[str]) -> str:
        return self.replacements.get(found[0], found[0])


def _no_address(found: re.Match[str]) -> str:
    if found["version"]:
        return found[0]
    return _ADDRESS if found["address"] else _SERIAL


def _made_up(kept: frozenset[str]) -> Iterator[str]:
    syllables = [c + v for c in _CONSONANTS for v in _VOWELS]
    for size in itertools.count(2):
        for parts in itertools.product(syllables, repeat=size):
            word = "x" + "".join(parts)
            if word not in kept:
                yield word


def redact(path: str, output: str, *, max_bytes: int, on_progress: Callable[[Progress], None]) -> int:
    """Write the log with its names replaced, as UTF-8 and uncompressed; return how many words were replaced.

    Raises:
        SourceError: the log cannot be read.
        NotABuildLogError: no line carries a TensorRT or trtexec prefix.
        OutputError: the output cannot be written.
        UsageError: the log is standard input, which cannot be read twice.
        RedactionError: the log would parse differently; nothing was written.
    """
    if path == "-":
        raise UsageError("-", "a log is read twice to redact it, and standard input cannot be", "Name a file")
    log = load_build_log([path], max_bytes=max_bytes, on_progress=on_progress)
    names = Pseudonyms(vocabulary(log))
    for text in named(log):
        names.add(text)
    for line, prefixed in _lines(path, max_bytes):
        for text in in_line(line) if prefixed else (line,):
            names.add(text)
    with tempfile.TemporaryDirectory(prefix="trtforensics-") as folder:
        rewritten = Path(folder) / "redacted.log"
        with rewritten.open("wb") as stream:
            for line, _ in _lines(path, max_bytes):
                stream.write(names.rewrite(line).encode("utf-8", "surrogateescape"))
        _compare(log, load_build_log([str(rewritten)], max_bytes=max_bytes))
        with open_output(output) as sink, rewritten.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                sink.write(chunk)
    return len(names.replacements)


def _lines(path: str, max_bytes: int) -> Iterator[tuple[str, bool]]:
    """Yield every line with its ending, and whether it begins with a logger's prefix."""
    prefixes = PrefixReader()
    with open_source(path, max_bytes=max_bytes) as source:
        for window in source.windows():
            yield from zip(_texts(window), prefixes.read(LineIndex(window.text)).dialect >= 0, strict=True)


def _texts(window: Window) -> list[str]:
    return [line.decode("utf-8", "surrogateescape") for line in _kept_ends(window.data)]


def _kept_ends(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _compare(before: BuildLog, after: BuildLog) -> None:
    """Check that two logs are equal except for names.

    Raises:
        RedactionError: They are not.
    """
    for what, one, two in zip(("lines", "builds"), _shape(before), _shape(after), strict=True):
        if one != two:
            raise RedactionError(
                before.source.path,
                f"with its names replaced the log would no longer have the same {what}, so nothing was written",
                "A name is a word of TensorRT's own; please report it",
            )


def _shape(log: BuildLog) -> tuple[object, object]:
    builds = [
        (
            (build.first_line, build.last_line, build.tool, build.outcome, build.tensorrt_version, build.passes),
            (build.autotuning, build.message_counts, len(build.fusions), len(build.onnx_nodes), len(build.reformats)),
            [(c.span.line, c.tactic, c.time_ms, c.runner_up_ms, c.candidates, c.final) for c in build.choices],
            [(c.span.line, c.tactic, c.time_ms, c.final) for c in build.cached],
            [(e.span.line, e.type, e.tactic, e.output_types, e.choice, e.cached) for e in build.engine_layers],
        )
        for build in log.builds
    ]
    return log.lines, builds
