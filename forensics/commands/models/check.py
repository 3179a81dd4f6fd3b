"""``trtforensics check``: what a TensorRT release will make of an ONNX model, before any build."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace

from trtforensics.bisection.precision.running import reached
from trtforensics.commands.report import exit_code, form_and_look
from trtforensics.console.streams import deliver
from trtforensics.errors import UsageError
from trtforensics.findings.checking import check, table_of_targets
from trtforensics.findings.forms.rendering import render
from trtforensics.findings.judging import together
from trtforensics.findings.suppression import Suppression, settings_here
from trtforensics.findings.target import BOUNDS, TYPES, ModelTarget, release_of_jetpack
from trtforensics.onnx_models.checked import CheckedModel, read_checked
from trtforensics.onnx_models.shapes import parse_shapes
from trtforensics.sources.build_log import keep_sources


def run(args: Namespace) -> int:
    """Read the models, judge them for each target and print the report."""
    keep_sources(args.models, args.output)
    targets = list(_targets(args))
    settings = settings_here()
    suppression = Suppression.of(args.suppress, settings)
    models = ((path, _measured(path, args)) for path in args.models)
    reports = [report for path, model in models for report in check(path, targets, suppression, model)]
    report = together(reports)
    form, look = form_and_look(args, settings)
    if form == "text" and len(targets) > 1 and not args.verbose:
        deliver(("".join(table_of_targets(model, reports) for model in args.models),), args.output)
    else:
        deliver((render(report, form, look),), args.output)
    return exit_code(report, look)


def _measured(path: str, args: Namespace) -> CheckedModel | None:
    """Return a model with what its tensors reach on the samples; None without samples."""
    if not args.samples:
        return None
    if "fp16" not in args.types:
        raise UsageError("--samples", "show what overflows in FP16, which the build is not allowed", "Add --fp16")
    return replace(read_checked(path), reached=reached(path, args.samples))


def _targets(args: Namespace) -> Iterator[ModelTarget]:
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
