"""The answer of a bisection as text, and its line of progress."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from trtforensics.bisect.search import Outlook
    from trtforensics.bisect.session.session import Answer

_SHOWN = 20
_MINUTE = 60
_REMEDY = "Certified: with these from good the build is good, and without any one of them it is bad."
_SINGLE_REMEDY = "Certified: with this one from good the build is good, and without it the build is bad."
_SENTENCES = {
    "named": "Named, not certified",
    "inconclusive": "Inconclusive",
    "not-reproduced": "Not reproduced",
}


def progress_text(outlook: Outlook, answers: Sequence[Answer], running: int, seconds: float) -> str:
    """Return the line of progress; ``seconds`` is the time since the run began."""
    builds = len({answer.probe.number for answer in answers})
    last = f"last {answers[-1].finished.verdict}" if answers else "nothing known yet"
    known = f", {len(outlook.culprits)} found" if outlook.culprits else ""
    suspects = f"suspects {len(outlook.suspects):,}{known}"
    return f"builds done {builds}, running {running}, {_left(outlook)}; {suspects}; {last}; {duration(seconds)}"


def _left(outlook: Outlook) -> str:
    if not outlook.worst:
        return "none left"
    about = round(outlook.expected)
    return f"{about} to {outlook.worst} left" if about < outlook.worst else f"{outlook.worst} left"


def duration(seconds: float) -> str:
    """Return a time as ``1:02:03``."""
    minutes, rest = divmod(int(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bisection_text(document: Mapping[str, object], directory: Path, fixed: Sequence[str]) -> str:
    """Return the answer as text: the culprits, the evidence, the files of the repair."""
    status, why = str(document["status"]), str(document["why"])
    lines = [_certified(document) if status == "certified" else f"{_SENTENCES[status]}: {why}."]
    lines += _culprits(document)
    lines += _suspects(document)
    lines += _evidence(document)
    reused = f", {document['reused']} of them by an earlier run" if document["reused"] else ""
    bound = f"information theory asks for {document['lower_bound']} plus endpoints and certificate"
    builds, items = _counted(document["builds"], "build"), _counted(document["items"], "item")
    lines.append(f"{builds}{reused}, over {items}; {bound}.")
    lines += [f"{directory}/fixed/{line}" for line in fixed]
    return "".join(f"{visible(line)}\n" for line in lines)


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _certified(document: Mapping[str, object]) -> str:
    sets = _list(document["culprits"])
    if document.get("remedy"):
        return _SINGLE_REMEDY if [len(members) for members in sets] == [1] else _REMEDY
    each = "each set below" if len(sets) > 1 else "the set below"
    return f"Certified: {each} is bad alone, and everything else together is good."


def _culprits(document: Mapping[str, object]) -> list[str]:
    lines = []
    for number, members in enumerate(_list(document["culprits"]), 1):
        several = "" if len(members) == 1 or document.get("remedy") else _together(document, number)
        what = "Remedy" if document.get("remedy") else f"Culprit set {number}"
        lines.append(f"{what} ({len(members)} of {_counted(document['items'], 'item')}{several}):")
        for member in members:
            lines.append(f"  {member['item']}")
            lines += [f"    {side}: {_side(member[side])}" for side in ("good", "bad") if member.get(side) is not None]
        costs = [member.get("cost_ms") for member in members]
        if None not in costs:
            lines.append(f"  taking them from good costs {sum(costs):+.4g} ms, by the logs' times")
    return lines


def _together(document: Mapping[str, object], number: int) -> str:
    """Return what was seen of the set with this number, from 1, without each of its items."""
    minimal = _list(document.get("minimal"))[number - 1 : number] == [True]
    return ", bad only together: good without any one" if minimal else ", perhaps more than are needed"


def _side(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_side(each)}" for key, each in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _suspects(document: Mapping[str, object]) -> list[str]:
    lines = []
    if suspects := _list(document["suspects"]):
        more = [f"  … {len(suspects) - _SHOWN:,} more in result.json"] if len(suspects) > _SHOWN else []
        lines = [f"Suspects left: {len(suspects):,}", *(f"  {name}" for name in suspects[:_SHOWN]), *more]
    if others := _list(document.get("unsearched")):
        lines.append(f"Not seen to be good together: {len(others):,} other items, listed in result.json")
    return lines


def _evidence(document: Mapping[str, object]) -> list[str]:
    """Return a line for each build that proves the answer, with all its verdicts."""
    folders: dict[str, list[Mapping[str, object]]] = {}
    for probe in _list(document["probes"]):
        if probe["evidence"]:
            folders.setdefault(probe["folder"], []).append(probe)
    lines = [
        f"  {folder}: {_verdicts(probes)} ({probes[-1]['reason']}), {probes[-1]['purpose']}"
        for folder, probes in folders.items()
    ]
    return ["Evidence:", *lines] if lines else []


def _verdicts(probes: Sequence[Mapping[str, object]]) -> str:
    counts = Counter(str(probe["verdict"]) for probe in probes)
    times = {1: "", 2: " twice"} if len(counts) == 1 else {1: " once", 2: " twice"}
    return ", ".join(f"{verdict}{times.get(count, f' {count} times')}" for verdict, count in counts.items())


def _list(value: object) -> list:  # type: ignore[type-arg]
    return value if isinstance(value, list) else []
