"""Large verbose logs for the benchmark, as TensorRT 8.6, 8.5 and 10.16 write them.

Each file is one build of one network with as many layers as its size needs, because that is what a log of a hundred
megabytes is: nobody joins a thousand small builds. Per layer it has the ONNX parser's lines, the optimiser's, the
timings of every combination of formats and of every reformat; the engine dump ends it. How many lines of which kind
stand in a layer follows the verbose logs of 8.5, 8.6 and 10.16 that this tool is tested with, in per cent of lines:

====================  ====  ====  =====
kind                  8.6   8.5   10.16
====================  ====  ====  =====
tactic with kernel      38     -     15
row of a Myelin table    -     -     42
``Set Tactic Name``      -    20      -
tactic                  18    34      7
runner block            10     6      3
``profiling completed``  8     -      3
reformat combination     6     6      2
parser's lines           3    13      2
====================  ====  ====  =====

No block of lines occurs twice: every layer has names, tactic ids and times of its own, and the second of the time
stamp moves on every thousand lines. Kernels are some hundreds of names, drawn again and again, as a library has them;
dimensions are one of three hundred pairs of input and output (a ResNet-50 has twenty, of fifty layers). So nothing is
won by remembering whole lines, and what is won by remembering names is what a real log allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from tests.emulator.engine.kernels import TILES
from tests.emulator.engine.network import FLOAT, FLOAT_NHWC, HALF, HALF_2, HALF_8, RUNNER_IDS, Format
from tests.emulator.log import trtexec_lines as trtexec
from tests.emulator.log.event import TEN, Event, LayerTensor, OnnxTensor, Version
from tests.emulator.log.opening import (
    FusingPair,
    ImportingInitializer,
    Message,
    NodeInputs,
    NodeOutputs,
    ParsingNode,
    RegisteringLayer,
    RegisteringTensor,
    RunningPass,
    SearchingInput,
    StageCount,
)
from tests.emulator.log.render import prefixed, render, severity
from tests.emulator.log.tuning import (
    CachedResult,
    Chose,
    Combination,
    CostsHeader,
    EngineDump,
    EngineGeneration,
    EngineLayerNamesOnly,
    ForeignColumns,
    ForeignOp,
    ForeignTable,
    ForeignTactic,
    NoValidTactics,
    ProfilingCompleted,
    ReformatAutotune,
    ReformatCostsHeader,
    TacticTimed,
    TimingRunner,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

Dims = tuple[int, int, int, int]

_LINES_A_SECOND = 1000
_PAIRS = 300
_BEGIN = datetime(2026, 11, 21, 9, 30, 0)  # noqa: DTZ001 - logs have no zone
_FORMATS = (FLOAT, FLOAT_NHWC, HALF, HALF_2, HALF_8)
_KERNELS = tuple(
    f"sm{arch}_xmma_fprop_implicit_gemm_{way}f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize{tile}x{depth}_stage{stage}_"
    f"warpsize4x1x1_g1_tensor16x8x16{align}"
    for arch, way, tile, depth, stage, align in product(
        (75, 80), ("", "indexed_", "indexed_wo_smem_"), TILES, (32, 64), (3, 4), ("", "_aligna4_alignc4", "_t1r5s5")
    )
)
_GEMMS = tuple(
    f"sm80_xmma_gemm_f16f16_f16f16_f16_{order}_n_tilesize{tile}x{depth}_stage{stage}_warpsize2x2x1_tensor16x8x16"
    for order, tile, depth, stage in product(("nn", "tn"), TILES, (32, 64), (3, 4, 5, 6))
)


@dataclass(frozen=True, slots=True)
class Mix:
    """How many of what a layer has: ``named`` and ``plain`` tactics and ``refused`` runners in each combination.

    ``rows`` are those of a Myelin table, of which ``tables`` stand in a layer; ``reformats`` are timed, ``cached`` not.
    """

    combinations: int
    named: int
    plain: int
    refused: int
    reformats: int
    reformat_tactics: int
    cached: int
    nodes: int
    tables: int = 0
    rows: int = 0


MIXES: dict[Version, Mix] = {
    (8, 6, 1): Mix(5, 21, 6, 1, 12, 3, 0, 1),
    (8, 5, 1): Mix(5, 11, 8, 2, 14, 0, 0, 4),
    (10, 16, 1): Mix(4, 13, 3, 1, 6, 2, 9, 2, tables=4, rows=36),
}


def write(path: Path, version: Version, megabytes: float) -> None:
    """Write a log of about this size."""
    sample = sum(len(line) + 1 for line in _Build(version, 1).lines() if line)
    layers = max(1, round(megabytes * 1e6 / (sum(len(x) + 1 for x in _Build(version, 41).lines()) - sample) * 40))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _Build(version, layers).lines())


def _dimensions(pair: int) -> tuple[Dims, Dims]:
    """Return the dimensions of a layer's input and output."""
    random = Random(pair)  # noqa: S311 - a repeatable log, not a secret
    size = random.choice((7, 14, 20, 28, 40, 56, 80, 112))
    before, behind = random.randrange(16, 2048, 16), random.randrange(16, 2048, 16)
    return (1, before, size, size), (1, behind, size, size)


