"""The comparison as a library: causes and effects, mixed kinds, what is not told, notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import FIRST, SECOND, interacting_pair, log_with, replay_text
from trtforensics.diff.compare import compare
from trtforensics.diff.differences import Comparison, Difference, DifferenceType
from trtforensics.diff.loading import ComparedSide, load_side
from trtforensics.diff.report import report
from trtforensics.diff.views import BuildView, LayerTensors, LayerView
from trtforensics.errors import UsageError
from trtforensics.model.span import SourceSpan
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def build(*layers: LayerView, kind: Kind = Kind.BUILD_LOG) -> BuildView:
    return BuildView("x", kind, "", layers)


def layer(name: str, line: int = 1, **fields: Any) -> LayerView:
    return LayerView(name, SourceSpan("x", line, 0), **fields)


def compared(good: Sequence[BuildView], bad: Sequence[BuildView]) -> Comparison:
    return compare(ComparedSide("good", tuple(good)), ComparedSide("bad", tuple(bad)))


def rows(comparison: Comparison) -> list[tuple[str, str]]:
    return [(row.type.value, row.layer) for row in comparison.differences]


@pytest.fixture
def two_logs(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "good.log").write_text(log_with(fused=True))
    (tmp_path / "bad.log").write_text(log_with(fused=False, pool_tactic=0x3))
    return str(tmp_path / "good.log"), str(tmp_path / "bad.log")


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


def test_the_report_puts_consequences_under_their_cause_with_lines(two_logs: tuple[str, str]) -> None:
    text = report(compare(load_side(two_logs[0], "good"), load_side(two_logs[1], "bad")))
    lines = text.split("\n")
    fusion, tactic = lines.index("FUSION (1)"), lines.index("TACTIC (1)")
    assert fusion < tactic
    assert any("6 follow from it" in line for line in lines[fusion:tactic])
    assert any("pool2" in line for line in lines[fusion:tactic])
    assert "  pool5" in lines[tactic:]
    assert "    bad  conv1, PWN(relu1)  lines 5, 6" in lines


def test_a_layer_under_another_name_is_a_difference_that_causes_nothing() -> None:
    tensors = LayerTensors(1, ("Half", "Half"), packing=(1, 1), texts=("Half", "Half"))

    def view(middle: str, tactic: int) -> BuildView:
        return build(*(layer(name, tactic=tactic, runner="Cask", tensors=tensors) for name in ("a", middle, "z")))

    found = compared([view("x", 1)], [view("y", 1)])
    assert [(row.type.value, row.layer, row.matched_by.value) for row in found.differences] == [
        ("fusion", "x", "position")
    ]
    found = compared([view("x", 1)], [view("y", 2)])
    assert rows(found) == [("fusion", "x"), ("tactic", "a"), ("tactic", "x"), ("tactic", "z")]
    assert {row.cause for row in found.differences} == {None}


def test_a_change_of_precision_everywhere_is_not_blamed_on_a_fusion() -> None:
    def chain(dtype: str, stem: tuple[str, ...]) -> BuildView:
        names = (*stem, *(f"layer{n}" for n in range(5)))
        return build(
            *(
                layer(
                    name,
                    tensors=LayerTensors(1, (dtype, dtype), packing=(1, 1), texts=(dtype, dtype)),
                    reads=(f"t{n}" if n else "x",),
                    writes=("t1" if n < len(stem) else f"t{n + 1}",),
                )
                for n, name in enumerate(names, 2 - len(stem))
            )
        )

    found = compared([chain("Float", ("a + b",))], [chain("Half", ("a", "b"))])
    assert found.differences[0].type is DifferenceType.FUSION
    blamed = {row.layer for row in found.differences if row.cause == 0}
    assert blamed == {"a + b"}
    assert {row.layer for row in found.differences if row.cause is None and row.type is DifferenceType.PRECISION} == {
        f"layer{n}" for n in range(5)
    }


def test_what_one_kind_of_source_does_not_tell_is_no_difference() -> None:
    log = build(layer("a", runner="Cask", runner_id=9, tactic=1, kernel="k", tensors=LayerTensors(1, ("Half", "Half"))))
    replay = build(layer("a", runner_id=9, tactic=1, tensors=LayerTensors(1, ("Half", "Half"))), kind=Kind.REPLAY)
    assert compared([log], [replay]).differences == ()
    other = build(layer("a", runner_id=9, tactic=2), kind=Kind.REPLAY)
    assert rows(compared([log], [other])) == [("tactic", "a")]


def test_kinds_that_count_tensors_differently_are_not_compared_in_them() -> None:
    log = build(layer("a", tactic=1, tensors=LayerTensors(1, ("Half", "Half"), texts=("Half", "Half"))))
    three = LayerTensors(2, ("Half", "Float", "Half"), texts=("Half", "Float", "Half"))
    assert compared([log], [build(layer("a", tactic=1, tensors=three), kind=Kind.REPLAY)]).differences == ()
    assert rows(compared([log], [build(layer("a", tactic=1, tensors=three))])) == [("precision", "a")]


def test_what_a_replay_by_its_nature_lacks_is_not_missing() -> None:
    foreign = "{ForeignNode[a...d]}"
    reformat = f"Reformatting CopyNode for Input Tensor 0 to {foreign}"
    kernels = (layer("a_myl0_1", onnx_nodes=("a",)), layer("__myl_Add_myl0_2", onnx_nodes=("d",)))
    log = build(layer("conv", tactic=1), layer(reformat, tactic=0), *kernels)
    replay = build(layer("conv", tactic=1), layer(foreign, tactic=0), kind=Kind.REPLAY)
    found = compared([log], [replay])
    assert found.differences == ()
    assert [note.split(":")[0] for note in found.notes] == [
        "reformats are not compared",
        "ForeignNodes are not compared",
    ]
    # between two logs both are differences
    assert rows(compared([log], [build(layer("conv", tactic=1))])) == [
        ("missing", reformat),
        ("missing", "a_myl0_1"),
        ("missing", "__myl_Add_myl0_2"),
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
    assert any("engine layers are told by the bad side only" in note for note in found.notes)


def test_a_near_tie_is_marked_with_its_margin() -> None:
    good = build(layer("a", 3, tactic=1, time_ms=0.100, runner_up_ms=0.101))
    bad = build(layer("a", 4, tactic=2, time_ms=0.100, runner_up_ms=0.103))
    (row,) = compared([good], [bad]).differences
    assert [why for why in row.why if "near tie" in why] == [
        "near tie in good (x:3): 0.1 ms, the runner-up 1.0% slower; up to 2% build noise may flip it"
    ]


def test_a_tactic_of_one_good_build_stays_listed(tmp_path: Path) -> None:
    for side, tactics in {"good": [SECOND, SECOND, FIRST], "bad": [FIRST, FIRST]}.items():
        (tmp_path / side).mkdir()
        for number, tactic in enumerate(tactics):
            (tmp_path / side / f"{number}.json").write_text(replay_text({"conv": tactic, "same": 5}))
    (row,) = compare(load_side(str(tmp_path), "good"), load_side(str(tmp_path), "bad")).differences
    assert (row.layer, row.counts.bad, row.counts.good, row.counts.of_good) == ("conv", 2, 1, 3)
    assert [entry.count for entry in (*row.good, *row.bad)] == [2, 1, 2]


def test_an_interacting_pair_is_ranked_first_in_every_seed(tmp_path: Path) -> None:
    for seed in range(2):
        folder = tmp_path / str(seed)
        culprits = interacting_pair(folder, layers=300, builds=40, seed=seed)
        found = compare(load_side(str(folder), "good"), load_side(str(folder), "bad"))
        assert {half.layer for half in found.pairs[0].halves} == set(culprits)


def test_a_directory_is_searched_and_says_what_it_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "good"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.json").write_text(replay_text({"a": 1}))
    (folder / "notes.txt").write_text("hello")
    (folder / "broken.json").write_text(replay_text({"a": 1})[:-20])
    (folder / "loop").symlink_to(tmp_path)
    (folder / "linked.json").symlink_to("deep/a.json")
    (folder / "nowhere.json").symlink_to("gone")
    side = load_side(str(folder), "good")
    assert [view.source.rpartition("/")[2] for view in side.builds] == ["linked.json", "a.json"]
    why = {one.path.rpartition("/")[2]: one.why for one in side.skipped}
    assert set(why) == {"notes.txt", "broken.json", "loop", "nowhere.json"}
    assert why["loop"] == "is a link to a directory, which is not followed"
    assert "no line carries a TensorRT or trtexec prefix" in why["notes.txt"]
    assert "JSON ends too early" in why["broken.json"]
    assert why["nowhere.json"] == "No such file or directory"


def test_a_directory_without_any_build_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(UsageError, match="holds no file that tells of a build"):
        load_side(str(tmp_path), "good")


def test_an_artifacts_directory_gives_its_side(tmp_path: Path) -> None:
    for side, tactic in {"good": 1, "bad": 2}.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "r.json").write_text(replay_text({"a": tactic}))
    found = compare(load_side(str(tmp_path), "good"), load_side(str(tmp_path), "bad"))
    assert rows(found) == [("tactic", "a")]


def test_equal_differences_stand_in_the_order_of_the_report() -> None:
    def one(tactic: int, dtype: str, name: str) -> BuildView:
        tensors = LayerTensors(1, (dtype, "Half"), packing=(1, 1))
        return build(layer("a", tactic=tactic), layer("b", tensors=tensors), layer(name))

    types = [row.type for row in compared([one(1, "Half", "x")], [one(2, "Float", "y")]).differences]
    assert types == [DifferenceType.PRECISION, DifferenceType.TACTIC, DifferenceType.MISSING, DifferenceType.ADDED]


def test_suspicion_orders_the_list() -> None:
    def one(first: int, second: int) -> BuildView:
        return build(layer("noise", tactic=first), layer("culprit", tactic=second))

    good = [one(1, 1), one(2, 1), one(1, 1), one(2, 1)]
    found = compared(good, [one(1, 2), one(1, 2), one(2, 2)])
    assert [row.layer for row in found.differences] == ["culprit", "noise"]
    scores = [row.suspicion for row in found.differences]
    assert scores == sorted(scores, reverse=True)


def test_hostile_names_reach_the_report_visible_only(tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e"
    for side, tactic in {"good": 1, "bad": 2}.items():
        (tmp_path / f"{side}.json").write_text(replay_text({name: tactic}))
    found = compare(*(load_side(str(tmp_path / f"{side}.json"), side) for side in ("good", "bad")))
    text = report(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a␛[31m" in text


def test_mixed_kinds_tell_of_the_same_build(samples: list[Path], tmp_path: Path) -> None:
    log = next(path for path in samples if "two-profiles" in path.name)
    side = load_side(str(log), "good")
    export = tmp_path / "export.json"
    from trtforensics.cli import main  # noqa: PLC0415 - as a user would

    assert main(["cache", "export", str(log), "-o", str(export), "--quiet"]) == 0
    found = compare(side, load_side(str(export), "bad"))
    assert found.differences == ()
    assert sum(found.matched.values()) == len(json.loads(export.read_text())["keys"])


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


def test_what_myelin_chose_inside_a_foreign_node_is_compared_without_keys_too(
    samples: list[Path], tmp_path: Path
) -> None:
    log = next(path for path in samples if "three-passes" in path.name)
    lines = log.read_text().split("\n")
    table = next(n for n, line in enumerate(lines) if "Autotuning op node_conv2d:" in line and n > 1100)
    first, second = (lines[table + n].split(", ")[5] for n in (3, 4))
    bad = tmp_path / "bad.log"
    swapped = {table + 3: (first, second), table + 4: (second, first)}
    bad.write_text("\n".join(line.replace(*swapped.get(n, ("", ""))) for n, line in enumerate(lines)))
    found = compare(load_side(str(log), "good"), load_side(str(bad), "bad"))
    assert [(one.type, one.layer) for one in found.differences] == [(DifferenceType.TACTIC, "node_conv2d")]
