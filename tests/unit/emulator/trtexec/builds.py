"""Builds of the emulated trtexec in the process of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.trtexec import cli as trtexec_cli

if TYPE_CHECKING:
    from pathlib import Path

NET = ("--layers", "20", "--seed", "3")


def build(folder: Path, *options: str, status: int = 0, net: tuple[str, ...] = NET) -> str:
    """Build in this process and return the log."""
    log = folder / "log"
    assert trtexec_cli.main([*net, *options, "--log", str(log)]) == status, log.read_text()
    return log.read_text()
