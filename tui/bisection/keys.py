"""The keys of the bisection's screen, as its help lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.copying import COPY_KEYS

if TYPE_CHECKING:
    from trtforensics.tui.widgets.help import Keys

KEYS: Keys = (
    (
        "Go somewhere",
        (
            ("1  Esc", "the probes, in the order in which they ran"),
            ("2", "the answer as far as it is known"),
            ("3", "the probe's details"),
            ("4  5  6", "the probe's build log, build errors, check log"),
            ("Enter", "the probe's build log on the screen of logs; q returns"),
            ("d", "mark a probe; on another one: compare their logs"),
            ("r", "read the directory now; it is followed anyway"),
            ("Tab  Shift+Tab", "next, previous pane"),
        ),
    ),
    (
        "Move in a pane",
        (
            ("↑ ↓  k j", "one row; the probe and its log follow"),
            ("PgUp PgDn Home End", "pages and ends; the end follows new probes"),
            ("← →  h l", "sideways"),
            ("p", "hide the loggers' prefixes, or show them"),
        ),
    ),
    ("Find", (("/", "search the log (a capital makes case count)"), ("n  N", "next, previous match"))),
    *COPY_KEYS,
    (
        "",
        (
            ("T", "next theme"),
            ("Ctrl+P", "all actions by name"),
            ("?", "this help"),
            ("q", "quit; a bisection that runs goes on"),
        ),
    ),
)
