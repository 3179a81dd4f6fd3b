"""What a build's log says for replays: the combinations of formats that it tried, and the tactics timed in each.

An entry of a replay must equal an offered choice in every field, so a log shows whether a replay will be accepted.

A replay is made of a build's final choices, from the verbose log of TensorRT 8.6 and later, which print runner ids. It
states for each layer a runner's id, a tactic and a combination of formats, and the log prints all three
(checked on logs and replays of TensorRT 8.6 and 10). A layer for which the log lacks one of them is left out and named.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trtforensics.console.counting import grouped
from trtforensics.errors import ForensicsError
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, Tool
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.model.span import SourceInfo, SourceSpan
from trtforensics.parsers.notation.formats import Format, parse_formats
from trtforensics.parsers.notation.names import is_tried_reformat

_LINEAR_FORMATS = {"LINEAR", "DLA_LINEAR"}
_CHANNELS_LAST = {"HWC", "DHWC"}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A field in which an entry and a combination differ; without ``index`` and ``field``, the numbers of tensors."""

    side: str
    index: int | None
    field: str
    pinned: str
    offered: str


@dataclass(frozen=True, slots=True)
class FormatCombination:
    """One combination of formats that a build tried for a layer; a side is None where the log does not print it."""

    tuned: Choice | CachedResult
    inputs: tuple[Format, ...] | None
    outputs: tuple[Format, ...] | None

    @property
    def span(self) -> SourceSpan:
        """The line of its result."""
        return self.tuned.span

    @property
    def text(self) -> str:
        """Both sides in the notation of the log."""
        return f"{', '.join(self.tuned.inputs)} -> {', '.join(self.tuned.outputs)}"

    def mismatches(self, entry: ReplayEntry) -> list[Mismatch]:
        """Return where an entry's tensors differ from the combination; empty if the entry may mean this combination."""
        mismatches = []
        for name, pinned, offered in (("inputs", entry.inputs, self.inputs), ("outputs", entry.outputs, self.outputs)):
            if offered is None:
                continue
            if len(pinned) != len(offered):
                mismatches.append(Mismatch(name, None, "", f"{len(pinned)} tensors", f"{len(offered)} tensors"))
                continue
            for index, (tensor, other) in enumerate(zip(pinned, offered, strict=True)):
                mismatches += (Mismatch(name, index, *fields) for fields in _tensor_mismatches(tensor, other))
        return mismatches


class Offers:
    """All combinations that a build tried, by layer; reformats that the optimiser only tries out are left out."""

    def __init__(self, build: Build) -> None:
        self.build = build
        tuned = (combination_of(result) for result in build.tuned_results if not is_tried_reformat(result.layer))
        self._by_layer = grouped(tuned, lambda combination: combination.tuned.layer)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that were tuned, in the log's order of their first choice."""
        return tuple(self._by_layer)

    def of(self, layer: str) -> list[FormatCombination]:
        """Return the combinations of a layer; empty for a layer that was not tuned under this name."""
        return self._by_layer.get(layer, [])

    def runners(self, combination: FormatCombination, tactic: int) -> list[str]:
        """Return the runners that offered a tactic in a combination."""
        tuned = combination.tuned
        if isinstance(tuned, CachedResult):
            return [tuned.runner] if tuned.tactic == tactic else []
        offered = (c.runner for c in self.build.candidates(tuned) if c.tactic == tactic)
        chosen = [tuned.runner] if tuned.tactic == tactic else []
        return list(dict.fromkeys((*offered, *chosen)))

    def has(self, combination: FormatCombination, entry: ReplayEntry) -> bool:
        """Whether a combination offered the entry's tactic for the entry's runner."""
        runners = self.runners(combination, entry.tactic) if entry.tactic is not None else []
        return any(self.is_runner(runner, entry.runner_id) for runner in runners)

    def is_runner(self, name: str, runner_id: int | None) -> bool:
        """Whether a runner may have this id; the log prints ids since TensorRT 8.6 only."""
        known = self.build.runner_ids.get(name)
        if known is not None:
            return known == runner_id
        return runner_id not in self.build.runner_ids.values()


def combination_of(tuned: Choice | CachedResult) -> FormatCombination:
    """Return the combination of formats of a result."""
    if not tuned.inputs and not tuned.outputs:
        return FormatCombination(tuned, None, None)
    return FormatCombination(tuned, _formats(tuned.inputs), _formats(tuned.outputs))


def _formats(texts: tuple[str, ...]) -> tuple[Format, ...] | None:
    formats: list[Format] = []
    for text in texts:
        parsed = parse_formats(text)
        if not parsed:
            return None
        formats += parsed
    return tuple(formats)


def tensor_of(offered: Format) -> ReplayTensor | None:
    """Return a printed format as a replay has it; None where a stride is symbolic, which no replay can hold."""
    strides = tuple(stride for stride in offered.strides if isinstance(stride, int))
    if len(strides) < len(offered.strides):
        return None
    return ReplayTensor(offered.dtype.upper(), None, strides, offered.vectorized_dim, offered.components)


def _tensor_mismatches(tensor: ReplayTensor, offered: Format) -> Iterator[tuple[str, str, str]]:
    """Give each field that differs, with what is pinned and what is offered."""
    if tensor.dtype is not None and tensor.dtype != offered.dtype.upper():
        yield "dtype", tensor.dtype, offered.dtype.upper()
    symbolic = any(isinstance(stride, str) for stride in offered.strides)
    if tensor.strides is not None and not symbolic and tensor.strides != offered.strides:
        yield "strides", tensor.text, offered.text
    for name, pinned, other in (
        ("vectorized_dim", tensor.vectorized_dim, offered.vectorized_dim),
        ("components_per_element", tensor.components, offered.components),
    ):
        if pinned is not None and pinned != other:
            yield name, str(pinned), str(other)
    if tensor.strides is None and tensor.format is not None and not may_be(tensor.format, offered):
        yield "tensor_format", tensor.format, offered.text


