"""Errors that the user can act on: each holds its data and renders one paragraph.

``main`` is the only place that catches :class:`ForensicsError`. ``where`` is a path, or
``file:line:column``; ``what`` is one clear sentence; ``next_step`` says what to do. The public API and the function
that raises one say when; those between them, which only pass it on, do not.
"""

from __future__ import annotations

import os


class ForensicsError(Exception):
    """Base of all errors that are caused by the input or the user, never by a bug of ours."""

    def __init__(self, where: str, what: str, next_step: str = "") -> None:
        super().__init__(where, what, next_step)
        self.where = where
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        sentence = f"{self.where}: {self.what}."
        return f"{sentence} {self.next_step}." if self.next_step else sentence


class SourceError(ForensicsError):
    """A source that cannot be read: missing, a directory, refused, damaged, too large."""


class NotABuildLogError(ForensicsError):
    """A readable source in which no line carries a TensorRT or trtexec prefix."""


class NotAReplayError(ForensicsError):
    """A readable source that is no tactic replay, or a damaged one."""


class NotEngineInfoError(ForensicsError):
    """A readable source that is no export of engine layers or of a profile, or a damaged one."""


class NotAnOnnxModelError(SourceError):
    """A readable source that is no ONNX model, or a damaged one."""


class NotATimingCacheError(ForensicsError):
    """A readable source that is no usable timing cache: neither our export nor TensorRT's binary."""


class DamagedTablesError(ForensicsError):
    """A file of this package that is not as it was installed."""


class OutputError(ForensicsError):
    """A result that cannot be written to its destination."""


class RefusedError(ForensicsError):
    """A call that the operating system refused, of which no other error says more."""

    def __init__(self, error: OSError, where: str) -> None:
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else where
        super().__init__(named, f"the operating system refused it: {reason}", "Mend that, or use another folder")


class UsageError(ForensicsError):
    """A combination of arguments that makes no sense."""
