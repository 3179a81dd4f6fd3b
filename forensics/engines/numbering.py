"""Files about one engine as one text: the lines of each count on from those of the files before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.engines.joining import JoinedSources
    from trtforensics.model.log import Build
    from trtforensics.model.span import SourceSpan


@dataclass(frozen=True, slots=True)
class NumberedFile:
    """A file of such a text: its path and kind, the number of its first line, and its rows that match no layer.

    ``first_line`` is None for an ONNX model, which has no lines.
    """

    path: str
    what: str
    first_line: int | None
    lines: int
    unjoined: tuple[str, ...] = ()


def number_on(joined: JoinedSources, lines: int) -> tuple[NumberedFile, ...]:
    """List the files that were joined, and let their facts' lines count on behind ``lines`` lines of a log.

    The spans in the builds of ``joined`` change; :attr:`~trtforensics.model.span.SourceSpan.line_in_file` stays.
    """
    numbered: list[NumberedFile] = []
    for path, what, count in _texts(joined):
        numbered.append(NumberedFile(path, what, lines + 1, count, _unjoined(joined, path)))
        for build in joined.log.builds if lines else ():
            _move(build, path, lines)
        lines += count
    model = joined.model
    if model is not None:
        what = f"ONNX model of {len(model.nodes):,} nodes"
        numbered.append(NumberedFile(model.path, what, None, 0, _unjoined(joined, model.path)))
    return tuple(numbered)


def _texts(joined: JoinedSources) -> Iterator[tuple[str, str, int]]:
    """Yield the path, the kind and the number of lines of each file that is a text."""
    for info in joined.layer_files:
        yield info.source.path, "engine layers", info.source.lines
    for profile in joined.profile_files:
        yield profile.source.path, "profile", profile.source.lines
    for times in joined.times_files:
        yield times.source.path, "times of inferences, which join no layer", times.source.lines


def _unjoined(joined: JoinedSources, path: str) -> tuple[str, ...]:
    return tuple(rest.what for rest in joined.unjoined if rest.path == path)


def _move(build: Build, path: str, lines: int) -> None:
    """Move the lines of a file that a build's layers and profiles cite, unless they were moved before."""
    for layer in build.engine_layers:
        layer.span = _moved(layer.span, path, lines)
    build.profiles = tuple(
        replace(
            run,
            span=_moved(run.span, path, lines),
            layers=tuple(replace(row, span=_moved(row.span, path, lines)) for row in run.layers),
        )
        if run.span.file == path
        else run
        for run in build.profiles
    )


def _moved(span: SourceSpan, path: str, lines: int) -> SourceSpan:
    if span.file != path or span.before:
        return span
    return replace(span, line=span.line + lines, before=lines)
