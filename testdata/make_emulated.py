"""Writes the emulated sample logs next to this script: ``python testdata/make_emulated.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.emulator.engine import build  # noqa: E402 - the repository's root has to be on the path first

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOGS: Mapping[str, Callable[[], build.Log]] = {
    "emulated-trtexec-8.6.log": build.trtexec_8_6,
    "emulated-trtexec-10.16-three-passes.log": build.three_passes,
    "emulated-python-10.16-two-profiles.log": build.two_profiles,
}


def main() -> None:
    """Write every log; the same bytes each time."""
    for name, make in LOGS.items():
        content = make().text().encode()
        (HERE / "logs" / name).write_bytes(content)
        lines = content.count(b"\n")
        print(f"logs/{name}: {len(content)} bytes, {lines} lines")


if __name__ == "__main__":
    main()
