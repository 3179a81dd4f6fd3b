"""Aligns the layers of two builds: by name, then by what was fused into them, then by position."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from trtforensics.comparison.views import LayerView
from trtforensics.model.older_python import StrEnum

_T = TypeVar("_T", bound="Hashable")

_MYELIN_NUMBER = re.compile(r"_myl\d+(?:_\d+)?\b")
_NUMBERED = re.compile(r"[A-Z][A-Za-z0-9]*_(\d+)")
"""A node's name that an exporter makes of the operator and a running number (``Conv_242``)."""


class MatchedBy(StrEnum):
    """Why two layers count as the same. ``NAME`` includes kernels whose names differ in Myelin's numbers only."""

    NAME = "name"
    FUSED_MEMBERS = "fused-members"
    POSITION = "position"


@dataclass(frozen=True, slots=True)
class LayerPair:
    """A layer of one build and the same layer of another, by index."""

    left: int
    right: int
    how: MatchedBy


@dataclass(frozen=True, slots=True)
class Regrouping:
    """Layers of both builds with common members that they group differently; ``parts`` name the same nodes in both."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    parts: frozenset[str]


def align(
    left: Sequence[LayerView], right: Sequence[LayerView]
) -> tuple[tuple[LayerPair, ...], tuple[Regrouping, ...]]:
    """Return pairs and regroupings of two builds' layers; one of a regrouping is paired with the most similar one."""
    unaligned = _Unaligned((left, right), set(range(len(left))), set(range(len(right))))
    pairs = [
        LayerPair(i, j, MatchedBy.NAME)
        for key in (lambda layer: layer.key, lambda layer: layer.name, _without_numbers)
        for i, j in unaligned.equal(key)
    ]
    regroupings = []
    members = _Members.of(unaligned)
    for group in _regroupings(unaligned, members):
        closest = [LayerPair(i, j, MatchedBy.FUSED_MEMBERS) for i, j in _closest(unaligned.layers, group, members)]
        pairs += closest
        if len(closest) != 1 or not members.alike(left[closest[0].left], right[closest[0].right]):
            regroupings.append(group)
        unaligned.left -= set(group.left)
        unaligned.right -= set(group.right)
    pairs += [LayerPair(i, j, MatchedBy.POSITION) for i, j in _by_position(unaligned, pairs)]
    return tuple(pairs), tuple(regroupings)


_PerSide = tuple["Sequence[LayerView]", "Sequence[LayerView]"]


@dataclass(slots=True)
class _Unaligned:
    """The layers of two builds, and which of them are not aligned yet, by index."""

    layers: _PerSide
    left: set[int]
    right: set[int]

    def equal(self, key: Callable[[LayerView], str]) -> Iterator[tuple[int, int]]:
        """Pair off layers with the same key, in order; layers with an empty key are not paired."""
        left, right = self.layers
        waiting: dict[str, list[int]] = defaultdict(list)
        for j in sorted(self.right, reverse=True):
            waiting[key(right[j])].append(j)
        for i in sorted(self.left):
            name = key(left[i])
            indexes = waiting.get(name)
            if name and indexes:
                j = indexes.pop()
                self.left.discard(i)
                self.right.discard(j)
                yield i, j

    def owners(self, parts: Callable[[LayerView], frozenset[str]]) -> dict[str, list[tuple[int, int]]]:
        """Return the layers that hold each member: 0 or 1 for the build, and the layer's index."""
        owners: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for side, indexes in enumerate((self.left, self.right)):
            for index in sorted(indexes):
                for part in parts(self.layers[side][index]):
                    owners[part].append((side, index))
        return owners


def _without_numbers(layer: LayerView) -> str:
    """Return a kernel's name without the numbers that Myelin gives anew in each build; empty for all others."""
    stem = plain_name(layer.name)
    return stem if stem != layer.name else ""


def plain_name(name: str) -> str:
    """Return a name without the numbers that Myelin gives anew in each build (``fc_myl5_2``: ``fc_myl``)."""
    return _MYELIN_NUMBER.sub("_myl", name)


