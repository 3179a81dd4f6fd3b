"""Rewrites a text word by word, and checks that a log in it keeps its builds, layers and tactics."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from trtforensics.console.output import open_output
from trtforensics.console.progress import Progress
from trtforensics.console.secrets import masked
from trtforensics.errors import NotABuildLogError, SourceError, UsageError
from trtforensics.model.log import BuildLog
from trtforensics.parsers.text.source import open_source
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import vocabulary
from trtforensics.sources.build_log import load_build_log

_OPENING = 8192
"""Characters that show whether a file is a text, as in Git: a text holds no zeros."""
_MOST_UNREADABLE = 0.3
"""The share of bytes that are no UTF-8 from which on a file is none either."""


class Redacted(NamedTuple):
    """How many words were replaced, and what of a log reads differently since: nothing, lines or builds."""

    words: int
    differs_in: str


def redact(path: str, output: str, *, max_bytes: int, on_progress: Callable[[Progress], None]) -> Redacted:
    """Write a log, or any other text, with its names replaced, as UTF-8 and uncompressed; it is read twice.

    Raises:
        SourceError: the source cannot be read, or is no text.
        OutputError: the output cannot be written.
        UsageError: the source is standard input, which cannot be read twice.
    """
    if path == "-":
        raise UsageError("-", "a log is read twice to redact it, and standard input cannot be", "Name a file")
    log = _log(path, max_bytes, on_progress)
    names = Pseudonyms(vocabulary())
    for text in _texts(path, max_bytes):
        if log is None:
            _check_text(path, text)
        names.learn(text)
    with tempfile.TemporaryDirectory(prefix="trtforensics-") as folder:
        rewritten = Path(folder) / "redacted.log"
        with rewritten.open("wb") as stream:
            for text in _texts(path, max_bytes):
                stream.write(names.rewrite(masked(text)).encode())
        after = log and _log(str(rewritten), max_bytes, lambda _: None)
        with open_output(output) as sink, rewritten.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                sink.write(chunk)
    return Redacted(len(names.replacements), _difference(log, after, names) if log else "")


def _log(path: str, max_bytes: int, on_progress: Callable[[Progress], None]) -> BuildLog | None:
    """Return the log in a text; None for the output of other programs, for configurations and documents."""
    try:
        return load_build_log([path], max_bytes=max_bytes, on_progress=on_progress)
    except NotABuildLogError:
        return None


def _texts(path: str, max_bytes: int) -> Iterator[str]:
    with open_source(path, max_bytes=max_bytes) as source:
        for window in source.windows():
            yield window.data.decode("utf-8", "replace")


def _check_text(path: str, text: str) -> None:
    opening = text[:_OPENING]
    if "\0" in opening or opening.count("\ufffd") > _MOST_UNREADABLE * len(opening):
        raise SourceError(path, "is a binary file, not a text", "Give a log, a configuration or a JSON document")


def _difference(before: BuildLog, after: BuildLog | None, names: Pseudonyms) -> str:
    """Return in what two logs differ, except for names; nothing where they do not."""
    if after is None:
        return "lines"
    shapes = zip(("lines", "builds"), _shape(before, names.rewrite), _shape(after, str), strict=True)
    return next((what for what, shape, other in shapes if shape != other), "")


def _shape(log: BuildLog, name: Callable[[str], str]) -> tuple[object, object]:
    """Return what redaction must not change: numbers, places, and words that it renames by ``name``."""
    builds = [
        (
            (build.first_line, build.last_line, build.tool, build.outcome, build.tensorrt_version, build.passes),
            (build.autotuning, build.message_counts, len(build.fusions), len(build.onnx_nodes), len(build.reformats)),
            [(c.span.line, c.tactic, c.time_ms, c.runner_up_ms, c.candidates, c.final) for c in build.choices],
            [(c.span.line, c.tactic, c.time_ms, c.final) for c in build.cached],
            [
                (e.span.line, name(e.type), e.tactic, [*map(name, e.output_types)], e.choice, e.cached)
                for e in build.engine_layers
            ],
        )
        for build in log.builds
    ]
    return log.lines, builds
