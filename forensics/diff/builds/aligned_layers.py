"""The layers of many builds side by side: for each layer of the model, what it became in each build."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.diff.builds.alignment import Alignment, MatchedBy, align, join_groups, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.diff.builds.views import LayerView

Layers = tuple["LayerView", ...]
_WEAKEST = (MatchedBy.NAME, MatchedBy.FUSED_MEMBERS, MatchedBy.POSITION)


@dataclass(slots=True)
class AlignedLayer:
    """One layer of the model, and what it became in each build.

    ``by_build`` maps the number of a build to its layer and leaves out the builds that lack it. ``position`` orders
    the layers as they stand in the builds. ``how`` is the weakest evidence by which they were matched.
    """

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

    def in_sites(self) -> set[tuple[int, int]]:
        """Return the layers of all sites, each as the number of its build and its ``id``."""
        return {(build, id(layer)) for site in self.sites for build, layers in site.layers.items() for layer in layers}


def align_builds(builds: Mapping[int, Layers]) -> AlignedBuilds:
    """Align the layers of builds; the keys are the builds' numbers, good builds first.

    Most builds have the same list of layers. The most frequent list is the reference to which the others are aligned.
    """
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
    groups: list[_RegroupedMembers] = []
    for numbers in ordered[1:]:
        alignment = align(reference, builds[numbers[0]])
        _place(aligned, extra, alignment, numbers, builds)
        groups += _groups(alignment)
    every = sorted((*aligned, *extra.values()), key=lambda layer: layer.position)
    return AlignedBuilds(tuple(builds), tuple(every), tuple(_sites(groups, builds)))


def _place(
    aligned: Sequence[AlignedLayer],
    extra: dict[tuple[str, int], AlignedLayer],
    alignment: Alignment,
    numbers: Sequence[int],
    builds: Mapping[int, Layers],
) -> None:
    """Add the layers of builds with one list of layers to the reference's; ``extra`` takes layers without a match."""
    layers = builds[numbers[0]]
    where = {pair.right: aligned[pair.left] for pair in alignment.pairs}
    for pair in alignment.pairs:
        matched = aligned[pair.left]
        matched.how = max(matched.how, pair.how, key=_WEAKEST.index)
    seen: dict[str, int] = defaultdict(int)
    last = -1.0
    for index, layer in enumerate(layers):
        if index not in where:
            count = seen[layer.name] = seen[layer.name] + 1
            where[index] = extra.setdefault((layer.name, count), AlignedLayer(layer.name, last + 0.5))
        last = where[index].position
        for number in numbers:
            where[index].by_build[number] = builds[number][index]


@dataclass(frozen=True, slots=True)
class _RegroupedMembers:
    """Members that another list of layers groups otherwise than the reference does."""

    parts: frozenset[str]
    position: int


def _groups(alignment: Alignment) -> list[_RegroupedMembers]:
    return [_RegroupedMembers(one.parts, one.left[0]) for one in alignment.regroupings]


def _sites(groups: Sequence[_RegroupedMembers], builds: Mapping[int, Layers]) -> list[FusionSite]:
    """Join the groups that share members, and collect their layers in every build."""
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
