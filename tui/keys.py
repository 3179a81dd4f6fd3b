"""The keys of every screen, as its help lists them: groups of keys, each with what it does."""

from __future__ import annotations

Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

COPY_KEYS: Keys = (
    (
        "Copy",
        (
            ("y", "copy the row"),
            ("Y", "copy the log line with its file:line"),
            ("c", "copy the next command"),
            ("E", "write the pane to a file: .csv, .md or .json"),
            ("I", "copy an issue: the row, its lines, versions; redacted"),
            ("Ctrl+C", "copy what the mouse selected; twice: quit"),
        ),
    ),
)

APP_KEYS: Keys = (("", (("T", "next theme"), ("Ctrl+P", "all actions by name"), ("?", "this help"), ("q", "quit"))),)

LOG_KEYS: Keys = (
    (
        "Go somewhere",
        (
            ("1  2  3  4", "time map, layers, candidates, raw log"),
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
            ("s", "sort the layers by the next column in view"),
            ("Enter on bars", "open a bar: its kernels, its ONNX nodes, its lines"),
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
            ("Esc", "leave the input, close the drawer, show all lines, drop the filter, go up"),
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

DIFF_KEYS: Keys = (
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

SOURCE_KEYS: Keys = (
    (
        "Move",
        (
            ("↑ ↓  k j", "one row; the text follows"),
            ("← →  h l", "sideways"),
            ("Tab  Shift+Tab", "rows, text"),
            ("Enter", "from a row to its line"),
            ("PgUp PgDn Home End", "pages and ends"),
            ("[  ]", "previous, next document of the file"),
        ),
    ),
    (
        "Find",
        (
            ("f", "keep the layers whose name holds a text"),
            ("/", "search the text"),
            ("n  N", "next, previous match"),
            ("p", "hide the loggers' prefixes, or show them"),
            ("Esc", "leave the input; drop the filter"),
        ),
    ),
    *COPY_KEYS,
    *APP_KEYS,
)

MODEL_KEYS: Keys = (
    (
        "Go somewhere",
        (
            ("t", "judge for the next release, newest first; TensorRT-RTX; any"),
            ("5", "findings: what is wrong, and what to do"),
            ("o", "nodes, by operator"),
            ("x", "neighbours of the node; Enter walks"),
            ("Tab  Shift+Tab", "next, previous pane"),
        ),
    ),
    (
        "Move in a pane",
        (
            ("↑ ↓  k j", "one row; the neighbours follow"),
            ("PgUp PgDn Home End", "pages and ends"),
            ("← →  h l", "sideways"),
            ("Space", "open or close a finding"),
            ("Enter", "a node's neighbours; the node of a finding or a neighbour"),
        ),
    ),
    (
        "Find",
        (
            ("f", "filter the nodes: a text, op:Conv, taken:no, tensor:x, -without"),
            ("/", "search operators, names and tensors"),
            ("n  N", "next, previous match"),
            ("Esc", "leave the input; drop the filter"),
        ),
    ),
    *COPY_KEYS,
    *APP_KEYS,
)

BISECTION_KEYS: Keys = (
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
