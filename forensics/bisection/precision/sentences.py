"""The longer texts of a precision search: ``tables/sentences.tsv`` has their lines, with fields for what differs."""

from operator import itemgetter

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows

_LINES = grouped(rows("sentences", "trtforensics.bisection.precision"), itemgetter("about"))


def lines_about(about: str, **values: object) -> list[str]:
    """Return the lines of a text, with values in place of its fields."""
    return [row["line"].format(**values) for row in _LINES[about]]
