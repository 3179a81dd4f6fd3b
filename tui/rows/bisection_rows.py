"""A bisection on the screen: where it stands, its probes, the details of a probe, the answer and what to do with it."""

import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.artifacts import FIXED
from trtforensics.bisection.session.history import Probe
from trtforensics.bisection.session.lever import side_text
from trtforensics.bisection.session.view import DirectoryView
from trtforensics.console.counting import counted, duration
from trtforensics.knowledge.table import rows as table_rows
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, bar, clip, fit, flush, list_columns, width_of

REDUCE = "reduce"
"""The mode whose items are nodes that are left or cut."""

BAR = 16

_ROLES = {Verdict.GOOD: Role.GOOD, Verdict.BAD: Role.ERROR, Verdict.UNRESOLVED: Role.WARNING}
_SHOWN = 200
_LEAST_PATH = 14
_LEAST_PARTS = 2
"""Parts of the standing that a narrow title keeps: the state, and how many probes are done."""

_STATE_ROLES = {"certified": Role.GOOD, "named": Role.ACCENT, "collected": Role.GOOD}
_ENDED = frozenset({"certified", "named", "not-reproduced", "collected"})


class FixedFile(NamedTuple):
    """A file of ``fixed/``: its path, what it holds, and the placeholder of the build command that it can stand for."""

    name: str
    holds: str = ""
    placeholder: str = ""


_FILES = {row["file"]: FixedFile(*row.values()) for row in table_rows("fixed_files", "trtforensics.tui.rows")}


def state_of(view: DirectoryView) -> tuple[str, Role]:
    """Return the state in a word. A search that goes on is neither conclusive nor inconclusive."""
    if view.live and view.paused:
        return ("pausing" if any(probe.running for probe in view.probes) else "paused"), Role.WARNING
    if view.live:
        return ("collecting" if view.mode == "collect" else "searching"), Role.ACCENT
    if view.status in _ENDED:
        return view.status, _STATE_ROLES.get(view.status, Role.WARNING)
    done = any(probe.finished for probe in view.probes)
    return (f"stopped, {view.status}" if view.status and done else "stopped before its end"), Role.WARNING


def standing(view: DirectoryView, now: datetime) -> str:
    """Return the line of the title: ``searching · 4 done · about 5 left · 0:25 · ETA 0:31``."""
    done = [probe for probe in view.probes if probe.finished]
    parts = [state_of(view)[0], f"{len(done):,} done"]
    running = sum(probe.running for probe in view.probes)
    if not view.live:
        return " · ".join(parts)
    if running:
        parts.append(f"{running} running")
    if view.builds_left is not None:
        parts.append(f"about {max(round(view.builds_left), running):,} left")
    elapsed = _elapsed(view, now)
    if elapsed is not None:
        parts.append(duration(elapsed))
        finished = sum(1 for probe in done if probe.last is not None and probe.last.run == view.run)
        if finished and view.builds_left is not None and not view.paused:
            parts.append(f"ETA {duration(_busy(view, now) / finished * view.builds_left)}")
    return " · ".join(parts)


def _busy(view: DirectoryView, now: datetime) -> float:
    """Return for how many seconds probes of the run in progress ran, at least one at a time: pauses do not count."""
    spans = sorted(
        (
            moment.timestamp(),
            moment.timestamp() + probe.last.seconds if probe.last and not probe.running else now.timestamp(),
        )
        for probe in view.probes
        if (moment := _began(view, probe)) is not None
    )
    busy, latest = 0.0, 0.0
    for began, ended in spans:
        busy += max(ended - max(began, latest), 0.0)
        latest = max(latest, ended)
    return busy


def _elapsed(view: DirectoryView, now: datetime) -> float | None:
    """Return the seconds since the first probe of the run in progress began."""
    began = [moment for probe in view.probes if (moment := _began(view, probe)) is not None]
    return max((now - min(began)).total_seconds(), 0.0) if began else None


def _began(view: DirectoryView, probe: Probe) -> datetime | None:
    """Return when a probe of the run in progress began; None for another run's."""
    if not probe.running and (probe.last is None or probe.last.run != view.run):
        return None
    try:
        moment = datetime.fromisoformat(probe.began)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def suspects_of(view: DirectoryView) -> tuple[str, ...]:
    """Return the names under suspicion now; while a search runs, ``result.json`` may be behind its newest probe."""
    newest = next((probe for probe in reversed(view.probes) if probe.suspects), None)
    if newest is None or not view.live:
        return view.suspects
    return tuple(view.items[index].item for index in sorted(newest.suspects) if index < len(view.items))


def fixed_files(view: DirectoryView) -> list[FixedFile]:
    """Return the files of ``fixed/``, those that a build can use first."""
    listed = [_FILES.get(name, FixedFile(name)) for name in view.fixed]
    return sorted(listed, key=lambda file: (not file.placeholder, file.name))


