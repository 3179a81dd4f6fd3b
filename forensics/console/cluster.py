"""Connects to a Dask cluster, for commands that take ``--executor dask://HOST:PORT``."""

from argparse import ArgumentTypeError
from typing import Any

from trtforensics.errors import UsageError


def cluster_address(text: str) -> str:
    """Return an argument that names a scheduler.

    Raises:
        ArgumentTypeError: it is of another form.
    """
    host, _, port = text.removeprefix("dask://").rpartition(":")
    if not text.startswith("dask://") or not host or not port.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not of the form dask://HOST:PORT")
    return text


def connected(address: str) -> Any:  # noqa: ANN401 - a distributed.Client, where that is installed
    """Return a client of the scheduler at ``dask://HOST:PORT``.

    Raises:
        UsageError: the package is missing, or no scheduler answers.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        next_step = "Install it: pip install 'trtforensics[cluster]'"
        raise UsageError("--executor", "needs the package `distributed`", next_step) from error
    try:
        return Client(f"tcp://{address.removeprefix('dask://')}", set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise UsageError(f"--executor {address}", "no scheduler answers there", "Start `dask scheduler`") from error
