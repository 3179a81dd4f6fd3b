"""How rules about models report nodes: by what the log says of them, else by their numbers in the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, grouped, listed
from trtforensics.findings.finding import Observation, Step
from trtforensics.findings.steps.commands import trtforensics
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked_graph import CheckedNode


def places(case: Case, nodes: Sequence[CheckedNode]) -> list[SourceSpan]:
    """Return the lines on which the log parses nodes; else the nodes themselves, or the model's head for none."""
    names = {node.label for node in nodes}
    logged = [node.span for node in case.build.onnx_nodes if node.name in names]
    return logged or [SourceSpan(case.checked.path, node.number, 0) for node in nodes] or [head(case)]


def head(case: Case) -> SourceSpan:
    """Return the place of what is said of the whole model."""
    return SourceSpan(case.checked.path, 0, 0)


def of_nodes(case: Case, nodes: Sequence[CheckedNode], title: str, **more: object) -> Observation:
    """Return what is seen of nodes; ``{nodes}`` in the title stands for their labels."""
    labels = list(dict.fromkeys(node.label for node in nodes))
    text = title.replace("{nodes}", listed(labels))
    return Observation(text, places(case, nodes), onnx_nodes=labels, **more)  # type: ignore[arg-type]  # its fields


def repair(case: Case, *names: str) -> Step:
    """Return the step that repairs the model; for nodes of the main graph that these repairs are known to mend."""
    path = Path(case.checked.path)
    repaired = str(path.with_suffix(".repaired.onnx"))
    command = trtforensics("repair", str(path), *(f"--{name}" for name in names), "-o", repaired)
    return Step("Repair the model; it is compared with the original on samples", command)


def by_operator(nodes: Sequence[CheckedNode]) -> dict[str, list[CheckedNode]]:
    """Return nodes by their operator, most frequent first."""
    return dict(sorted(grouped(nodes, lambda node: node.op).items(), key=lambda group: -len(group[1])))


def how_many(nodes: Sequence[CheckedNode], op: str) -> str:
    """Return ``Unique`` of one node, ``3 nodes of Unique`` of several."""
    return op if len(nodes) == 1 else f"{counted(len(nodes), 'node')} of {op}"


def by_reason(case: Case, reasons: Iterable[tuple[CheckedNode, str]], **more: object) -> Iterator[Observation]:
    """Give an observation for each operator and reason, of the nodes that have one."""
    for (op, why), pairs in grouped(reasons, lambda pair: (pair[0].op, pair[1])).items():
        nodes = [node for node, _ in pairs]
        title = f"{how_many(nodes, op)}: {why}: {{nodes}}"
        if why:
            yield of_nodes(case, nodes, title, same_as=f"{op} {why}", **more)
