"""The end of a precision search: what it found is written into ``fixed/`` and ``result.json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.answer import extended
from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.rewrites.operator_fix import (
    build_operator_fix,
    operators_document,
    write_operator_fix,
)
from trtforensics.bisect.precision.rewrites.proposal import proposal
from trtforensics.bisect.session.artifacts import FIXED
from trtforensics.bisect.session.result import write_result
from trtforensics.console.output import explained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trtforensics.bisect.precision.items import PrecisionItem
    from trtforensics.bisect.precision.lever import PrecisionLever
    from trtforensics.bisect.precision.repair.certificate import Certificate
    from trtforensics.bisect.precision.rewrites.proposal import OperatorProposal

    Document = dict[str, object]

_OPERATORS_BUILD = "operators"
"""The folder in which the model with operators is built."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a search was about; ``builds`` has the model with operators built, within ``timeout`` seconds."""

    lever: PrecisionLever
    plan: Certificate
    items: Sequence[PrecisionItem]
    directory: Path
    builds: bool
    timeout: float | None

    def write(self, document: Document, fixed: Sequence[str]) -> tuple[Document, Sequence[str]]:
        """Add to the document and to the lines about the files of ``fixed/``; write all of it.

        Raises:
            OutputError: the directory cannot be written to.
        """
        folder, safe = self.directory / FIXED, self.plan.safe
        lines = list(fixed)
        if safe is not None and safe.nodes != self.plan.minimal:
            lines += self.lever.fix_safely(safe.nodes, folder)
        proposed = None if safe is None else self._proposal(safe.nodes)
        built = None
        if proposed is not None:
            lines.insert(0, write_operator_fix(proposed, folder))
            if self.builds:
                with explained(str(self.directory)):
                    built = build_operator_fix(proposed, self.lever, self.directory / _OPERATORS_BUILD, self.timeout)
        whole = {
            **extended(document, self.lever, self.plan, self.items, self.directory),
            "operators": None if proposed is None else operators_document(proposed, built),
        }
        write_result(self.directory, whole)
        return whole, list(dict.fromkeys(lines))

    def _proposal(self, safe: frozenset[str]) -> OperatorProposal | None:
        try:
            return proposal(self.lever.oracle, self.lever.judge, safe)
        except RunError:  # ONNX Runtime runs the original, and not every twin of the rewritten model
            return None
