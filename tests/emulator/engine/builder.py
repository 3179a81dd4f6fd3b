"""A build: every layer's algorithms are timed, one is taken, as a selector, a timing cache and the formats allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from tests.emulator.engine.kernels import dice
from tests.emulator.engine.net import (
    LINEAR_FLOAT,
    REFORMAT_MS,
    Algorithm,
    Layer,
    Net,
    Operation,
    disturbed,
    key,
    reformat,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.emulator.engine.network import Format

NO_KEYS: Mapping[int, int] = {}


class Refused(Exception):  # noqa: N818 - a refusal is what TensorRT answers
    """TensorRT cannot build what it was asked for; the text is that of its error."""


class CacheEntry(NamedTuple):
    """What an editable timing cache stores: the tactic's hash and its time in ms."""

    tactic: int
    ms: float


class Decision(NamedTuple):
    """The algorithm that a layer runs with, and the time in ms that was measured for it."""

    layer: Layer
    algorithm: Algorithm
    ms: float


class Inner(NamedTuple):
    """The tactic of an operation inside a ForeignNode."""

    layer: str
    operation: Operation
    dtype: str
    key: int
    tactic: int
    ms: float


class Selector(Protocol):
    """Chooses among the algorithms that are offered for a layer; only those that it returns are timed."""

    def select(self, layer: Layer, offers: Sequence[Algorithm], milliseconds: Sequence[float]) -> Sequence[int]:
        """Return the indexes that TensorRT may choose from; Refused ends the build."""

    def report(self, decisions: Sequence[Decision]) -> None:
        """Take note of what was chosen."""


class Request(NamedTuple):
    """How to build. ``luck`` seeds the noise of the measurements; ``cache`` is read and completed.

    ``runner_up``: an unlucky build in which the second best of every layer measured best. ``refused`` are hashes that
    no layer can use although they are offered. ``drift`` maps a key to another one: where that one's tactic is not the
    fastest, the first key is a different one. ``blind`` are keys that are always timed anew, miss or not.
    """

    luck: object
    noise: float = 0.01
    selector: Selector | None = None
    cache: dict[int, CacheEntry] | None = None
    error_on_miss: bool = False
    runner_up: bool = False
    refused: frozenset[int] = frozenset()
    drift: Mapping[int, int] = NO_KEYS
    blind: frozenset[int] = frozenset()


