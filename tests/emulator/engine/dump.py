"""The engine of a simulated pass, layer by layer, and its dump in both verbosities."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tests.emulator.engine.kernels import hashed
from tests.emulator.engine.network import DIMS, FLOAT, NODES, WEIGHTS, Format
from tests.emulator.log.event import MYELIN_SEPARATOR, DetailedTensor, Event, LayerTensor, Record
from tests.emulator.log.tuning import EngineLayerDetailed, EngineLayerNamesOnly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.emulator.engine.tuner import Choice, Reformat, Selection, Tuner

INNER_KERNELS = (
    ("__myl_MeaSubMulMeaAddSqrtDivMulAdd", ("norm",), "norm"),
    ("", ("query",), "query"),
    ("", ("key",), "key"),
    ("", ("value",), "value"),
    ("", ("transpose", "scores"), "scores"),
    ("__myl_MulMaxrSubExpSumDivMul", ("softmax",), "softmax"),
    ("", ("context",), "context"),
    ("__myl_AddMea", ("add", "mean"), "mean"),
    ("", ("linear",), "linear"),
)
"""What Myelin makes of the attention block: a generated kernel's name, or none for a library's; members; output."""


class Tensor(Record):
    """A tensor of the engine."""

    name: str
    layout: Format
    dims: tuple[int, ...]

    def brief(self) -> LayerTensor:
        """Return the tensor as a names-only dump has it."""
        return LayerTensor(self.name, self.layout.dtype, self.layout.dims(self.dims))

    def detailed(self, location: str | None = "Device") -> DetailedTensor:
        """Return the tensor as a detailed dump has it."""
        return DetailedTensor(self.name, self.dims, self.layout.dtype, location)


class Step(Record):
    """A layer of the engine; ``choice`` is None for a reformat."""

    name: str
    runner: str
    tactic: int
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    choice: Choice | None = None


def engine_steps(selection: Selection, tuner: Tuner, suffix: str) -> Iterator[Step]:
    """Yield the engine's layers in order; ``suffix`` is that of the profile."""
    changes = {(change.layer.name, change.into): change for change in selection.reformats}
    for choice in selection.choices:
        layer, name = choice.layer, choice.layer.name + suffix
        source = Tensor(tuner.network.tensor(layer.source) + suffix, choice.source, DIMS[layer.source])
        if change := changes.get((layer.name, True)):
            step = _reformat(change, source, name, tuner, suffix)
            yield step
            source = step.outputs[0]
        targets = tuple(
            Tensor(tuner.network.tensor(key) + suffix, layout, DIMS[key])
            for key, layout in zip(layer.targets, choice.targets, strict=True)
        )
        change = changes.get((layer.name, False))
        if change is None:
            yield Step(name, choice.runner, choice.tactic, (source,), targets, choice)
            continue
        made = Tensor(f"Reformatted Output Tensor 0 to {name}", choice.targets[0], targets[0].dims)
        yield Step(name, choice.runner, choice.tactic, (source,), (made, *targets[1:]), choice)
        output = Tensor(targets[0].name, FLOAT, targets[0].dims)
        yield Step(
            f"Reformatting CopyNode for Output Tensor 0 to {name}", "Reformat", change.tactic, (made,), (output,)
        )


def _reformat(change: Reformat, source: Tensor, name: str, tuner: Tuner, suffix: str) -> Step:
    before = Tensor(tuner.network.tensor(change.tensor) + suffix, change.source, source.dims)
    after = Tensor(f"Reformatted Input Tensor 0 to {name}", change.target, source.dims)
    return Step(f"Reformatting CopyNode for Input Tensor 0 to {name}", "Reformat", change.tactic, (before,), (after,))


def names_only(step: Step) -> EngineLayerNamesOnly:
    """Return the line of a names-only dump."""
    inputs, outputs = (tuple(tensor.brief() for tensor in side) for side in (step.inputs, step.outputs))
    return EngineLayerNamesOnly(step.runner, step.name, step.tactic, inputs, outputs)


