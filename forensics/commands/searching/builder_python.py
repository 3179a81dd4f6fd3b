"""The options that say which TensorRT builds: its module, and the Python that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_builder(parser: ArgumentParser, what: str) -> None:
    """Declare ``--builder``, with ``what`` as its help, and ``--builder-python``."""
    from trtforensics.trt.api import MODULES

    parser.add_argument("--builder", choices=MODULES, help=what)
    add_builder_python(parser)


def add_builder_python(parser: ArgumentParser) -> None:
    """Declare ``--builder-python``; ``cli`` applies it before the command runs."""
    from trtforensics.trt.interpreter import OPTION

    what = "the Python, 3.8 or later, in which child processes import TensorRT (default: this one)"
    parser.add_argument(OPTION, metavar="PYTHON", help=what)