def applying(view: DirectoryView) -> str:
    """Return the build command with the repaired file in it, or "" where the job has no command that takes one."""
    if view.build is None:
        return ""
    command, folder = view.build, view.path / FIXED
    for file in fixed_files(view):
        if file.placeholder and file.placeholder in command:
            command = command.replace(file.placeholder, shlex.quote(str(folder / file.name)))
            for other, name in (("{engine}", "fixed.engine"), ("{log}", "fixed.log"), ("{dir}", "."), ("{probe}", "0")):
                command = command.replace(other, shlex.quote(name))
            return command
    return ""


def heading(view: DirectoryView) -> Line:
    """Return the heading of the list of probes; a reduction's tells the nodes that are left."""
    first, second = ("nodes", fit("left", BAR + 1)) if view.mode == REDUCE else ("active", fit("suspects", BAR + 8))
    return (Piece(f"    # {fit('verdict', 12)}{flush(first, 7)} {second}  time  why"),)


def probe_row(view: DirectoryView, probe: Probe, *, marked: bool = False) -> Line:
    """Lay out a probe, of a reduction with the nodes left. A ``marked`` one waits to be compared with another."""
    word, role = verdict_of(view, probe)
    last = probe.last
    unjudged = view.mode == REDUCE and last is not None and last.verdict is Verdict.UNRESOLVED
    why = last.reason if unjudged and last is not None else probe.purpose
    taken = _seconds(probe)
    seconds = f"{taken:6.1f} s" if taken is not None else " " * 8
    return (
        Piece("▸" if marked else " ", Role.ACCENT),
        Piece(f"{probe.number:>4} ", Role.DIM),
        Piece(fit(word, 12), role),
        *_sizes(view, probe),
        Piece(f" {seconds} ", Role.DIM),
        Piece(why),
    )


def _seconds(probe: Probe) -> float | None:
    return sum(finished.seconds for finished in probe.finished) if probe.finished else None


def _sizes(view: DirectoryView, probe: Probe) -> Line:
    """Return the size of a probe's subset, and the share that is suspected, or left of a model."""
    if view.mode == REDUCE:
        nodes = [index for index, item in enumerate(view.items) if "op" in item.facts]
        left = sum(index in probe.active for index in nodes)
        return (Piece(flush(f"{left:,}", 7)), Piece(f" {_share(left, len(nodes))}", Role.BAR))
    suspects = len(probe.suspects)
    return (
        Piece(flush(f"{len(probe.active):,}", 7)),
        Piece(f" {_share(suspects, len(view.items))}", Role.BAR),
        Piece(flush(f"{suspects:,}", 7), Role.DIM),
    )


def _share(part: int, total: int) -> str:
    return bar(part / total, BAR) if total else " " * BAR


def verdict_of(view: DirectoryView, probe: Probe) -> tuple[str, Role]:
    """Return a probe's verdict, or that it is running, stopped or cut off."""
    if probe.running:
        return ("running", Role.ACCENT) if view.live else ("cut off", Role.DIM)
    last = probe.last
    if last is None:
        return "stopped", Role.DIM
    verdicts = {finished.verdict for finished in probe.finished if finished.judge == last.judge}
    if len(verdicts) > 1:
        return "flaky", Role.WARNING
    times = sum(finished.judge == last.judge for finished in probe.finished)
    return f"{last.verdict} x{times}" if times > 1 else str(last.verdict), _ROLES[last.verdict]


def answer_rows(view: DirectoryView, now: datetime) -> list[Line]:
    """Return the standing, the culprits with both sides, the suspects, and the files of the repair."""
    state, role = standing(view, now), state_of(view)[1]
    why = view.why if not view.live else ""
    rows: list[Line] = [_fact("state", f"{state}: {why}" if why else state, role)]
    rows.append(_fact("runs", view.holder or "no process works on it now", Role.ACCENT if view.live else Role.DIM))
    if view.paused:
        waits = "no probe starts" if view.live else "the next run waits"
        rows.append(_fact("paused", f"{waits}; P lets it go on", Role.WARNING))
    rows += [_fact(name, line, Role.PLAIN) for name, line in (("build", view.build), ("check", view.check)) if line]
    proven = view.status == "certified"
    for number, members in enumerate(view.culprits, 1):
        rows.append((Piece(f" {set_title(view.mode, number, len(members) if proven else 1)}", Role.TITLE),))
        for member in members:
            rows.append((Piece(f"   {member.item}", Role.ERROR),))
            rows += [
                (Piece(f"     {name:<5}", _ROLES[Verdict(name)]), Piece(side_text(side)))
                for name, side in member.sides.items()
            ]
    suspects = suspects_of(view)
    if suspects:
        rows += _listed(f"{counted(len(suspects), 'suspect')} left", suspects, " in result.json")
    return rows + _repair_rows(view)