class Build:
    """A build and what is known of it, also when it ends early.

    ``measured`` holds a time for each offer of a layer, inf for one that was not timed; ``hits`` what the cache knew,
    by key; ``places`` the keys, by layer and formats.
    """

    def __init__(self, net: Net, request: Request) -> None:
        self.net = net
        self.request = request
        self.measured: dict[str, list[float]] = {}
        self.hits: dict[int, CacheEntry] = {}
        self.places: dict[tuple[str, str], int] = {}
        self.decisions: list[Decision] = []
        self.inner: list[Inner] = []
        self._random = dice("measure", request.luck)
        self._slow: set[int] = set()

    def run(self) -> None:
        """Decide every layer.

        Raises:
            Refused: The network cannot be built this way.
        """
        formats: dict[str, Format] = dict.fromkeys(self.net.inputs, LINEAR_FLOAT)
        for layer in self.net.layers:
            decision = self._decide(layer, formats)
            self._change_inputs(layer, decision.algorithm, formats)
            self.decisions.append(decision)
            formats.update(zip(layer.outputs, decision.algorithm.outputs, strict=True))
            if layer.outputs[0] in self.net.outputs and decision.algorithm.outputs[0] != LINEAR_FLOAT:
                self._reformat(reformat(layer, 0, decision.algorithm.outputs[0], LINEAR_FLOAT, into=False))
        if self.request.selector is not None:
            self.request.selector.report(self.decisions)

    def _decide(self, layer: Layer, formats: Mapping[str, Format]) -> Decision:
        milliseconds = self._measure(layer)
        open_to = [
            index
            for index, offer in enumerate(layer.offers)
            if offer.tactic not in self.request.refused
            and milliseconds[index] != float("inf")
            and not (layer.locked and offer.inputs[0] != formats[layer.inputs[0]])
        ]
        if layer.operations:
            open_to = [index for index in open_to if self._compiled(layer, layer.offers[index])]
        chosen = self._chosen(layer, open_to, milliseconds, formats)
        return Decision(layer, layer.offers[chosen], milliseconds[chosen])

    def _chosen(
        self, layer: Layer, open_to: list[int], milliseconds: list[float], formats: Mapping[str, Format]
    ) -> int:
        if self.request.selector is not None:
            offers = [layer.offers[index] for index in open_to]
            taken = self.request.selector.select(layer, offers, [milliseconds[index] for index in open_to])
            open_to = [open_to[index] for index in taken]
            for index in set(range(len(milliseconds))).difference(open_to):
                milliseconds[index] = float("inf")
        if not open_to:
            raise Refused(f"Error Code 10: Internal Error (Could not find any implementation for node {layer.name}.)")

        arriving = [formats[tensor] for tensor in layer.inputs]
        changes = {
            form: REFORMAT_MS * sum(known != form for known in arriving)
            for form in {layer.offers[index].inputs[0] for index in open_to}
        }

        def cost(index: int) -> float:
            return milliseconds[index] + changes[layer.offers[index].inputs[0]]

        if self.request.runner_up and len(open_to) > 1:
            ranked = sorted(open_to, key=cost)
            second = self._unlucky(layer, ranked)
            milliseconds[second], milliseconds[ranked[0]] = milliseconds[ranked[0]], milliseconds[second]
            return second
        return min(open_to, key=cost)

    @staticmethod
    def _unlucky(layer: Layer, ranked: list[int]) -> int:
        """Return the second best: in the same formats where there is one, in others where a coupled run begins."""
        begins = layer.block > 0 and not layer.locked
        best = layer.offers[ranked[0]].inputs
        fitting = [index for index in ranked[1:] if (layer.offers[index].inputs == best) != begins]
        return (fitting or ranked[1:])[0]

    # ---- timing ----

    def _measure(self, layer: Layer) -> list[float]:
        """Return a time for each offer: measured, or the cache's for the one that it names and none for the others."""
        request = self.request
        milliseconds = [disturbed(offer.ms, request.noise, self._random) for offer in layer.offers]
        if request.cache is not None and not layer.operations:
            for source, indexes in combinations(layer):
                self.places[layer.name, source] = place = self._key(layer.name, source)
                self._cached(layer, place, indexes, milliseconds)
        self.measured[layer.name] = milliseconds
        return milliseconds

    def _cached(self, layer: Layer, place: int, indexes: list[int], milliseconds: list[float]) -> None:
        """Let the cache decide a combination, or the combination complete the cache."""
        assert self.request.cache is not None
        entry = self._hit(place, layer.name)
        if entry is None:
            best = min(indexes, key=milliseconds.__getitem__)
            self.request.cache[place] = CacheEntry(layer.offers[best].tactic, milliseconds[best])
        else:
            self._usable(layer.name, entry, {layer.offers[index].tactic for index in indexes})
            for index in indexes:
                known = layer.offers[index].tactic == entry.tactic
                milliseconds[index] = entry.ms if known else float("inf")
            best = next(index for index in indexes if layer.offers[index].tactic == entry.tactic)
        fastest = min(indexes, key=lambda index: layer.offers[index].ms)
        if layer.offers[best].tactic != layer.offers[fastest].tactic:
            self._slow.add(place)

    def _hit(self, place: int, name: str) -> CacheEntry | None:
        request = self.request
        if request.cache is None or place in request.blind:
            return None
        entry = request.cache.get(place)
        if entry is not None:
            self.hits[place] = entry
        elif request.error_on_miss:
            raise Refused(f"Error Code 10: Internal Error (Timing cache miss for node {name}, key 0x{place:032x}.)")
        return entry

    def _usable(self, name: str, entry: CacheEntry, candidates: set[int]) -> None:
        if entry.tactic not in candidates or entry.tactic in self.request.refused:
            text = f"Tactic 0x{entry.tactic:x} of the timing cache cannot implement node {name}."
            raise Refused(f"Error Code 10: Internal Error ({text})")

    def _key(self, *parts: object) -> int:
        plain = key(self.net.name, *map(str, parts))
        moved = self.request.drift.get(plain) in self._slow
        return key(f"{plain:x}", "moved") if moved else plain

    # ---- ForeignNodes ----

    def _compiled(self, layer: Layer, offer: Algorithm) -> bool:
        """Choose the tactics of a ForeignNode's operations in a precision; always possible, or the build ends."""
        dtype = offer.inputs[0].dtype
        for operation in layer.operations:
            rows = table(layer.name, operation.name, dtype)
            place = self._key(layer.name, operation.name, dtype)
            entry = self._hit(place, operation.name)
            if entry is None:
                timed = [(disturbed(row.ms, self.request.noise, self._random), row.tactic) for row in rows]
                timed = sorted(pair for pair in timed if pair[1] not in self.request.refused)
                ms, tactic = timed[1 if self.request.runner_up else 0]
                entry = CacheEntry(tactic, ms)
                if self.request.cache is not None:
                    self.request.cache[place] = entry
            else:
                self._usable(operation.name, entry, {row.tactic for row in rows})
            if entry.tactic != rows[0].tactic:
                self._slow.add(place)
            self.inner.append(Inner(layer.name, operation, dtype, place, entry.tactic, entry.ms))
        return True

    # ---- reformats ----

    def _change_inputs(self, layer: Layer, algorithm: Algorithm, formats: Mapping[str, Format]) -> None:
        for index, (tensor, wanted) in enumerate(zip(layer.inputs, algorithm.inputs, strict=True)):
            if formats[tensor] != wanted:
                self._reformat(reformat(layer, index, formats[tensor], wanted, into=True))

    def _reformat(self, layer: Layer) -> None:
        milliseconds = [disturbed(offer.ms, self.request.noise, self._random) for offer in layer.offers]
        self.measured[layer.name] = milliseconds
        taken: Sequence[int] = range(len(layer.offers))
        if self.request.selector is not None:
            taken = self.request.selector.select(layer, layer.offers, milliseconds)
        best = min(taken, key=milliseconds.__getitem__)
        self.decisions.append(Decision(layer, layer.offers[best], milliseconds[best]))


def combinations(layer: Layer) -> Iterator[tuple[str, list[int]]]:
    """Yield each combination of formats, spelled, with the indexes of its offers."""
    found: dict[str, list[int]] = {}
    for index, offer in enumerate(layer.offers):
        found.setdefault(f"{offer.inputs[0].dtype}{offer.inputs[0].components}", []).append(index)
    yield from found.items()
