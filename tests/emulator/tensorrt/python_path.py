"""How a process comes to import our `tensorrt` instead of NVIDIA's."""

from __future__ import annotations

import json
import os
from functools import cache
from tempfile import TemporaryDirectory

from tests.emulator.engine.onnx_net import KEPT
from tests.support.repository import ROOT, import_path

FOLDER = ROOT / "tests" / "emulator" / "tensorrt" / "on_path"
"""What stands first on the path of such a process."""

SCENARIO = "EMULATED_TENSORRT"


def environment(**scenario: object) -> dict[str, str]:
    """Return a whole environment for a process in which `import tensorrt` finds the emulator.

    The keywords are those of `on_path/tensorrt/_scenario.py`: ``version="10.13.3"``, ``luck="a"``,
    ``noise=0.01``, ``runner_up=True``, ``refused=["0x…"]``, ``drift={"0x…": "0x…"}``, ``blind=["0x…"]``,
    ``faults=["crash:SEGV"]``, ``reading=["crash:SEGV"]``, ``when=[[{…}]]``.
    """
    kept = {KEPT: _models().name, SCENARIO: json.dumps(scenario)}
    return {**os.environ, "PYTHONPATH": import_path(FOLDER, ROOT), **kept}


@cache
def _models() -> TemporaryDirectory[str]:
    """Return the folder of the models that were read; it goes when this process ends."""
    return TemporaryDirectory(prefix="emulated-")
