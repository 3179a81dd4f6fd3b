"""Rows of a comparison: its map of time, differences with their effects, suspicious pairs, and the places of a row."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from trtforensics.comparison.differences import Comparison, Difference, DifferenceType, SideValue, SuspiciousPair
from trtforensics.comparison.report import left_out
from trtforensics.comparison.times import LayerDelta, LayerTimes, TimedHalf
from trtforensics.comparison.views import TOTALS, LayerView
from trtforensics.console.counting import counted, grouped, milliseconds
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import TimeSource
from trtforensics.tui.rows.pieces import UNNAMED, Line, Piece, Presentation, Role, bar, broken, fit, flush, list_columns
from trtforensics.tui.rows.time_map import WIDE

_ROLES = {
    DifferenceType.FUSION: Role.ERROR,
    DifferenceType.PRECISION: Role.WARNING,
    DifferenceType.FORMAT: Role.ACCENT,
    DifferenceType.TACTIC: Role.PLAIN,
}
NEAR_TIE = "≈"
_TYPE = 12
_SCORE = 6
_DELTA = 10
_UNKNOWN = "of unknown version"
_COMMON = "…"
"""Stands for words that both sides share."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A difference, a suspicious pair, or layers by their Δms.

    A row of ``depth`` 1 is an effect of the last row of depth 0 above it.

    ``times`` are those of all layers that it is about, on both sides; None where the sides have no times in common.
    """

    subject: Difference | SuspiciousPair | LayerDelta
    depth: int = 0
    times: LayerDelta | None = None
    time_is: TimeSource | None = None

    @property
    def layer(self) -> str:
        """The layer, or both layers of a pair."""
        if isinstance(self.subject, Difference):
            return self.subject.layer
        if isinstance(self.subject, LayerDelta):
            return self.subject.name
        return " & ".join(half.layer for half in self.subject.halves)

    @property
    def sort(self) -> str:
        """What differs: a type of difference, ``pair`` or ``time``."""
        return str(getattr(self.subject, "type", "time" if isinstance(self.subject, LayerDelta) else "pair"))

    @property
    def delta_ms(self) -> float | None:
        """How much longer bad's layers take in ms, measured, else tuned, absent ones 0; None where unknown."""
        if self.times is not None:
            return self.times.delta_ms
        good, bad = layers_of(self).values()
        if good is None or bad is None:
            return None
        measured = good.measured_ms is not None and bad.measured_ms is not None
        before, after = (each.measured_ms if measured else each.time_ms for each in (good, bad))
        return after - before if before is not None and after is not None else None


@dataclass(frozen=True, slots=True)
class DiffPlace:
    """A line of either side that a row is about, with its text. ``span`` is None and ``good`` is None for a remark."""

    text: str
    span: SourceSpan | None
    good: bool | None = None


def rows_of(comparison: Comparison, type_: DifferenceType | None) -> list[DiffRow]:
    """Return the rows of one type; without a type all rows, causes first, each followed by its effects."""
    differences = comparison.differences
    timed = _timed(comparison.times.layers)
    if type_ is not None:
        return [timed(difference, 0) for difference in differences if difference.type is type_]
    effects: dict[int, list[DiffRow]] = {}
    for difference in differences:
        if difference.cause is not None:
            effects.setdefault(difference.cause, []).append(timed(difference, 1))
    rows = [DiffRow(pair) for pair in comparison.pairs]
    for index, difference in sorted(enumerate(differences), key=lambda pair: pair[1].type.rank):
        if difference.cause is None:
            rows += [timed(difference, 0), *effects.get(index, ())]
    return rows


