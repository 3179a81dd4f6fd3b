"""``result.json``: the answer of a bisection, or as much of it as there is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.artifacts import PROBES
from trtforensics.console.output import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from trtforensics.bisect.search import Ask
    from trtforensics.bisect.session.finder import Finder
    from trtforensics.bisect.session.lever import Backend
    from trtforensics.bisect.session.session import Told

SCHEMA = 1
NAME = "result.json"

Document = dict[str, object]


def bisection_result(backend: Backend, search: Finder, told: Sequence[Told]) -> Document:
    """Return the document of a bisection."""
    result, outlook = search.result(), search.outlook()
    evidence = {_key(ask) for ask in result.evidence}
    suspects = result.suspects if search.done else result.suspects | outlook.suspects
    return {
        "schema": SCHEMA,
        "mode": backend.mode,
        **({"remedy": True} if backend.wants_fewest else {}),
        "status": result.status.value,
        "why": result.why,
        "culprits": [[backend.describe(index) for index in sorted(found)] for found in result.culprits],
        "items": len(backend.items),
        "atoms": len(outlook.atoms),
        **_counts(told),
        "unresolved": [one.probe.folder for one in told if one.finished.verdict is Verdict.UNRESOLVED],
        "suspects": [backend.items[index].name for index in sorted(suspects)],
        "confidence": result.confidence,
        "lower_bound": result.lower_bound,
        "probes": [_probe(one, evidence=_key(one.ask) in evidence) for one in told],
    }


def collection_result(told: Sequence[Told], *, complete: bool) -> Document:
    """Return the document of a ``collect``."""
    return {
        "schema": SCHEMA,
        "mode": "collect",
        "status": "collected" if complete else "inconclusive",
        **{verdict.value: [one.probe.folder for one in told if one.finished.verdict is verdict] for verdict in Verdict},
        **_counts(told),
        "probes": [_probe(one, evidence=False) for one in told],
    }


def write_result(directory: Path, document: Document) -> None:
    """Replace ``result.json``.

    Raises:
        OutputError: the directory does not take it.
    """
    write_text(directory / NAME, to_json(document))


def to_json(document: Document) -> str:
    """Spell a document as JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _counts(told: Iterable[Told]) -> dict[str, int]:
    """Count builds; ``reused`` are those that an earlier run on the directory made."""
    reused = {one.probe.number: one.reused for one in told}
    return {"builds": len(reused), "reused": sum(reused.values())}


def _probe(told: Told, *, evidence: bool) -> Document:
    return {
        "probe": told.probe.number,
        "folder": f"{PROBES}/{told.probe.folder}",
        "active": index_sets.to_text(told.ask.active),
        "build": told.ask.build,
        "check": told.ask.check,
        "purpose": told.ask.purpose,
        "verdict": told.finished.verdict.value,
        "reason": told.finished.reason,
        "seconds": told.finished.seconds,
        "evidence": evidence,
    }


def _key(ask: Ask) -> tuple[frozenset[int], int, int]:
    return ask.active, ask.build, ask.check
