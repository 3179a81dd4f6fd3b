"""Rows of drawn tables whose cells go on in the rows below: one text each, as if the column were wide enough."""

import re
from collections.abc import Iterable, Mapping, Sequence

_BAR = re.compile(r"[|│┃]")
_ROW = re.compile(r".*[|│┃].*[|│┃]\s*$")


def whole_rows(texts: Mapping[int, Sequence[str]]) -> dict[int, list[str]]:
    """Return texts by line: what goes on in cells below stands at the row's first line, without the table's edge.

    A row goes on where the next one has its bars at the same places and an empty first cell.
    """
    whole = {line: list(parts) for line, parts in texts.items()}
    rows: dict[int, list[list[str]]] = {}  # the cells of each row, by the last line that it has so far
    for line in sorted(line for line, parts in texts.items() if len(parts) == 1 and _ROW.match(parts[0])):
        cells = _BAR.split(texts[line][0].rstrip()[:-1])
        above = rows.pop(line - 1, [])
        goes_on = bool(above) and not cells[0 if cells[0] else 1].strip()
        if goes_on and [len(cell) for cell in cells] == [len(cell) for cell in above[0]]:
            del whole[line]
            rows[line] = [*above, cells]
        else:
            rows[line] = [cells]
        whole[line - len(rows[line]) + 1] = [" | ".join(map(_joined, zip(*rows[line], strict=True))).strip()]
    return whole


def _joined(parts: Iterable[str]) -> str:
    """Join the parts of a cell: filled to their ends they were cut between any two characters, else at blanks."""
    *filled, last = (part[1:-1] if part.startswith(" ") else part[:-1] for part in parts)
    cut = all(len(part) - len(part.rstrip()) <= 1 for part in filled)
    return ("" if cut else " ").join([*(part if cut else part.strip() for part in filled), last.rstrip()]).rstrip()
