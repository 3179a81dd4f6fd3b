"""The keys of the comparison's screen, as its help lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.copying import APP_KEYS, COPY_KEYS

if TYPE_CHECKING:
    from trtforensics.tui.widgets.help import Keys

KEYS: Keys = (
    (
        "Show",
        (
            ("0", "all differences, causes first"),
            ("1 2 3", "fusion, precision, format"),
            ("4 5 6", "tactic, missing, added"),
            ("s", "largest difference of time first, or causes first"),
            ("f", "keep the layers whose name holds a text"),
            ("Esc", "leave the input; drop the filter"),
        ),
    ),
    (
        "Move",
        (
            ("↑ ↓  k j", "one row; both files follow"),
            ("Tab  Shift+Tab", "rows, their lines, good file, bad file"),
            ("Enter", "a row's candidates on both sides; a line's file"),
            ("PgUp PgDn Home End", "pages and ends"),
        ),
    ),
    (
        "Find",
        (
            ("/", "search the file under the focus"),
            ("n  N", "next, previous match"),
            ("p", "hide the loggers' prefixes, or show them"),
        ),
    ),
    (
        "What the marks say",
        (
            ("└", "follows from the row above it"),
            ("≈", "near tie: the runner-up is within 2 %"),
            ("…", "words that both sides share"),
            ("(+2)", "two more values on this side"),
        ),
    ),
    *COPY_KEYS,
    *APP_KEYS,
)
