"""The layers of many builds side by side: a slot is one layer of the model, with what each build made of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.diff.alignment import Alignment, MatchedBy, align, join_groups, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.diff.views import LayerView

Layers = tuple["LayerView", ...]
_WEAKEST = (MatchedBy.NAME, MatchedBy.FUSED_MEMBERS, MatchedBy.POSITION)


@dataclass(slots=True)
class AlignedLayer:
    """One layer of the model. ``layers`` has it by the number of the build; a build without it is missing there.

    ``position`` orders slots as the layers stand in the builds.
    """

    name: str
    position: float
    layers: dict[int, LayerView] = field(default_factory=dict)
    how: MatchedBy = MatchedBy.NAME


@dataclass(frozen=True, slots=True)
class FusionSite:
    """Members that builds fuse in different ways, and by build the layers that hold them."""

    parts: frozenset[str]
    position: float
    layers: Mapping[int, Layers]

    def arrangement(self, build: int) -> tuple[str, ...]:
        """Return how a build splits the members up: the names of its layers, Myelin's numbers left out."""
        return tuple(plain_name(layer.name) for layer in self.layers[build])


@dataclass(frozen=True, slots=True)
class AlignedBuilds:
    """All slots and sites of the builds, in order; ``builds`` are the numbers of those that tell of such layers."""

    builds: tuple[int, ...]
    slots: tuple[AlignedLayer, ...]
    sites: tuple[FusionSite, ...]

    def in_sites(self) -> set[tuple[int, int]]:
        """Return the layers of sites, as number of the build and ``id`` of the layer."""
        return {(build, id(layer)) for site in self.sites for build, layers in site.layers.items() for layer in layers}


def align_builds(builds: Mapping[int, Layers]) -> AlignedBuilds:
    """Align the layers of builds, given by number, good ones first.

    Most builds have the same layers; one such list, the most frequent, is the reference that the others are aligned to.
    """
    shapes: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(list)
    for number, layers in builds.items():
        shapes[tuple((layer.key, layer.name) for layer in layers)].append(number)
    ordered = sorted(shapes.values(), key=lambda numbers: (-len(numbers), numbers[0]))
    if not ordered:
        return AlignedBuilds((), (), ())
    reference = builds[ordered[0][0]]
    slots = [AlignedLayer(layer.name, position) for position, layer in enumerate(reference)]
    for number in ordered[0]:
        for slot, layer in zip(slots, builds[number], strict=True):
            slot.layers[number] = layer
    extra: dict[tuple[str, int], AlignedLayer] = {}
    groups: list[_RegroupedMembers] = []
    for numbers in ordered[1:]:
        alignment = align(reference, builds[numbers[0]])
        _place(slots, extra, alignment, numbers, builds)
        groups += _groups(reference, builds[numbers[0]], alignment)
    every = sorted((*slots, *extra.values()), key=lambda slot: slot.position)
    return AlignedBuilds(tuple(builds), tuple(every), tuple(_sites(groups, builds)))


def _place(
    slots: Sequence[AlignedLayer],
    extra: dict[tuple[str, int], AlignedLayer],
    alignment: Alignment,
    numbers: Sequence[int],
    builds: Mapping[int, Layers],
) -> None:
    """Put the layers of builds of one shape into the slots of the reference, or into slots of their own."""
    layers = builds[numbers[0]]
    where = {pair.right: slots[pair.left] for pair in alignment.pairs}
    for pair in alignment.pairs:
        slot = slots[pair.left]
        slot.how = max(slot.how, pair.how, key=_WEAKEST.index)
    seen: dict[str, int] = defaultdict(int)
    last = -1.0
    for index, layer in enumerate(layers):
        if index not in where:
            count = seen[layer.name] = seen[layer.name] + 1
            where[index] = extra.setdefault((layer.name, count), AlignedLayer(layer.name, last + 0.5))
        last = where[index].position
        for number in numbers:
            where[index].layers[number] = builds[number][index]


@dataclass(frozen=True, slots=True)
class _RegroupedMembers:
    """Members that a shape and the reference split up differently."""

    parts: frozenset[str]
    position: int


def _groups(reference: Layers, layers: Layers, alignment: Alignment) -> list[_RegroupedMembers]:
    found = []
    for one in alignment.regroupings:
        parts = frozenset().union(*(reference[i].parts for i in one.left), *(layers[j].parts for j in one.right))
        found.append(_RegroupedMembers(parts, one.left[0]))
    return found


def _sites(groups: Sequence[_RegroupedMembers], builds: Mapping[int, Layers]) -> list[FusionSite]:
    """Join the groups of all shapes and find their layers in every build."""
    joined = [frozenset(parts) for parts in join_groups([sorted(group.parts) for group in groups])]
    owner = {part: number for number, parts in enumerate(joined) for part in parts}
    position = {owner[min(group.parts)]: group.position for group in reversed(groups)}
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
