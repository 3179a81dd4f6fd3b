"""The option that names the Python in which TensorRT is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_builder_python(parser: ArgumentParser) -> None:
    """Declare ``--builder-python``; ``cli`` applies it before the command runs."""
    from trtforensics.trt.interpreter import OPTION

    what = "the Python, 3.8 or later, in which child processes import TensorRT (default: this one)"
    parser.add_argument(OPTION, metavar="PYTHON", help=what)
