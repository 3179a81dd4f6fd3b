"""The comparison as a library: its differences, their places, and its notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import build, compared, layer, rows
from tests.support.diff_samples import FIRST, SECOND, interacting_pair, log_with, replay_text
from trtforensics.comparison.compare import compare
from trtforensics.comparison.differences import Comparison, Difference, DifferenceType
from trtforensics.comparison.loading import load_side
from trtforensics.comparison.views import BuildView
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path


def test_two_builds_that_differ_in_one_fusion_show_it_first_with_its_consequences(two_logs: tuple[str, str]) -> None:
    found = compare(load_side(two_logs[0], "good"), load_side(two_logs[1], "bad"))
    first = found.differences[0]
    assert (first.type, first.layer, first.cause) == (DifferenceType.FUSION, "conv1 + relu1", None)
    assert [entry.layers for entry in (*first.good, *first.bad)] == [("conv1 + relu1",), ("conv1", "PWN(relu1)")]
    assert [[span.line for span in entry.spans] for entry in (*first.good, *first.bad)] == [[6], [5, 6]]
    assert f"good: ConvReluFusion of conv1 and relu1 ({two_logs[0]}:2)" in first.why
    following = [(row.type.value, row.layer) for row in found.differences if row.cause == 0]
    assert following == [
        ("precision", "conv1 + relu1"),
        ("format", "conv1 + relu1"),
        ("format", "pool2"),
        ("tactic", "conv1 + relu1"),
        ("tactic", "pool2"),
        ("added", "Reformatting CopyNode for Input Tensor 0 to conv3 + relu3"),
    ]
    # pool5 took another tactic, too, and nothing leads from the fusion to it
    assert [(row.type.value, row.layer) for row in found.differences if row.cause is None] == [
        ("fusion", "conv1 + relu1"),
        ("tactic", "pool5"),
    ]


def test_names_only_are_compared_as_names_and_it_is_said() -> None:
    found = compared([build(layer("a"), layer("b"))], [build(layer("a"), layer("c"))])
    assert sorted(rows(found)) == [("added", "c"), ("missing", "b")]
    assert any("only the names" in note for note in found.notes)


def test_operations_on_one_side_only_are_noted_not_missing() -> None:
    cache = BuildView("x", Kind.TIMING_CACHE, "", None, (layer("op", tactic=1, key="0x1"),))
    both = BuildView("y", Kind.BUILD_LOG, "", (layer("a", tactic=1),), (layer("op", tactic=2, key="0x1"),))
    found = compared([cache], [both])
    assert rows(found) == [("tactic", "op")]
    assert any("engine layers are known of the bad side only" in note for note in found.notes)


def test_a_near_tie_is_marked_with_its_margin() -> None:
    good = build(layer("a", 3, tactic=1, time_ms=0.100, runner_up_ms=0.101))
    bad = build(layer("a", 4, tactic=2, time_ms=0.100, runner_up_ms=0.103))
    (row,) = compared([good], [bad]).differences
    assert [why for why in row.why if "near tie" in why] == [
        "near tie in good (x:3): tuned at 0.1 ms, the runner-up 1.0% slower; up to 2% build noise may flip it"
    ]


def test_a_tactic_of_one_good_build_stays_listed(tmp_path: Path) -> None:
    for side, tactics in {"good": [SECOND, SECOND, FIRST], "bad": [FIRST, FIRST]}.items():
        (tmp_path / side).mkdir()
        for number, tactic in enumerate(tactics):
            (tmp_path / side / f"{number}.json").write_text(replay_text({"conv": tactic, "same": 5}))
    (row,) = compare(load_side(str(tmp_path), "good"), load_side(str(tmp_path), "bad")).differences
    assert (row.layer, row.counts.bad, row.counts.good, row.counts.of_good) == ("conv", 2, 1, 3)
    assert [entry.count for entry in (*row.good, *row.bad)] == [2, 1, 2]


@pytest.mark.slow
def test_an_interacting_pair_is_ranked_first_in_every_seed(tmp_path: Path) -> None:
    for seed in range(2):
        folder = tmp_path / str(seed)
        culprits = interacting_pair(folder, layers=100, builds=40, seed=seed)
        found = compare(load_side(str(folder), "good"), load_side(str(folder), "bad"))
        assert {half.layer for half in found.pairs[0].halves} == set(culprits)


def test_a_build_compared_with_itself_does_not_differ(samples: list[Path]) -> None:
    for path in samples:
        side = load_side(str(path), "good")
        assert compare(side, side).differences == (), path.name


def test_the_order_of_good_and_bad_turns_missing_into_added() -> None:
    one, other = build(layer("a"), layer("b")), build(layer("a"))

    def types(found: Comparison) -> list[DifferenceType]:
        return [row.type for row in found.differences]

    assert (types(compared([one], [other])), types(compared([other], [one]))) == (
        [DifferenceType.MISSING],
        [DifferenceType.ADDED],
    )


def test_a_difference_knows_its_place() -> None:
    (row,) = compared([build(layer("a", 7, tactic=1))], [build(layer("a", 9, tactic=2))]).differences
    assert isinstance(row, Difference)
    assert [entry.spans[0].line for entry in (*row.good, *row.bad)] == [7, 9]


def test_layers_that_differ_by_helpers_of_the_onnx_parser_only_are_no_fusion_row() -> None:
    good = build(layer("gemm.bias + ONNXTRT_Broadcast_2", tactic=1), layer("x", tactic=1))
    bad = build(layer("gemm.bias + ONNXTRT_Broadcast_4", tactic=1), layer("x", tactic=1))
    found = compared([good], [bad])
    assert found.differences == ()
    assert any("1 layer differs in name by helpers" in note for note in found.notes)


def test_a_fusion_with_helpers_only_is_no_difference(tmp_path: Path) -> None:
    text = log_with(fused=True)
    line = text.split("\n")[1]
    for side, number in (("good", 2), ("bad", 4)):
        fused = line.replace("conv1", "gemm.bias").replace("relu1", f"ONNXTRT_Broadcast_{number}")
        (tmp_path / f"{side}.log").write_text(text.replace(line, f"{line}\n{fused}"))
    assert compare(*(load_side(str(tmp_path / f"{side}.log"), side) for side in ("good", "bad"))).differences == ()


def test_few_layers_in_common_are_said_to_be_two_models() -> None:
    one, other = build(*(layer(n, tactic=1) for n in "abcde")), build(*(layer(n, tactic=1) for n in "uvwxyz"))
    assert compared([one], [other]).unrelated == "0 of 5 layers match: two different models?"
    assert compared([one], [one]).unrelated == ""
