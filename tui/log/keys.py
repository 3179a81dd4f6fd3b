"""The keys of the build log's screen, as its help lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.copying import APP_KEYS, COPY_KEYS

if TYPE_CHECKING:
    from trtforensics.tui.widgets.help import Keys

KEYS: Keys = (
    (
        "Go somewhere",
        (
            ("1  2  3  4", "overview, layers, candidates, raw log"),
            ("5", "findings: what is wrong, and what to do"),
            ("w", "warnings and errors"),
            ("Tab  Shift+Tab", "next, previous pane"),
            ("[  ]", "previous, next build of the file"),
            ("r", "read the file again; one that grows is followed"),
            ("p", "hide the loggers' prefixes, or show them"),
            ("z", "give the pane the whole screen, and back"),
        ),
    ),
    (
        "Move in a pane",
        (
            ("↑ ↓  k j", "one row; the raw log follows"),
            ("PgUp PgDn Home End", "pages and ends"),
            ("← →  h l", "sideways; in the layers: close and open"),
            ("Space", "open or close a layer, a finding"),
            ("s", "slowest layers first, or the engine's order"),
            ("Enter", "show the row's line in the raw log"),
            ("Enter, in the findings", "show the line and the layer"),
            ("Enter, in the log", "show the layer that the line belongs to"),
        ),
    ),
    (
        "Find",
        (
            ("/", "search the raw log (a capital makes case count)"),
            ("n  N", "next, previous match"),
            ("f", "keep the layers whose name holds a text"),
            ("g", "go to a line by its number"),
            ("Esc", "leave the input; drop the filter"),
        ),
    ),
    (
        "What the marks say",
        (
            ("✔  ✗  ?", "in the engine, lost, the log does not tell"),
            ("≈", "near tie: the runner-up is within 2 %"),
            ("▶", "a time beyond the end of the bars, 4 x the best"),
            ("◈  │  ◇", "ForeignNode; a kernel, an operation inside one"),
            ("␛ ␞ �", "control characters of the log, made visible"),
        ),
    ),
    *COPY_KEYS,
    *APP_KEYS,
)
