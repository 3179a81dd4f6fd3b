"""Timing-cache exports from logs and binary caches, and what is refused. The binary's API is played by a stand-in."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics import cache_export
from trtforensics.cache_loading import load_timing_cache
from trtforensics.cli import main
from trtforensics.errors import NotATimingCacheError, UsageError
from trtforensics.loading import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [f"0x{number:032x}" for number in (1, 2)]
INVALID = (1 << 64) - 1


class FakeCache:
    """An ITimingCache: bytes are a zero and JSON of {key: [hash, ms]}; it refuses keys that it does not have."""

    def __init__(self, payload: bytes) -> None:
        self.entries: dict[str, Any] = json.loads(payload[1:]) if payload[:1] == b"\0" else {}

    def queryKeys(self) -> list[str]:  # noqa: N802 - TensorRT's name
        """Return the keys."""
        return list(self.entries)

    def query(self, key: str) -> SimpleNamespace:
        """Return the value of a key."""
        tactic, ms = self.entries[key]
        return SimpleNamespace(tacticHash=tactic, timingMSec=ms)

    def update(self, key: str, value: SimpleNamespace) -> bool:
        """Set a value."""
        if key not in self.entries:
            return False
        self.entries[key] = [value.tacticHash, value.timingMSec]
        return True

    def serialize(self) -> bytes:
        """Return the bytes of a file."""
        return b"\0" + json.dumps(self.entries).encode()


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the part of TensorRT's Python API that an editable cache needs (names from the bindings 10.13)."""
    module: Any = ModuleType("tensorrt")
    module.__version__ = "10.13.3"
    module.ILogger = type("ILogger", (), {"__init__": lambda _: None})
    module.Logger = SimpleNamespace(WARNING="W", ERROR="E", INTERNAL_ERROR="I")
    module.BuilderFlag = SimpleNamespace(EDITABLE_TIMING_CACHE="editable")
    module.TimingCacheKey = SimpleNamespace(parse=str)
    module.TimingCacheValue = lambda tactic, ms: SimpleNamespace(tacticHash=tactic, timingMSec=ms)

    def builder(logger: Any) -> SimpleNamespace:
        def create(payload: bytes) -> FakeCache:
            cache = FakeCache(payload)
            if not cache.entries:
                logger.log("W", "Failed to deserialize timing cache.")
            return cache

        config = SimpleNamespace(set_flag=lambda _: None, create_timing_cache=create)
        return SimpleNamespace(create_builder_config=lambda: config)

    module.Builder = builder
    monkeypatch.setitem(sys.modules, "tensorrt", module)


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "model.cache"
    cache = FakeCache(b"")
    cache.entries = {KEYS[0]: [0x10, 0.5], KEYS[1]: [INVALID, 0.25]}
    path.write_bytes(cache.serialize())
    return path


@pytest.fixture
def log(samples: list[Path]) -> Path:
    return next(path for path in samples if "two-profiles" in path.name)


def test_an_export_holds_what_the_log_states_and_reads_back(log: Path, tmp_path: Path) -> None:
    built = cache_export.of_log(load_build_log([str(log)]))
    path = tmp_path / "export.json"
    path.write_text(cache_export.to_json(built))
    again = load_timing_cache(str(path))
    assert len(again.keys) == len(built.keys) == len({key.key for key in built.keys}) > 5
    for key, before in zip(again.keys, built.keys, strict=True):
        assert (key.op, key.key, key.selected, key.time_ms, key.candidates) == (
            before.op,
            before.key,
            before.selected,
            before.time_ms,
            before.candidates,
        )
        assert key.key in path.read_text().split("\n")[key.span.line - 1]
        assert key.key in log.read_text().split("\n")[before.span.line - 1]
    document = json.loads(path.read_text())
    assert (document["schema"], document["kind"], document["made_from"]) == (1, "timing-cache", str(log))
    assert document["keys"][0]["line"] == built.keys[0].span.line


