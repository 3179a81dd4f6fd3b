"""Make ``docs/tui.svg``, the picture in the README: ``python docs/screenshot.py``.

The picture is the same on every machine: it shows a log of this repository at a fixed size.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import write_text
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.tui.sessions import open_log

if TYPE_CHECKING:
    from trtforensics.tui.app import TerminalApp

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "testdata" / "logs" / "emulated-trtexec-10.16-three-passes.log"
SIZE = (130, 38)
KEYS = ("down",)
"""Selects the second bar of the map."""


def picture() -> str:
    """Return the picture as SVG."""
    os.environ.pop("NO_COLOR", None)
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    from trtforensics.tui.app import TerminalApp  # noqa: PLC0415 - Textual reads its environment when imported
    from trtforensics.tui.log.screen import LogScreen  # noqa: PLC0415 - as above

    here = Path.cwd()
    os.chdir(LOG.parent)  # the title shows the name as it was given
    try:
        return asyncio.run(_drive(TerminalApp(LogScreen(open_log(LOG.name, MAX_BYTES)))))
    finally:
        os.chdir(here)


async def _drive(app: TerminalApp) -> str:
    """Press the keys after the parse and the rules have ended; panes follow the cursor at once."""
    from trtforensics.tui import screen  # noqa: PLC0415 - see above

    screen.REST_S = 0.0
    async with app.run_test(size=SIZE) as pilot:
        for _ in ("parse", "judge"):
            await app.workers.wait_for_complete()
            await pilot.pause()
        for key in KEYS:
            await pilot.press(key)
        await pilot.pause()
        return app.export_screenshot(title="trtforensics tui build.log")


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "docs" / "tui.svg")
    write_text(target, picture())
