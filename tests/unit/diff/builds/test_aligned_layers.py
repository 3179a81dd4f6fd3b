"""Layers aligned over many builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.build_views import layers
from trtforensics.diff.builds.aligned_layers import align_builds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.diff.builds.views import LayerView


def side(names: Iterable[str]) -> dict[int, tuple[LayerView, ...]]:
    return dict(enumerate(layers(one) for one in names))


def test_many_builds_share_slots_and_sites() -> None:
    table = align_builds(side(["a;conv + relu;b", "a;conv + relu;b", "a;conv;relu;b", "a;conv + relu;b;new"]))
    assert [(layer.name, sorted(layer.by_build)) for layer in table.layers] == [
        ("a", [0, 1, 2, 3]),
        ("conv + relu", [0, 1, 2, 3]),
        ("relu", [2]),
        ("b", [0, 1, 2, 3]),
        ("new", [3]),
    ]
    (site,) = table.sites
    assert [site.arrangement(build) for build in range(4)] == [
        ("conv + relu",),
        ("conv + relu",),
        ("conv", "relu"),
        ("conv + relu",),
    ]
