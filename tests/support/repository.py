"""Where things lie in the repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "testdata" / "logs"
"""The logs that this project made itself."""
