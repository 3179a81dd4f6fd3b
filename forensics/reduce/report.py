"""The answer of a reduction as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SHOWN = 20
_PAIR = 2
_SENTENCES = {
    "named": "Reduced, not certified",
    "inconclusive": "Inconclusive",
    "not-reproduced": "Not reproduced",
}


def reduction_text(document: Mapping[str, Any], directory: Path, fixed: Sequence[str]) -> str:
    """Return the answer as text: what is left, how it fails, what else was seen, the files."""
    status, reduction = str(document["status"]), document["reduction"]
    lines = [_certified(reduction) if status == "certified" else f"{_SENTENCES[status]}: {document['why']}."]
    if reduction["failure"] is not None:
        lines += failure_lines(reduction["failure"])
        lines += _left(reduction)
    lines += _otherwise(reduction["otherwise"])
    if not reduction["recorded"]["whole"]:
        lines.append(f"ONNX Runtime does not run the whole model ({reduction['recorded']['why']}).")
    reused = f", {document['reused']} of them by an earlier run" if document["reused"] else ""
    lines.append(f"{document['builds']} {'probe' if document['builds'] == 1 else 'probes'}{reused}.")
    lines += [f"{directory}/fixed/{line}" for line in fixed]
    return "".join(f"{visible(line)}\n" for line in lines)


def _certified(reduction: Mapping[str, Any]) -> str:
    """Return what was seen of a certified answer; nothing can be left out of a single node."""
    same = "fails as the original does"
    if len(reduction["left"]) == 1:
        return f"Certified: the single node below {same}; this was seen twice."
    return f"Certified: the model below {same}, and without {any_one(len(reduction['left']))} of its nodes it does not."


def any_one(count: int) -> str:
    """Return how a sentence speaks of each of several: ``either`` of two, ``any one`` of more."""
    return "either" if count == _PAIR else "any one"


def failure_lines(failure: Mapping[str, Any]) -> list[str]:
    """Return what the failure is, and the lines of the log that say so."""
    what = f"{failure['code']} {failure['title']}".strip() or failure["form"] or "no message"
    return [f"The {failure['stage']} {failure['ended']}: {what}", *(f"  {line}" for line in failure["lines"][:_SHOWN])]


def _left(reduction: Mapping[str, Any]) -> list[str]:
    nodes = reduction["left"]
    more = [f"  … {len(nodes) - _SHOWN:,} more in result.json"] if len(nodes) > _SHOWN else []
    total = f"{reduction['nodes']:,} {'node' if reduction['nodes'] == 1 else 'nodes'}"
    lines = [f"{len(nodes):,} of {total} left:"]
    lines += [*(f"  {node['item']} [{node['op']}]" for node in nodes[:_SHOWN]), *more]
    if without := reduction["not_judged_without"]:
        lines.append(f"Not seen to pass without: {', '.join(without[:_SHOWN])}")
    kept = reduction["as_they_were"]
    if kept:
        more = [f"  … {len(kept) - _SHOWN:,} more in result.json"] if len(kept) > _SHOWN else []
        lines += ["What the failure needs as it was:", *(f"  {name}" for name in kept[:_SHOWN]), *more]
    return lines


def _otherwise(failures: Sequence[Mapping[str, Any]]) -> list[str]:
    if not failures:
        return []
    total = sum(each["probes"] for each in failures)
    some = "1 probe" if total == 1 else f"{total} probes"
    return [
        f"{some} failed with another error:",
        *(f"  {_times(each['probes'])}: {each['failure']}" for each in failures[:5]),
    ]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
