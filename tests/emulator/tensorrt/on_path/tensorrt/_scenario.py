"""What a test wants of this process's TensorRT, from the environment; the version is that at the time of import."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.emulator.log.event import Version

VARIABLE = "EMULATED_TENSORRT"


class Scenario(NamedTuple):
    """Keys and tactics are hexadecimal strings; `builder.Request` says what they do.

    ``faults`` are those of `faults.strike`; they happen at the end of a build, if one of the sets in ``when`` (as in
    `files.present`) is in the engine, or always where there are none. ``reading`` are faults that happen when the bytes
    of a timing cache are read.
    """

    version: Version = (10, 13, 3)
    luck: str = ""
    noise: float = 0.01
    runner_up: bool = False
    refused: tuple[str, ...] = ()
    drift: tuple[tuple[str, str], ...] = ()
    blind: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    when: tuple[Any, ...] = ()


def read() -> Scenario:
    """Return the scenario of the environment as it is now; without a ``luck``, each build has its own."""
    wanted: dict[str, Any] = json.loads(os.environ.get(VARIABLE) or "{}")
    if "version" in wanted:
        major, minor, patch = (*map(int, wanted["version"].split(".")), 0, 0)[:3]
        wanted["version"] = (major, minor, patch)
    wanted["drift"] = tuple(wanted.get("drift", {}).items())
    for name in ("refused", "blind", "faults", "reading", "when"):
        wanted[name] = tuple(wanted.get(name, ()))
    wanted.setdefault("luck", os.urandom(8).hex())
    return Scenario(**wanted)


VERSION = read().version