def test_a_log_without_keys_is_refused_with_what_to_do(samples: list[Path]) -> None:
    other = next(path for path in samples if "8.6" in path.name)
    with pytest.raises(UsageError, match="prints no keys of an editable timing cache") as caught:
        cache_export.of_log(load_build_log([str(other)]))
    assert "EDITABLE_TIMING_CACHE" in caught.value.next_step


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('{"schema": 2', "has schema 2, and this version reads schema 1"),
        ('"kind": "diff"', "is no timing-cache export"),
        ('"key": "0x12"', "0x and 32 lower-case hexadecimal digits"),
        ('"selected": 12', "the tactic 12 is not 0x"),
        ('"time_ms": "fast"', "the time 'fast' is no number"),
        ('"candidates": {}', "no list of objects"),
        ('"candidates": [{"kernel": "k"}]', "a candidate has no tactic"),
    ],
)
def test_what_is_wrong_with_an_export_is_said(tmp_path: Path, change: str, what: str) -> None:
    key = '{"op": "a", "key": "%s", "selected": "0x1", "time_ms": 1.0, "candidates": []}' % KEYS[0]  # noqa: UP031 - braces
    text = f'{{"schema": 1, "kind": "timing-cache", "keys": [\n{key}\n]}}'
    name = change.split(":", maxsplit=1)[0].lstrip("{")
    start = text.index(name)
    end = text.index("]" if name == '"candidates"' else '"' if "kind" in name else ",", start + len(name) + 3) + (
        name in {'"candidates"', '"kind"'}
    )
    path = tmp_path / "export.json"
    path.write_text(text[:start] + change.lstrip("{") + text[end:])
    with pytest.raises(NotATimingCacheError, match=what):
        load_timing_cache(str(path))


@pytest.mark.usefixtures("tensorrt")
def test_a_binary_cache_is_read_through_tensorrt(binary: Path) -> None:
    cache = load_timing_cache(str(binary))
    assert cache.tensorrt_version == "10.13.3"
    assert [(key.op, key.key, key.selected, key.time_ms) for key in cache.keys] == [
        ("", KEYS[0], 0x10, 0.5),
        ("", KEYS[1], None, 0.25),
    ]


@pytest.mark.usefixtures("tensorrt")
def test_apply_sets_the_tactics_of_an_export_in_a_cache(
    binary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export, fixed = tmp_path / "export.json", tmp_path / "fixed.cache"
    assert main(["cache", "export", str(binary), "-o", str(export)]) == 0
    export.write_text(export.read_text().replace("0x0000000000000010", "0x0000000000000020"))
    assert main(["cache", "apply", str(export), "--to", str(binary), "-o", str(fixed)]) == 0
    assert FakeCache(fixed.read_bytes()).entries == {KEYS[0]: [0x20, 0.5], KEYS[1]: [INVALID, 0.25]}
    assert "1 of 2 keys now have another tactic" in capsys.readouterr().err


@pytest.mark.usefixtures("tensorrt")
def test_a_key_that_the_cache_does_not_have_changes_nothing(
    binary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export, fixed = tmp_path / "export.json", tmp_path / "fixed.cache"
    main(["cache", "export", str(binary), "-o", str(export)])
    export.write_text(export.read_text().replace(KEYS[0], f"0x{9:032x}"))
    assert main(["cache", "apply", str(export), "--to", str(binary), "-o", str(fixed)]) == 2
    assert not fixed.exists()
    assert f"refuses the tactic 0x0000000000000010 for key 0x{9:032x}" in capsys.readouterr().err


@pytest.mark.usefixtures("tensorrt")
def test_what_tensorrt_finds_no_key_in_is_said_with_its_words(tmp_path: Path) -> None:
    path = tmp_path / "other.cache"
    path.write_bytes(b"\x01\0\0\0" * 20)
    with pytest.raises(NotATimingCacheError, match="it says: Failed to deserialize timing cache"):
        load_timing_cache(str(path))


def test_without_tensorrt_a_binary_cache_is_refused_with_what_to_do(
    binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorrt", None)
    with pytest.raises(UsageError, match="only TensorRT can read") as caught:
        load_timing_cache(str(binary))
    assert "verbose log" in caught.value.next_step
