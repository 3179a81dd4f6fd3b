"""Loggers, and how an event of a build reaches one."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.emulator.log.render import render, severity

from ._enums import Severity
from ._scenario import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from tests.emulator.log.event import Event

_LETTERS = dict(zip("FEWIV", Severity, strict=True))


class ILogger:
    """A logger of the application's own: a subclass overrides `log`."""

    Severity = Severity
    INTERNAL_ERROR = Severity.INTERNAL_ERROR
    ERROR = Severity.ERROR
    WARNING = Severity.WARNING
    INFO = Severity.INFO
    VERBOSE = Severity.VERBOSE

    def log(self, severity: Any, msg: str) -> None:
        """Take a message."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Logger(ILogger):
    """Prints with time, marker and severity: errors and warnings on stderr, the rest on stdout."""

    def __init__(self, min_severity: Any = Severity.WARNING) -> None:
        self.min_severity = min_severity

    def log(self, severity: Any, msg: str) -> None:
        """Print a message of the least severity, or a graver one."""
        if int(severity) > int(self.min_severity):
            return
        letter = "FEWIV"[int(severity)]
        stamp = datetime.now().strftime("%m/%d/%Y-%H:%M:%S")  # noqa: DTZ005 - logs have no zone
        file = sys.stderr if letter in "FEW" else sys.stdout
        print(f"[{stamp}] [TRT] [{letter}] {msg}", file=file, flush=True)


def tell(logger: ILogger, events: Iterable[Event]) -> None:
    """Log events; lines without a prefix belong to the message before them."""
    pending: tuple[Any, str] | None = None
    for event in events:
        body = render(event, VERSION)
        if pending is not None and not event.prefixed:
            pending = pending[0], f"{pending[1]}\n{body}"
            continue
        if pending is not None:
            logger.log(*pending)
        pending = _LETTERS[severity(event, VERSION)], body
    if pending is not None:
        logger.log(*pending)


def listens(logger: ILogger) -> bool:
    """Whether a logger may want verbose messages; one of the application's own decides for itself."""
    return not isinstance(logger, Logger) or int(logger.min_severity) >= int(Severity.VERBOSE)
