"""A comparison as text, and as the JSON document of ``diff --json``, schema 1."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from trtforensics.comparison.differences import Comparison, Difference, DifferenceType, SideValue, SuspiciousPair
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.times import (
    ONE_SIDE,
    LayerDelta,
    LayerTimes,
    OtherCircumstance,
    TimeComparison,
    TotalDelta,
)
from trtforensics.comparison.views import TOTALS, LayerView
from trtforensics.console.counting import counted, grouped
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.model.kernel import KernelFacts
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import TimeSource
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.json_text import Forms, JsonObject, document_of, dumps, kernel_facts
from trtforensics.render.names import shortened

SHOWN = 25
"""Differences of a type that are printed unless all are asked for."""

_FOLLOWING = 12
_SKIPPED = 8
_VALUES = 4
_NAME = 100
_TIMED = 12
"""Timed layers and circumstances that are printed unless all are asked for."""
_TYPES = 6
_ROW_NAME = 84
_SMALLEST = 5e-5
"""ms that print as 0.0000 and make no row of their own."""
_VALUE = 160
_BOLD, _RED, _GREEN, _DIM, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"
_TITLES = {type_: type_.value for type_ in DifferenceType}
_TITLES |= {DifferenceType.MISSING: "missing in bad", DifferenceType.ADDED: "added in bad"}


def report(comparison: Comparison, *, everything: bool = False, colour: bool = False) -> str:
    """Return the report, control characters made visible; ``everything`` prints all differences, however many."""
    writer = _ReportWriter(comparison, limit=None if everything else SHOWN, colour=colour)
    return "\n".join(writer.lines()) + "\n"


class _ReportWriter:
    """Writes the parts of a report with one limit, one choice of colour and one map from causes to effects."""

    def __init__(self, comparison: Comparison, *, limit: int | None, colour: bool) -> None:
        self._comparison = comparison
        self._limit = limit
        self._colour = colour
        self._many = len(comparison.good.builds) + len(comparison.bad.builds) > len(("good", "bad"))
        self._effects = grouped(comparison.differences, lambda row: row.cause)

    def lines(self) -> Iterator[str]:
        """Give the lines of the report."""
        comparison = self._comparison
        yield from self._side("good", comparison.good)
        yield from self._side("bad", comparison.bad)
        if comparison.unrelated:
            yield self._bold(comparison.unrelated)
        yield from self._verdict()
        if comparison.times.tells:
            yield ""
            yield self._bold(f"TIME: {time_answer(comparison.times)}")
            yield from time_lines(comparison.times, limit=None if self._limit is None else _TIMED)
        if comparison.unrelated and self._limit is not None:
            yield ""
            yield "The differences of single layers are left out (--all lists them)"
            return
        if comparison.pairs:
            yield from self._pairs(comparison.pairs)
        for type_ in DifferenceType:
            rows = enumerate(comparison.differences)
            roots = [(n, row) for n, row in rows if row.type is type_ and row.cause is None]
            if roots:
                yield from self._section(type_, roots)

    def _side(self, name: str, side: ComparedSide) -> Iterator[str]:
        kinds = Counter(build.kind.value for build in side.builds)
        versions = sorted({build.tensorrt_version for build in side.builds if build.tensorrt_version})
        of = f", TensorRT {', '.join(versions)}" if versions else ""
        what = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in kinds.items())
        label = f", {side.builds[0].what}" if len(side.builds) == 1 and side.builds[0].what else ""
        yield visible(f"{name + ':':<6}{side.path} ({what}{label}{of})")
        headlines = [build.headline for build in side.builds if build.headline]
        notes = [f"note: {note}" for build in side.builds for note in build.notes]
        for line, count in Counter([*headlines, *notes]).items():
            yield visible(f"      {line}" + (f" ({count} builds)" if count > 1 else ""))
        shown = side.skipped if self._limit is None else side.skipped[:_SKIPPED]
        for path, why in shown:
            yield visible(f"      skipped: {path}: {why}")
        if len(shown) < len(side.skipped):
            yield f"      skipped: {len(side.skipped) - len(shown)} more (--all lists them)"

    def _verdict(self) -> Iterator[str]:
        comparison = self._comparison
        builds = (*comparison.good.builds, *comparison.bad.builds)
        if all(build.layers is None and build.operations is None for build in builds):
            yield "neither side tells its layers"
            return
        total = sum(comparison.matched.values())
        by = ", ".join(f"{count} by {how.value.replace('-', ' ')}" for how, count in sorted(comparison.matched.items()))
        yield f"{counted(total, 'layer')} aligned{f' ({by})' if by else ''}"
        for note in comparison.notes:
            yield visible(f"note: {note}")
        summary = comparison.summary()
        if not comparison.differences:
            yield self._bold(comparison.without_rows())
            return
        counts = ", ".join(f"{count} {_TITLES[DifferenceType(name)]}" for name, count in summary.items() if count)
        following = sum(row.cause is not None for row in comparison.differences)
        listed = f" ({following} follow from others and are listed under them)" if following else ""
        yield self._bold(f"differences: {counts}{listed}")

    def _pairs(self, pairs: Sequence[SuspiciousPair]) -> Iterator[str]:
        yield ""
        yield self._bold("PAIRS seen together in bad builds only, although each half is in good ones too")
        shown = pairs if self._limit is None else pairs[:5]
        for pair in shown:
            counts = pair.counts
            where = f"together in {counts.bad} of {counts.of_bad} bad builds and no good one of {counts.of_good}"
            yield f"  suspicion {pair.suspicion:.2f}, {where}"
            for half in pair.halves:
                alone = f"alone: {half.counts.bad} bad, {half.counts.good} good"
                place = f"  {half.span}" if half.span is not None else ""
                yield visible(f"    {_short(half.layer, _NAME)}: {_short(half.text, _VALUE)} ({alone}){place}")
        hidden = len(pairs) - len(shown) + self._comparison.other_pairs
        if self._comparison.other_pairs:
            yield f"  {hidden} more; too few builds to tell which pair it is"
        elif hidden:
            yield f"  {hidden} more, less suspicious (--all lists them)"

    def _section(self, type_: DifferenceType, roots: Sequence[tuple[int, Difference]]) -> Iterator[str]:
        yield ""
        yield self._bold(f"{_TITLES[type_].upper()} ({len(roots)})")
        for index, row in roots[: self._limit]:
            yield from self._root(index, row)
        if self._limit is not None and len(roots) > self._limit:
            yield f"  {len(roots) - self._limit} more, no more suspicious (--all lists them)"

    def _root(self, index: int, row: Difference) -> Iterator[str]:
        yield visible(f"  {_short(row.layer, _NAME)}") + self._aside(row)
        yield from self._values(row, "    ")
        effects = self._effects.get(index, [])
        if effects:
            yield f"    {len(effects)} {'follow' if len(effects) > 1 else 'follows'} from it:"
        for effect in effects if self._limit is None else effects[:_FOLLOWING]:
            same = "" if effect.layer == row.layer else f" {_short(effect.layer, _NAME)}"
            yield visible(f"      {_TITLES[effect.type]}{same}") + self._aside(effect, always=False)
            yield from self._values(effect, "        ")
        if self._limit is not None and len(effects) > _FOLLOWING:
            yield f"      {len(effects) - _FOLLOWING} more (--all lists them)"

    def _aside(self, row: Difference, *, always: bool = True) -> str:
        how = "" if row.matched_by == "name" else f", matched by {row.matched_by.replace('-', ' ')}"
        scored = f"suspicion {row.suspicion:.2f}" if self._many and always else ""
        aside = f"{scored}{how}".removeprefix(", ")
        return f"  {self._paint(_DIM, f'[{aside}]')}" if aside else ""

    def _values(self, row: Difference, indent: str) -> Iterator[str]:
        for name, entries, colour in (("good", row.good, _GREEN), ("bad", row.bad, _RED)):
            for entry in entries[:_VALUES] if self._limit is not None else entries:
                yield f"{indent}{self._paint(colour, f'{name:<5}')}{self._entry(entry)}"
            if self._limit is not None and len(entries) > _VALUES:
                yield f"{indent}{name:<5}{len(entries) - _VALUES} more values"
        for why in row.why:
            yield visible(f"{indent}{why}")

    def _entry(self, entry: SideValue) -> str:
        times = f"{entry.count} × " if self._many else ""  # noqa: RUF001 - a multiplication sign
        text = visible(f"{times}{_short(entry.text or 'unknown', _VALUE)}")
        return text + self._paint(_DIM, _places(entry.spans, named=self._many))

    def _bold(self, text: str) -> str:
        return self._paint(_BOLD, text)

    def _paint(self, code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if self._colour and text else text


def _places(spans: Sequence[SourceSpan], *, named: bool) -> str:
    """Return the lines of the first file that states a value (named unless it is the side), and how many others do."""
    if not spans:
        return ""
    by_file = grouped(spans, lambda span: span.file)
    first, lines = spans[0].file, [span.line for span in by_file[spans[0].file]]
    if not named:
        return f"  line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    others = f" and {len(by_file) - 1} more files" if len(by_file) > 1 else ""
    return visible(f"  {first}:{','.join(map(str, lines))}{others}")


def _short(text: str, width: int) -> str:
    """Cut the middle out of a long text: both ends of a fused name identify it."""
    return shortened(masked(text), width)


def time_answer(times: TimeComparison) -> str:
    """Say in one sentence whether bad is slower; empty where nothing was timed on both sides."""
    if times.totals:
        total = times.totals[0]
        slower = total.delta < 0 if total.key == "throughput_qps" else total.delta > 0
        word = "slower" if slower else "faster"
        change = f"{TOTALS[total.key]} {_total_values(total)}"
        if total.within_noise:
            return f"no difference in speed beyond the spread of single inferences: {change}"
        return f"bad is {word}: {change}"
    if times.layers is None:
        return ""
    layers = times.layers
    word = "slower" if layers.bad_ms > layers.good_ms else "faster"
    change = f"{layers.good_ms:.4g} -> {layers.bad_ms:.4g} ms{_percent(layers.good_ms, layers.bad_ms)}"
    return f"the layers of bad are {word} in all: {change}, {layers.time_is}"


def time_lines(times: TimeComparison, *, limit: int | None) -> Iterator[str]:
    """Give the lines, without title; ``limit`` None prints every row."""
    if times.circumstances:
        yield "  built or run otherwise:"
        shown = times.circumstances[:limit]
        yield from (f"    {_circumstance(circumstance)}" for circumstance in shown)
        if len(shown) < len(times.circumstances):
            yield f"    {len(times.circumstances) - len(shown)} more (--all lists them)"
    for total in times.totals:
        where = _where((total.good.span,), (total.bad.span,))
        yield f"  {TOTALS[total.key]}: {_total_values(total)}{_spread(total)}{where}"
    if times.layers is not None:
        yield from _layers(times.layers, limit)


def _circumstance(circumstance: OtherCircumstance) -> str:
    sides = (", ".join(c.value or "(empty)" for c in side[:3]) for side in (circumstance.good, circumstance.bad))
    spans = [[c.span for c in side[:1] if c.span is not None] for side in (circumstance.good, circumstance.bad)]
    return visible(f"{circumstance.name}: {' -> '.join(sides)}") + _where(*spans)


def _total_values(total: TotalDelta) -> str:
    unit = total.key.rpartition("_")[2]
    median = "" if unit == "qps" else " (median)"
    good, bad = total.good.value, total.bad.value
    return f"{good:.4g} -> {bad:.4g} {unit}{median}{_percent(good, bad)}"


def _percent(good: float, bad: float) -> str:
    return f", {bad / good - 1:+.1%}" if good else ""


def _spread(total: TotalDelta) -> str:
    if total.noise is None:
        return ""
    spread = f"; single inferences spread by {total.noise:.2g} {total.key.rpartition('_')[2]}"
    return spread + (": not significant" if total.within_noise else "")


def _layers(layers: LayerTimes, limit: int | None) -> Iterator[str]:
    whole = layers.bad_ms - layers.good_ms
    how = "measured in a profile" if layers.time_is == "measured" else "as tuned"
    yield (
        f"  sum of layers, {how}: {layers.good_ms:.4g} -> {layers.bad_ms:.4g} ms, {whole:+.4g} ms"
        f"{_percent(layers.good_ms, layers.bad_ms)}"
    )
    for side, untimed in zip(("good", "bad"), layers.untimed, strict=True):
        if untimed:
            have = "has no such time and is" if untimed == 1 else "have no such time and are"
            yield f"    {counted(untimed, 'layer')} of {side} {have} left out"
    yield from (f"    {sentence}" for sentence in left_out(layers))
    types = [delta for delta in layers.types if max(delta.good_ms, delta.bad_ms) >= _SMALLEST]
    yield ""
    yield f"  {'Δms':>9} {'good ms':>9} {'bad ms':>9}  by type"
    for delta in types if limit is None else types[:_TYPES]:
        counts = f" ({delta.good_layers:g} -> {delta.bad_layers:g} layers)"
        yield visible(f"{_columns(delta.good_ms, delta.bad_ms)}{delta.type or 'type unknown'}{counts}")
    yield ""
    yield visible(f"  {'Δms':>9} {'good ms':>9} {'bad ms':>9}  by layer{_files(layers)}")
    rows = [row for row in layers.rows if abs(row.delta_ms) >= _SMALLEST and not row.within_noise]
    shown = rows[:limit]
    for row in shown:
        yield from _row(row)
    yield from _rest(layers.rows, shown, len(rows) - len(shown))


def left_out(layers: LayerTimes) -> Iterator[str]:
    """Say for each side which of its time is left out, as the other side has these layers without a time."""
    for side, other, total in (("good", "bad", layers.good_ms), ("bad", "good", layers.bad_ms)):
        rows = [row for row in layers.left_out if getattr(row, side).layers]
        ms = sum(getattr(row, side).ms for row in rows)
        if rows:
            verb = "is" if len(rows) == 1 else "are"
            share = f"{ms:.4g} ms, {ms / (total + ms):.0%} of its time"
            timed = f"{counted(len(rows), 'timed layer')} of {side} ({share})"
            yield f"{timed} {verb} left out: {other} tells no time of it"


def _files(layers: LayerTimes) -> str:
    """Name the files whose lines the rows cite."""
    sides = [row.good for row in layers.rows], [row.bad for row in layers.rows]
    names = [{span.file for half in side for span in half.spans} for side in sides]
    files = [PurePath(min(of_side)).name for of_side in names if len(of_side) == 1]
    return f" (lines of {' -> '.join(dict.fromkeys(files))})" if len(files) == len(names) else ""


def _rest(rows: Sequence[LayerDelta], shown: Sequence[LayerDelta], hidden: int) -> Iterator[str]:
    """Sum up what is not listed, so that the column adds up to the whole."""
    listed = {id(row) for row in shown}
    rest = [row for row in rows if id(row) not in listed]
    if not rest:
        return
    noise = len(rest) - hidden
    parts = [f"{hidden} more (--all lists them)"] if hidden else []
    parts += [f"{noise} without a difference beyond chance"] if noise else []
    good, bad = sum(row.good.ms for row in rest), sum(row.bad.ms for row in rest)
    yield f"{_columns(good, bad)}{' and '.join(parts)}"


def _columns(good_ms: float, bad_ms: float) -> str:
    return f"  {bad_ms - good_ms:>+9.4f} {good_ms:>9.4f} {bad_ms:>9.4f}  "


def _row(row: LayerDelta) -> Iterator[str]:
    names = dict.fromkeys((*row.good.layers, *row.bad.layers))
    if row.how == ONE_SIDE:
        side = "good" if row.good.layers else "bad"
        text = f"{_short(row.name, _ROW_NAME)}  [in {side} only]"
    elif len(names) == 1:
        text = _short(row.name, _ROW_NAME)
    else:
        text = f"{_joined(row.good.layers)} -> {_joined(row.bad.layers)}"
    yield visible(f"{_columns(row.good.ms, row.bad.ms)}{text}") + _where(row.good.spans, row.bad.spans)
    remarks = [*row.changes, *([f"matched by {row.how}"] if row.how in {"shape", "position"} else [])]
    if remarks:
        yield visible(f"  {'':30}{'; '.join(remarks)}")


def _joined(names: Sequence[str]) -> str:
    shown = "; ".join(_short(name, _ROW_NAME) for name in names[:2])
    return shown if len(names) <= len(("one", "two")) else f"{shown}; {len(names) - 2} more"


def _where(good: Sequence[SourceSpan], bad: Sequence[SourceSpan]) -> str:
    """Return the lines that state the values: ``(lines 3 -> 7)``."""
    lines = [str(span.line) for span in (*good[:1], *bad[:1])]
    return f"  (line{'s' if len(lines) > 1 else ''} {' -> '.join(lines)})" if lines else ""


SCHEMA = 1
_DIGITS = 4


def to_json(comparison: Comparison) -> str:
    """Render the document in ASCII, one difference a line."""
    parts = []
    for key, value in document(comparison).items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(dumps(row) for row in value)
            parts.append(f' "{key}": [\n  {rows}\n ]')
        else:
            parts.append(f' "{key}": {dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def document(comparison: Comparison) -> JsonObject:
    """Return a comparison as an object for ``json.dump``."""
    return {"schema": SCHEMA, "kind": "diff", **document_of("diff", comparison, _FORMS)}


def times_document(times: TimeComparison) -> JsonObject:
    """Return the comparison of times as an object for ``json.dump``."""
    return document_of("times", times, _FORMS)


def _side_value(value: SideValue) -> JsonObject:
    """Return a value with its builds, and the fields of the layer that represents it."""
    head = document_of("side_value", value)
    if value.layer is None:
        return head
    return {**head, "layers": list(value.layers), **document_of("compared_layer", value.layer, _FORMS)}


def _kernel(layer: LayerView) -> KernelFacts:
    return read_tactic(layer.kernel or "", None, layer.tensors.texts[layer.tensors.inputs :])


_FORMS: Forms = {
    "skipped": lambda comparison: [
        {"side": name, "path": path, "why": why}
        for name in ("good", "bad")
        for path, why in getattr(comparison, name).skipped
    ],
    "counts": lambda comparison: comparison.summary(),
    "told": lambda times: times_document(times) if times.tells else None,
    "numbered": lambda rows: [{"index": i, **document_of("difference", row, _FORMS)} for i, row in enumerate(rows)],
    "value_and_layer": _side_value,
    "accumulator": lambda layer: _kernel(layer).accumulator,
    "kernel_facts": lambda layer: kernel_facts(_kernel(layer)),
    "inputs": lambda tensors: list(tensors.texts[: tensors.inputs]),
    "outputs": lambda tensors: list(tensors.texts[tensors.inputs :]),
    "types": lambda types: None if types is None else list(types),
    "tuned": lambda time_ms: None if time_ms is None else TimeSource.TUNED.value,
    "suspicion": lambda suspicion: round(suspicion, _DIGITS),
    "seen": lambda counts: counts._asdict(),
    "layers": lambda halves: [half.layer for half in halves],
    "totals": lambda totals: {total.key: document_of("total", total, _FORMS) for total in totals},
    "significant_total": lambda total: None if total.noise is None else not total.within_noise,
    "significant": lambda delta: None if delta.noise_ms is None else not delta.within_noise,
    "sides": lambda counts: dict(zip(("good", "bad"), counts, strict=True)),
}
