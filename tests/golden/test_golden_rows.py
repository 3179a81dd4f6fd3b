"""The rows of the TUI's lists with their roles, byte for byte; ``--update-golden`` renews them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.artifacts import Directory
from tests.support.engine_pair import write_pair
from tests.support.folders import working_in
from tests.support.repository import ROOT
from tests.support.rounding import rounded
from tests.support.sample_session import sample_session
from trtforensics.bisection.search import Verdict
from trtforensics.comparison.compare import compare
from trtforensics.comparison.loading import load_side, with_files
from trtforensics.console.progress import Progress
from trtforensics.datasets.ingesting import runs_of
from trtforensics.engines.neighbours import Neighbours
from trtforensics.engines.onnx_nodes import fates
from trtforensics.model.log import BuildLog
from trtforensics.onnx_models.checked import read_checked
from trtforensics.parsers.text.source import open_source
from trtforensics.tables.layers import LAYER_COLUMNS
from trtforensics.tui.rows import (
    bisection_rows,
    diff_rows,
    finding_rows,
    first_rows,
    log_lines,
    node_rows,
    run_rows,
    timeline,
)
from trtforensics.tui.rows.layers import candidates, columns, index, neighbours, questions
from trtforensics.tui.rows.overview_rows import progress_line, strip_line, title_line
from trtforensics.tui.rows.pieces import CitingLine, Line, Presentation, Role
from trtforensics.tui.rows.time_map import MapRow, TimeMap, address
from trtforensics.tui.sessions import LogSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trtforensics.model.log import Build

HERE = ROOT / "tests" / "golden" / "rows"
LOGS = ROOT / "testdata" / "logs"
HEIGHT = 24
MOST = 12
"""Rows of a list that are kept; a further one of a sort tells nothing new."""
LIMIT = 1 << 30
Session = Any


def spelled(line: Line | CitingLine, /) -> str:
    """Spell a row: its text, and the roles of its pieces, a dot for none."""
    if isinstance(line, CitingLine):
        cited = "" if line.line is None else f" @{line.line}"
        return f"{spelled(line.pieces)}{cited}{' *' if line.headline else ''}"
    text = "".join(piece.text for piece in line)
    return f"{text}⟨{' '.join('.' if piece.role is Role.PLAIN else piece.role for piece in line)}⟩"


def listed(look: Presentation[Any], rows: Sequence[Any], width: int = 100, most: int = MOST) -> Iterator[str]:
    """Spell a list: heading, rows with the lines that they are about, footing, its filters and columns."""
    yield from map(spelled, look.heading(rows, width, HEIGHT))
    for row in rows[:most]:
        wrapped = list(look.wrapped(row, width))
        line = look.line(row)
        yield from map(spelled, wrapped)
        if not wrapped:
            yield spelled(look.pieces(row, width))
        about = {column.name: column.get(row) for column in (*look.filters, *look.columns)}
        told = ", ".join(f"{name}={value}" for name, value in about.items() if value is not None)
        yield f"    @{line} key={None if look.key is None else look.key(row)} {told}".rstrip()
    for row in (None, *rows[:3]):
        yield from map(spelled, look.footing(row, width, HEIGHT + 8))
    yield f"{len(rows)} x {look.noun}, widest {look.widest}, pinned {look.pinned}"


def first_screen(log: BuildLog, build: Build, session: Session, facts: TimeMap) -> Iterator[str]:
    def text(line: int) -> str | None:
        return str(session.text.line(line)) if 0 < line <= len(session.text) else None

    facts.findings = session.judge(log).findings
    rows = first_rows.first_rows(log, facts, text, files=getattr(session, "files", ()))
    yield from listed(first_rows.rows_shown(rows), rows, most=60)
    for row in rows:
        if isinstance(row, MapRow) and row.is_open:
            inside = facts.inside(row)
            yield from listed(first_rows.rows_shown(inside, (row,)), inside, 120, most=4)
            yield spelled(address((row,), 100))
    yield from map(spelled, (title_line(log.source.path, log, build, 90), strip_line(log, build, 60)))
    yield timeline.progress(build, text)
    yield from listed(timeline.TIMELINE, timeline.timeline(log, build, text))
    for width in (60, 110):
        for finding in facts.findings[:4]:
            shown = finding_rows.in_view(finding, build.first_line, build.last_line)
            yield from map(spelled, finding_rows.rows_of(shown, log.source.path, width, expanded=width > 100))
    messages = build.messages
    yield from listed(log_lines.messages(messages), messages)
    for number in range(build.first_line, min(build.last_line, build.first_line + 40)):
        yield spelled(log_lines.log_pieces(text(number) or ""))


def layer_lists(build: Build) -> Iterator[str]:
    listed_layers = index.LayerIndex(build)
    asked = listed_layers.questions()
    yield from map(spelled, questions.question_lines(asked, asked[0].title, len(listed_layers.engine), 70))
    places = [(line, column) for line in (0, 1) for column in range(0, 72, 8)]
    yield repr([questions.question_at(asked, "", 10, 70, place) for place in places])
    for width in (64, 100, 160):
        layout = columns.ColumnLayout(width, 3)
        for order in layout.orders:
            yield spelled(layout.heading(order, listed_layers.time_source))
            yield ", ".join(row.text for row in listed_layers.rows(order=order)[:5])
        yield repr([layout.order_at(place).column for place in range(0, width, 7)])
        for row in listed_layers.rows()[: 2 * MOST]:
            yield spelled(index.row_pieces(row, layout, expanded=width == 100))
    layout = columns.ColumnLayout(120, 2)
    for column in LAYER_COLUMNS[:6]:
        for row in listed_layers.grouped(listed_layers.rows(), column)[:4]:
            yield spelled(index.row_pieces(row, layout, expanded=False))
    net = Neighbours(build)
    for entry in (*listed_layers.engine[:6], *listed_layers.others[:3]):
        for row in listed_layers.children(entry):
            yield spelled(index.row_pieces(row, layout, expanded=True))
        details = index.details(entry, entry.why())
        yield from listed(index.labelled(details), details)
        yield from map(spelled, questions.why_lines(entry.why(), 60, 2))
        table = candidates.layer_table(entry)
        yield from listed(candidates.candidates_of(table), range(len(table.candidates)), 110, most=5)
        if entry.in_engine:
            around = neighbours.neighbour_rows(entry.layer, net, 2)
            yield from listed(neighbours.neighbours_of((entry.layer,)), around)


def of_sample(_: Path) -> Iterator[str]:
    session = sample_session()
    log = session.outcome
    assert isinstance(log, BuildLog)
    for build in log.builds:
        yield from first_screen(log, build, session, TimeMap(index.LayerIndex(build).facts))
        yield from layer_lists(build)


def of_log(folder: Path, name: str) -> Iterator[str]:
    (folder / "build.log").symlink_to(LOGS / f"{name}.log")
    session = LogSession(open_source("build.log", max_bytes=LIMIT))
    log = session.parse(lambda *_: None, lambda *_: None, lambda: False)
    assert log is not None
    for build in log.builds:
        yield from first_screen(log, build, session, TimeMap(index.LayerIndex(build).facts))
        yield from layer_lists(build)


def of_files(folder: Path) -> Iterator[str]:
    write_pair(folder)
    others = ("slow.profile.json", "slow.times.json")
    session = LogSession(open_source("slow.layers.json", max_bytes=LIMIT), others, has_log=False)
    log = session.parse(lambda *_: None, lambda *_: None, lambda: False)
    assert log is not None
    yield from first_screen(log, log.builds[0], session, TimeMap(index.LayerIndex(log.builds[0]).facts))
    yield from layer_lists(log.builds[0])


def of_comparisons(folder: Path) -> Iterator[str]:
    write_pair(folder)
    for name, log in (("good", "emulated-trtexec-8.6"), ("bad", "emulated-trtexec-10.16-three-passes")):
        (folder / f"{name}.log").symlink_to(LOGS / f"{log}.log")
    engines = (
        with_files(
            load_side(f"{name}.layers.json", side, max_bytes=LIMIT),
            [f"{name}.profile.json", f"{name}.times.json"],
            on_file=lambda _: None,
        )
        for name, side in (("fast", "good"), ("slow", "bad"))
    )
    logs = (load_side(f"{side}.log", side, max_bytes=LIMIT) for side in ("good", "bad"))
    for good, bad in (engines, logs):
        comparison = compare(good, bad)
        yield from map(spelled, [diff_rows.sides_line(comparison)])
        rows = diff_rows.rows_of(comparison, None)
        for scored in (False, True):
            yield from listed(diff_rows.differences(scored=scored), rows, 130 - 40 * scored)
        for row in rows[:MOST]:
            yield from listed(diff_rows.PLACES, diff_rows.places(row))
            yield repr(diff_rows.layers_of(row).keys())
        times = comparison.times.layers
        if times is not None:
            mapped = diff_rows.map_rows(times)
            yield from listed(diff_rows.time_map(comparison, times), mapped, 90)
            for row, delta in zip(mapped, (row.times for row in mapped), strict=True):
                yield from listed(diff_rows.PLACES, diff_rows.places(row))
                yield repr([about.layer for about in diff_rows.about(rows, delta)] if delta else None)


def of_nodes(folder: Path) -> Iterator[str]:
    (folder / "convnet.onnx").symlink_to(ROOT / "testdata" / "models" / "convnet.onnx")
    model = read_checked("convnet.onnx")
    taken = {"Conv": "yes", "Relu": "plugin", "MaxPool": "no", "Gemm": "refused"}
    yield from listed(node_rows.NODES, node_rows.node_rows(model, taken))
    for node in model.nodes[:6]:
        yield from listed(node_rows.NEIGHBOURS, list(node_rows.neighbours(model, node, taken)))
    (folder / "build.log").symlink_to(LOGS / "emulated-trtexec-10.16-three-passes.log")
    session = LogSession(open_source("build.log", max_bytes=LIMIT))
    log = session.parse(lambda *_: None, lambda *_: None, lambda: False)
    assert log is not None
    for width in (50, 90):
        yield from listed(node_rows.FATES, fates(log.builds[0]), width)
    for done, total in ((10, None), (0, 10), (5, 10), (10, 10), (1 << 21, 3 << 20)):
        yield spelled(progress_line(Progress(done, total, 7000), 60))


def of_bisections(folder: Path) -> Iterator[str]:
    (folder / "out").mkdir()
    made = Directory(Path("out"))
    made.start("0-7", "0-7")
    made.end(Verdict.BAD)
    made.start("0-3", "0-7")
    made.end(Verdict.UNRESOLVED, "build: died by SIGSEGV")
    made.start("4-7", "0-7")
    made.end(Verdict.GOOD, "")
    made.start("4-5", "4-7")
    for named in ({}, {"status": "named", "why": "they suffice", "culprits": [["layer4", "layer5"]]}):
        if named:
            made.end(Verdict.BAD)
            made.answer(**named, certificate=[1, 3], suspects=["layer6"])
        view, now = made.look(), made.now()
        yield from listed(bisection_rows.probes(view, view.probes[1]), view.probes)
        for probe in view.probes:
            yield from map(spelled, bisection_rows.probe_rows(view, probe))
            yield repr(bisection_rows.subsets_of(view, probe))
        yield from map(spelled, bisection_rows.answer_rows(view, now))
        yield spelled(bisection_rows.bisection_title(view, 70, now))
        yield bisection_rows.standing(view, now)
        yield repr((bisection_rows.suspects_of(view), bisection_rows.fixed_files(view), bisection_rows.applying(view)))


def of_runs(folder: Path) -> Iterator[str]:
    (folder / "logs").mkdir()
    for log in sorted(LOGS.glob("*.log")):
        (folder / "logs" / log.name).symlink_to(log)
    rows = [row for _, batch in runs_of("logs", LIMIT) for row in batch or ()]
    for width in (64, 110, 170):
        for order in run_rows.orders(width):
            yield from listed(run_rows.runs(order, rows[1], rows), order.sorted(rows), width, most=2)


SOURCES: dict[str, Callable[[Path], Iterator[str]]] = {
    "sample": of_sample,
    "three-passes": lambda folder: of_log(folder, "emulated-trtexec-10.16-three-passes"),
    "rtx": lambda folder: of_log(folder, "rtx-convnet"),
    "files": of_files,
    "comparisons": of_comparisons,
    "nodes": of_nodes,
    "bisections": of_bisections,
    "runs": of_runs,
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_rows_of_lists_are_the_golden_ones(
    name: str,
    tmp_path: Path,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    with working_in(tmp_path):
        rows = rounded("".join(f"{row}\n" for row in SOURCES[name](tmp_path)))
    golden = HERE / f"{name}.txt"
    if update_golden:
        golden.write_text(rows, encoding="utf-8")
    assert rows == golden.read_text(encoding="utf-8"), f"{golden.name} differs: look at the change first"