def may_be(name: str, offered: Format) -> bool:
    """Whether a ``TensorFormat`` can be a printed format, as far as its name tells how many elements a pack holds."""
    digits = "".join(filter(str.isdecimal, name))
    if int(digits or 1) != offered.components:
        return False
    strides = [stride for stride in offered.strides if isinstance(stride, int)]
    if len(strides) < len(offered.strides):
        return True
    descending = strides == sorted(strides, reverse=True)
    if name in _LINEAR_FORMATS:
        return descending
    return not descending if name in _CHANNELS_LAST else True


_LAST_WITH_SELECTOR = 10
_NEXT = "Give the verbose log of a build with TensorRT 8.6 or later"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A layer, or a part of it, that the replay cannot express, and why."""

    layer: str
    span: SourceSpan
    why: str


def without_selector(build: Build) -> tuple[str, str]:
    """Say why no replay can be loaded where a build ran, and what to use instead; both "" where one may be."""
    major = (build.tensorrt_version or "").partition(".")[0]
    if build.tool is Tool.TENSORRT_RTX:
        return "TensorRT-RTX has no algorithm selector", "It times no tactics, so there is nothing to pin"
    if major.isdecimal() and int(major) > _LAST_WITH_SELECTOR:
        return f"TensorRT {major} has no algorithm selector", "Use the editable timing cache instead"
    return "", ""


def replay_of(build: Build, source: SourceInfo) -> tuple[Replay, tuple[LeftOut, ...]]:
    """Make a replay of the final choices and cached results of a build, and name the layers that it leaves out.

    An entry's span is the line of the result. A TensorRT that loads no replays, or prints no ids of runners, has none.

    Raises:
        ForensicsError: the TensorRT of the build loads no replays, the log has no choices, or prints no ids of runners.
    """
    where = f"{source.path}:{build.first_line}"
    refusal, instead = without_selector(build)
    if refusal:
        raise ForensicsError(where, f"{refusal}, so a replay of this build would be refused", instead)
    if not (build.choices or build.cached):
        raise ForensicsError(where, "this build has no autotuning, so no tactic to replay", _NEXT)
    if not build.runner_ids:
        raise ForensicsError(where, "prints no ids of runners, which a replay needs", _NEXT)
    entries: dict[str, ReplayEntry] = {}
    left_out: list[LeftOut] = []
    finals = final_results(build)
    for tuned in finals.values():
        made = _entry(build, tuned)
        if isinstance(made, LeftOut):
            left_out.append(made)
            continue
        entries[made.layer] = made
        if is_foreign_node(made.layer):
            why = "a ForeignNode is one entry: which kernels it runs inside cannot be pinned"
            left_out.append(LeftOut(made.layer, made.span, why))
    left_out += _without_final(build, finals)
    replay = Replay(source, ReplayForm.F5, "", tuple(entries.values()))
    return replay, tuple(sorted(left_out, key=lambda layer: layer.span.line))


def final_results(build: Build) -> dict[str, Choice | CachedResult]:
    """Return the final result of each layer that was tuned, in the log's order; of a layer tuned twice, the last."""
    final = (result for result in build.tuned_results if result.final and not is_tried_reformat(result.layer))
    return {result.layer: result for result in sorted(final, key=lambda result: result.span.line)}


def _entry(build: Build, tuned: Choice | CachedResult) -> ReplayEntry | LeftOut:
    runner_id = runner_id_of(build, tuned)
    if runner_id is None:
        kind = (
            "a cached result names its runner without the id" if isinstance(tuned, CachedResult) else "no id is printed"
        )
        return LeftOut(tuned.layer, tuned.span, f"{kind}, and no other line has that of {tuned.runner}")
    if tuned.tactic is None:
        return LeftOut(tuned.layer, tuned.span, "no tactic worked")
    if not tuned.inputs and not tuned.outputs:
        return LeftOut(tuned.layer, tuned.span, "the log does not print its formats")
    combination = combination_of(tuned)
    inputs, outputs = _tensors(combination.inputs), _tensors(combination.outputs)
    if inputs is None or outputs is None:
        return LeftOut(tuned.layer, tuned.span, "its strides are symbolic (dynamic shapes); a replay holds numbers")
    return ReplayEntry(tuned.layer, runner_id, tuned.tactic, inputs, outputs, tuned.span)


def runner_id_of(build: Build, tuned: Choice | CachedResult) -> int | None:
    """Return the id of the runner of a result; None where no line has it."""
    runner_id = tuned.runner_id if isinstance(tuned, Choice) else None
    return build.runner_ids.get(tuned.runner) if runner_id is None else runner_id


def _tensors(formats: Sequence[Format] | None) -> tuple[ReplayTensor, ...] | None:
    tensors = [tensor_of(printed) for printed in formats or ()]
    known = tuple(tensor for tensor in tensors if tensor is not None)
    return None if formats is None or len(known) < len(tensors) else known


def _without_final(build: Build, finals: dict[str, Choice | CachedResult]) -> list[LeftOut]:
    """Return the layers of the engine that have no final result, and why."""
    undecided = {
        result.layer: result
        for result in build.tuned_results
        if result.final is None and not is_tried_reformat(result.layer)
    }
    layers = build.engine_layers
    left_out = [
        LeftOut(layer.name, layer.span, layer.origin)
        for layer in layers
        if layer.choice is None and layer.cached is None and layer.origin and layer.name not in undecided
    ]
    why = "the log does not tell which of its choices the engine uses"
    return [*left_out, *(LeftOut(n, result.span, why) for n, result in undecided.items() if n not in finals)]
