"""Where a bisection stands: its state, what is left, the suspects, and what to do with the answer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from trtforensics.bisect.session.artifacts import FIXED
from trtforensics.bisect.session.report import duration
from trtforensics.tui.rows.pieces import Role

if TYPE_CHECKING:
    from trtforensics.bisect.session.history import Probe
    from trtforensics.bisect.session.view import DirectoryView

_ROLES = {"certified": Role.GOOD, "named": Role.ACCENT, "collected": Role.GOOD}
_ENDED = frozenset({"certified", "named", "not-reproduced", "collected"})


@dataclass(frozen=True, slots=True)
class FixedFile:
    """A file of ``fixed/``: its path, what it holds, and the placeholder of the build command that it can stand for."""

    name: str
    holds: str
    placeholder: str = ""


_FILES = {
    each.name: each
    for each in (
        FixedFile("replay.json", "the bad build's tactics, with those of the culprits from good", "{replay}"),
        FixedFile("cache.json", "the bad build's tactics, with those of the culprits from good", "{cache}"),
        FixedFile("items.txt", "every item but the culprits", "{items}"),
        FixedFile("outputs.txt", "the tensors to mark", "{outputs}"),
        FixedFile("route.txt", "the route", "{route}"),
        FixedFile("model.onnx", "the model with its culprits in FP32", "{model}"),
        FixedFile("culprits.json", "the good build's tactics, with those of the culprits from bad; it fails"),
        FixedFile("culprits.txt", "the sets that are bad together"),
        FixedFile("banned-tactics.tsv", "the tactics of the culprits"),
        FixedFile("trt-outputs.txt", "for `polygraphy convert --trt-outputs`"),
        FixedFile("trtexec.txt", "the options for trtexec"),
        FixedFile("operators.onnx", "the model with its operators rewritten"),
        FixedFile("check_on_gpu.py", "checks the repair on a GPU"),
        FixedFile("fp32_layers.py", "sets the layers of a network to FP32"),
    )
}


def is_searching(view: DirectoryView) -> bool:
    """Whether a process works on the directory, so that no answer is the last one."""
    return view.live


def state_of(view: DirectoryView) -> tuple[str, Role]:
    """Return the state in a word. A search that goes on is neither conclusive nor inconclusive."""
    if is_searching(view):
        return ("collecting" if view.mode == "collect" else "searching"), Role.ACCENT
    if view.status in _ENDED:
        return view.status, _ROLES.get(view.status, Role.WARNING)
    done = any(probe.finished for probe in view.probes)
    return (f"stopped, {view.status}" if view.status and done else "stopped before its end"), Role.WARNING


def standing(view: DirectoryView, now: datetime) -> str:
    """Return the line of the title: ``searching · 4 done · about 5 left · 0:25 · ETA 0:31``."""
    done = [probe for probe in view.probes if probe.finished]
    parts = [state_of(view)[0], f"{len(done):,} done"]
    running = sum(probe.running for probe in view.probes)
    if not is_searching(view):
        return " · ".join(parts)
    if running:
        parts.append(f"{running} running")
    if view.builds_left is not None:
        parts.append(f"about {max(round(view.builds_left), running):,} left")
    elapsed = _elapsed(view, now)
    if elapsed is not None:
        parts.append(duration(elapsed))
        finished = sum(1 for probe in done if probe.last is not None and probe.last.run == view.run)
        if finished and view.builds_left is not None:
            parts.append(f"ETA {duration(elapsed / finished * view.builds_left)}")
    return " · ".join(parts)


def _elapsed(view: DirectoryView, now: datetime) -> float | None:
    """Return the seconds since the first probe of the run in progress began."""
    began = [
        moment
        for probe in view.probes
        if (probe.running or (probe.last is not None and probe.last.run == view.run)) and (moment := _moment(probe))
    ]
    return max((now - min(began)).total_seconds(), 0.0) if began else None


def _moment(probe: Probe) -> datetime | None:
    try:
        moment = datetime.fromisoformat(probe.began)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def suspects_of(view: DirectoryView) -> tuple[str, ...]:
    """Return the names under suspicion now, the same wherever the screen counts them.

    While the search goes on these are the suspects of its newest probe: ``result.json`` may be a second behind.
    """
    if not is_searching(view):
        return view.suspects
    newest = next((probe for probe in reversed(view.probes) if probe.suspects), None)
    if newest is None:
        return view.suspects
    return tuple(str(view.items[index].get("item")) for index in sorted(newest.suspects) if index < len(view.items))


def fixed_files(view: DirectoryView) -> list[FixedFile]:
    """Return the files of ``fixed/``, those that a build can use first."""
    files = [_FILES.get(name, FixedFile(name, "")) for name in view.fixed]
    return sorted(files, key=lambda file: (not file.placeholder, file.name))


def applying(view: DirectoryView) -> str:
    """Return the build command with the repaired file in it, or "" where the job has no command that takes one."""
    if view.build is None:
        return ""
    command, folder = view.build, view.path / FIXED
    for file in fixed_files(view):
        if file.placeholder and file.placeholder in command:
            command = command.replace(file.placeholder, shlex.quote(str(folder / file.name)))
            for other, name in (("{engine}", "fixed.engine"), ("{log}", "build.log"), ("{dir}", "."), ("{probe}", "0")):
                command = command.replace(other, shlex.quote(name))
            return command
    return ""
