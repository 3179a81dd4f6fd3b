"""``trtforensics bisect log``: what happened in an artifacts directory, as a person reads and edits it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from trtforensics.bisect.session.history import Event

_SUMMARY = "print the history of an artifacts directory: its runs, probes and verdicts"
_MORE = """A line that begins with a verdict is one. Edit or delete such lines, and have another directory, or the same,
take them over: trtforensics bisect MODE … --artifacts-dir NEW --from-log FILE

example: trtforensics bisect log out > history.txt"""


def add_log_arguments(modes: Any) -> ArgumentParser:  # noqa: ANN401 - argparse does not export its type
    """Declare ``bisect log`` among the modes of ``bisect``, and return its parser."""
    parser: ArgumentParser = modes.add_parser(
        "log",
        help=_SUMMARY,
        description=f"{_SUMMARY[0].upper()}{_SUMMARY[1:]}.",
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", metavar="DIR", help="the artifacts directory of a bisection or a collection")
    parser.add_argument("--json", action="store_true", help="print the events as JSON, one a line")
    return parser


def run(args: Namespace) -> int:
    """Print the history.

    Raises:
        SourceError: the directory has no job, or a file of it is damaged; what stands before the damage was printed.
    """
    import json

    from trtforensics.bisect.session.job import key_of, names_of, read_job
    from trtforensics.bisect.session.journal import event_document, read_events
    from trtforensics.bisect.session.log import log_lines, log_text
    from trtforensics.console import streams
    from trtforensics.errors import SourceError

    directory = Path(args.directory)
    job = read_job(directory)
    key = key_of(job)
    events: list[Event] = []
    damage = None
    try:
        events.extend(read_events(directory, key))
    except SourceError as error:
        damage = error
    if args.json:
        streams.print_pieces(f"{json.dumps(event_document(event))}\n" for event in events)
    else:
        streams.print_pieces(log_text(log_lines(events, key, names_of(job))))
    if damage is not None:
        raise damage
    return 0
