"""``result.json``: the answer of a bisection, or as much of it as there is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.artifacts import PROBES
from trtforensics.bisect.session.job import json_bytes
from trtforensics.console.output import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from trtforensics.bisect.search import Ask
    from trtforensics.bisect.session.lever import Lever
    from trtforensics.bisect.session.plan import SetSearch
    from trtforensics.bisect.session.session import Answer

SCHEMA = 1
NAME = "result.json"

Document = dict[str, object]


def bisection_result(lever: Lever, search: SetSearch, answers: Sequence[Answer]) -> Document:
    """Return the document of a bisection."""
    result, outlook = search.result(), search.outlook()
    evidence = {_key(ask): ask.purpose for ask in result.evidence}
    suspects = result.suspects if search.done else result.suspects | outlook.suspects
    return {
        "schema": SCHEMA,
        "mode": lever.mode,
        **({"remedy": True} if lever.wants_fewest else {}),
        "status": result.status.value,
        "why": result.why,
        "culprits": [[lever.describe(index) for index in sorted(members)] for members in result.culprits],
        "items": len(lever.items),
        "atoms": len(outlook.atoms),
        **_counts(answers),
        "builds_left": {"expected": outlook.expected, "worst": outlook.worst} if not search.done else None,
        "unresolved": [answer.probe.folder for answer in answers if answer.finished.verdict is Verdict.UNRESOLVED],
        "minimal": list(result.minimal),
        "suspects": [lever.items[index].name for index in sorted(suspects)],
        "unsearched": [lever.items[index].name for index in sorted(result.unsearched - suspects)],
        "confidence": result.confidence,
        "lower_bound": result.lower_bound,
        "probes": [_probe(answer, evidence.get(_key(answer.ask))) for answer in answers],
    }


def collection_result(answers: Sequence[Answer], *, complete: bool) -> Document:
    """Return the document of a ``collect``."""
    return {
        "schema": SCHEMA,
        "mode": "collect",
        "status": "collected" if complete else "inconclusive",
        **{
            verdict.value: [answer.probe.folder for answer in answers if answer.finished.verdict is verdict]
            for verdict in Verdict
        },
        **_counts(answers),
        "probes": [_probe(answer, None) for answer in answers],
    }


def write_result(directory: Path, document: Document) -> None:
    """Replace ``result.json``.

    Raises:
        OutputError: the file cannot be written.
    """
    write_bytes(directory / NAME, json_bytes(document))


def to_json(document: Document) -> str:
    """Return a document as JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _counts(answers: Iterable[Answer]) -> dict[str, int]:
    """Count builds; ``reused`` are those of earlier runs on the directory.

    A further check counts too where it took a build: the engine of the first one had gone.
    """
    reused = {}
    for answer in answers:
        again = answer.ask.check if answer.finished.built else 0
        reused[answer.probe.number, again] = answer.reused
    return {"builds": len(reused), "reused": sum(reused.values())}


def _probe(answer: Answer, shows: str | None) -> Document:
    """Return a probe; ``shows`` is what it shows as evidence, None: it is none."""
    return {
        "probe": answer.probe.number,
        "folder": f"{PROBES}/{answer.probe.folder}",
        "active": index_sets.to_text(answer.ask.active),
        "build": answer.ask.build,
        "check": answer.ask.check,
        "purpose": shows or answer.ask.purpose,
        "verdict": answer.finished.verdict.value,
        "reason": answer.finished.reason,
        "seconds": answer.finished.seconds,
        "evidence": shows is not None,
    }


def _key(ask: Ask) -> tuple[frozenset[int], int, int]:
    return ask.active, ask.build, ask.check
