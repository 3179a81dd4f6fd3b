"""What a rule is given: one build, and whatever else the user handed over about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.findings.versions import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.onnx_model import OnnxModel
    from trtforensics.model import Build
    from trtforensics.notes import Note


class Need(StrEnum):
    """An input beside the log that a rule cannot do without."""

    ONNX = "onnx"
    REPLAY = "replay"
    LAYER_INFO = "layer-info"
    OTHER_LOG = "other-log"


@dataclass(frozen=True)
class Case:
    """One build of one log; the other inputs are None where the user gave none.

    ``baseline`` is the first build of the first log that has one like it, where several logs were given.
    """

    build: Build
    model: OnnxModel | None = None
    baseline: Build | None = None

    def has(self, need: Need) -> bool:
        """Whether an input is there."""
        return {Need.ONNX: self.model, Need.OTHER_LOG: self.baseline}.get(need) is not None

    @cached_property
    def version(self) -> Version | None:
        """The TensorRT version; None where the log does not tell."""
        return Version.of(self.build)

    @cached_property
    def _notes(self) -> dict[str, list[Note]]:
        by_kind: dict[str, list[Note]] = {}
        for note in self.build.notes:
            by_kind.setdefault(note.kind, []).append(note)
        return by_kind

    def notes(self, *kinds: str) -> list[Note]:
        """Return the lines of these kinds (grammar rules), in the log's order."""
        if len(kinds) == 1:
            return self._notes.get(kinds[0], [])
        return sorted((n for kind in kinds for n in self._notes.get(kind, ())), key=lambda note: note.span.line)

    def ops(self) -> Iterator[tuple[str, str]]:
        """Give name and operator of every ONNX node that the log or the model names."""
        yield from ((node.name, node.op) for node in self.build.onnx_nodes)
        if self.model is not None:
            yield from ((node.name, node.op) for node in self.model.nodes)
