"""Lines that findings read because no field of a build holds what they say, and the causes that messages name.

A :class:`Note` is a line with the grammar rule that read it: what rules of ``findings`` look for. Its kind is the
rule's name in ``parsers/grammar``: of a kind of line, or of a cause (``causes.lark``) found in a warning or an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trtforensics.model.span import SourceSpan

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Note:
    """A line by its kind. ``fields`` holds what the grammar rule captured; None where the line does not print it.

    ``level`` is the level of a line that names a cause, as E, W, I or V; empty where the line has none.
    """

    kind: str
    span: SourceSpan
    fields: Mapping[str, Value] = field(default_factory=dict)
    level: str = ""

    def text(self, name: str) -> str:
        """Return a field as text, empty where the line does not print it."""
        value = self.fields.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """Return a field as a number; None where the line does not print one."""
        value = self.fields.get(name)
        try:
            return None if value is None else float(value)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class StarvedLayer:
    """A layer some of whose tactics were skipped for want of workspace.

    ``requested`` is the largest scratch memory that one of the ``skipped`` asked for, ``available`` what there was, in
    bytes. ``spans`` are the first such lines.
    """

    layer: str
    skipped: int
    requested: int
    available: int
    spans: tuple[SourceSpan, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """A layer that the optimiser removed: ``Removing A``, ``Eliminating A which duplicates (Q) B``.

    ``layer`` is the printed name, which may be a fusion's. ``in_favour_of`` is the layer that duplicates it, empty for
    other removals. ``by`` is the optimisation that ran (``QConvScaleFusion``) and ``at`` the layer that it ran on; both
    are empty where no line right before says so.
    """

    layer: str
    span: SourceSpan
    pass_index: int | None
    in_favour_of: str = ""
    by: str = ""
    at: str = ""
