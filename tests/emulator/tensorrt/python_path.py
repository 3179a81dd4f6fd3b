"""How a process comes to import our `tensorrt` instead of NVIDIA's."""

from __future__ import annotations

import json
import os

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
    return {**os.environ, "PYTHONPATH": import_path(FOLDER, ROOT), SCENARIO: json.dumps(scenario)}
