"""Finds the layer that a name most likely means in another build: fusions change names, but seldom the members."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.parsers.notation.names import members, profile_of, without_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_UNNAMED = "(Unnamed Layer*"
"""The beginning of names that TensorRT numbers; in another network the number means another layer."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A layer that shares members with a name; ``share`` is common members by all members, above 0 and up to 1."""

    layer: str
    share: float
    common: tuple[str, ...]


class Renaming:
    """Finds layers by fused members. ``more_members`` adds members that names do not show: nodes of ForeignNodes."""

    def __init__(self, layers: Iterable[str], more_members: Mapping[str, Sequence[str]] | None = None) -> None:
        self._members = {
            layer: frozenset((*members(layer), *((more_members or {}).get(layer, ())))) for layer in layers
        }
        self._by_member: dict[str, list[str]] = defaultdict(list)
        for layer, parts in self._members.items():
            for part in parts:
                self._by_member[part].append(layer)

    def nearest(self, name: str) -> list[Likeness]:
        """Return the layers that share members with a name: those of the same profile first, then the most similar."""
        parts = frozenset(part for part in members(name) if not part.startswith(_UNNAMED))
        near = {layer for part in parts for layer in self._by_member.get(part, ())}
        likenesses = []
        for layer in near:
            common = parts & self._members[layer]
            likenesses.append(Likeness(layer, len(common) / len(parts | self._members[layer]), tuple(sorted(common))))
        profile = profile_of(name)
        return sorted(
            likenesses, key=lambda likeness: (profile_of(likeness.layer) != profile, -likeness.share, likeness.layer)
        )

    def other_profiles(self, name: str) -> list[str]:
        """Return the layers that have the same name but for the profile."""
        bare = without_profile(name)
        return sorted(layer for layer in self._members if without_profile(layer) == bare and layer != name)
