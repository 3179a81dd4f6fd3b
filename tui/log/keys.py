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
            ("o", "ONNX nodes: what became of each"),
            ("x", "neighbours of the layer; Enter walks, Backspace goes back"),
            ("b  B  Backspace", "back to what was looked at, and forward"),
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
            ("s", "sort the layers by the next column: #, ms, margin, other type"),
            ("Enter", "what the row is about: a layer's detail, a line of the log"),
            ("Enter in findings", "show the line and the layer"),
            ("Enter in the log", "show the layer that the line belongs to"),
        ),
    ),
    (
        "Find",
        (
            ("a  A", "ask the next, previous question of the layers"),
            ("<  >", "count closer, wider margins as near ties"),
            ("f", "filter the list: a text, type:half, time>0.05, margin<2%, -without"),
            ("/", "search the raw log (a capital makes case count)"),
            ("Ctrl+R in the input", "search for a regular expression"),
            ("n  N", "next, previous match"),
            ("&", "show only the lines that hold a text"),
            ("v", "show only errors, then warnings too, then all but verbose lines"),
            ("g", "go to a line by its number"),
            ("Esc", "leave the input, close the log's drawer, show all lines, drop the filter"),
        ),
    ),
    (
        "What the marks say",
        (
            ("✔  ✗  ?", "in the engine, lost, the log does not tell"),
            ("≈", "near tie: the runner-up is within 2 %, or what < and > say"),
            ("?  ·", "unknown; nothing to compute"),
            ("▲  ▼", "the column that sorts"),
            ("▶", "a time beyond the end of the bars, 4 x the best"),
            ("◈  │  ◇", "ForeignNode; a kernel, an operation inside one"),
            ("␛ ␞ �", "control characters of the log, made visible"),
        ),
    ),
    *COPY_KEYS,
    *APP_KEYS,
)
