"""Binary timing caches, which the emulator reads, and what is refused."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.builder import CacheEntry
from tests.emulator.engine.files import cache_bytes, read_cache
from tests.emulator.tensorrt.python_path import FOLDER, SCENARIO, environment
from trtforensics.cli import main
from trtforensics.errors import NotATimingCacheError, UsageError
from trtforensics.sources.cache import load_timing_cache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEYS = [f"0x{number:032x}" for number in (1, 2)]
INVALID = (1 << 64) - 1
VERSION = (10, 13, 3)


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let ``import tensorrt`` be the emulator's, in child processes and where it is only looked for."""

    def play(**scenario: object) -> None:
        env = environment(**{"version": "10.13.3", **scenario})
        for name in ("PYTHONPATH", SCENARIO):
            monkeypatch.setenv(name, env[name])
        monkeypatch.syspath_prepend(str(FOLDER))

    return play


@pytest.fixture
def binary(tmp_path: Path, tensorrt: Callable[..., None]) -> Path:
    """A binary cache, which the emulator reads."""
    tensorrt()
    path = tmp_path / "model.cache"
    path.write_bytes(cache_bytes({1: CacheEntry(0x10, 0.5), 2: CacheEntry(INVALID, 0.25)}, VERSION))
    return path


def test_a_binary_cache_is_read_through_tensorrt(binary: Path) -> None:
    cache = load_timing_cache(str(binary))
    assert cache.tensorrt_version == "10.13.3"
    assert [(key.op, key.key, key.selected, key.time_ms) for key in cache.keys] == [
        ("", KEYS[0], 0x10, 0.5),
        ("", KEYS[1], None, 0.25),
    ]


def test_apply_sets_the_tactics_of_an_export_in_a_cache(
    binary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export, fixed = tmp_path / "export.json", tmp_path / "fixed.cache"
    assert main(["cache", "export", str(binary), "-o", str(export)]) == 0
    export.write_text(export.read_text().replace("0x0000000000000010", "0x0000000000000020"))
    assert main(["cache", "apply", str(export), "--to", str(binary), "-o", str(fixed)]) == 0
    assert read_cache(fixed.read_bytes(), VERSION) == {1: (0x20, 0.5), 2: (INVALID, 0.25)}
    assert "1 of 2 keys now have another tactic" in capsys.readouterr().err


@pytest.mark.slow
def test_a_key_that_the_cache_does_not_have_changes_nothing(
    binary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export, fixed = tmp_path / "export.json", tmp_path / "fixed.cache"
    main(["cache", "export", str(binary), "-o", str(export)])
    export.write_text(export.read_text().replace(KEYS[0], f"0x{9:032x}"))
    assert main(["cache", "apply", str(export), "--to", str(binary), "-o", str(fixed)]) == 2
    assert not fixed.exists()
    assert f"refuses the tactic 0x0000000000000010 for key 0x{9:032x}" in capsys.readouterr().err


def test_what_tensorrt_finds_no_key_in_is_said_with_its_words(tmp_path: Path, tensorrt: Callable[..., None]) -> None:
    tensorrt()
    path = tmp_path / "other.cache"
    path.write_bytes(b"\x01\0\0\0" * 20)
    with pytest.raises(NotATimingCacheError, match=r"10\.13\.3 finds no key .*it says: .*Magic tag does not match"):
        load_timing_cache(str(path))


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("crash:SEGV", "died by SIGSEGV"),
        pytest.param("crash:KILL", "died by SIGKILL", marks=pytest.mark.slow),
        pytest.param("raise:bad bytes", "exit status 1, RuntimeError: bad bytes", marks=pytest.mark.slow),
    ],
)
def test_a_crash_of_tensorrt_while_it_reads_is_a_sentence(
    binary: Path, tensorrt: Callable[..., None], capsys: pytest.CaptureFixture[str], fault: str, how: str
) -> None:
    tensorrt(reading=[fault])
    export = binary.with_name("export.json")
    assert main(["cache", "export", str(binary), "-o", str(export)]) == 2
    said = f"{binary}: the process in which TensorRT read it ended before it was done ({how})."
    assert said in capsys.readouterr().err
    assert not export.exists()


def test_a_version_without_editable_caches_says_so(binary: Path, tensorrt: Callable[..., None]) -> None:
    tensorrt(version="10.7.0")
    with pytest.raises(UsageError, match=r"TensorRT 10\.7\.0 has no editable timing caches"):
        load_timing_cache(str(binary))


def test_without_tensorrt_a_binary_cache_is_refused_with_what_to_do(
    binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorrt", None)
    with pytest.raises(UsageError, match="only TensorRT can read") as caught:
        load_timing_cache(str(binary))
    assert "verbose log" in caught.value.next_step


def test_type_stubs_are_no_tensorrt(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stubs" / "tensorrt").mkdir(parents=True)
    (tmp_path / "stubs" / "tensorrt" / "__init__.pyi").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "stubs"), *(p for p in sys.path if p != str(FOLDER))])
    assert find_spec("tensorrt") is not None
    with pytest.raises(UsageError, match="it is not installed"):
        load_timing_cache(str(binary))