class _Layer:
    """A convolution with its activation; its dimensions are drawn."""

    def __init__(self, index: int, version: Version) -> None:
        self.random = Random(f"{version}/{index}")  # noqa: S311 - a repeatable log, not a secret
        scope = f"/stage.{index // 37}/block.{index % 37}"
        self.nodes = f"{scope}/conv{index % 3}/Conv", f"{scope}/act/Relu"
        self.name = " + ".join(self.nodes)
        self.before, self.dims = _dimensions(self.random.randrange(_PAIRS))

    def tactic(self) -> int:
        return self.random.getrandbits(64)

    def ms(self) -> float:
        return round(10 ** self.random.uniform(-2.6, -0.5), 7)


class _Build:
    """The lines of a build of so many layers."""

    def __init__(self, version: Version, layers: int) -> None:
        self._version = version
        self._layers = [_Layer(index, version) for index in range(layers)]
        self._mix = MIXES[version]

    def lines(self) -> Iterator[str]:
        for number, event in enumerate(self._events()):
            moment = _BEGIN + timedelta(seconds=number // _LINES_A_SECOND)
            body = render(event, self._version)
            if event.prefixed:
                ours = event.of_tensorrt if isinstance(event, Message) else event.tensorrt
                body = prefixed(body, "trtexec", moment, severity(event, self._version), tensorrt=ours)
            yield body

    def _events(self) -> Iterator[Event]:
        command = trtexec.arguments(level=3, inference=False)
        newer = self._version >= TEN
        yield from trtexec.opening(self._version, command, 3)
        yield from trtexec.model_header(newer=newer)
        for layer in self._layers:
            yield from self._parsed(layer)
        yield StageCount("Original", 2 * len(self._layers))
        for layer in self._layers:
            yield RunningPass("ConvReluFusion", layer.nodes[0])
            yield FusingPair("ConvReluFusion", *layer.nodes)
        yield StageCount("vertical fusions", len(self._layers))
        for layer in self._layers:
            yield CostsHeader(layer.name if newer else "")
            for source in _FORMATS[: self._mix.combinations]:
                yield from self._combination(layer, source)
            for _ in range(self._mix.tables):
                yield from self._table(layer)
            yield from self._reformats(layer)
        yield from (EngineGeneration(41.5), EngineDump(detailed=False))
        for layer in self._layers:
            tensors = [LayerTensor(f"{n}_output_0", "Half", HALF_8.dims(layer.dims)) for n in layer.nodes]
            yield EngineLayerNamesOnly("CaskConvolution", layer.name, layer.tactic(), (tensors[0],), (tensors[1],))
        yield from trtexec.closing(command, 41.9, None, newer=newer)

    def _parsed(self, layer: _Layer) -> Iterator[Event]:
        for name, op in list(zip(layer.nodes, ("Conv", "Relu"), strict=True)) * (self._mix.nodes // 2) or [
            (layer.nodes[0], "Conv")
        ]:
            source, made = OnnxTensor(f"{name}_input", layer.before, "FLOAT"), f"{name}_output_0"
            weight = OnnxTensor(f"{name[1:]}.weight", (layer.dims[1], layer.before[1], 3, 3), "FLOAT")
            yield ImportingInitializer(weight.name)
            yield ParsingNode(name, op)
            yield from (SearchingInput(source.name), SearchingInput(weight.name))
            yield NodeInputs(name, op, (source, weight))
            yield Message("V", f"Convolution input dimensions: ({', '.join(map(str, layer.before))})")
            yield RegisteringLayer(name, name)
            yield RegisteringTensor(made, made)
            yield NodeOutputs(name, op, (OnnxTensor(made, layer.dims, "FLOAT"),))

    def _combination(self, layer: _Layer, source: Format) -> Iterator[Event]:
        mix = self._mix
        yield Combination((source.strides(layer.before),), (source.strides(layer.dims),))
        for _ in range(mix.refused):
            if self._version < TEN:
                yield self._begin(layer.name, "CaskFlattenConvolution")
            yield NoValidTactics("CaskFlattenConvolution", layer.name if self._version >= TEN else "")
        kernels = layer.random.sample(_KERNELS, mix.named)
        chosen = yield from self._timed(layer, layer.name, "CaskConvolution", mix.named, kernels)
        yield from self._timed(layer, layer.name, "CaskGemmConvolution", mix.plain, [])
        yield Chose("CaskConvolution", chosen)

    def _reformats(self, layer: _Layer) -> Iterator[Event]:
        mix = self._mix
        yield from (ReformatCostsHeader(opening=True), ReformatCostsHeader(opening=False))
        label = f"Optimizer Reformat({layer.nodes[1]}_output_0 -> <out>)"
        pairs = [(a, b) for a in _FORMATS for b in _FORMATS if a != b]
        for source, target in pairs[: mix.reformats]:
            yield ReformatAutotune(source.strides(layer.dims), target.strides(layer.dims))
            if mix.reformat_tactics:
                yield from self._timed(layer, label, "Reformat", mix.reformat_tactics, [])
        for source, target in pairs[mix.reformats :][: mix.cached]:
            sides = (source.strides(layer.dims),), (target.strides(layer.dims),)
            yield CachedResult(label, *sides, "Reformat", layer.tactic(), layer.ms())

    def _timed(
        self, layer: _Layer, name: str, runner: str, count: int, kernels: list[str]
    ) -> Generator[Event, None, int]:
        """Yield a runner's block; returns the fastest tactic."""
        yield self._begin(name, runner)
        times = {layer.tactic(): layer.ms() for _ in range(count)}
        for place, (tactic, ms) in enumerate(times.items()):
            if kernels and self._version < (8, 6, 0):
                yield Message("V", f"{name} Set Tactic Name: {kernels[place]} Tactic: {tactic:#018x}")
                yield TacticTimed(tactic, ms)
            else:
                yield TacticTimed(tactic, ms, kernels[place] if kernels else "")
        best = min(times, key=times.__getitem__)
        if self._version < (8, 6, 0):
            yield Message("V", f"Fastest Tactic: {best:#018x} Time: {times[best]:.6g}")
        else:
            yield ProfilingCompleted(name, runner, RUNNER_IDS[runner], 10 * layer.ms(), best, times[best])
        return best

    def _begin(self, name: str, runner: str) -> Event:
        if self._version < (8, 6, 0):
            return Message("V", f"--------------- Timing Runner: {name} ({runner})")
        return TimingRunner(name, runner, RUNNER_IDS[runner])

    def _table(self, layer: _Layer) -> Iterator[Event]:
        yield ForeignOp(layer.nodes[0], (f"[ONNX Layer: {layer.nodes[0]}]",))
        yield from (ForeignTable(), ForeignColumns())
        costs = sorted(layer.ms() for _ in range(self._mix.rows))
        for number, (ms, kernel) in enumerate(zip(costs, layer.random.sample(_GEMMS, len(costs)), strict=True)):
            yield ForeignTactic(number, ms, ms / costs[0], layer.random.uniform(0.4, 2.1), kernel, layer.tactic() >> 13)
