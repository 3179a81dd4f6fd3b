"""Which layers are taken for the same, in what order of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.build_views import layers
from tests.support.for_each import for_each
from trtforensics.comparison.alignment import LayerPair, MatchedBy, Regrouping, align, align_builds
from trtforensics.comparison.views import LayerView
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Iterable


def pairs(found: tuple[tuple[LayerPair, ...], tuple[Regrouping, ...]], how: MatchedBy) -> list[tuple[int, int]]:
    return sorted((pair.left, pair.right) for pair in found[0] if pair.how is how)


def test_names_come_first_whatever_the_order_and_each_counts_once() -> None:
    found = align(layers("a;b;a"), layers("b;a;a"))
    assert pairs(found, MatchedBy.NAME) == [(0, 1), (1, 0), (2, 2)]
    assert found[1] == ()


def test_kernels_match_by_name_without_myelins_numbers() -> None:
    found = align(layers("__myl_Resh_myl5_1;fc_myl5_2"), layers("__myl_Resh_myl7_1;fc_myl7_3"))
    assert pairs(found, MatchedBy.NAME) == [(0, 0), (1, 1)]


@for_each(
    ("good", "bad", "left", "right", "closest"),
    [
        ("a;conv + relu;z", "a;conv;relu;z", (1,), (1, 2), [(1, 1)]),
        ("conv + relu + add", "conv + relu;add", (0,), (0, 1), [(0, 0)]),
        ("PWN(a, b);c", "PWN(a, b, c)", (0, 1), (0,), [(0, 0)]),
        ("{ForeignNode[a...d]}", "a;b;d", (0,), (0, 2), [(0, 0)]),
    ],
)
def test_layers_that_share_members_are_one_regrouping(
    good: str, bad: str, left: tuple[int, ...], right: tuple[int, ...], closest: list[tuple[int, int]]
) -> None:
    found = align(layers(good), layers(bad))
    assert [(one.left, one.right) for one in found[1]] == [(left, right)]
    assert pairs(found, MatchedBy.FUSED_MEMBERS) == closest


def test_the_members_of_a_foreign_node_are_those_of_its_metadata() -> None:
    foreign = "{ForeignNode[a...d]}"
    found = align(layers(foreign, **{foreign: ("a", "b", "d")}), layers("a;b;d"))
    assert [(one.left, one.right) for one in found[1]] == [((0,), (0, 1, 2))]


def test_the_same_members_under_another_name_are_no_regrouping() -> None:
    found = align(layers("a;PWN(relu)"), layers("a;relu"))
    assert found[1] == ()
    assert pairs(found, MatchedBy.FUSED_MEMBERS) == [(1, 1)]


def test_numbers_beyond_the_first_that_differs_connect_nothing() -> None:
    good = "w1 + Conv_1 + Relu_2;w2 + Conv_5 + Relu_6;w3 + Conv_7 + Relu_8;w4 + Conv_9"
    bad = "w1 + Conv_1 + Relu_2;Cast_3;w2 + Conv_7 + Relu_8;w3 + Conv_9 + Relu_10;w4 + Conv_11 + Relu_12"
    found = align(layers(good), layers(bad))
    assert pairs(found, MatchedBy.FUSED_MEMBERS) == [(1, 2), (2, 3), (3, 4)]
    assert [(one.left, one.right, one.parts) for one in found[1]] == [((3,), (4,), frozenset({"w4"}))]


def test_a_renumbered_fusion_is_no_other_fusion() -> None:
    found = align(layers("w1 + Conv_1 + Add_42 + Relu_43"), layers("w1 + Conv_1 + Add_36 + Relu_37"))
    assert pairs(found, MatchedBy.FUSED_MEMBERS) == [(0, 0)]
    assert found[1] == ()


def test_where_weights_agree_with_them_numbers_connect() -> None:
    found = align(layers("w1 + Conv_1;w2 + Conv_2 + Add_3"), layers("w1 + Conv_1 + Add_3;w2 + Conv_2"))
    assert [(one.left, one.right) for one in found[1]] == [((0, 1), (0, 1))]


def test_a_renamed_layer_is_found_between_its_neighbours() -> None:
    found = align(layers("a;x;y;b;c"), layers("a;p;q;b;c"))
    assert pairs(found, MatchedBy.POSITION) == [(1, 1), (2, 2)]


@for_each(
    ("good", "bad"),
    [
        ("a;x;b", "a;p;q;b"),  # one against two: which one?
        ("a;DequantizeLinear_5;b", "a;QuantizeLinear_7;b"),  # other operators
        ("a;x;b", "a;b;p"),  # not between the same neighbours
        ("a;x;b", "a;Reformatting CopyNode for Input Tensor 0 to b;b"),  # a reformat stands for no layer
    ],
)
def test_position_does_not_guess(good: str, bad: str) -> None:
    assert pairs(align(layers(good), layers(bad)), MatchedBy.POSITION) == []


def test_layers_that_tell_nothing_but_a_name_are_not_matched_by_position() -> None:
    span = SourceSpan("x", 1, 0)
    good, bad = (tuple(LayerView(name, span) for name in names) for names in ("axb", "apb"))
    assert pairs(align(good, bad), MatchedBy.POSITION) == []


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
