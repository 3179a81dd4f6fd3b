"""Requests of types for layers, and the members of ForeignNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.foreign import Transformer
from trtforensics.findings.precision import TypeRequest, foreign_members, type_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case
    from trtforensics.model.log import BuildLog


@pytest.mark.parametrize(
    ("pattern", "layer", "matches"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "ab", True),
        ("*b", "ab", True),
        ("a*b", "ab", True),
        ("ab*bc", "abc", False),
    ],
)
def test_a_request_has_one_wildcard(pattern: str, layer: str, matches: bool) -> None:  # noqa: FBT001 - a column
    assert TypeRequest("layerPrecisions", pattern, "fp32", None).matches(layer) is matches


def test_requests_are_split_where_a_type_ends(case_of: Callable[[str], Case]) -> None:
    flags = "--layerPrecisions=a,b:fp32,(Unnamed_Layer*_1):fp16 --layerOutputTypes=c:int32"
    asked = type_requests(case_of(f"&& 8.6.1 {flags}\nV Original: 1 layers"))
    assert [(r.option, r.pattern, r.type) for r in asked] == [
        ("layerPrecisions", "a,b", "fp32"),
        ("layerPrecisions", "(Unnamed_Layer*_1)", "fp16"),
        ("layerOutputTypes", "c", "int32"),
    ]


@pytest.mark.parametrize(("version", "listed"), [((10, 12, 0), True), ((8, 6, 1), False)])
def test_members_of_a_foreign_node_are_listed_or_inferred(
    version: tuple[int, int, int],
    listed: bool,  # noqa: FBT001 - a column
    load: Callable[[str], BuildLog],
) -> None:
    transformer = Transformer(version)
    held = foreign_members(load(transformer.log().text()).builds[0])
    assert list(held) == list(transformer.inside)
    assert {(one.name, one.listed) for one in held.values()} == {(transformer.foreign, listed)}
