"""The arithmetic that a kernel's name states.

The name is the only place where TensorRT tells in which type a tactic multiplies and sums; no API does. NVIDIA does not
document these names: each field carries how well the name supports it.
"""

from dataclasses import dataclass

from trtforensics.model.older_python import StrEnum


class NameEvidence(StrEnum):
    """How a kernel's name supports a fact."""

    STATED = "stated"
    """A word of the name spells it."""
    CONVENTION = "by convention"
    """The family's kernels are named so that a letter, or a word that is missing, means it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """The facts in the name of a kernel; None where the name does not tell, all of them where no family reads it.

    Types are spelled as TensorRT spells them (``Half``, ``Float``, ``BFloat16``, ``TF32``, ``FP8``, ``Int8``,
    ``Int32``). ``by_convention`` names the fields that no word of the name spells.
    """

    name: str
    family: str | None = None
    """``xmma``, ``cublas``, ``cudnn``, ``cutlass``, ``nvjet`` or ``myelin``."""
    operand: str | None = None
    """The type that is multiplied; for pooling, the type that is read."""
    accumulator: str | None = None
    """The type of the sum."""
    output: str | None = None
    """The type that the kernel writes. An engine layer states its own output types, which override this one."""
    tile: tuple[int, ...] | None = None
    """Output rows, output columns and, where the name tells it, reduction depth of a thread block's part."""
    stages: int | None = None
    """How many tiles of operands are in flight."""
    split_k: bool | None = None
    """True where the reduction is split between thread blocks. No name says that it is not; lines of 8.5 and 8.6 do."""
    sparse: bool | None = None
    """Whether the kernel uses 2:4 structured sparsity."""
    tensor_core: bool | None = None
    architecture: str | None = None
    """The GPU generation that the kernel is written for (``sm80``, ``ampere``); newer GPUs run it too."""
    by_convention: frozenset[str] = frozenset()

    @property
    def sum_text(self) -> str:
        """What the kernel sums in, for people: ``sums in Half``, ``sums in Half by convention``; empty if unknown."""
        if self.accumulator is None:
            return ""
        implied = " by convention" if "accumulator" in self.by_convention else ""
        return f"sums in {self.accumulator}{implied}"

    @property
    def text(self) -> str:
        """All facts, for people: ``sums in Half; tile 64x64x32, 5 stages, sm80``; may be empty."""
        split = {True: "split-K", False: "K not split", None: ""}[self.split_k]
        cores = {True: "tensor cores", False: "no tensor cores", None: ""}[self.tensor_core]
        words = (
            f"tile {'x'.join(map(str, self.tile))}" if self.tile else "",
            f"{self.stages} stage{'' if self.stages == 1 else 's'}" if self.stages else "",
            split,
            "2:4 sparse" if self.sparse else "",
            cores,
            self.architecture or "",
        )
        verb = "reads" if "pooling" in self.name else "multiplies"
        types = [f"{verb} {self.operand}"] if self.operand else []
        types += [self.sum_text] if self.sum_text else []
        types += [f"writes {self.output}"] if self.output else []
        return "; ".join(filter(None, (", ".join(types), ", ".join(filter(None, words)))))

    def evidence(self, field: str) -> NameEvidence:
        """Return how the name supports one of the fields, by the field's name."""
        if getattr(self, field) is None:
            return NameEvidence.UNKNOWN
        return NameEvidence.CONVENTION if field in self.by_convention else NameEvidence.STATED
