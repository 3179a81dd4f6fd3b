"""Rewrites a log word by word, and checks that its builds, layers and tactics stay the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import open_output
from trtforensics.console.secrets import masked
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.parsers.text.source import open_source
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import vocabulary
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.console.progress import Progress
    from trtforensics.model.log import BuildLog


class RedactionError(ForensicsError):
    """The log would parse differently with its names replaced."""


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
    names = Pseudonyms(vocabulary())
    with tempfile.TemporaryDirectory(prefix="trtforensics-") as folder:
        rewritten = Path(folder) / "redacted.log"
        with rewritten.open("wb") as stream, open_source(path, max_bytes=max_bytes) as source:
            for window in source.windows():
                stream.write(names.rewrite(masked(window.data.decode("utf-8", "replace"))).encode())
        _compare(log, load_build_log([str(rewritten)], max_bytes=max_bytes), names)
        with open_output(output) as sink, rewritten.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                sink.write(chunk)
    return len(names.replacements)


def _compare(before: BuildLog, after: BuildLog, names: Pseudonyms) -> None:
    """Check that two logs are equal except for names.

    Raises:
        RedactionError: They are not.
    """
    for what, one, two in zip(("lines", "builds"), _shape(before, names.rewrite), _shape(after, str), strict=True):
        if one != two:
            raise RedactionError(
                before.source.path,
                f"with its names replaced the log would no longer have the same {what}, so nothing was written",
                "A name is a word of TensorRT's own; please report it",
            )


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
