"""Aligns the layers of two builds: by name, then by what was fused into them, then by position."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from trtforensics.model.older_python import StrEnum

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from trtforensics.diff.builds.views import LayerView

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
    """Layers of both builds that share members but group them differently.

    ``parts`` are their members, without those whose names the two builds give to different nodes.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    parts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the layers of two builds correspond; a layer in no pair and no regrouping is in one of the builds only.

    A layer of a regrouping may be in a pair too: with the layer that shares most members with it.
    """

    pairs: tuple[LayerPair, ...]
    regroupings: tuple[Regrouping, ...]


def align(left: Sequence[LayerView], right: Sequence[LayerView]) -> Alignment:
    """Align two builds' layers, both in the order of their source."""
    unaligned = _Unaligned(set(range(len(left))), set(range(len(right))))
    pairs = [
        LayerPair(i, j, MatchedBy.NAME)
        for key in (lambda layer: layer.key, lambda layer: layer.name, _without_numbers)
        for i, j in unaligned.equal(left, right, key)
    ]
    regroupings = []
    members = _Members.of(left, right, unaligned)
    for group in _regroupings(left, right, unaligned, members):
        closest = [LayerPair(i, j, MatchedBy.FUSED_MEMBERS) for i, j in _closest(left, right, group, members)]
        pairs += closest
        if len(closest) != 1 or not members.alike(left[closest[0].left], right[closest[0].right]):
            regroupings.append(group)
        unaligned.left -= set(group.left)
        unaligned.right -= set(group.right)
    pairs += [LayerPair(i, j, MatchedBy.POSITION) for i, j in _by_position(left, right, pairs, unaligned)]
    return Alignment(tuple(pairs), tuple(regroupings))


@dataclass(slots=True)
class _Unaligned:
    """The layers that are not aligned yet, by index."""

    left: set[int]
    right: set[int]

    def equal(
        self, left: Sequence[LayerView], right: Sequence[LayerView], key: Callable[[LayerView], str]
    ) -> Iterator[tuple[int, int]]:
        """Pair off layers with the same key, in order; layers with an empty key are not paired."""
        waiting: dict[str, list[int]] = defaultdict(list)
        for j in sorted(self.right, reverse=True):
            waiting[key(right[j])].append(j)
        for i in sorted(self.left):
            name = key(left[i])
            found = waiting.get(name)
            if name and found:
                j = found.pop()
                self.left.discard(i)
                self.right.discard(j)
                yield i, j


def _without_numbers(layer: LayerView) -> str:
    """Return a kernel's name without the numbers that Myelin gives anew in each build; empty for all others."""
    stem = plain_name(layer.name)
    return stem if stem != layer.name else ""


def plain_name(name: str) -> str:
    """Return a name without the numbers that Myelin gives anew in each build (``fc_myl5_2``: ``fc_myl``)."""
    return _MYELIN_NUMBER.sub("_myl", name)


@dataclass(frozen=True, slots=True)
class _Members:
    """What layers are fused of, where two exports of a model may number its nodes differently.

    Numbers from ``other`` on name different nodes in the two builds; None where they are the same.
    """

    other: int | None

    @classmethod
    def of(cls, left: Sequence[LayerView], right: Sequence[LayerView], unaligned: _Unaligned) -> _Members:
        """Compare the numbers in layers that alone hold a member without a number, such as a weight."""
        differing = []
        for part, own in _owners(left, right, unaligned, lambda layer: layer.parts).items():
            if _number(part) is not None or [side for side, _ in own] != [0, 1]:
                continue
            ours, theirs = (
                {name: number for name in layers[index].parts if (number := _number(name)) is not None}
                for layers, (_, index) in zip((left, right), own, strict=True)
            )
            unlike = ours.keys() ^ theirs.keys()
            alike = Counter(map(_operator, ours)) == Counter(map(_operator, theirs))
            if ours and theirs and unlike and (alike or not ours.keys() & theirs.keys()):
                differing.append(min((ours | theirs)[name] for name in unlike))
        return cls(min(differing, default=None))

    def telling(self, layer: LayerView) -> frozenset[str]:
        """Return the members that are the same in both builds if their names are."""
        return frozenset(part for part in layer.parts if self._tells(part))

    def alike(self, one: LayerView, other: LayerView) -> bool:
        """Whether two layers are fused of the same members; of others than those that tell, operators count."""
        return Counter(map(self._named, one.parts)) == Counter(map(self._named, other.parts))

    def _tells(self, part: str) -> bool:
        return self.other is None or (_number(part) or 0) < self.other

    def _named(self, part: str) -> str:
        return part if self._tells(part) else _operator(part)


def _number(part: str) -> int | None:
    found = _NUMBERED.fullmatch(part)
    return int(found[1]) if found else None


def _operator(part: str) -> str:
    """Return the operator of a numbered node's name; other names as they are."""
    return part if _number(part) is None else part.rpartition("_")[0]


def _owners(
    left: Sequence[LayerView],
    right: Sequence[LayerView],
    unaligned: _Unaligned,
    parts: Callable[[LayerView], frozenset[str]],
) -> dict[str, list[tuple[int, int]]]:
    """Return the layers that hold each member: 0 or 1 for the build, and the layer's index."""
    owners: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for side, layers, indexes in ((0, left, unaligned.left), (1, right, unaligned.right)):
        for index in sorted(indexes):
            for part in parts(layers[index]):
                owners[part].append((side, index))
    return owners


def _regroupings(
    left: Sequence[LayerView], right: Sequence[LayerView], unaligned: _Unaligned, members: _Members
) -> list[Regrouping]:
    """Gather the layers that are connected by common members, over both builds."""
    found = []
    for group in join_groups(_owners(left, right, unaligned, members.telling).values()):
        sides = [sorted(index for side, index in group if side == one) for one in (0, 1)]
        layers = [*(left[i] for i in sides[0]), *(right[j] for j in sides[1])]
        parts = frozenset().union(*map(members.telling, layers))
        found.append(Regrouping(tuple(sides[0]), tuple(sides[1]), parts))
    return sorted((one for one in found if one.left and one.right), key=lambda one: one.left)


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


def _closest(
    left: Sequence[LayerView], right: Sequence[LayerView], group: Regrouping, members: _Members
) -> list[tuple[int, int]]:
    """Pair the layers of a regrouping, those with most in common first, each layer once."""
    ours, theirs = (
        {i: members.telling(layers[i]) for i in own}
        for layers, own in zip((left, right), (group.left, group.right), strict=True)
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


def _by_position(
    left: Sequence[LayerView], right: Sequence[LayerView], pairs: Sequence[LayerPair], unaligned: _Unaligned
) -> Iterator[tuple[int, int]]:
    """Pair layers between aligned neighbours, where both builds have equally many layers with the same runners."""
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


def _alike(one: LayerView, other: LayerView, *, alone: bool) -> bool:
    """Whether two layers may be the same: they have as many inputs and outputs, and the same runner and operator.

    ``alone``: they are the only layers between their neighbours; then their runners may differ.
    """
    runners = [(a, b) for a, b in ((one.runner, other.runner), (one.runner_id, other.runner_id)) if a and b]
    counts = [(len(layer.tensors.texts), layer.tensors.inputs) for layer in (one, other) if layer.tensors.texts]
    if None not in {_number(one.name), _number(other.name)} and _operator(one.name) != _operator(other.name):
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
