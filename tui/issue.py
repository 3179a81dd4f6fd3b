"""An issue about something on the screen, in Markdown: what it is, the lines that show it, versions; redacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.model.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FENCE = "````"


@dataclass(frozen=True, slots=True)
class IssueSection:
    """A heading and the lines below it. ``ours``: the words are this tool's own, and need no replacing."""

    heading: str
    lines: Sequence[str]
    ours: bool = False


def quoted_issue(title: str, sections: Sequence[IssueSection], cited: Sequence[tuple[str, int, str]] = ()) -> str:
    """Return an issue. Names in it are replaced consistently, as ``redact`` does; paths of files are left out.

    ``cited`` are lines of files: path, number and text.
    """
    from trtforensics.redaction.pseudonyms import Pseudonyms
    from trtforensics.redaction.vocabulary import vocabulary

    names = Pseudonyms(vocabulary())
    parts = [f"### {title}", ""]
    for section in sections:
        parts += _fenced(section.heading, section.lines if section.ours else map(names.rewrite, section.lines))
    parts += _fenced("Log lines", (f"{number}: {names.rewrite(text)}" for _, number, text in cited))
    parts.append(f"trtforensics {__version__}. Names are replaced, the same name by the same one.")
    return "\n".join(parts)


def _fenced(heading: str, lines: Iterable[str]) -> list[str]:
    """Return a heading above lines in a fence that none of them can end; nothing where there are no lines."""
    body = [visible(masked(line)).replace(_FENCE, "'" * len(_FENCE)) for line in lines]
    return [f"**{heading}**", "", _FENCE, *body, _FENCE, ""] if body else []
