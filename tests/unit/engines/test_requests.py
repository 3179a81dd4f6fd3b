"""Requests of types for layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from trtforensics.engines.requests import TypeRequest, type_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


@for_each(
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


def test_requests_are_split_where_a_type_ends(load: Callable[[str], BuildLog]) -> None:
    flags = "--layerPrecisions=a,b:fp32,(Unnamed_Layer*_1):fp16 --layerOutputTypes=c:int32"
    asked = type_requests(load(marked(f"&& 8.6.1 {flags}\nV Original: 1 layers").text).builds[0])
    assert [(r.option, r.pattern, r.type) for r in asked] == [
        ("layerPrecisions", "a,b", "fp32"),
        ("layerPrecisions", "(Unnamed_Layer*_1)", "fp16"),
        ("layerOutputTypes", "c", "int32"),
    ]
