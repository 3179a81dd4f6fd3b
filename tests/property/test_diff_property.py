"""What holds of every comparison, on generated builds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.comparison.alignment import align
from trtforensics.comparison.compare import compare
from trtforensics.comparison.differences import DifferenceType
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.views import BuildView, LayerTensors, LayerView
from trtforensics.model.span import SourceSpan
from trtforensics.sources.kinds import Kind

PARTS = st.sampled_from("abcdefgh")
NAMES = st.one_of(
    st.lists(PARTS, min_size=1, max_size=3, unique=True).map(" + ".join),
    st.lists(PARTS, min_size=1, max_size=2, unique=True).map(lambda parts: f"PWN({', '.join(parts)})"),
    PARTS.map(lambda part: f"Reformatting CopyNode for Input Tensor 0 to {part}"),
    st.tuples(PARTS, st.integers(0, 9)).map(lambda pair: f"{pair[0]}_myl0_{pair[1]}"),
)
TENSORS = st.sampled_from(
    [LayerTensors(1, (one, two), texts=(one, two)) for one in ("Half", "Float") for two in ("Half",)]
)
LAYERS = st.lists(
    st.builds(
        LayerView,
        name=NAMES,
        span=st.just(SourceSpan("x", 1, 0)),
        runner=st.sampled_from(["Cask", "Myelin"]),
        tactic=st.integers(0, 2),
        tensors=TENSORS,
        measured_ms=st.one_of(st.none(), st.integers(0, 64).map(float)),
        operation=st.sampled_from(["", "Convolution"]),
        shape=st.sampled_from([(), ((1, 2), (1, 3))]),
    ),
    max_size=9,
).map(tuple)
SIDES = st.lists(LAYERS, min_size=1, max_size=4).map(
    lambda builds: ComparedSide("x", tuple(BuildView("x", Kind.BUILD_LOG, "", layers) for layers in builds))
)


@given(LAYERS, LAYERS)
def test_no_layer_is_aligned_twice(left: tuple[LayerView, ...], right: tuple[LayerView, ...]) -> None:
    pairs, regroupings = align(left, right)
    for side in ("left", "right"):
        indexes = [getattr(pair, side) for pair in pairs]
        assert len(indexes) == len(set(indexes))
        grouped = [index for group in regroupings for index in getattr(group, side)]
        assert len(grouped) == len(set(grouped))


@given(LAYERS)
def test_a_build_is_aligned_with_itself_by_name_alone(layers: tuple[LayerView, ...]) -> None:
    pairs, regroupings = align(layers, layers)
    assert {(pair.left, pair.right) for pair in pairs} == {(n, n) for n in range(len(layers))}
    assert regroupings == ()


@examples(40)
@given(SIDES)
def test_sides_that_are_the_same_do_not_differ(side: ComparedSide) -> None:
    found = compare(side, side)
    assert found.differences == ()
    assert found.pairs == ()


@examples(60)  # each compares up to eight builds
@given(SIDES, SIDES)
def test_the_list_is_in_order_and_its_causes_are_fusions_or_the_layers_own(
    good: ComparedSide, bad: ComparedSide
) -> None:
    found = compare(good, bad)
    scores = [row.suspicion for row in found.differences]
    assert scores == sorted(scores, reverse=True)
    for row in found.differences:
        assert 0 < row.suspicion < 1
        assert row.counts.of_good
        assert row.counts.of_bad
        if row.cause is not None:
            cause = found.differences[row.cause]
            assert cause.cause is None
            assert cause.type in {DifferenceType.FUSION, DifferenceType.PRECISION, DifferenceType.FORMAT}
    for pair in found.pairs:
        assert pair.counts.good == 0
        assert all(half.counts.good > 0 for half in pair.halves)


@given(SIDES, SIDES)
def test_rows_of_layers_add_up_to_what_the_builds_took(good: ComparedSide, bad: ComparedSide) -> None:
    """With those that are left out, as a side has no time of them; types are added up without these."""
    found = compare(good, bad).times.layers
    if found is None:
        return
    for side, name in ((good, "good"), (bad, "bad")):
        every = [
            [one.measured_ms for one in build.layers or () if one.measured_ms is not None] for build in side.builds
        ]
        timed = [sum(values) for values in every if values]
        mean = sum(timed) / len(timed)
        compared, left_out = (sum(getattr(row, name).ms for row in rows) for rows in (found.rows, found.left_out))
        assert abs(compared + left_out - mean) < 1e-9
        assert abs(sum(getattr(row, f"{name}_ms") for row in found.types) - compared) < 1e-9
