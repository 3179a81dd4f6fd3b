"""A simulated build of a transformer that Myelin takes whole: precision options, the ForeignNode, its kernels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tests.emulator.engine.build import Log
from tests.emulator.log import trtexec_lines as trtexec
from tests.emulator.log.event import MYELIN_SEPARATOR, TEN, DetailedTensor, Event, LayerTensor, OnnxTensor, Version
from tests.emulator.log.opening import (
    Banner,
    GraphConstructed,
    MarkingOutput,
    Message,
    NetworkInput,
    NodeInputs,
    NodeOutputs,
    Option,
    ParseFinished,
    ParsingNode,
    RegisteringLayer,
    StageCount,
)
from tests.emulator.log.tuning import (
    Chose,
    Combination,
    CostsHeader,
    EngineDump,
    EngineGeneration,
    EngineLayerDetailed,
    EngineLayerNamesOnly,
    ForeignNodeMetadata,
    TacticTimed,
    TimingCacheInUse,
    TimingRunner,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DIMS = (2, 16, 64)
RUNNER = 0x80000023
_BLOCK = (
    ("norm1/LayerNormalization", "LayerNormalization"),
    ("attention/query/MatMul", "MatMul"),
    ("attention/Softmax", "Softmax"),
    ("attention/out/MatMul", "MatMul"),
    ("norm2/LayerNormalization", "LayerNormalization"),
    ("mlp/up/MatMul", "MatMul"),
    ("mlp/Erf", "Erf"),
    ("mlp/down/MatMul", "MatMul"),
)


@dataclass(frozen=True, slots=True)
class Transformer:
    """What is asked for. ``precisions`` and ``constraints`` are trtexec's options; ``detailed`` dumps every kernel.

    ``kernel_type`` is what Myelin's kernels give; ``outside`` names nodes that stay out of the ForeignNode.
    """

    version: Version = (10, 12, 0)
    blocks: int = 2
    precisions: str = ""
    constraints: str = ""
    strongly_typed: bool = False
    detailed: bool = False
    kernel_type: str = "Half"
    casts: bool = False
    outside: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[tuple[str, str], ...]:
        """Name and operator of the nodes, in order."""
        around = (("cast_in", "Cast"), ("cast_out", "Cast")) if self.casts else ()
        blocks = [(f"/layers.{i}/{name}", op) for i in range(self.blocks) for name, op in _BLOCK]
        return (*around[:1], *blocks, *around[1:])

    @property
    def inside(self) -> tuple[str, ...]:
        """The nodes that the ForeignNode holds."""
        return tuple(name for name, _ in self.nodes if name not in self.outside)

    @property
    def foreign(self) -> str:
        """The name of the ForeignNode."""
        return f"{{ForeignNode[{self.inside[0]}...{self.inside[-1]}]}}"

    @property
    def command(self) -> str:
        """The command line."""
        typed = "--stronglyTyped" if self.strongly_typed else "--fp16"
        asked = f" --layerPrecisions={self.precisions}" if self.precisions else ""
        bound = f" --precisionConstraints={self.constraints}" if self.constraints else ""
        return f"trtexec --onnx=transformer.onnx {typed}{asked}{bound} --verbose"

    @property
    def precision(self) -> str:
        """The Precision line of the options."""
        if self.strongly_typed:
            return "Strongly Typed"
        bound = f" ({self.constraints} precision constraints)" if self.constraints else ""
        return f"FP32+FP16{bound}"

    def log(self) -> Log:
        """Return the build."""
        moment = datetime(2026, 11, 21, 12, 0, 0)  # noqa: DTZ001 - logs have no zone
        return Log(self.version, "trtexec", moment, tuple(self._events()))

    def _events(self) -> Iterator[Event]:
        yield from map(self._as_asked, trtexec.opening(self.version, self.command, 3))
        yield from trtexec.model_header(newer=self.version >= TEN)
        yield NetworkInput("x", "float32", DIMS)
        tensor = "x"
        for name, op in self.nodes:
            yield ParsingNode(name, op)
            yield NodeInputs(name, op, (OnnxTensor(tensor, DIMS, "FLOAT"),))
            yield RegisteringLayer(name, name)
            tensor = f"{name}_output_0"
            yield NodeOutputs(name, op, (OnnxTensor(tensor, DIMS, "FLOAT"),))
        yield from (MarkingOutput(tensor, "y"), ParseFinished(0.01))
        yield from (StageCount("Original", len(self.nodes)), GraphConstructed(0.001))
        yield from self._built()
        yield Banner("PASSED", self.command, trtexec.BUILD)

    def _as_asked(self, event: Event) -> Event:
        if isinstance(event, Option) and event.name in {"Precision", "LayerPrecisions"}:
            value = self.precision if event.name == "Precision" else self.precisions
            return type(event)(event.name, value)
        return event

    def _built(self) -> Iterator[Event]:
        yield TimingCacheInUse("Local")
        yield CostsHeader(self.foreign)
        if self.version >= TEN:
            yield ForeignNodeMetadata(self.foreign, tuple(f"[ONNX Layer: {name}]" for name in self.inside))
        strides = ",".join(map(str, (DIMS[1] * DIMS[2], DIMS[2], 1)))
        yield Combination((f"Float({strides})",), (f"Float({strides})",))
        yield TimingRunner(self.foreign, "Myelin", RUNNER)
        yield from (TacticTimed(0, 0.41), Chose("Myelin", 0))
        yield StageCount("reformat layers", 1 + len(self.outside))
        yield from (EngineGeneration(1.5), EngineDump(detailed=self.detailed))
        yield from self._kernels() if self.detailed else self._layers()
        yield Message("V", "Adding 1 engine(s) to plan file.")

    def _layers(self) -> Iterator[Event]:
        dims = tuple(map(str, DIMS))
        for name in (self.foreign, *self.outside):
            dtype = "Float" if name == self.foreign else self.kernel_type
            tensors = (LayerTensor("x", "Float", dims),), (LayerTensor(f"{name}_output_0", dtype, dims),)
            yield EngineLayerNamesOnly("Myelin" if name == self.foreign else "Reduce", name, 0, *tensors)

    def _kernels(self) -> Iterator[Event]:
        for index, name in enumerate(self.inside):
            yield EngineLayerDetailed(
                f"__myl_Kernel_myl0_{index}",
                "kgen",
                (DetailedTensor("x", DIMS, "Float", None),),
                (DetailedTensor(f"__myln_{index}", DIMS, self.kernel_type, None),),
                tactic_name=f"__myl_Kernel_0x{index:032x}",
                stream=0,
                metadata=(f"[ONNX Layer: {name}]",),
                separator=MYELIN_SEPARATOR,
            )
