"""The screen of an ONNX model before any build: nodes by operator, findings for a target, neighbours of a node."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical

from trtforensics.console.counting import counted
from trtforensics.findings.checking import ANY, check
from trtforensics.findings.target import RTX, ModelTarget
from trtforensics.knowledge.operators import releases_that_differ
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.rows.node_rows import NEIGHBOURS, NODES, NodeRow, neighbours, node_rows
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.screen import ListScreen
from trtforensics.tui.widgets.row_list import FindingList
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.widget import Widget

    from trtforensics.findings.finding import Report
    from trtforensics.onnx_models.checked import CheckedModel


_OLDEST_TARGET = (8, 0)


class ModelScreen(ListScreen[NodeRow]):
    """Browse a model, and what each release will make of it."""

    KEYS = "model"

    def __init__(self, path: str) -> None:
        self.nodes = VirtualList(NODES, id="nodes")
        super().__init__(path, self.nodes)
        self.findings = FindingList()
        self.around = VirtualList(NEIGHBOURS, id="neighbours")
        newest_first = reversed(releases_that_differ(_OLDEST_TARGET))
        self.targets = (ANY, *(".".join(map(str, release)) for release in newest_first), RTX)
        """Releases to judge for, by the words of ``check --target``; the first is none in particular."""
        self.target = ANY
        self._model: CheckedModel | None = None
        self._bars = LineBar(classes="heading"), LineBar(classes="heading"), LineBar(classes="heading")
        self._judged: tuple[CheckedModel, Report] | None = None
        self._taken: Mapping[str, str] = {}

    def panes(self) -> Iterable[Widget]:
        nodes, findings, around = self._bars
        yield Horizontal(
            Vertical(nodes, self.nodes, classes="pane"),
            Vertical(Vertical(findings, self.findings, classes="pane"), Vertical(around, self.around, classes="pane")),
            id="model",
        )

    def on_mount(self) -> None:
        self.nodes.show((), "reading")
        for bar, name in zip(self._bars, ("nodes", "findings", "neighbours"), strict=True):
            bar.show(Piece(f" {name}", Role.STRONG))
        self.nodes.focus()
        self._judge()

    def _judge(self) -> None:
        self.say("judging")
        in_thread(self, partial(self._check, self.target), self._show, group="judge", failed=self.fail)

    def _check(self, target: str) -> tuple[CheckedModel, Report]:
        """Judge the model for a target, in a thread; the file is read at the first call."""
        from trtforensics.findings.suppression import Suppression, settings_here
        from trtforensics.onnx_models.checked import read_checked

        self._model = self._model or read_checked(self.source)
        suppression = Suppression.of((), settings_here())
        (report,) = check(self.source, [_target(target)], suppression, self._model)
        return self._model, report

    def _show(self, judged: tuple[CheckedModel, Report]) -> None:
        """Show nodes and findings, unless another target is asked for by now."""
        model, report = judged
        target = report.sources[0].target
        if target is None or target.release != self.target:
            return
        self._judged = judged
        worst: dict[str, str] = {op: word for op, (_, word) in target.operators.items()}
        for finding in reversed(report.findings):
            worst |= {f"node {label}": finding.severity.word for label in finding.onnx_nodes if finding.severity > 1}
        self._taken = worst
        self.nodes.show(node_rows(model, worst), "the model has no node", keep=self.nodes.selected is not None)
        self.findings.show_findings(report.findings, self.source, "nothing to say for this target")
        self._bars[1].show(Piece(" findings ", Role.STRONG), Piece(f"for {_target(self.target).words}", Role.ACCENT))
        self._follow()
        self.say("")

    def say(self, note: str) -> None:
        model = self._judged[0] if self._judged else None
        about = f"{counted(len(model.nodes), 'node')}, operator set {model.opset}" if model else "opening"
        kept = self.nodes.kept_by.text
        self.status_bar.show(
            Piece(f" {_target(self.target).words} ", Role.STRONG),
            Piece(f"· {about}", Role.DIM),
            Piece(f" · kept by {kept!r}" if kept else "", Role.ACCENT),
            Piece(f" · {note}" if note else "", Role.ACCENT),
        )

    def action_target(self, by: int) -> None:
        self.target = self.targets[(self.targets.index(self.target) + by) % len(self.targets)]
        self._judge()

    def action_open(self, name: str) -> None:
        (self.nodes if name == "nodes" else self.findings).focus()

    def action_neighbours(self) -> None:
        self.around.focus()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.source is self.nodes:
            self.when_resting(self._follow)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Go to the node that a finding or a neighbour names; from a node to its neighbours."""
        if event.source is self.nodes:
            self.action_neighbours()
            return
        number = event.source.log_line(event.index) if event.source.row_count() else None
        self._go_to(number or 0)

    def _go_to(self, number: int) -> None:
        self.nodes.filter("")
        place = next((place for place, row in enumerate(self.nodes.rows) if row.node.number == number), None)
        if place is None:
            self.say("this row names no node")
            return
        self.nodes.go_to(place, center=True)
        self.nodes.focus()

    def _follow(self) -> None:
        row = self.nodes.selected
        if self._judged is not None and row is not None:
            around = list(neighbours(self._judged[0], row.node, self._taken))
            self.around.show(around, "the model's inputs and outputs alone")
            self._bars[2].show(Piece(" neighbours ", Role.STRONG), Piece(f"of {row.node.label}", Role.ACCENT))

    def cited(self) -> tuple[str, int, str] | None:
        row = self.nodes.selected
        if row is None or self._judged is None:
            return None
        number = row.node.number
        return self.source, number, self._judged[0].quote([number])[number]

    def next_command(self) -> str:
        finding = self.findings.selected if self.pane is self.findings else None
        steps = (step.command for step in (finding.next_steps if finding else ()) if step.command)
        target = "" if self.target == ANY else f" --target {self.target}"
        return next(steps, f"trtforensics check {shlex.quote(self.source)}{target}")

    def issue(self) -> str:
        cited = self.cited()
        if cited is None or self._judged is None:
            return ""
        titles = [f"{each.code} {each.title}" for each in self._judged[1].findings]
        words = _target(self.target).words
        return quoted_issue(f"a node of a model, for {words}", {"Findings": titles}, [cited])

    def text_of(self, row: NodeRow) -> str:
        proto = row.node.proto
        return " ".join((row.node.op, row.node.label, *proto.input, *proto.output))


def _target(word: str) -> ModelTarget:
    return ModelTarget("" if word == ANY else word)
