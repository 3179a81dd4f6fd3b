"""Says of every pinned layer or key whether a later build used it, by the build's log or its timing cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtforensics.model.engine import TimingCache
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import BuildLog, CachedResult, Choice, EngineLayer, EngineTensor, MyelinOperation
from trtforensics.model.older_python import StrEnum
from trtforensics.model.replay import Replay, ReplayEntry, ReplayTensor
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.formats import Format, short_layout
from trtforensics.parsers.notation.names import members
from trtforensics.replay import from_log

_LEAST_NAMED = 0.5
"""The share of pinned layers that a log of the same network names at least."""
_NOTHING = "nothing given shows it; give the timing cache that the build wrote, or a log with a detailed dump"
_FIRST_HASH = 1 << 32
"""Tactics from here on are hashes, which no two runners share; each runner counts the smaller ones for itself."""
_AMBIGUOUS = "16"
"""The packing that two formats have: CHW16 and HWC16."""


class PinUse(StrEnum):
    """Whether a build used what was pinned."""

    USED = "used"
    NOT_USED = "not used"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PinProof:
    """The judgement of one pinned layer or key: ``what`` was seen, at ``span`` where a source shows it."""

    name: str
    use: PinUse
    what: str
    span: SourceSpan | None = None


def without_proof(proofs: Sequence[PinProof]) -> str:
    """Say why proofs do not show that a build used a pin: nothing is known, or it is another network; "" if they do."""
    named = sum(proof.span is not None for proof in proofs)
    if not named:
        reasons = {proof.what for proof in proofs}
        why = reasons.pop() if len(reasons) == 1 else "what was given names none of them"
        return f"nothing could be shown: {why}"
    if all(proof.use is PinUse.UNKNOWN for proof in proofs):
        return "nothing could be shown: of none are the tactic, its runner and the formats all printed"
    if named < _LEAST_NAMED * sum(proof.what != _NOTHING for proof in proofs):
        return f"this seems to be another network: what was given names {named} of the {len(proofs)} that are pinned"
    return ""


def verify_layers(pinned: Replay, logs: Sequence[BuildLog]) -> tuple[PinProof, ...]:
    """Judge every entry of a replay by the last build of each log; a log that contradicts outweighs the others."""
    builds = [_SeenLayers(log) for log in logs]
    return tuple(_strongest([build.judge(entry) for build in builds]) for entry in pinned.entries)


class _SeenLayers:
    """The layers of the last build of a log, as it tuned them and as its engine has them."""

    def __init__(self, log: BuildLog) -> None:
        builds = (build for build in reversed(log.builds) if build.choices or build.cached or build.engine_layers)
        self._build = build = next(builds, log.builds[-1])
        self._final = from_log.final_results(build)
        self._engine = {layer.name: layer for layer in build.engine_layers}
        self._tuned = {tuned.layer: tuned for tuned in build.tuned_results}
        self._refusal, _ = from_log.without_selector(build)

    def judge(self, entry: ReplayEntry) -> PinProof:
        """Say whether the build used what an entry pins."""
        name = entry.layer
        final, layer, tuned = self._final.get(name), self._engine.get(name), self._tuned.get(name)
        if self._refusal:
            return PinProof(name, PinUse.UNKNOWN, f"{self._refusal}, so the build loaded no replay")
        if entry.tactic is None or entry.runner_id is None:
            return PinProof(name, PinUse.UNKNOWN, "its entry names no tactic, or no runner")
        if final is not None:
            return PinProof(name, *self._by_result(entry, final), final.span)
        if layer is not None:
            return PinProof(name, *_by_engine(entry, layer), layer.span)
        if tuned is not None:
            what = "the log does not tell which of its choices the engine uses"
            return PinProof(name, PinUse.UNKNOWN, what, tuned.span)
        return PinProof(name, PinUse.UNKNOWN, "the log shows no such layer")

    def _by_result(self, entry: ReplayEntry, final: Choice | CachedResult) -> tuple[PinUse, str]:
        if final.tactic != entry.tactic:
            return PinUse.NOT_USED, f"runs {_tactic(final.tactic)} instead of {_tactic(entry.tactic)}"
        runner = from_log.runner_id_of(self._build, final)
        if runner not in {None, entry.runner_id}:
            return PinUse.NOT_USED, f"runs {_tactic(final.tactic)} of another runner, {final.runner}"
        combination = from_log.combination_of(final)
        if combination.mismatches(entry):
            return PinUse.NOT_USED, "runs it in other formats"
        missing = _not_compared(entry, combination, runner)
        if missing:
            return PinUse.UNKNOWN, f"runs that tactic; {missing}"
        return PinUse.USED, f"runs {_tactic(final.tactic)}"


def _not_compared(entry: ReplayEntry, combination: from_log.FormatCombination, runner: int | None) -> str:
    """Say what of a result and an entry of one tactic could not be compared; "" where everything was."""
    if runner is None and (entry.tactic or 0) < _FIRST_HASH:
        return "the log does not print the id of its runner, and such a tactic may be of any"
    if combination.inputs is None or combination.outputs is None:
        return "the log does not print its formats"
    if any(isinstance(stride, str) for side in (*combination.inputs, *combination.outputs) for stride in side.strides):
        return "its strides are symbolic in the log"
    stated = [
        tensor.dtype and (tensor.strides or not (tensor.format or _AMBIGUOUS).endswith(_AMBIGUOUS))
        for tensor in (*entry.inputs, *entry.outputs)
    ]
    return "" if all(stated) else "its entry does not state the formats in numbers"


def _by_engine(entry: ReplayEntry, layer: EngineLayer) -> tuple[PinUse, str]:
    if layer.tactic is None:
        return PinUse.UNKNOWN, "the engine has the layer; the log does not print its tactic"
    if layer.tactic != entry.tactic:
        return PinUse.NOT_USED, f"the engine has {_tactic(layer.tactic)} instead of {_tactic(entry.tactic)}"
    sides = ((entry.inputs, layer.inputs), (entry.outputs, layer.outputs))
    same = [_is_of(*pair) for pinned, dumped in sides for pair in zip(pinned, dumped, strict=False)]
    if False in same:
        return PinUse.NOT_USED, f"the engine has {_tactic(layer.tactic)} in other formats"
    paired = same and all(len(pinned) == len(dumped) for pinned, dumped in sides)
    if not paired or None in same or layer.tactic < _FIRST_HASH:
        return PinUse.UNKNOWN, "the engine has that tactic; the log does not print its runner and all its formats"
    return PinUse.USED, f"the engine has {_tactic(layer.tactic)}"


def _is_of(pinned: ReplayTensor, dumped: EngineTensor) -> bool | None:
    """Whether a tensor of an engine dump is as it is pinned; None where the dump or the entry does not tell."""
    if pinned.dtype not in {None, dumped.dtype.upper()}:
        return False
    layout = short_layout(dumped.format, dumped.components).upper()
    if layout and pinned.components not in {None, int("".join(filter(str.isdecimal, layout)) or 1)}:
        return False
    if not layout or layout.startswith("VEC"):
        return None
    if pinned.strides is None:
        return True if pinned.dtype and pinned.format == layout else None
    known = pinned.dtype and pinned.components and not layout.endswith(_AMBIGUOUS)
    printed = Format(pinned.dtype or "", pinned.strides, components=pinned.components or 1)
    return True if known and from_log.may_be(layout, printed) else None


def verify_keys(pinned: TimingCache, logs: Sequence[BuildLog], caches: Sequence[TimingCache]) -> tuple[PinProof, ...]:
    """Judge every key: by the timing cache after the build, by what the log says it timed again, by the kernels.

    A build that takes every tactic from the cache prints no tables: then only the cache, or a detailed dump of the
    engine, tells.
    """
    after = [{key.key: key for key in cache.keys} for cache in caches]
    tables = [{key.key: key for build in log.builds for key in build.timing_cache_keys} for log in logs]
    kernels = [_kernels(log) for log in logs]
    proofs = []
    for key in pinned.keys:
        if key.selected is None:
            continue
        judged = [_compared(key, table.get(key.key), "the timing cache has") for table in after]
        again = [table[key.key] for table in tables if key.key in table]
        judged += [_compared(key, timed, "TensorRT measured it again and took") for timed in again]
        judged += [proof for kernel in kernels if (proof := _kernel(key, kernel)) is not None]
        proofs.append(_strongest(judged or [PinProof(_name(key), PinUse.UNKNOWN, _NOTHING)]))
    return tuple(proofs)


def _strongest(proofs: Sequence[PinProof]) -> PinProof:
    order = (PinUse.NOT_USED, PinUse.USED, PinUse.UNKNOWN)
    return min(proofs, key=lambda proof: order.index(proof.use))


def _name(key: MyelinOperation) -> str:
    return f"{key.op} {key.key}" if key.op else key.key


def _compared(key: MyelinOperation, has: MyelinOperation | None, how: str) -> PinProof:
    if has is None:
        return PinProof(_name(key), PinUse.NOT_USED, f"{how} no such key after the build")
    used = has.selected == key.selected
    other = "" if used else f" instead of {_tactic(key.selected)}"
    what = f"{how} {_tactic(has.selected)}{other}"
    return PinProof(_name(key), PinUse.USED if used else PinUse.NOT_USED, what, has.span)


def _kernels(log: BuildLog) -> dict[str, EngineLayer]:
    """Return the kernels of the last engine dump by the one operation that each runs."""
    layers = next((build.engine_layers for build in reversed(log.builds) if build.engine_layers), ())
    named = ((members(layer.name), layer) for layer in layers if layer.tactic_name)
    return {of[0]: layer for of, layer in named if len(of) == 1 and not is_foreign_node(layer.name)}


def _kernel(key: MyelinOperation, kernels: Mapping[str, EngineLayer]) -> PinProof | None:
    """Judge by the kernel's name, where the export's candidates give the pinned tactic one of its own."""
    layer = kernels.get(key.op)
    offered = [candidate.kernel for candidate in key.candidates]
    wanted = next((candidate.kernel for candidate in key.candidates if candidate.tactic == key.selected), "")
    if layer is None or layer.tactic_name not in offered or offered.count(wanted) != 1:
        return None
    used = layer.tactic_name == wanted
    what = f"the engine has kernel {layer.tactic_name}" + ("" if used else f" instead of {wanted}")
    return PinProof(_name(key), PinUse.USED if used else PinUse.NOT_USED, what, layer.span)


def _tactic(tactic: int | None) -> str:
    return f"tactic {tactic_text(tactic) or 'none'}"