@dataclass(frozen=True, slots=True)
class _Members:
    """What layers are fused of; numbers from ``other`` on (if not None) name different nodes in the two builds."""

    other: int | None

    @classmethod
    def of(cls, unaligned: _Unaligned) -> _Members:
        """Compare the numbers in layers that alone hold a member without a number, such as a weight."""
        differing = []
        for part, owners in unaligned.owners(lambda layer: layer.parts).items():
            if _number(part) is not None or [side for side, _ in owners] != [0, 1]:
                continue
            ours, theirs = (
                {name: number for name in layers[index].parts if (number := _number(name)) is not None}
                for layers, (_, index) in zip(unaligned.layers, owners, strict=True)
            )
            unlike = ours.keys() ^ theirs.keys()
            alike = Counter(map(_operator, ours)) == Counter(map(_operator, theirs))
            if ours and theirs and unlike and (alike or not ours.keys() & theirs.keys()):
                differing.append(min((ours | theirs)[name] for name in unlike))
        return cls(min(differing, default=None))

    def telling(self, layer: LayerView) -> frozenset[str]:
        """Return the members that are the same in both builds if their names are."""
        return frozenset(part for part in layer.parts if self._tells(part))

    def alike(self, left: LayerView, right: LayerView) -> bool:
        """Whether two layers are fused of the same members; of others than those that tell, operators count."""
        return Counter(map(self._named, left.parts)) == Counter(map(self._named, right.parts))

    def _tells(self, part: str) -> bool:
        return self.other is None or (_number(part) or 0) < self.other

    def _named(self, part: str) -> str:
        return part if self._tells(part) else _operator(part)


def _number(part: str) -> int | None:
    match = _NUMBERED.fullmatch(part)
    return int(match[1]) if match else None


def _operator(part: str) -> str:
    """Return the operator of a numbered node's name; other names as they are."""
    return part if _number(part) is None else part.rpartition("_")[0]


def _regroupings(unaligned: _Unaligned, members: _Members) -> list[Regrouping]:
    """Gather the layers that are connected by common members, over both builds."""
    left, right = unaligned.layers
    regroupings = []
    for group in join_groups(unaligned.owners(members.telling).values()):
        sides = [sorted(index for side, index in group if side == build) for build in (0, 1)]
        layers = [*(left[i] for i in sides[0]), *(right[j] for j in sides[1])]
        parts = frozenset().union(*map(members.telling, layers))
        regroupings.append(Regrouping(tuple(sides[0]), tuple(sides[1]), parts))
    return sorted((group for group in regroupings if group.left and group.right), key=lambda group: group.left)


def join_groups(sets: Iterable[Sequence[_T]]) -> list[list[_T]]:
    """Join sets until no two have an element in common; each set has at least one element."""
    parent: dict[_T, _T] = {}

    def root(item: _T) -> _T:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for items in sets:
        for item in items:
            parent[root(item)] = root(items[0])
    groups: dict[_T, list[_T]] = defaultdict(list)
    for item in list(parent):
        groups[root(item)].append(item)
    return list(groups.values())


def _closest(sides: _PerSide, group: Regrouping, members: _Members) -> list[tuple[int, int]]:
    """Pair the layers of a regrouping, those with most in common first, each layer once."""
    ours, theirs = (
        {i: members.telling(layers[i]) for i in indexes}
        for layers, indexes in zip(sides, (group.left, group.right), strict=True)
    )
    ranked = sorted(
        (-len(ours[i] & theirs[j]) / len(ours[i] | theirs[j]), i, j)
        for i in group.left
        for j in group.right
        if ours[i] & theirs[j]
    )
    taken: list[tuple[int, int]] = []
    for _, i, j in ranked:
        if all(i != a and j != b for a, b in taken):
            taken.append((i, j))
    return taken


def _by_position(unaligned: _Unaligned, pairs: Sequence[LayerPair]) -> Iterator[tuple[int, int]]:
    """Pair layers between aligned neighbours, where both builds have equally many layers with the same runners."""
    left, right = unaligned.layers
    anchors = [(-1, -1), *_in_order(sorted((p.left, p.right) for p in pairs)), (len(left), len(right))]
    for (i, j), (k, m) in pairwise(anchors):
        ours = [n for n in range(i + 1, k) if n in unaligned.left and not left[n].is_reformat]
        theirs = [n for n in range(j + 1, m) if n in unaligned.right and not right[n].is_reformat]
        if len(ours) != len(theirs):
            continue
        alone = len(ours) == 1
        if not all(_alike(left[a], right[b], alone=alone) for a, b in zip(ours, theirs, strict=True)):
            continue
        unaligned.left -= set(ours)
        unaligned.right -= set(theirs)
        yield from zip(ours, theirs, strict=True)


def _alike(left: LayerView, right: LayerView, *, alone: bool) -> bool:
    """Whether layers have as many tensors, one operator, and one runner unless ``alone`` between their neighbours."""
    runners = [(a, b) for a, b in ((left.runner, right.runner), (left.runner_id, right.runner_id)) if a and b]
    counts = [(len(layer.tensors.texts), layer.tensors.inputs) for layer in (left, right) if layer.tensors.texts]
    if None not in {_number(left.name), _number(right.name)} and _operator(left.name) != _operator(right.name):
        return False
    return (alone or all(a == b for a, b in runners)) and len(set(counts)) <= 1 and bool(runners or counts)


