"""Tactics as a lever, without a build: what a probe is given, and what is written at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.levers.tactics import (
    FORMAT_SUSPICION,
    PRECISION_SUSPICION,
    SENSITIVE_SUSPICION,
    ReplaySide,
    TacticsLever,
    load_side,
)
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.model.replay import ReplayEntry, ReplayTensor
from trtforensics.model.span import SourceSpan
from trtforensics.replay.edges import DataflowEdge
from trtforensics.replay.writing import to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.replay import Replay

MAX = 1 << 20


def entry(layer: str, tactic: int, dtype: str = "HALF", strides: tuple[int, ...] = (8, 1)) -> ReplayEntry:
    tensor = ReplayTensor(dtype, None, strides, -1, 1)
    return ReplayEntry(layer, 0x80000009, tactic, (tensor,), (tensor,), SourceSpan("x", 1, 0))


def replay(path: Path, **entries: ReplayEntry) -> Replay:
    path.write_text(to_text(entries.values()))
    return load_replay(str(path))


@pytest.fixture
def good(tmp_path: Path) -> Replay:
    return replay(tmp_path / "good.json", a=entry("a", 1), b=entry("b", 1), c=entry("c", 1), only=entry("only", 1))


@pytest.fixture
def bad(tmp_path: Path) -> Replay:
    entries = {"a": entry("a", 1), "b": entry("b", 2), "c": entry("c", 1 << 63, "FLOAT"), "n": entry("n", 3)}
    return replay(tmp_path / "bad.json", **entries)


def layers(path: Path) -> dict[str, int]:
    return {layer: each["tactic"] for layer, each in json.loads(path.read_text())["replay"].items()}


def test_items_are_the_layers_that_differ_or_stand_on_one_side(good: Replay, bad: Replay) -> None:
    lever = TacticsLever(ReplaySide((good,)), ReplaySide((bad,)))
    assert [item.name for item in lever.items] == ["b", "c", "only", "n"]
    assert lever.describe(3).document() == {
        "item": "n",
        "good": None,
        "bad": {
            "runner": "0x80000009",
            "tactic": "0x0000000000000003",
            "inputs": ["HALF(8,1)"],
            "outputs": ["HALF(8,1)"],
            "at": str(bad.entries[3].span),
        },
    }


def test_a_probe_gets_its_mix(good: Replay, bad: Replay, tmp_path: Path) -> None:
    lever = TacticsLever(ReplaySide((good,)), ReplaySide((bad,)))
    assert lever.prepare(frozenset(), tmp_path) == {"replay": tmp_path / "replay.json"}
    assert layers(tmp_path / "replay.json") == {"a": 1, "b": 1, "c": 1, "only": 1}
    lever.prepare(frozenset({0, 3}), tmp_path)
    assert layers(tmp_path / "replay.json") == {"a": 1, "b": 2, "c": 1, "only": 1, "n": 3}
    lever.prepare(frozenset(range(4)), tmp_path)
    assert layers(tmp_path / "replay.json") == {"a": 1, "b": 2, "c": -(1 << 63), "n": 3}


def test_what_is_taken_away(good: Replay, bad: Replay, tmp_path: Path) -> None:
    lever = TacticsLever(ReplaySide((good,)), ReplaySide((bad,)))
    lines = lever.fix([frozenset({1})], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name not in {"good.json", "bad.json"}) == sorted(
        line.partition(":")[0] for line in lines
    )
    assert layers(tmp_path / "replay.json") == {"a": 1, "b": 2, "c": 1, "n": 3}
    assert layers(tmp_path / "culprits.json") == {"a": 1, "b": 1, "c": -(1 << 63), "only": 1}
    bans = (tmp_path / "banned-tactics.tsv").read_text().splitlines()
    assert bans == ["layer\trunner\ttactic", "c\t0x80000009\t0x8000000000000000"]


def test_the_same_tactics_are_nothing_to_search(good: Replay) -> None:
    with pytest.raises(UsageError, match="pin the same tactics"):
        TacticsLever(ReplaySide((good,)), ReplaySide((good,)))


def test_edges_join_items_only(good: Replay, bad: Replay) -> None:
    edges = [DataflowEdge("a", 0, "b", 0, "t"), DataflowEdge("b", 0, "c", 0, "u"), DataflowEdge("c", 0, "zzz", 0, "v")]
    assert TacticsLever(ReplaySide((good,)), ReplaySide((bad,)), edges).edges == ((0, 1),)


def test_suspicion_is_of_precision_formats_and_sensitive_operations(tmp_path: Path) -> None:
    one = {"conv": entry("conv", 1), "cast": entry("cast", 1), "view": entry("view", 1), "softmax": entry("softmax", 1)}
    other = {
        "conv": entry("conv", 2),
        "cast": entry("cast", 1, "FLOAT"),
        "view": entry("view", 1, strides=(1, 8)),
        "softmax": entry("softmax", 2),
    }
    lever = TacticsLever(ReplaySide((replay(tmp_path / "g", **one),)), ReplaySide((replay(tmp_path / "b", **other),)))
    weights = {item.name: item.weight for item in lever.items}
    assert weights == pytest.approx(
        {"conv": 2, "cast": 2 * PRECISION_SUSPICION, "view": 2 * FORMAT_SUSPICION, "softmax": 2 * SENSITIVE_SUSPICION}
    )


def test_of_directories_the_closest_pair_is_searched_and_the_others_weigh(tmp_path: Path) -> None:
    for side in ("good", "bad"):
        (tmp_path / side).mkdir()
    replay(tmp_path / "good" / "1.json", a=entry("a", 1), b=entry("b", 1), c=entry("c", 1))
    replay(tmp_path / "good" / "2.json", a=entry("a", 9), b=entry("b", 2), c=entry("c", 1))
    replay(tmp_path / "bad" / "1.json", a=entry("a", 1), b=entry("b", 2), c=entry("c", 3))
    replay(tmp_path / "bad" / "2.json", a=entry("a", 7), b=entry("b", 2), c=entry("c", 3))
    (tmp_path / "bad" / "notes.txt").write_text("not a replay")
    (tmp_path / "bad" / "sub").mkdir()
    good, bad = (load_side(str(tmp_path), side, max_bytes=MAX) for side in ("good", "bad"))
    assert [line.rpartition("/")[2] for line in bad.skipped] == [
        "notes.txt: is no tactic replay",
        "sub: is no regular file",
    ]
    lever = TacticsLever(good, bad)
    assert [item.name for item in lever.items] == ["b", "c"]
    assert (lever.good.source.path, lever.bad.source.path) == (
        str(tmp_path / "good" / "1.json"),
        str(tmp_path / "bad" / "1.json"),
    )
    weights = {item.name: item.weight for item in lever.items}
    assert weights["c"] == 2 * weights["b"]  # a good build has b's bad tactic too; it is suspected less, not acquitted


def test_a_directory_without_replays_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ForensicsError, match="holds no tactic replay"):
        load_side(str(tmp_path), "good", max_bytes=MAX)
