"""The typed model of a tactic replay: which tactic each layer is to use, as Polygraphy's ``--save-tactics`` writes it.

A replay states for each layer the runner (``implementation``), the tactic and the tensors on its border. Five forms
were ever written as JSON (see :class:`ReplayForm`); all become the same entries here. Tactic ids are unsigned 64-bit
integers, as logs print them; files spell them signed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceInfo, SourceSpan

if TYPE_CHECKING:
    from typing import TypeAlias


FieldPath: TypeAlias = "tuple[str | int, ...]"
"""Where a value stands in a JSON document: ``("replay", "conv1", "inputs", 0, "dtype")``."""

_RUNNER_BITS = 0xFFFF_FFFF


class ReplayForm(StrEnum):
    """The forms on disk, seen in files of 23 Polygraphy versions; each is one shape of an input or output.

    F1 and F2: ``["TensorFormat.LINEAR", "DataType.FLOAT"]``, F1 with its own class marker. F3: with strides as a third
    item. F4: an object with ``tensor_format``, ``dtype``, ``strides``, ``vectorized_dim`` and
    ``components_per_element``. F5: F4 without ``tensor_format``. Before 0.27 a replay was a pickle.
    """

    F1 = "F1"
    F2 = "F2"
    F3 = "F3"
    F4 = "F4"
    F5 = "F5"

    @property
    def written_by(self) -> str:
        """The Polygraphy versions that write it."""
        return _POLYGRAPHY[self][0]

    @property
    def read_by(self) -> str:
        """The Polygraphy versions that load it."""
        return _POLYGRAPHY[self][1]


_POLYGRAPHY = {
    ReplayForm.F1: ("0.27.0 to 0.29.2", "0.27.0 to 0.45"),
    ReplayForm.F2: ("0.30.0 to 0.42.0", "0.30.0 to 0.45"),
    ReplayForm.F3: ("0.42.1 to 0.45", "0.42.1 to 0.45"),
    ReplayForm.F4: ("0.46.0 to 0.49.1", "0.46.0 and later"),
    ReplayForm.F5: ("0.49.2 and later", "0.49.2 and later"),
}
"""The versions of Polygraphy that write a form, and those that read it."""


@dataclass(slots=True, unsafe_hash=True)
class TextSpan(SourceSpan):
    """A place inside a line: ``column`` counts characters from 1."""

    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class ReplayTensor:
    """One input or output of a layer, with what the form has of it; None is "the form, or the file, does not say".

    ``dtype`` and ``format`` are enumerators without their class (``HALF``, ``CHW32``); ``strides`` are in elements,
    outermost first; ``vectorized_dim`` is -1 and ``components`` 1 where nothing is packed, and TensorRT before 8.6
    known for neither.
    """

    dtype: str | None
    format: str | None = None
    strides: tuple[int, ...] | None = None
    vectorized_dim: int | None = None
    components: int | None = None

    @property
    def text(self) -> str:
        """The tensor in the notation of the logs: ``HALF(100352,50176:2,224,1)``, ``FLOAT LINEAR``."""
        if self.strides is None:
            return " ".join(part for part in (self.dtype or "?", self.format) if part)
        strides = [str(stride) for stride in self.strides]
        packed = self.vectorized_dim
        if packed is not None and 0 <= packed < len(strides) and self.components is not None:
            strides[packed] += f":{self.components}"
        text = f"{self.dtype or '?'}({','.join(strides)})"
        return f"{text} {self.format}" if self.format else text


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """What a replay pins for one layer. ``span`` is where the layer's name stands.

    ``implementation`` is the runner's id as the file spells it: TensorRT before 8.4 reported it negative.
    ``implementation`` and ``tactic`` are None where the file's value is none; the replay's problems say what it is.
    """

    layer: str
    implementation: int | None
    tactic: int | None
    inputs: tuple[ReplayTensor, ...]
    outputs: tuple[ReplayTensor, ...]
    span: SourceSpan

    @property
    def runner_id(self) -> int | None:
        """The runner's id as logs print it in brackets (``CaskConvolution[0x80000009]``): unsigned, 32 bits."""
        return None if self.implementation is None else self.implementation & _RUNNER_BITS

    @property
    def algorithm(self) -> tuple[object, ...]:
        """What it pins: the runner, the tactic and the tensors."""
        return self.runner_id, self.tactic, self.inputs, self.outputs


class ProblemSeverity(StrEnum):
    """How bad a problem is. ``ERROR``: not accepted, or without effect; ``WARNING``: not what it seems."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a replay. ``code`` is a stable word, ``layer`` empty where it is about the whole file."""

    code: str
    severity: ProblemSeverity
    layer: str
    path: FieldPath
    span: SourceSpan
    what: str
    next_step: str

    @property
    def field(self) -> str:
        """The field's path in the notation of jq: ``.replay["conv1"].inputs[0].dtype``."""
        return path_text(self.path)


def path_text(path: FieldPath) -> str:
    """Spell a path; a key that is no plain word, and every layer's name, stands in brackets and quotes."""
    parts = []
    for depth, key in enumerate(path):
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif depth != 1 and key.isidentifier():
            parts.append(f".{key}")
        else:
            escaped = key.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts) or "."


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay file, or one that was made (from a log, by a mix).

    ``form`` is None where no entry tells: an empty replay, or forms mixed by hand. ``entries`` are what every JSON
    reader keeps, in file order; of a layer that stands twice that is the last one, ``shadowed`` has those before.
    """

    source: SourceInfo
    form: ReplayForm | None
    written_by: str
    """The range of Polygraphy versions that write such a file; empty for none."""
    entries: tuple[ReplayEntry, ...]
    shadowed: tuple[ReplayEntry, ...] = ()
    problems: tuple[Problem, ...] = ()
