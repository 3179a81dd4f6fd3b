"""What the emulator's engines hold is what our parser and our replay tools make of its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.engine.files import read_engine, read_replay
from tests.emulator.trtexec import cli as trtexec_cli
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path


def built(folder: Path, *options: str) -> tuple[dict[str, Any], Path]:
    """Build verbosely; return the engine's layers by name, and the log."""
    log, engine = folder / "build.log", folder / "engine"
    line = ["--layers", "40", "--seed", "8", "--verbose", "--log", str(log), "--engine", str(engine), *options]
    assert trtexec_cli.main(line) == 0, log.read_text()
    return {layer["name"]: layer for layer in read_engine(engine.read_bytes())["layers"]}, log


@pytest.mark.parametrize("options", [("--version", "8.6.1"), ("--detailed",), ("--dialect", "polygraphy")])
def test_the_engine_that_a_log_tells_of_is_the_engine(tmp_path: Path, options: tuple[str, ...]) -> None:
    engine, path = built(tmp_path, *options)
    log = load_build_log([str(path)])
    build = log.builds[0]
    assert log.unknown_shapes == 0
    plain = [layer for layer in build.engine_layers if layer.name in engine]
    assert len(plain) > 30
    for layer in plain:
        known = engine[layer.name]
        assert layer.tactic is not None
        assert f"0x{layer.tactic:016x}" == known["tactic"]
        if known["runner"] != "Reformat":
            assert layer.choice is not None
            choice = build.choices[layer.choice]
            assert (choice.layer, choice.runner, choice.final) == (layer.name, known["runner"], True)


@pytest.mark.parametrize("version", ["8.6.1", "10.16.1"])
def test_a_replay_made_of_a_log_repeats_the_build(
    tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]], version: str
) -> None:
    recorded, made = tmp_path / "recorded.json", tmp_path / "made.json"
    first, log = built(tmp_path, "--version", version, "--save-replay", str(recorded), "--luck", "a")
    done = run("replay", "convert", log, "-o", made)
    assert done.returncode == 0, done.stderr
    wanted, found = read_replay(recorded), read_replay(made)
    layers = [name for name in wanted if not name.startswith("Reformatting")]
    assert list(found) == layers
    assert all(found[name].fits(wanted[name]) for name in layers)
    again, _ = built(tmp_path, "--version", version, "--replay", str(made), "--luck", "b")
    assert {name: again[name] for name in layers} == {name: first[name] for name in layers}
    free, _ = built(tmp_path, "--version", version, "--luck", "b")
    assert free != first