def _timed(times: LayerTimes | None) -> Callable[[Difference, int], DiffRow]:
    """Return a maker of rows of a depth, with the times of their layers unless these are in several rows or none."""
    of_layer: dict[tuple[bool, str], LayerDelta] = {}
    for delta in times.rows if times is not None else ():
        for good, half in ((True, delta.good), (False, delta.bad)):
            for name in half.layers:
                of_layer.setdefault((good, name), delta)

    def row(difference: Difference, depth: int) -> DiffRow:
        sides = ((True, difference.good), (False, difference.bad))
        names = [(good, name) for good, values in sides for value in values for name in _layers(value)]
        deltas = {id(delta): delta for name in names if (delta := of_layer.get(name)) is not None}
        if times is None or len(deltas) != 1:
            return DiffRow(difference, depth)
        return DiffRow(difference, depth, next(iter(deltas.values())), times.time_is)

    return row


def _layers(value: SideValue) -> tuple[str, ...]:
    return value.layers or ((value.layer.name,) if value.layer is not None else ())


def about(rows: Sequence[DiffRow], times: LayerDelta) -> list[DiffRow]:
    """Return the differences of the layers of a row of times, by their names or their ONNX nodes."""
    names = {*times.good.layers, *times.bad.layers}

    def concerns(subject: object) -> bool:
        if not isinstance(subject, Difference):
            return False
        values = (*subject.good, *subject.bad)
        return bool(times.parts & subject.parts) or any(names.intersection(_layers(value)) for value in values)

    return [row for row in rows if concerns(row.subject)]


def layers_of(row: DiffRow | None) -> dict[str, LayerView | None]:
    """Return the layer of each side that a row is about, None where a side has none."""
    subject = row.subject if row is not None else None
    if not isinstance(subject, Difference):
        return {"good": None, "bad": None}
    sides = {"good": subject.good, "bad": subject.bad}
    return {side: next((each.layer for each in values if each.layer), None) for side, values in sides.items()}


def sides_line(comparison: Comparison) -> Line:
    """Return what differs between the sides as wholes: total time, version, device, options, and how many builds."""
    times = comparison.times
    pieces = [Piece(f" {comparison.unrelated}", Role.ERROR)] if comparison.unrelated else []
    for run in times.totals[:1]:
        unit, sign = (" qps", -1) if run.key.endswith("_qps") else (" ms", 1)
        text = f" {TOTALS[run.key]} {run.good.value:.4g} → {run.bad.value:.4g}{unit}"
        pieces.append(Piece(text, change_role(sign * (run.bad.value - run.good.value))))
    if times.layers is not None:
        total = times.layers.bad_ms - times.layers.good_ms
        pieces.append(Piece(f" sum of layers {signed_ms(total)} ms, {times.layers.time_is}", change_role(total)))
    versions = {build.tensorrt_version for side in (comparison.good, comparison.bad) for build in side.builds}
    if len(versions) == 1:
        pieces.append(Piece(f" TensorRT {versions.pop() or _UNKNOWN} on both sides", Role.DIM))
    # the version first, then the precision, then the other options of the build
    for other in sorted(
        times.circumstances, key=lambda o: (o.block != "version", o.name != "Precision", o.block != "build")
    ):
        good, bad = (", ".join(each.value for each in side) or "none" for side in (other.good, other.bad))
        pieces.append(Piece(f" {other.name} {good} ↔ {bad}", Role.WARNING))
    counts = [len(side.builds) for side in (comparison.good, comparison.bad)]
    if sum(counts) > 2:  # noqa: PLR2004 - one a side
        pieces.append(Piece(f" {counts[0]} good builds, {counts[1]} bad", Role.DIM))
    return tuple(joined for piece in pieces for joined in (Piece(" ·", Role.DIM), piece))[1:]


def _first(values: Sequence[SideValue] | TimedHalf) -> str | None:
    return values[0].text if values and not isinstance(values, TimedHalf) else None


COLUMNS = list_columns(
    "differences",
    first=lambda side: lambda row: _first(getattr(row.subject, side, ())),
    suspicion=lambda row: getattr(row.subject, "suspicion", None),
)