def detailed(step: Step, tuner: Tuner, group: int) -> Iterator[Event]:
    """Yield the lines of a detailed dump: one a layer, one a kernel of a ForeignNode; ``group`` numbers that."""
    if step.choice is not None and step.runner == "Myelin":
        yield from _kernels(step, step.choice, tuner, group)
        return
    inputs, outputs = (tuple(tensor.detailed() for tensor in side) for side in (step.inputs, step.outputs))
    members = step.choice.layer.members if step.choice else ()
    yield EngineLayerDetailed(
        step.name,
        step.runner,
        inputs,
        outputs,
        tuple(_parameters(step)),
        (step.choice.kernel or None) if step.choice else None,
        step.tactic,
        0,
        tuner.onnx_layers(members),
    )


def _parameters(step: Step) -> Iterator[tuple[str, str]]:
    if step.choice is None:
        yield from (("ParameterType", "Reformat"), ("Origin", "REFORMAT"))
        return
    op, inputs = NODES[step.choice.layer.members[0]]
    if op == "Conv":
        yield from _convolution(step.choice, WEIGHTS[inputs[1]])
    elif op == "MaxPool":
        yield from (("ParameterType", "Pooling"), ("PoolingType", "MAX"), ("WindowSize", "[2,2]"))
        yield from (("PaddingMode", "kEXPLICIT_ROUND_DOWN"), ("PrePadding", "[0,0]"), ("PostPadding", "[0,0]"))
        yield from (("Stride", "[2,2]"), ("BlendFactor", "0"), ("AverageCountExcludesPadding", "1"))


def _convolution(choice: Choice, weights: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    padding = f"[{weights[2] // 2},{weights[3] // 2}]"
    relu = choice.layer.members[-1].startswith("relu")
    yield from (("ParameterType", "Convolution"), ("Kernel", f"[{weights[2]},{weights[3]}]"))
    yield from (("PaddingMode", "kEXPLICIT_ROUND_DOWN"), ("PrePadding", padding), ("PostPadding", padding))
    yield from (("Stride", "[1,1]"), ("Dilation", "[1,1]"), ("OutMaps", str(weights[0])), ("Groups", "1"))
    counts = {"Weights": prod(weights), "Bias": weights[0]}
    yield from ((key, f'{{"Type": "{choice.source.dtype}", "Count": {count}}}') for key, count in counts.items())
    flags: Mapping[str, int | str] = {
        "HasBias": 1,
        "HasReLU": int(relu),
        "HasSparseWeights": 0,
        "HasDynamicFilter": 0,
        "HasDynamicBias": 0,
        "HasResidual": 0,
        "ConvXAsActInputIdx": -1,
        "BiasAsActInputIdx": -1,
        "ResAsActInputIdx": -1,
        "Activation": "RELU" if relu else "NONE",
    }
    yield from ((key, str(value)) for key, value in flags.items())


def _kernels(step: Step, choice: Choice, tuner: Tuner, group: int) -> Iterator[Event]:
    chosen = tuner.compiled[f"{choice.layer.name}/{choice.source.dtype}"]
    tensors = {choice.layer.source: step.inputs[0]}
    for index, (generated, members, output) in enumerate(INNER_KERNELS):
        operands = [key for member in members for key in NODES[member][1] if key in NODES and key not in members]
        known = tuple(tensors.setdefault(key, step.inputs[0]) for key in operands)
        tensors[output] = Tensor(f"{tuner.network.names[output]}_{index}_myl{group}", choice.source, DIMS[output])
        if output == choice.layer.targets[0]:
            tensors[output] = step.outputs[0]
        name = f"{generated or tuner.network.names[output]}_myl{group}_{index}"
        tactic = f"{generated}_0x{hashed(name, 16):032x}" if generated else chosen[output]
        yield EngineLayerDetailed(
            name,
            "kgen" if generated else "gemm",
            tuple(tensor.detailed(None) for tensor in known),
            (tensors[output].detailed(None),),
            tactic_name=tactic,
            stream=0,
            metadata=tuner.onnx_layers(members),
            separator=MYELIN_SEPARATOR,
        )
