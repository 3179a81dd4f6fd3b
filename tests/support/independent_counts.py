"""Count what a TensorRT build log says, by another road than the package: one pattern a fact, one line at a time.

Shares no code with ``trtforensics`` and needs only the standard library, so that a test may hold the
parsers against it. Knows no builds, blocks or passes: every count is of lines, wherever they stand.

Run as ``python tests/support/independent_counts.py LOG…`` for a table.
"""

from __future__ import annotations

import codecs
import re
import sys
from pathlib import Path

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_TIME = r"\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\][ ]"
_WORD = r"INTERNAL_ERROR|ERROR|WARNING|INFO|VERBOSE"
_PREFIX = re.compile(
    rf"""
      (?:{_TIME})+ \[TRT\][ ] \[(?P<python>[FEWIV])\] (?:[ ]|$)                  # trt.Logger, 8.2 and later
    | (?:{_TIME})+ \[(?P<trtexec>[FEWIV])\] (?:[ ]\[TRT\])? (?:[ ]|$)            # trtexec; 8.0 repeats the time
    | \[TensorRT\][ ] (?P<old_python>{_WORD}): (?:[ ]|$)                         # trt.Logger up to 8.0
    | \[(?P<bare_word>{_WORD})\] (?:[ ]|$)                                       # TensorRT 4
    | \w[\w ]*:[ ]Severity\.(?P<own>{_WORD}) (?:[ ]|$)                           # an ILogger of the user's
    | \[(?P<bare>[USXVIWEF!])\] (?:[ ]\[TRT\]                                    # trtexec 5, and Polygraphy
        | (?:[ ]\(\d\d:\d\d:\d\d\))? (?:[ ]\[[^\]]+\.py:\d+\])? ) (?:[ ]|$)
    """,
    re.VERBOSE,
)

_ID = r"(?:0x[0-9a-fA-F]+|-?\d+)"
_MILLISECONDS = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|inf|nan)"
_BODIES = {
    "choices": r">{5,} Chose Runner Type: |-{5,} Chose -?\d",
    "tactics_timed": rf"Tactic(?: Name: .+ Tactic)?:? {_ID} [Tt]ime:? {_MILLISECONDS}",
    "tactics_skipped": rf"Tactic:? {_ID} (?:skipped\. Scratch|scratch) requested: ",
    "runner_blocks": r"-{5,} Timing Runner: ",
    "cached": r".+ \[.+ -> .+\] got cached result: ",
    "stages": r"(?:Original|After .+): \d+ layers?$",
    "engine_layers": r"Layer\([^()]+\): |Name: .*, LayerType: ",
    "fusions": r"\w+: Fusing .+ with |Fusing convolution weights from .+ with scale |Merging layers: .+ \|\| ",
    "reformats": r"Adding reformat layer: ",
}
_BODY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _BODIES.items()))

_LEVELS = {"W": "warnings", "WARNING": "warnings"} | dict.fromkeys(("E", "F", "!", "ERROR", "INTERNAL_ERROR"), "errors")

COUNTS = ("lines", *_BODIES, "builds_running", "warnings", "errors")
"""Every key of the answer, in the order of the table."""


def count(data: bytes) -> dict[str, int]:
    """Count the lines of each kind in a log, given as the bytes of the stored (uncompressed) file."""
    counts = dict.fromkeys(COUNTS, 0)
    lines = _decode(data).split("\n")
    if not lines[-1]:
        lines.pop()
    counts["lines"] = len(lines)
    for line in lines:
        for name in _facts(_ESCAPE.sub("", line.removesuffix("\r"))):
            counts[name] += 1
    return counts


def _decode(data: bytes) -> str:
    """Decode by byte-order mark, UTF-8 without one; what cannot be decoded cannot hide the rest of its line."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def _facts(line: str) -> list[str]:
    """Name the counts that a line adds to: its level, and what its text says."""
    if line.startswith("&&&& RUNNING"):
        return ["builds_running"]
    prefix = _PREFIX.match(line)
    body = line[prefix.end() :] if prefix else line
    # Polygraphy indents what it prints inside a step, and the later lines of a message.
    fact = _BODY.match(body.strip(" \t\r"))
    level = _LEVELS.get(prefix[prefix.lastgroup or 0]) if prefix else None
    return [name for name in (level, fact and fact.lastgroup) if name]


def main(paths: list[str]) -> int:
    """Print one row of counts for each file, then their sums."""
    rows = {path: count(Path(path).read_bytes()) for path in paths}
    rows["total"] = {name: sum(row[name] for row in rows.values()) for name in COUNTS}
    width = max(map(len, rows))
    print(" " * width, *COUNTS)
    for title, row in rows.items():
        print(title.ljust(width), *(str(row[name]).rjust(len(name)) for name in COUNTS))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
