"""The lever over tactics: a probe's replay takes some layers from a bad build and all others from a good one.

Items are layers whose entries differ or that one side lacks; from that side, TensorRT chooses their tactics.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trtforensics.bisection.levers.recipe import Recipe, TwoSidedLever, first_of, pinned_entries, read_report
from trtforensics.bisection.search import Item
from trtforensics.bisection.session.lever import DescribedItem, Fact, Side
from trtforensics.engines.joining import select_build
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.model.layer_types import SENSITIVE
from trtforensics.model.replay import Replay, ReplayEntry
from trtforensics.pin.pinnable import PinOffer
from trtforensics.pin.plan import PinForm, plans_of, replay_of_plan
from trtforensics.replay.edges import DataflowEdge, edges_between, nodes_of_build, nodes_of_model, operators_of
from trtforensics.replay.mixing import Mixer
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.kinds import Kind, kind_of
from trtforensics.sources.replay import load_replay

_Entries = Mapping[str, ReplayEntry]
_Algorithms = Mapping[str, tuple[object, ...]]
KnownTactics = tuple[Mapping[str, Side], Mapping[str, Side]]
"""By layer, kernel, accumulator and time in ms of good's and of bad's tactic, where a log names them."""

PRECISION_SUSPICION = 8.0
FORMAT_SUSPICION = 2.0
SENSITIVE_SUSPICION = 4.0
"""Factors of suspicion: a layer whose tensors change type, or only layout; a layer that reduces or exponentiates."""


@dataclass(frozen=True, slots=True)
class ReplaySide:
    """The replays of one side, from a file or a directory; ``skipped`` says which files are no replays, and why."""

    replays: tuple[Replay, ...]
    skipped: tuple[str, ...] = ()


class TacticsLever(TwoSidedLever):
    """Layers of two replays; active ones are as in the bad one."""

    mode = "tactics"
    placeholder = "replay"
    file = "replay.json"
    bans = ("layer", "runner", "tactic")
    banned = "layer, runner id and tactic"

    def __init__(
        self,
        good: ReplaySide,
        bad: ReplaySide,
        edges: Iterable[DataflowEdge] = (),
        recipe: Recipe | None = None,
        *,
        known: KnownTactics = ({}, {}),
    ) -> None:
        self.good, self.bad, self._mixer = closest(good, bad)
        self._entries = (_by_layer(self.good), _by_layer(self.bad))
        super().__init__(recipe)
        self._known = known
        sides = tuple(
            [{entry.layer: entry.algorithm for entry in replay.entries} for replay in side.replays]
            for side in (good, bad)
        )
        layers = self._mixer.differing
        if not layers:
            where = f"{self.good.source.path} and {self.bad.source.path}"
            raise UsageError(where, "pin the same tactics", "Give replays of a good and of a bad build")
        self.items = tuple(Item(layer, self._suspicion(layer, *sides)) for layer in layers)
        number = {layer: index for index, layer in enumerate(layers)}
        ends = ((number.get(edge.producer), number.get(edge.consumer)) for edge in edges)
        self.edges = tuple((first, second) for first, second in ends if first is not None and second is not None)

    def _sides(self) -> list[object]:
        return [self._mixer.text(set()), self._mixer.text(set(self._mixer.layers))]

    def describe(self, index: int) -> DescribedItem:
        """Return a layer and what each side pins for it; None where a side has no such layer."""
        layer = self.items[index].name
        sides = zip(self._entries, self._known, strict=True)
        good, bad = (_described(entries.get(layer), known.get(layer, {})) for entries, known in sides)
        return DescribedItem(layer, sides={"good": good, "bad": bad})

    def _job(self, active: frozenset[int], path: Path) -> Mapping[str, object]:  # noqa: ARG002 - the file has them
        return {"replay": pinned_entries(path)}

    def verify(self, active: frozenset[int], folder: Path) -> str:  # noqa: ARG002 - the report has what was asked
        """Say which layers our own build runs otherwise; a layer of one side only may be absent from a mix."""
        if self._recipe is None:
            return ""
        result = read_report(folder)
        missing = result.details.get("missing")
        layers = missing if isinstance(missing, list) else []
        absent = [layer for layer in layers if all(layer in side for side in self._entries)]
        return first_of((*result.differs, *(f"the network has no layer {layer}" for layer in absent)))

    def _text(self, active: frozenset[int]) -> str:
        return self._mixer.text({self.items[index].name for index in active})

    def _ban(self, index: int) -> tuple[str, ...]:
        entry = self._entries[1].get(self.items[index].name)
        if entry is None or entry.tactic is None or entry.runner_id is None:
            return ()
        return entry.layer, f"0x{entry.runner_id:08x}", f"0x{entry.tactic:016x}"

    def _suspicion(self, layer: str, good: Sequence[_Algorithms], bad: Sequence[_Algorithms]) -> float:
        """Weigh a layer: what its own entries say, times how often bad builds have its entry and good ones have not."""
        ours, theirs = (entries.get(layer) for entries in self._entries)
        weight = SENSITIVE_SUSPICION if SENSITIVE.search(layer) else 1.0
        if ours is not None and theirs is not None:
            weight *= _change(ours, theirs)
        wanted = None if theirs is None else theirs.algorithm
        counts = [sum(replay.get(layer) == wanted for replay in side) for side in (good, bad)]
        return weight * (1 + counts[1]) / (1 + counts[0])


def closest(good: ReplaySide, bad: ReplaySide) -> tuple[Replay, Replay, Mixer]:
    """Return the good and the bad replay that differ in the fewest layers, and their mixer; of several, the first.

    Only real builds have known outcomes, so both ends are real builds. The other replays of a directory only change
    suspicions: they clear no layer, since a good build may hold either of two layers that are bad together.

    Raises:
        UsageError: the forms of no pair fit together.
    """
    best: tuple[Replay, Replay, Mixer] | None = None
    failure: ForensicsError | None = None
    for ours in good.replays:
        for theirs in bad.replays:
            try:
                mixer = Mixer(ours, theirs)
            except ForensicsError as error:
                failure = failure or error
                continue
            if best is None or len(mixer.differing) < len(best[2].differing):
                best = (ours, theirs, mixer)
    if best is None:
        raise failure or UsageError("--good, --bad", "hold no replay", "Give one for each side")
    return best


def load_side(path: str, side: str, *, max_bytes: int) -> ReplaySide:
    """Read the replays of one side: of a file, of a directory, or of the folder ``side`` of an artifacts directory.

    Raises:
        SourceError: the path, or a file in it, cannot be read.
        ForensicsError: a single file is no replay, or a directory holds none.
    """
    folder = Path(path)
    if path == "-" or not folder.is_dir():
        return ReplaySide((load_replay(path, max_bytes=max_bytes),))
    folder = folder / side if (folder / side).is_dir() else folder
    replays, skipped = [], []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.is_file():
            skipped.append(f"{entry.path}: is no regular file")
            continue
        try:
            if kind_of(entry.path) is not Kind.REPLAY:
                skipped.append(f"{entry.path}: is no tactic replay")
                continue
            replays.append(load_replay(entry.path, max_bytes=max_bytes))
        except ForensicsError as error:
            skipped.append(str(error))
    if not replays:
        raise UsageError(str(folder), "holds no tactic replay", "Give a replay, or a directory with replays in it")
    return ReplaySide(tuple(replays), tuple(skipped))


def pinned_replays(log: str, request: str, *, max_bytes: int) -> tuple[ReplaySide, ReplaySide, KnownTactics]:
    """Return the good and the bad replay of a log: as a ``pin:…`` request chooses, and as the build chose."""
    good, bad = plans_of(log, request, PinForm.REPLAY, max_bytes=max_bytes)
    known = tuple({row.slot.name: _known(row.offer) for row in side.pinned} for side in (good, bad))
    return ReplaySide((replay_of_plan(good),)), ReplaySide((replay_of_plan(bad),)), (known[0], known[1])


def _known(offer: PinOffer) -> Side:
    return without_unknown({"kernel": offer.kernel, "accumulator": offer.facts.accumulator, "time_ms": offer.time_ms})


def without_unknown(facts: Side) -> dict[str, Fact]:
    """Return the facts that are known."""
    return {name: fact for name, fact in facts.items() if fact not in {None, ""}}


def edges_of(onnx: str | None, log: str | None, layers: Collection[str], *, max_bytes: int) -> tuple[DataflowEdge, ...]:
    """Return which layers share a tensor, by a build's log if that has them, else by the model."""
    build = None if log is None else select_build(load_build_log([log], max_bytes=max_bytes), None)
    nodes = () if build is None else nodes_of_build(build)
    if onnx is not None and not nodes:
        nodes = nodes_of_model(operators_of(onnx), layers)
    return edges_between(nodes)


def _described(entry: ReplayEntry | None, known: Side) -> Side | None:
    if entry is None:
        return None
    return {
        **known,
        "runner": None if entry.runner_id is None else f"0x{entry.runner_id:08x}",
        "tactic": None if entry.tactic is None else f"0x{entry.tactic:016x}",
        "inputs": [tensor.text for tensor in entry.inputs],
        "outputs": [tensor.text for tensor in entry.outputs],
        "at": str(entry.span),
    }


def _change(ours: ReplayEntry, theirs: ReplayEntry) -> float:
    """Weigh what changes between two entries of a layer."""
    tensors = list(zip((*ours.inputs, *ours.outputs), (*theirs.inputs, *theirs.outputs), strict=False))
    if any(before.dtype != after.dtype for before, after in tensors):
        return PRECISION_SUSPICION
    return FORMAT_SUSPICION if any(before != after for before, after in tensors) else 1.0


def _by_layer(replay: Replay) -> _Entries:
    return {entry.layer: entry for entry in replay.entries}