def header(width: int, *, scored: bool) -> Line:
    """Return the names of the columns."""
    name, value = _widths(width, scored=scored)
    score = Piece(flush("score ", _SCORE) if scored else "")
    delta = Piece(flush("Δms", _DELTA))
    sides = Piece(fit(" │ good", value)), Piece(" │ bad")
    return (score, Piece(fit(" type", _TYPE)), Piece(fit("layer", name)), delta, *sides)


def row_pieces(row: DiffRow, width: int, *, scored: bool) -> Line:
    """Lay a row out in columns: good beside bad."""
    name, value = _widths(width, scored=scored)
    subject = row.subject
    if isinstance(subject, LayerDelta):
        return (Piece(f" {row.layer}"),)
    score = Piece(f"{subject.suspicion:5.2f} " if scored else "", Role.DIM)
    if isinstance(subject, SuspiciousPair):
        counts = subject.counts
        text = f"together in {counts.bad} of {counts.of_bad} bad builds, no good one"
        return (score, Piece(fit(" pair", _TYPE), Role.ERROR), Piece(fit(row.layer, name)), Piece(f"│ {text}"))
    label = Piece(fit(f"{' └' if row.depth else ' '}{subject.type}", _TYPE), _ROLES.get(subject.type, Role.DIM))
    tied = subject.type is DifferenceType.TACTIC
    good, bad = (_values(entries, tied=tied) for entries in (subject.good, subject.bad))
    good, bad = _differing(good, bad)
    return (
        score,
        label,
        Piece(fit(f"{'  ' * row.depth}{subject.layer}", name - 1) + " "),
        _delta(row.delta_ms),
        Piece(" │ ", Role.DIM),
        Piece(fit(good, value - 3), Role.PLAIN),
        Piece(" │ ", Role.DIM),
        Piece(fit(bad, value - 3), Role.STRONG),
    )


def _delta(delta: float | None) -> Piece:
    if delta is None:
        return Piece(flush("?", _DELTA), Role.DIM)
    return Piece(flush(signed_ms(delta), _DELTA), change_role(delta))


def signed_ms(delta: float) -> str:
    """Spell a difference in ms with its sign."""
    return f"{'+' if delta > 0 else '-' if delta < 0 else ' '}{milliseconds(abs(delta))}"


def change_role(delta: float) -> Role:
    """Return the colour of a difference of time: red for slower, green for faster."""
    return Role.ERROR if delta > 0 else Role.GOOD if delta < 0 else Role.DIM


def _differing(good: str, bad: str) -> tuple[str, str]:
    """Leave out the words at both ends that the two values share, where some are left of each."""
    ours, theirs = good.split(" "), bad.split(" ")
    if good == bad:
        return good, bad
    least = min(len(ours), len(theirs)) - 1
    start = next((i for i in range(least) if ours[i] != theirs[i]), least)
    rest = min(len(ours), len(theirs)) - start - 1
    end = next((i for i in range(rest) if ours[-1 - i] != theirs[-1 - i]), rest)

    def kept(words: list[str]) -> str:
        middle = words[start : len(words) - end]
        return " ".join([*([_COMMON] if start else []), *middle, *([_COMMON] if end else [])])

    return kept(ours), kept(theirs)


