"""Frames of Python's tracebacks above the line that names the exception."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?')
_MARKS = re.compile(r"[\s^~|.>-]*")
"""What Python and its loggers draw below a frame's code, without words."""
_INSTALLED = re.compile(r"(?:site|dist)-packages[/\\]|[/\\]lib[/\\]python[\d.]+[/\\]|<frozen |^<string>|\.egg[/\\]")
_ITEMS = re.compile(r"(?:\bin |(?<=\())?(?!in\b)(\w[\w.]*)(?=\[|:$)")
"""What a statement takes items of: what stands before a bracket, or at the end of a ``for``."""
_ASSERTED = re.compile(r"assert (.+?),?\s*\\?$")
_MOST = 6
"""Lines above the exception within which the code of its last frame stands."""
_MOST_FRAMES = 200


class _Frame(NamedTuple):
    path: str
    line: str
    function: str
    code: str

    @property
    def place(self) -> str:
        """The file without the folders that packages are installed in, with the line."""
        parts = re.split(r"[/\\]", _INSTALLED.split(self.path)[-1])
        return f"{'/'.join(parts[-3:])}, line {self.line}"


def is_frame(text: str) -> bool:
    """Whether a line names a frame, so that the program's line stands below it."""
    return _FRAME.search(text) is not None


FIELDS = ("code", "subject", "condition", "site", "function", "caller")
"""What :func:`raised_at` says."""


def raised_at(texts: Mapping[int, Sequence[str]], line: int, used: str | None) -> dict[str, str | None]:
    """Return where the exception on a line was raised, by the frames above it; nothing where no frame is near.

    ``code`` is the statement, ``site`` its file and line, ``function`` the function; ``caller`` is the last frame of
    the user's own code, where that is another. ``subject`` names the objects whose attribute ``used`` the statement
    asks for; without ``used``, those whose items it takes. ``condition`` is what it asserts. ``texts`` are the lines.
    """
    frames = list(_frames(texts, line))
    if not frames:
        return {}
    last = frames[0]
    caller = next((frame for frame in frames if not _INSTALLED.search(frame.path)), last)
    asked = re.compile(rf"(\w[\w.\[\]]*(?:\(\))?)\.{re.escape(used)}\b") if used else _ITEMS
    asserted, subjects = _ASSERTED.match(last.code), dict.fromkeys(asked.findall(last.code))
    statement = last.code, " or ".join(subjects), asserted[1] if asserted else ""
    where = last.place, last.function, caller.place if caller is not last else ""
    return {name: value or None for name, value in zip(FIELDS, (*statement, *where), strict=True)}


def _frames(texts: Mapping[int, Sequence[str]], line: int) -> Iterator[_Frame]:
    """Give the frames above a line, the last one of the traceback first."""
    below, missed = "", 0
    for above in range(line - 1, max(line - _MOST_FRAMES, 0), -1):
        text = texts.get(above, [""])[0]
        frame = _FRAME.search(text)
        if frame is not None:
            yield _Frame(frame["path"], frame["line"], frame["function"] or "", below)
            below, missed = "", 0
        elif "Traceback (most recent" in text or missed > _MOST:
            return
        else:
            missed += 1
            below = below if _MARKS.fullmatch(text) else text.strip(" |")
