"""The check fails exactly where a hidden set is in the engine, as often as asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.files import culprits_of, read_replay
from tests.emulator.trtexec import check
from tests.unit.emulator.trtexec.builds import build

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """An engine in which the first of two hidden sets is present."""
    path, replay = tmp_path / "engine", tmp_path / "replay.json"
    build(tmp_path, "--luck", "a", "--save-replay", str(replay), "--engine", str(path))
    names = list(read_replay(replay))
    (tmp_path / "hidden").write_text(json.dumps(culprits_of(replay, names[3:5])))
    (tmp_path / "absent").write_text(json.dumps([[{"layer": names[0], "algorithm": "another"}]]))
    return path


def judged(engine: Path, name: str, *options: str) -> int:
    return check.main([str(engine), "--culprits", str(engine.parent / name), *options])


def test_the_check_fails_exactly_if_a_hidden_set_is_there(engine: Path) -> None:
    assert judged(engine, "hidden") == check.BAD
    assert judged(engine, "absent") == check.GOOD
    both = [*json.loads((engine.parent / "hidden").read_text())[0], {"layer": "no", "algorithm": "such"}]
    (engine.parent / "both").write_text(json.dumps([both]))
    assert judged(engine, "both") == check.GOOD
    engine.write_bytes(b"no engine")
    assert judged(engine, "hidden") == check.NO_ENGINE
    engine.unlink()
    assert judged(engine, "hidden") == check.NO_ENGINE


@pytest.mark.slow
def test_the_check_is_as_flaky_as_asked_and_repeats_by_its_seed(engine: Path) -> None:
    def bad(name: str, tally: str, *options: str) -> list[int]:
        return [
            judged(engine, name, *options, "--luck", "a", "--save-tally", str(engine.parent / tally))
            for _ in range(300)
        ]

    shown = bad("hidden", "one", "--shown", "0.7")
    assert 180 < sum(shown) < 240
    assert shown == bad("hidden", "two", "--shown", "0.7")
    assert 15 < sum(bad("absent", "three", "--flip", "0.1")) < 50
    assert len(set(bad("hidden", "four", "--shown", "0.5", "--per", "build"))) == 1
    assert (engine.parent / "one").stat().st_size == 300
