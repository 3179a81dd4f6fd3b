"""``trtforensics check``: what a TensorRT release will make of an ONNX model, before any build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.commands.report import add_form_options, exit_code, form_and_look
from trtforensics.console.arguments import add_output_option
from trtforensics.console.streams import deliver
from trtforensics.errors import UsageError
from trtforensics.findings.target import BOUNDS, TYPES, ModelTarget, release_of_jetpack

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator


EXAMPLE = """examples:
  trtforensics check model.onnx
  trtforensics check model.onnx --target 10.3 --gpu 8.9 --fp16
  trtforensics check model.onnx --target 8.6,10.3,11.1
  trtforensics check model.onnx --target 10.9 --minShapes=x:1x3 --optShapes=x:8x3 --maxShapes=x:32x3

exit code 1 where a finding is as bad as --fail-on says; 2 where a model cannot be read"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``check``."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="an ONNX model; its weights are not loaded")
    parser.add_argument(
        "--target",
        metavar="VERSION[,VERSION]",
        default="",
        help="the release that is to build it, such as 10.3, or rtx; several make a table (default: any)",
    )
    parser.add_argument("--gpu", metavar="GPU", default="", help="the GPU, by compute capability (8.9) or name")
    parser.add_argument("--jetpack", metavar="V", help="the JetPack whose TensorRT builds it, instead of --target")
    for name in TYPES:
        what = f"the build allows {name.upper()}"
        parser.add_argument(f"--{name}", action="append_const", const=name, dest="types", default=[], help=what)
    parser.add_argument("--stronglyTyped", action="store_true", help="the build keeps the model's types")
    parser.add_argument("--dla", action="store_true", help="the build runs on DLA")
    for bound in BOUNDS:
        parser.add_argument(
            f"--{bound}Shapes", action="append", default=[], metavar="SPEC", help="as trtexec has it: x:1x3,y:1"
        )
    parser.add_argument("--shapes", action="append", default=[], metavar="SPEC", help="one shape for all three")
    add_form_options(parser, "the nodes")
    parser.add_argument(
        "--suppress", action="append", default=[], metavar="CODE[:NODE]", help="do not report this code, or this node"
    )
    add_output_option(parser, more="; .json, .html, .sarif and .xml pick the form")


def run(args: Namespace) -> int:
    """Read the models, judge them for each target and print the report."""
    from pathlib import Path

    from trtforensics.findings.checking import check, table_of_targets
    from trtforensics.findings.forms.rendering import render
    from trtforensics.findings.judging import together
    from trtforensics.findings.suppression import Suppression, settings_for
    from trtforensics.sources.build_log import keep_sources

    keep_sources(args.models, args.output)
    targets = list(_targets(args))
    settings = settings_for(Path.cwd())
    suppression = Suppression.of(args.suppress, settings)
    reports = [report for model in args.models for report in check(model, targets, suppression)]
    report = together(reports)
    form, look = form_and_look(args, settings)
    if form == "text" and len(targets) > 1 and not args.verbose:
        deliver(("".join(table_of_targets(model, reports) for model in args.models),), args.output)
    else:
        deliver((render(report, form, look),), args.output)
    return exit_code(report, look)


def _targets(args: Namespace) -> Iterator[ModelTarget]:
    from trtforensics.onnx_models.shapes import parse_shapes

    if args.jetpack and args.target:
        raise UsageError("--jetpack", "names a release beside --target", "Give one of them")
    given = zip(BOUNDS, (args.minShapes, args.optShapes, args.maxShapes), strict=True)
    bounds = {bound: parse_shapes(args.shapes + texts) for bound, texts in given}
    if len({frozenset(shapes) for shapes in bounds.values()}) > 1:
        raise UsageError("--minShapes", "--optShapes and --maxShapes do not name the same inputs", "Name each in all")
    shapes = {name: {bound: bounds[bound][name] for bound in BOUNDS} for name in bounds["opt"]}
    types = tuple(name for name in TYPES if name in args.types)
    versions = release_of_jetpack(args.jetpack) if args.jetpack else args.target
    for version in dict.fromkeys(versions.lower().split(",")):
        yield ModelTarget(version, args.gpu, types, args.stronglyTyped, args.dla, shapes)