def _in_order(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs that stand in the same order on both sides."""
    tails: list[int] = []
    places: list[int] = []
    for _, right in pairs:
        place = bisect_left(tails, right)
        tails[place : place + 1] = [right]
        places.append(place)
    wanted = len(tails) - 1
    chosen: list[tuple[int, int]] = []
    for pair, place in zip(reversed(pairs), reversed(places), strict=True):
        if place == wanted:
            chosen.append(pair)
            wanted -= 1
    return chosen[::-1]


Layers = tuple["LayerView", ...]
_WEAKEST = (MatchedBy.NAME, MatchedBy.FUSED_MEMBERS, MatchedBy.POSITION)


@dataclass(slots=True)
class AlignedLayer:
    """A layer of the model by ``position``, its counterpart in each build, and the weakest evidence for them."""

    name: str
    position: float
    by_build: dict[int, LayerView] = field(default_factory=dict)
    how: MatchedBy = MatchedBy.NAME


@dataclass(frozen=True, slots=True)
class FusionSite:
    """Members that builds fuse in different ways; ``layers`` maps each build to the layers that hold them."""

    parts: frozenset[str]
    position: float
    layers: Mapping[int, Layers]

    def arrangement(self, build: int) -> tuple[str, ...]:
        """Return how a build splits the members up: the names of its layers, Myelin's numbers left out."""
        return tuple(plain_name(layer.name) for layer in self.layers[build])


@dataclass(frozen=True, slots=True)
class AlignedBuilds:
    """The layers and fusion sites of several builds, in order; ``numbers`` are the builds that have such layers."""

    numbers: tuple[int, ...]
    layers: tuple[AlignedLayer, ...]
    sites: tuple[FusionSite, ...]


def align_builds(builds: Mapping[int, Layers]) -> AlignedBuilds:
    """Align builds by number, good ones first; the most frequent list of layers is the reference for the others."""
    shapes: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(list)
    for number, layers in builds.items():
        shapes[tuple((layer.key, layer.name) for layer in layers)].append(number)
    ordered = sorted(shapes.values(), key=lambda numbers: (-len(numbers), numbers[0]))
    if not ordered:
        return AlignedBuilds((), (), ())
    reference = builds[ordered[0][0]]
    aligned = [AlignedLayer(layer.name, position) for position, layer in enumerate(reference)]
    for number in ordered[0]:
        for aligned_layer, layer in zip(aligned, builds[number], strict=True):
            aligned_layer.by_build[number] = layer
    extra: dict[tuple[str, int], AlignedLayer] = {}
    groups: list[Regrouping] = []
    for numbers in ordered[1:]:
        pairs, regroupings = align(reference, builds[numbers[0]])
        _place(aligned, extra, pairs, numbers, builds)
        groups += regroupings
    every = sorted((*aligned, *extra.values()), key=lambda layer: layer.position)
    return AlignedBuilds(tuple(builds), tuple(every), tuple(_sites(groups, builds)))


def _place(
    aligned: Sequence[AlignedLayer],
    extra: dict[tuple[str, int], AlignedLayer],
    pairs: Sequence[LayerPair],
    numbers: Sequence[int],
    builds: Mapping[int, Layers],
) -> None:
    """Add the layers of builds with one list of layers to the reference's; ``extra`` takes layers without a match."""
    layers = builds[numbers[0]]
    where = {pair.right: aligned[pair.left] for pair in pairs}
    for pair in pairs:
        matched = aligned[pair.left]
        matched.how = max(matched.how, pair.how, key=_WEAKEST.index)
    counts: dict[str, int] = defaultdict(int)
    last = -1.0
    for index, layer in enumerate(layers):
        if index not in where:
            count = counts[layer.name] = counts[layer.name] + 1
            where[index] = extra.setdefault((layer.name, count), AlignedLayer(layer.name, last + 0.5))
        last = where[index].position
        for number in numbers:
            where[index].by_build[number] = builds[number][index]


def _sites(groups: Sequence[Regrouping], builds: Mapping[int, Layers]) -> list[FusionSite]:
    """Join the groups that share members, and collect their layers in every build."""
    joined = [frozenset(parts) for parts in join_groups([sorted(group.parts) for group in groups])]
    owner = {part: number for number, parts in enumerate(joined) for part in parts}
    position = {owner[min(group.parts)]: group.left[0] for group in reversed(groups)}
    holders: list[dict[int, list[LayerView]]] = [defaultdict(list) for _ in joined]
    for number, layers in builds.items() if joined else ():
        for layer in layers:
            for site in {owner[part] for part in layer.parts if part in owner}:
                holders[site][number].append(layer)
    sites = [
        FusionSite(parts, position[number], {build: tuple(layers) for build, layers in holders[number].items()})
        for number, parts in enumerate(joined)
    ]
    return sorted(sites, key=lambda site: site.position)
