"""Says of every pinned layer or key whether a later build used it, by the build's log or its timing cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.errors import ForensicsError
from trtforensics.model.older_python import StrEnum
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.names import is_foreign_node, members
from trtforensics.replay.from_log import replay_of
from trtforensics.trt.inside.tactics import fits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.log import BuildLog, EngineLayer, MyelinOperation
    from trtforensics.model.replay import Replay, ReplayEntry
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timing_cache import TimingCache


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


def verify_layers(pinned: Replay, logs: Sequence[BuildLog]) -> tuple[PinProof, ...]:
    """Judge every entry of a replay by the last build of each log; a log that contradicts outweighs the others."""
    seen = [_layers_seen(log) for log in logs]
    return tuple(_strongest([_layer(entry, *one) for one in seen]) for entry in pinned.entries)


_Seen = tuple["Mapping[str, ReplayEntry]", "Mapping[str, EngineLayer]"]


def _layers_seen(log: BuildLog) -> _Seen:
    build = next((one for one in reversed(log.builds) if one.choices or one.cached or one.engine_layers), None)
    if build is None:
        return {}, {}
    try:
        entries = replay_of(build, log.source).replay.entries
    except ForensicsError:  # it chooses nothing, or prints no ids of runners
        entries = ()
    return {entry.layer: entry for entry in entries}, {layer.name: layer for layer in build.engine_layers}


def _layer(pinned: ReplayEntry, tuned: Mapping[str, ReplayEntry], engine: Mapping[str, EngineLayer]) -> PinProof:
    name = pinned.layer
    chosen, dumped = tuned.get(name), engine.get(name)
    if chosen is not None:
        if fits(pinned, chosen):
            return PinProof(name, PinUse.USED, f"runs {_tactic(chosen.tactic)}", chosen.span)
        same = (pinned.runner_id, pinned.tactic) == (chosen.runner_id, chosen.tactic)
        how = "runs it in other formats" if same else f"runs {_tactic(chosen.tactic)} instead of"
        return PinProof(name, PinUse.NOT_USED, how if same else f"{how} {_tactic(pinned.tactic)}", chosen.span)
    if dumped is not None and dumped.tactic is not None:
        used = dumped.tactic == pinned.tactic
        what = f"the engine has {_tactic(dumped.tactic)}"
        what += "" if used else f" instead of {_tactic(pinned.tactic)}"
        return PinProof(name, PinUse.USED if used else PinUse.NOT_USED, what, dumped.span)
    if dumped is not None:
        return PinProof(
            name, PinUse.UNKNOWN, "the engine has the layer; the log does not print its tactic", dumped.span
        )
    return PinProof(name, PinUse.UNKNOWN, "the log shows no such layer")


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
        seen = [_cached(key, one) for one in after] + [_timed_again(key, one) for one in tables]
        seen += [_kernel(key, one) for one in kernels]
        proofs.append(_strongest([proof for proof in seen if proof is not None] or [_nothing(key)]))
    return tuple(proofs)


def _strongest(proofs: Sequence[PinProof]) -> PinProof:
    order = (PinUse.NOT_USED, PinUse.USED, PinUse.UNKNOWN)
    return min(proofs, key=lambda proof: order.index(proof.use))


def _name(key: MyelinOperation) -> str:
    return f"{key.op} {key.key}" if key.op else key.key


def _nothing(key: MyelinOperation) -> PinProof:
    what = "nothing given shows it; give the timing cache that the build wrote, or a log with a detailed dump"
    return PinProof(_name(key), PinUse.UNKNOWN, what)


def _cached(key: MyelinOperation, after: Mapping[str, MyelinOperation]) -> PinProof | None:
    has = after.get(key.key)
    if has is None:
        return PinProof(_name(key), PinUse.NOT_USED, "the timing cache has no such key after the build")
    return _compared(key, has, "the timing cache has")


def _timed_again(key: MyelinOperation, tables: Mapping[str, MyelinOperation]) -> PinProof | None:
    again = tables.get(key.key)
    return None if again is None else _compared(key, again, "TensorRT measured it again and took")


def _compared(key: MyelinOperation, has: MyelinOperation, how: str) -> PinProof:
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
    """Judge by the kernel's name, where the export's candidates give the pinned tactic one of its own.

    One operation may have a key for each type; a kernel that is no candidate of a key runs for another one.
    """
    layer = kernels.get(key.op)
    offered = [one.kernel for one in key.candidates]
    wanted = next((one.kernel for one in key.candidates if one.tactic == key.selected), "")
    if layer is None or layer.tactic_name not in offered or offered.count(wanted) != 1:
        return None
    used = layer.tactic_name == wanted
    what = f"the engine has kernel {layer.tactic_name}" + ("" if used else f" instead of {wanted}")
    return PinProof(_name(key), PinUse.USED if used else PinUse.NOT_USED, what, layer.span)


def _tactic(tactic: int | None) -> str:
    return f"tactic {tactic_text(tactic) or 'none'}"
