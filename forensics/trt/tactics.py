"""Tactics inside the build child: an ``IAlgorithmSelector`` (TensorRT 8.5 to 10.x) that reads a replay of any form.

TensorRT calls ``select_algorithms`` for each layer while it builds and ``report_algorithms`` once at the end. What a
replay's form does not say (see :class:`trtforensics.model.replay.ReplayTensor`) is not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.model.replay import ReplayEntry, ReplayTensor
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import tactic_text
from trtforensics.trt.build_levers import BuildLever, BuildSetup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import tensorrt

    from trtforensics.trt.api import TensorRT

_TACTIC_BITS = (1 << 64) - 1


class TacticPinning(BuildLever):
    """Pins the layers of a replay; TensorRT chooses for all others."""

    def __init__(self, entries: Sequence[ReplayEntry]) -> None:
        super().__init__()
        self._wanted = {entry.layer: entry for entry in entries}
        self._chosen: dict[str, ReplayEntry] = {}
        self._reported = False

    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:
        """Set the selector, without a timing cache, which would answer in its place."""
        flags = setup.trt.BuilderFlag
        config.set_flag(flags.DISABLE_TIMING_CACHE)
        if hasattr(flags, "REJECT_EMPTY_ALGORITHMS"):
            config.set_flag(flags.REJECT_EMPTY_ALGORITHMS)
        self._selector = _selector(setup.trt, self)  # TensorRT does not keep it alive
        config.algorithm_selector = self._selector

    def select(self, context: tensorrt.IAlgorithmContext, choices: Sequence[tensorrt.IAlgorithm]) -> list[int]:
        """Return the offers that the replay pins; if there are none, note all offers."""
        wanted = self._wanted.get(context.name)
        if wanted is None:
            return list(range(len(choices)))
        offers = [entry_of(context, choice, wanted.span) for choice in choices]
        fitting = [index for index, offer in enumerate(offers) if fits(wanted, offer)]
        if not fitting:
            self.result.refused.append(f"TensorRT does not offer tactic {_named(wanted)} for layer {wanted.layer}")
            self.result.details[wanted.layer] = {"wanted": _spelled(wanted), "offered": [*map(_spelled, offers)]}
        return fitting

    def report(self, contexts: Sequence[tensorrt.IAlgorithmContext], choices: Sequence[tensorrt.IAlgorithm]) -> None:
        """Note the tactics of the engine's layers."""
        self._reported = True
        for context, choice in zip(contexts, choices):  # noqa: B905 - Python 3.8 runs it too
            wanted = self._wanted.get(context.name)
            if wanted is not None:
                self._chosen[wanted.layer] = entry_of(context, choice, wanted.span)

    def look(self, config: tensorrt.IBuilderConfig) -> None:  # noqa: ARG002 - TensorRT reported its choices
        """Compare every layer; ``details["missing"]`` are layers of the replay that the network does not have."""
        if not self._reported:
            self.result.differs.append("TensorRT did not report what it chose")
            return
        for layer, chosen in self._chosen.items():
            wanted = self._wanted[layer]
            if not fits(wanted, chosen):
                self.result.differs.append(f"layer {layer} runs tactic {_named(chosen)} instead of {_named(wanted)}")
        self.result.details["missing"] = [layer for layer in self._wanted if layer not in self._chosen]


def _selector(trt: TensorRT, lever: TacticPinning) -> tensorrt.IAlgorithmSelector:
    if TYPE_CHECKING:
        from tensorrt import IAlgorithmSelector  # noqa: PLC0415 - stands for that of `trt`
    else:
        IAlgorithmSelector = trt.IAlgorithmSelector  # noqa: N806 - it is a class

    class Selector(IAlgorithmSelector):
        def __init__(self) -> None:
            IAlgorithmSelector.__init__(self)

        def select_algorithms(
            self, context: tensorrt.IAlgorithmContext, choices: Sequence[tensorrt.IAlgorithm]
        ) -> list[int]:
            return lever.select(context, choices)

        def report_algorithms(
            self, contexts: Sequence[tensorrt.IAlgorithmContext], choices: Sequence[tensorrt.IAlgorithm]
        ) -> None:
            lever.report(contexts, choices)

    return Selector()


def entry_from(values: Mapping[str, Any]) -> ReplayEntry:
    """Return an entry from its fields, as ``dataclasses.asdict`` and JSON have them."""
    tensors = {
        side: tuple(ReplayTensor(**_tensor_fields(fields)) for fields in values[side]) for side in ("inputs", "outputs")
    }
    return ReplayEntry(**{**values, **tensors, "span": SourceSpan(**values["span"])})


def _tensor_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    strides = values["strides"]
    return {**values, "strides": None if strides is None else tuple(strides)}


def entry_of(context: tensorrt.IAlgorithmContext, algorithm: tensorrt.IAlgorithm, span: SourceSpan) -> ReplayEntry:
    """Return an algorithm as an entry of a replay."""
    variant = algorithm.algorithm_variant
    inputs = context.num_inputs
    tensors = [_tensor(algorithm.get_algorithm_io_info(index)) for index in range(inputs + context.num_outputs)]
    tactic = int(variant.tactic) & _TACTIC_BITS
    return ReplayEntry(
        context.name, int(variant.implementation), tactic, tuple(tensors[:inputs]), tuple(tensors[inputs:]), span
    )


def _tensor(info: tensorrt.IAlgorithmIOInfo) -> ReplayTensor:
    """Return a tensor with the properties that this version has: 10 has no format, 8.5 no packing."""
    layout = getattr(info, "tensor_format", None)
    return ReplayTensor(
        dtype=_word(info.dtype),
        format=None if layout is None else _word(layout),
        strides=tuple(info.strides),
        vectorized_dim=getattr(info, "vectorized_dim", None),
        components=getattr(info, "components_per_element", None),
    )


def _word(enumerator: object) -> str:
    return str(enumerator).rpartition(".")[2]


def fits(wanted: ReplayEntry, offer: ReplayEntry) -> bool:
    """Whether an algorithm is the one that an entry pins, in all properties that both have."""
    if (wanted.runner_id, wanted.tactic) != (offer.runner_id, offer.tactic):
        return False
    sides = ((wanted.inputs, offer.inputs), (wanted.outputs, offer.outputs))
    return all(len(tensors) == len(other) and all(map(_alike, tensors, other)) for tensors, other in sides)


def _alike(tensor: ReplayTensor, other: ReplayTensor) -> bool:
    fields = ("dtype", "format", "strides", "vectorized_dim", "components")
    pairs = [(getattr(tensor, name), getattr(other, name)) for name in fields]
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _named(entry: ReplayEntry) -> str:
    runner = "" if entry.runner_id is None else f" (runner 0x{entry.runner_id:08x})"
    return (tactic_text(entry.tactic) or "none") + runner


def _spelled(entry: ReplayEntry) -> Mapping[str, object]:
    return {
        "runner": None if entry.runner_id is None else f"0x{entry.runner_id:08x}",
        "tactic": tactic_text(entry.tactic),
        "inputs": [tensor.text for tensor in entry.inputs],
        "outputs": [tensor.text for tensor in entry.outputs],
    }
