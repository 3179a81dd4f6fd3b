"""Which differences follow from which, so that a report shows the cause first and its effects under it.

A difference follows from another only where the builds show how: the same members, the same layer, a reformat that
carries the layer's name, or tensors whose format changed all the way from a layer that is fused otherwise. A replay has
no tensor names, so effects are not followed along its tensors.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trtforensics.comparison.alignment import AlignedBuilds, AlignedLayer, FusionSite
from trtforensics.comparison.differences import Difference, DifferenceType
from trtforensics.comparison.views import LayerView
from trtforensics.console.counting import grouped

_REFORMAT_TARGET = re.compile(r"Reformatting CopyNode for (?:Input|Output) Tensor \d+ to (.*)")


def ordered(rows: Sequence[Difference], tables: Iterable[AlignedBuilds], goods: int) -> list[Difference]:
    """Return the differences with their causes, most suspicious first; among equals causes first, then by type."""
    causes = _causes(rows, tables, goods)
    groups = grouped(range(len(rows)), lambda index: causes.get(index, index))

    def rank(index: int) -> tuple[float, int, bool, float]:
        row = rows[index]
        return (-row.suspicion, row.type.rank, not row.regroups, row.position)

    order: list[int] = []
    for root in sorted(groups, key=rank):
        order += [root, *sorted((i for i in groups[root] if i != root), key=lambda i: (rows[i].type.rank, rank(i)))]
    order.sort(key=lambda index: -rows[index].suspicion)
    place = {index: number for number, index in enumerate(order)}
    return [replace(rows[index], cause=place[causes[index]] if index in causes else None) for index in order]


def _causes(rows: Sequence[Difference], tables: Iterable[AlignedBuilds], goods: int) -> dict[int, int]:
    """Return the root cause of each difference that has one."""
    causes: dict[int, int] = {}
    fusions = [index for index, row in enumerate(rows) if row.regroups]
    by_part = {part: index for index in reversed(fusions) for part in rows[index].parts}
    by_layer: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        if row.type is DifferenceType.FUSION:
            continue
        by_layer[row.layer].append(index)
        owner = min((by_part[part] for part in row.parts if part in by_part), default=None)
        if owner is not None:
            causes[index] = owner
    for table in tables:
        carried = {
            aligned.name: _changed_tensors(aligned, goods)
            for aligned in table.layers
            if _may_follow(aligned, by_layer, rows)
        }
        for site in table.sites:
            root = min((by_part[part] for part in site.parts if part in by_part), default=None)
            if root is not None:
                follow = {index for name in _reached(site, carried) for index in by_layer[name]}
                causes.update(dict.fromkeys(follow - causes.keys(), root))
    _follow_layer(rows, by_layer, causes)
    return {index: _root(index, causes) for index in causes}


def _root(index: int, causes: Mapping[int, int]) -> int:
    """Follow causes to the first: a reformat's tactic follows from its precision, and that from its layer's."""
    while index in causes:
        index = causes[index]
    return index


def _reached(site: FusionSite, carried: Mapping[str, set[str]]) -> list[str]:
    """Return the layers that a change of format, of tensors by layer, reaches from those of a site outwards."""
    reached = {name for layers in site.layers.values() for layer in layers for name in (*layer.reads, *layer.writes)}
    names: list[str] = []
    waiting = dict(carried)
    while True:
        touched = [name for name, tensors in waiting.items() if tensors & reached]
        if not touched:
            return names
        names += touched
        reached.update(*(waiting.pop(name) for name in touched))


def _may_follow(aligned: AlignedLayer, by_layer: Mapping[str, list[int]], rows: Sequence[Difference]) -> bool:
    """Whether a layer's difference may come from a neighbour: only its format differs, or it is a reformat."""
    types = {rows[index].type for index in by_layer.get(aligned.name, ())}
    if not types or DifferenceType.PRECISION in types:
        return False
    return DifferenceType.FORMAT in types or next(iter(aligned.by_build.values())).is_reformat


def _changed_tensors(aligned: AlignedLayer, goods: int) -> set[str]:
    """Return the tensors whose format differs between the sides; all, where the layer is on one side only."""
    good = next((layer for build, layer in aligned.by_build.items() if build < goods), None)
    bad = next((layer for build, layer in aligned.by_build.items() if build >= goods), None)
    if good is None or bad is None:
        return set().union(*(_formats(layer) for layer in (good, bad) if layer is not None))
    ours, theirs = _formats(good), _formats(bad)
    return {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}


def _formats(layer: LayerView) -> dict[str, str]:
    names = (*layer.reads, *layer.writes)
    texts = layer.tensors.texts
    return dict(zip(names, texts if len(texts) == len(names) else [""] * len(names), strict=True))


def _follow_layer(rows: Sequence[Difference], by_layer: dict[str, list[int]], causes: dict[int, int]) -> None:
    """Put the other differences of a layer under its precision, and reformats under the layer they are for."""
    for indexes in by_layer.values():
        first = next((i for i in indexes if rows[i].type is DifferenceType.PRECISION), None)
        for index in indexes:
            if first is not None and index != first:
                causes.setdefault(index, first)
    for name, indexes in by_layer.items():
        target = _REFORMAT_TARGET.match(name)
        of_target = by_layer.get(target.group(1), []) if target else []
        root = min(
            (i for i in of_target if rows[i].type in {DifferenceType.PRECISION, DifferenceType.FORMAT}), default=None
        )
        if root is not None:
            for index in indexes:
                causes.setdefault(index, root)