def _repair_rows(view: DirectoryView) -> list[Line]:
    """Return the files of ``fixed/`` and the command that applies them."""
    fixed = fixed_files(view)
    if not fixed:
        return []
    rows: list[Line] = [(Piece(f" files in {view.path / FIXED}", Role.TITLE),)]
    width = max(len(file.name) for file in fixed) + 2
    rows += [(Piece(f"   {fit(file.name, width)}", Role.ACCENT), Piece(file.holds, Role.DIM)) for file in fixed]
    command = applying(view)
    if command:
        rows += [(Piece(" apply it (c copies this)", Role.TITLE),), (Piece(f"   {command}", Role.STRONG),)]
    return rows


def set_title(mode: str, number: int, members: int) -> str:
    """Return the title of a set of the answer. In mode precision, each set alone repairs the model."""
    if mode == "precision":
        return "must stay FP32" if number == 1 else f"alternative {number - 1}, which does as well"
    if mode == REDUCE:
        return "what the failure needs"
    return f"culprit set {number}{', bad only together' if members > 1 else ''}"


def probe_rows(view: DirectoryView, probe: Probe) -> list[Line]:
    """Return the details of a probe: folder, purpose, judgements, and the items that it took from bad."""
    rows = [_fact("folder", str(view.folder(probe)), Role.PLAIN), _fact("purpose", probe.purpose, Role.PLAIN)]
    rows += [
        _fact(str(finished.verdict), f"{finished.reason} ({finished.seconds:.1f} s)", _ROLES[finished.verdict])
        for finished in probe.finished
    ]
    if not probe.finished:
        rows.append(_fact("verdict", *verdict_of(view, probe)))
    for title, names in subsets_of(view, probe):
        rows += _listed(title, names)
    return rows


def _listed(title: str, names: Sequence[str], where: str = "") -> list[Line]:
    rest = [(Piece(f"   … {len(names) - _SHOWN:,} more{where}", Role.DIM),)] if len(names) > _SHOWN else []
    return [(Piece(f" {title}", Role.TITLE),), *((Piece(f"   {name}"),) for name in names[:_SHOWN]), *rest]


def subsets_of(view: DirectoryView, probe: Probe) -> list[tuple[str, list[str]]]:
    """Return the items of a probe under their titles: those from bad; of a reduction, what is left and what was cut."""
    names = [item.item for item in view.items]
    active = [names[index] for index in sorted(probe.active) if index < len(names)]
    if view.mode != REDUCE:
        return [(f"{counted(len(active), 'item')} from bad", active)]
    nodes = [index for index, item in enumerate(view.items) if "op" in item.facts]
    left = [names[index] for index in nodes if index in probe.active]
    cut = [names[index] for index in nodes if index not in probe.active]
    kept = [name for index, name in enumerate(names) if index in probe.active and "op" not in view.items[index].facts]
    titled = (
        (f"{counted(len(left), 'node')} left", left),
        (f"{counted(len(cut), 'node')} cut", cut),
        ("as it was", kept),
    )
    return [(title, some) for title, some in titled if some]


def bisection_title(view: DirectoryView, width: int, now: datetime) -> Line:
    """Return the title: directory and standing. A narrow screen leaves out our name; a long path loses its middle."""
    suspects = suspects_of(view)
    count = f" · {counted(len(suspects), 'suspect')}" if suspects else ""
    first = Piece(" trtforensics ", Role.TITLE)
    parts = standing(view, now).split(" · ")
    while len(parts) > _LEAST_PARTS and len(" · ".join((view.mode, *parts))) + len(count) + _LEAST_PATH > width:
        parts.pop(_LEAST_PARTS)
    rest = Piece(f" {' · '.join((view.mode, *parts))}{count} ", state_of(view)[1])
    whole = (first, rest) if width_of((first, rest)) + _LEAST_PATH < width else (rest,)
    path = Piece(f" {clip(str(view.path), max(width - width_of(whole) - 2, 1))} ")
    return (first, path, rest) if len(whole) > 1 else (path, rest)


def _fact(name: str, text: str, role: Role) -> Line:
    return (Piece(f" {fit(name, 12)}", Role.DIM), Piece(text, role))


def probes(view: DirectoryView, marked: Probe | None) -> Presentation[Probe]:
    """Return how the probes of a directory look in a list; a probe may be marked."""
    return Presentation(
        pieces=lambda probe, _: probe_row(view, probe, marked=marked is not None and marked.number == probe.number),
        heading=lambda *_: (heading(view),),
        key=lambda probe: probe.number,
        columns=list_columns("probes", verdict=lambda probe: verdict_of(view, probe)[0], seconds=_seconds),
    )


LINES: Presentation[Line] = Presentation(pieces=lambda line, _: line, widest=None)
"""How lines look that are laid out already: of the answer, and of a probe's details."""
