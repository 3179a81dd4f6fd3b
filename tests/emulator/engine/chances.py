"""Chances that a test can repeat: a seed, and a file that counts how often a program was started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the seed and the count."""
    parser.add_argument("--luck", default="", help="seed of all chances (default: another one each time)")
    parser.add_argument(
        "--save-tally", metavar="FILE", help="add a byte to this file; each count has chances of its own"
    )


def luck(arguments: Namespace) -> str:
    """Return this start's own seed, and count the start."""
    count = "" if arguments.save_tally is None else f"/{_counted(arguments.save_tally)}"
    return f"{arguments.luck or os.urandom(8).hex()}{count}"


def _counted(tally: str) -> int:
    """Return how many starts there were before."""
    file = os.open(tally, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, b".")
        return os.fstat(file).st_size - 1
    finally:
        os.close(file)
