"""The layer that a name most likely means in another build: names change with every fusion, members seldom do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.parsers.notation.names import members, profile_of, without_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_UNNAMED = "(Unnamed Layer*"
"""TensorRT numbers layers without a name; in another network the number means another layer."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A layer with members in common with another; ``share`` is common members by all members, above 0 up to 1."""

    layer: str
    share: float
    common: tuple[str, ...]


class Renaming:
    """Looks for layers by fused members. ``more_members`` adds what names do not say: the nodes of a ForeignNode."""

    def __init__(self, layers: Iterable[str], more_members: Mapping[str, Sequence[str]] | None = None) -> None:
        self._members = {
            layer: frozenset((*members(layer), *((more_members or {}).get(layer, ())))) for layer in layers
        }
        self._by_member: dict[str, list[str]] = defaultdict(list)
        for layer, parts in self._members.items():
            for part in parts:
                self._by_member[part].append(layer)

    def nearest(self, name: str) -> list[Likeness]:
        """Return the layers that share members with a name, most alike first and those of the same profile before."""
        parts = frozenset(part for part in members(name) if not part.startswith(_UNNAMED))
        near = {layer for part in parts for layer in self._by_member.get(part, ())}
        found = []
        for layer in near:
            common = parts & self._members[layer]
            found.append(Likeness(layer, len(common) / len(parts | self._members[layer]), tuple(sorted(common))))
        profile = profile_of(name)
        return sorted(found, key=lambda one: (profile_of(one.layer) != profile, -one.share, one.layer))

    def other_profiles(self, name: str) -> list[str]:
        """Return the layers that have the same name but for the profile."""
        bare = without_profile(name)
        return sorted(layer for layer in self._members if without_profile(layer) == bare and layer != name)
