"""What was tuned in each build, in columns: which rows are of a layer, and in the end which are the engine's.

A log may hold a hundred thousand choices and cached results, of which the layers of its engine ask for a few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.table import Column, Parts
from trtforensics.parsers.builds.passes import NO_PASS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]
    Formats = tuple[tuple[str, ...], tuple[str, ...]]

TRIED_REFORMAT = "Optimizer Reformat("

_FINALS = (False, True, None)
_LOST, _USED, _UNTOLD = range(3)
"""Their places."""


class Tuned:
    """The choices, or the cached results, of all builds. A row is its place in the table of all."""

    def __init__(self, name: str, parts: Parts[Any], chosen: npt.NDArray[np.int64]) -> None:
        """``name`` is what a layer calls its place in this list, ``chosen`` the pass that made each build's engine."""
        self.name = name
        self._parts = parts
        self._layer, self._runner, self._inputs, self._outputs = (
            parts.table.column(path).read for path in ("layer", "runner", "inputs", "outputs")
        )
        of_pass, layer = parts.table.column("pass_index").codes, parts.table.column("layer").codes
        self._of_engine = (of_pass == self._of_rows(chosen)) | (of_pass == NO_PASS)
        self._is_of_engine = self._of_engine.tolist()
        self._tactics, self._runners, self._formats, self.lines, self._layers = (
            parts.table.column(path).codes.tolist() for path in ("tactic", "runner", "inputs", "span.line", "layer")
        )
        begins = np.append(np.diff(layer, prepend=-2) != 0, True)
        begins[parts.limits] = True
        begin = np.flatnonzero(begins)
        self._begins: list[int] = begin.tolist()
        self._of_build: list[int] = begin.searchsorted(parts.limits).tolist()
        self.first: list[int] = parts.limits.tolist()
        """The first row of each build."""
        self.settled: list[int] = []
        """Rows that a layer of an engine came from."""
        self.undecided: list[int] = []
        """Rows that one may have come from."""
        self.lost: list[range] = []
        """Rows of layers that are in an engine, used or not."""

    def _of_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return for each row what its build has."""
        return np.repeat(values, np.diff(self._parts.limits))

    def runs(self, build: int) -> Iterator[tuple[str, range]]:
        """Give rows of a build that are of one layer: what is tuned for one mostly stands together."""
        for run in range(self._of_build[build], self._of_build[build + 1]):
            first = self._begins[run]
            yield self.layer(first), range(first, self._begins[run + 1])

    def layer(self, row: int) -> str:
        """Return whose layer it is."""
        name: str = self._layer(self._layers[row])
        return name

    def of_engine(self, rows: range, tactic: int | None) -> list[int]:
        """Return those rows that are of the engine's pass, and of a tactic if one is given."""
        return [row for row in rows if self._is_of_engine[row] and (tactic is None or self._tactics[row] == tactic)]

    def form(self, row: int) -> tuple[int, int, int]:
        """Return what rows that were tuned alike have in common, as numbers: tactic, runner, formats."""
        return self._tactics[row], self._runners[row], self._formats[row]

    def formats(self, row: int) -> Formats:
        """Return the formats of both sides."""
        return self._inputs(self._formats[row]), self._outputs(self._formats[row])

    def alike(self, row: int) -> tuple[int, str, Formats]:
        """Return what rows that were tuned alike have in common: formats may be printed in two ways."""
        return self._tactics[row], self._runner(self._runners[row]), self.formats(row)

    def joined(self, resolved: Bools, with_layers: Bools) -> Parts[Any]:
        """Return them with ``final`` decided: for builds whose layers were joined to them, which of these have some."""
        final = np.full(len(self.lines), _UNTOLD)
        final[self._of_rows(resolved) & ~self._of_engine] = _LOST
        lost = self._tried_reformats() & self._of_rows(resolved & with_layers)
        for rows in self.lost:
            lost[rows.start : rows.stop] = True
        final[lost & self._of_engine] = _LOST
        final[self.undecided] = _UNTOLD
        final[self.settled] = _USED
        return Parts(self._parts.table.having({"final": Column(final, _FINALS.__getitem__)}), self._parts.limits)

    def _tried_reformats(self) -> Bools:
        """Say which rows are of reformats: each that an engine has is a layer of its own, and looked up by its name."""
        layers = self._parts.table.column("layer").codes
        found = np.zeros(layers.max(initial=0) + 2, np.bool_)  # a text's index is -1 where none is printed
        found[[code for code in set(self._layers) if self._layer(code).startswith(TRIED_REFORMAT)]] = True
        tried: Bools = found[layers]
        return tried
