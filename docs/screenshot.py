"""Make ``docs/tui.svg`` and ``docs/report.svg``, the pictures in the README: ``python docs/screenshot.py``.

They are the same on every machine: they show logs of this repository at a fixed size.
"""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from trtforensics import report
from trtforensics.console.output import write_text
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.tui.sessions import open_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.tui.app import TerminalApp

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "testdata" / "logs" / "emulated-trtexec-10.16-three-passes.log"
SIZE = (130, 38)
REAL_LOG = LOG.with_name("rtx-convnet.log")
"""A log of TensorRT-RTX itself; ``testdata/make_rtx.py`` makes it."""
REPORT_WIDTH = 100
KEYS = ("down",)
"""Selects the second bar of the map."""


@contextmanager
def _beside_the_logs() -> Iterator[None]:
    """Work in the folder of the logs: the pictures show names as they are given, and no log as its reader left it."""
    here = Path.cwd()
    os.chdir(LOG.parent)
    try:
        with TemporaryDirectory() as state, patch.dict(os.environ, XDG_STATE_HOME=state):
            yield
    finally:
        os.chdir(here)


def picture() -> str:
    """Return the picture as SVG."""
    os.environ.pop("NO_COLOR", None)
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    from trtforensics.tui.app import TerminalApp  # noqa: PLC0415 - Textual reads its environment when imported
    from trtforensics.tui.log.screen import LogScreen  # noqa: PLC0415 - as above

    with _beside_the_logs():
        return asyncio.run(_drive(TerminalApp(LogScreen(open_log(LOG.name, MAX_BYTES)))))


def report_picture() -> str:
    """Return the report of a real log as SVG, in fonts of the reader's machine."""
    from rich.console import Console  # noqa: PLC0415 - see above
    from rich.text import Text  # noqa: PLC0415 - see above

    with _beside_the_logs():
        text = render(report(Path(REAL_LOG.name)), "text", Look(colour=True, width=REPORT_WIDTH))
    console = Console(record=True, width=REPORT_WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title=f"trtforensics report {REAL_LOG.name}", unique_id="report")
    return re.sub(r"@font-face \{[^}]*\}\s*", "", svg)


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
    for name, svg in (("tui.svg", picture()), ("report.svg", report_picture())):
        write_text(str(ROOT / "docs" / name), svg)
