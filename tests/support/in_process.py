"""The command line without a process of its own, which would start an interpreter and import everything again."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from trtforensics.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


def run_in_process(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in a folder, its standard streams being files, and return what it left in them.

    What the command starts inherits the streams. Streams that are pipes or terminals, signals and the start itself need
    a process.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        with _surroundings(folder, os.environ if environment is None else environment), _streams(out, err):
            status = main(arguments)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["trtforensics", *arguments], status, out.read(), err.read())


@contextmanager
def _surroundings(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    before, place = dict(os.environ), os.getcwd()  # noqa: PTH109 - goes to chdir as it is
    _change_environment(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        _change_environment(before)


def _change_environment(wanted: Mapping[str, str]) -> None:
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)


@contextmanager
def _streams(out: IO[Any], err: IO[Any]) -> Iterator[None]:
    """Put files in the place of the standard streams, for Python and, by their descriptors, for child processes."""
    before = sys.stdin, sys.stdout, sys.stderr
    saved = [os.dup(number) for number in range(3)]
    with open(os.devnull, "rb") as null:  # noqa: PTH123 - no path of ours
        for number, stream in enumerate((null, out, err)):
            os.dup2(stream.fileno(), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor, closed below
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, copy in enumerate(saved):
            os.dup2(copy, number)
            os.close(copy)
