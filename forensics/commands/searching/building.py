"""The arguments of levers that build with the installed TensorRT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from trtforensics.bisect.levers.recipe import Recipe
    from trtforensics.trt.installed import Installed

_LEVELS = range(6)
_COMPUTE_CAPABILITY = "SM89"


def add_build_arguments(parser: ArgumentParser, *, shapes: bool = True) -> None:
    """Declare how the installed TensorRT builds if there is no ``--build``; ``shapes``: with ``--shapes``."""
    from trtforensics.commands.searching.builder_python import add_builder_python
    from trtforensics.trt.api import MODULES

    parser.add_argument(
        "--builder", choices=MODULES, help="the module that builds without --build (default: the one installed)"
    )
    add_builder_python(parser)
    parser.add_argument(
        "--builder-flags", default="", metavar="FP16,INT8", help="builder flags of that build, by TensorRT's names"
    )
    parser.add_argument("--strongly-typed", action="store_true", help="build a strongly typed network (11: always)")
    parser.add_argument(
        "--optimization-level", type=int, choices=_LEVELS, metavar="N", help="0 to 5 (default: TensorRT's own)"
    )
    if shapes:
        parser.add_argument("--shapes", action="append", default=[], metavar="x:2x16,…", help="sizes of dynamic inputs")
    parser.add_argument(
        "--compute-capability",
        default=_COMPUTE_CAPABILITY,
        metavar="SM",
        help="what TensorRT-RTX builds for (default: SM89)",
    )


def installed_for(args: Namespace, lever: str) -> Installed:
    """Return the installed TensorRT, if it has the lever.

    Raises:
        UsageError: it is not installed, or lacks the lever.
    """
    from trtforensics.trt.installed import look, require

    installed = look(args.builder)
    require(lever, installed)
    return installed


def recipe_of(args: Namespace, installed: Installed, model: str | None) -> Recipe:
    """Return the recipe of a model's builds.

    Raises:
        SourceError: there is no such model.
        UsageError: this version does not know an option, or no model is given.
    """
    from trtforensics.bisect.levers.recipe import Recipe
    from trtforensics.bisect.precision.inputs.shapes import parse_shapes
    from trtforensics.errors import SourceError, UsageError

    if model is None:
        raise UsageError("--onnx", "is needed to build without a `--build` command", "Give the model, or `--build`")
    if not Path(model).is_file():
        raise SourceError(model, "is no file", "Give an ONNX model")
    flags = tuple(flag.strip() for flag in args.builder_flags.split(",") if flag.strip())
    for flag in flags:
        if flag not in installed.flags:
            what = f"{installed.name} has no builder flag {flag}"
            raise UsageError("--builder-flags", what, f"It has {', '.join(installed.flags)}")
    target = args.compute_capability if installed.module == "tensorrt_rtx" else None
    if target is not None and target not in installed.capabilities:
        what = f"{installed.name} does not build for {target}"
        raise UsageError("--compute-capability", what, f"It builds for {', '.join(installed.capabilities)}")
    return Recipe(
        installed,
        Path(model).resolve(),
        parse_shapes(args.shapes),
        target,
        flags,
        args.strongly_typed,
        args.optimization_level,
    )