def _widths(width: int, *, scored: bool) -> tuple[int, int]:
    """Split a row's width into the width of the layer's name and of each side's value."""
    rest = max(width - _TYPE - _DELTA - (_SCORE if scored else 0), 12)
    name = max(rest * 2 // 5, 4)
    return name, max((rest - name) // 2, 4)


def _values(entries: Sequence[SideValue], *, tied: bool) -> str:
    """Return a side's most frequent value, the number of other values, and with ``tied`` the mark of a near tie."""
    if not entries:
        return "unknown"
    near = tied and any(entry.layer is not None and entry.layer.near_tie for entry in entries)
    tie = f" {NEAR_TIE}" if near else ""
    others = f" (+{len(entries) - 1})" if len(entries) > 1 else ""
    return f"{entries[0].text or 'unknown'}{others}{tie}"


def places(row: DiffRow) -> list[DiffPlace]:
    """Return the lines that a row is about, the good side's first, then the remarks."""
    subject = row.subject
    if isinstance(subject, SuspiciousPair):
        return [
            DiffPlace(f"{half.layer}: {half.text} (alone: {alone.bad} bad, {alone.good} good)", half.span, good=False)
            for half in subject.halves
            for alone in (half.counts,)
        ]
    if isinstance(subject, LayerDelta):
        return [*_timed_places(row), *(DiffPlace(change, None) for change in subject.changes)]
    lines = [
        DiffPlace(entry.text or "unknown", span, good)
        for entries, good in ((subject.good, True), (subject.bad, False))
        for entry in entries
        for span in (entry.spans or (None,))
    ]
    return [*lines, *_timed_places(row), *(DiffPlace(why, None) for why in subject.why)]


def _timed_places(row: DiffRow) -> list[DiffPlace]:
    """Return the lines that state how long a row's layers take on each side, and what of that may be chance."""
    times = row.times
    if times is None:
        return []
    lines = []
    for half, good in ((times.good, True), (times.bad, False)):
        several = f" in {len(half.layers)} layers" if len(half.layers) > 1 else ""
        text = f"{milliseconds(half.ms)} ms {row.time_is}{several}"
        lines += [DiffPlace(text, span, good) for span in half.spans]
    if times.within_noise:
        lines.append(DiffPlace(f"a difference of up to {milliseconds(times.noise_ms or 0.0)} ms may be chance", None))
    return lines


def place_pieces(place: DiffPlace) -> Line:
    """Lay a place out: its side, its position, its text."""
    side = {True: Piece(" good ", Role.GOOD), False: Piece(" bad  ", Role.ERROR), None: Piece("      ")}[place.good]
    where = Piece(f"{place.span.file}:{place.span.line}  " if place.span else "", Role.DIM)
    return (side, where, Piece(place.text))


def differences(*, scored: bool) -> Presentation[DiffRow]:
    """Return how rows look in a list, with their suspicion where they are ``scored``."""
    return Presentation(
        pieces=partial(row_pieces, scored=scored),
        heading=lambda _, width, __: (header(width, scored=scored),),
        filters=COLUMNS,
        columns=COLUMNS,
    )


PLACES: Presentation[DiffPlace] = Presentation(
    pieces=lambda place, _: place_pieces(place),
    line=lambda place: place.span.line if place.span is not None else None,
    widest=None,
)


_MS = 9
_MOST_HEADER = 4
"""Lines of what was run otherwise; a line of the screen is worth more to a bar than to a tenth option."""
_MARKS = {"slower": "▲", "faster": "▼", "added": "+", "missing": "-", "may be chance": "≈", "equal": " "}


def map_rows(times: LayerTimes) -> list[DiffRow]:
    """Return the layers of both sides, the largest Δms first, behind all those whose Δms may be chance."""
    ordered = sorted(times.rows, key=lambda row: (row.within_noise, -abs(row.delta_ms)))
    return [DiffRow(row, times=row, time_is=times.time_is) for row in ordered]


def _change(row: LayerDelta) -> str:
    """Return what became of a layer, one of ``_MARKS``."""
    if not row.good.layers or not row.bad.layers:
        return "added" if row.bad.layers else "missing"
    if not row.delta_ms:
        return "equal"
    if row.within_noise:
        return "may be chance"
    return "slower" if row.delta_ms > 0 else "faster"


def time_map(comparison: Comparison, times: LayerTimes) -> Presentation[DiffRow]:
    """Return how the map looks: what the sides differ in and what is left out above the bars."""
    scale = max((abs(row.delta_ms) for row in times.rows), default=0.0) or 1.0

    def pieces(row: DiffRow, width: int) -> Line:
        delta = row.subject
        return _bar_line(delta, scale, width) if isinstance(delta, LayerDelta) else ()

    def heading(_: Sequence[DiffRow], width: int, _height: int) -> list[Line]:
        cells, name = _bar_widths(width)
        sides = f"{flush('good ms', _MS)}{flush('bad ms', _MS)}"
        titles = f"   {fit('Δ', cells)}{flush('▼ Δms', _DELTA)}{sides} "
        changed = "what else changed" if width >= WIDE else ""
        otherwise = broken(sides_line(comparison), width)
        about = otherwise[:_MOST_HEADER]
        if len(otherwise) > _MOST_HEADER:
            about[-1] = (*about[-1], Piece(" …", Role.DIM))
        counts = (*_counts(times), *_left_out(times))
        return [*about, *broken(counts, width), (Piece(f"{titles}{fit('layer', name)} {changed}"),)]

    return Presentation(
        pieces=pieces,
        heading=heading,
        footing=_footing,
        key=lambda row: row.layer,
        noun="layer",
        filters=COLUMNS,
        columns=COLUMNS,
    )


def _bar_widths(width: int) -> tuple[int, int]:
    cells = 20 if width >= WIDE else 10
    room = max(width - 3 - cells - _DELTA - 2 * _MS - 2, 8)
    return cells, room * 3 // 5 if width >= WIDE else room


def _bar_line(row: LayerDelta, scale: float, width: int) -> Line:
    cells, name = _bar_widths(width)
    change = _change(row)
    role = Role.DIM if change in {"equal", "may be chance"} else change_role(row.delta_ms)
    sides = [signed_ms(side.ms).strip("+ ") if side.layers else "" for side in (row.good, row.bad)]
    words = ", ".join(row.changes) or (change if change in {"added", "missing"} else "")
    return (
        Piece(f" {_MARKS[change]} ", role),
        Piece(bar(abs(row.delta_ms) / scale, cells), role),
        Piece(flush(signed_ms(row.delta_ms), _DELTA), role),
        *(Piece(flush(text, _MS)) for text in sides),
        Piece(f" {fit(row.name or UNNAMED, name)} "),
        Piece(fit(words, width - cells - name - 5 - _DELTA - 2 * _MS) if width >= WIDE else "", Role.DIM),
    )


def _counts(times: LayerTimes) -> Iterator[Piece]:
    """Count what became of the layers, with the sum of their Δms: together that is the whole difference."""
    changed = grouped(times.rows, _change)
    for change, mark in _MARKS.items():
        if change in changed:
            total = sum(row.delta_ms for row in changed[change])
            role = Role.DIM if change in {"equal", "may be chance"} else change_role(total)
            yield Piece(f" {mark} {len(changed[change]):,} {change} {signed_ms(total).strip()} ms", role)


def _left_out(times: LayerTimes) -> Iterator[Piece]:
    """Say what is in no bar: time that one side alone tells, and layers without any."""
    words = [*left_out(times)]
    for side, untimed in zip(("good", "bad"), times.untimed, strict=True):
        words += [f"{counted(untimed, 'layer')} of {side} without a time"] if untimed else []
    yield from (Piece(f" · {sentence}", Role.WARNING) for sentence in words)


def _footing(row: DiffRow | None, width: int, _height: int) -> tuple[Line, ...]:
    """Say what else differs in the layer under the cursor, and what of its Δms may be chance."""
    delta = row.subject if row is not None else None
    if not isinstance(delta, LayerDelta):
        return ((),)
    words = [*delta.changes]
    words += [f"up to {signed_ms(delta.noise_ms).strip('+ ')} ms may be chance"] if delta.noise_ms else []
    text = " · ".join(words) or "nothing else is known to differ"
    return ((Piece(" why ", Role.TITLE), Piece(fit(text, width - 6))),)
