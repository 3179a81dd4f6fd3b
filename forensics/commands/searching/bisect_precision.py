"""``trtforensics bisect precision``: which nodes of an ONNX model must stay FP32."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.emulation.converted import ConvertedModel
    from trtforensics.bisect.precision.emulation.judging import OutputJudge
    from trtforensics.bisect.precision.emulation.oracle import Oracle
    from trtforensics.bisect.precision.forecast import PrecisionForecast
    from trtforensics.bisect.precision.inputs.sample import Sample, SampleSet
    from trtforensics.bisect.precision.items import PrecisionItem
    from trtforensics.bisect.precision.lever import PrecisionLever, Target
    from trtforensics.bisect.precision.tensors.ranges import TensorRanges
    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.model.accumulator import Accumulator

BUILDS = ("certificate", "every", "none")
_COMPUTE_CAPABILITY = "SM89"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments that only this mode has."""
    from trtforensics.commands.searching.builder_python import add_builder
    from trtforensics.commands.searching.sampling import add_sample_arguments

    parser.add_argument("model", metavar="MODEL", help="the ONNX model in FP32")
    parser.add_argument(
        "--precision", choices=("fp16", "bf16"), default="fp16", help="the type of all other nodes (default: fp16)"
    )
    parser.add_argument(
        "--accumulate",
        choices=("fp32", "fp16"),
        default="fp32",
        help="the type in which kernels sum matrix products and convolutions (default: fp32)",
    )
    parser.add_argument(
        "--custom-ops",
        action="append",
        default=[],
        metavar="LIBRARY",
        help="a shared library of custom operators for ONNX Runtime; repeat",
    )
    parser.add_argument(
        "--against",
        metavar="ORIGINAL",
        help="MODEL is in 16 bits: judge it against this FP32 model that it was made of, and search there",
    )
    add_sample_arguments(parser)
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="[OUTPUT:]NAME",
        help="max-rel, rel-l2 (default: both), max-abs, cosine, psnr or mismatch; repeat for several outputs",
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="[OUTPUT:]X",
        help="what still passes (default: four times the rounding floor, at most a cap, for fp16 0.01); judges again "
        "what is stored",
    )
    parser.add_argument(
        "--mask-nonfinite", action="store_true", help="leave out values that are not finite in FP32 either"
    )
    add_builder(parser, "the module that builds (default: the one installed)")
    parser.add_argument(
        "--by",
        choices=("casts", "constraints"),
        default="casts",
        help="build the model with Casts, strongly typed (default), or with layer precisions, TensorRT 10 and older",
    )
    parser.add_argument(
        "--compute-capability",
        default=_COMPUTE_CAPABILITY,
        metavar="SM",
        help="what TensorRT-RTX builds for (default: SM89)",
    )


def run(args: Namespace) -> int:
    """Search, build what proves the answer, and print it.

    Raises:
        SourceError: the model or its inputs cannot be read.
        UsageError: the arguments make no sense together or for this model, or the directory is another job's.
        OutputError: the directory cannot be written to.
    """
    from trtforensics.bisect.precision.answer import answer_text
    from trtforensics.bisect.precision.conclusion import Conclusion
    from trtforensics.bisect.precision.items import atoms_of, items_of
    from trtforensics.bisect.precision.repair.certificate import Certificate
    from trtforensics.bisect.precision.repair.progress import progress_text
    from trtforensics.bisect.precision.repair.safety import safe_repair
    from trtforensics.bisect.precision.repair.search import RepairSearch
    from trtforensics.bisect.session.bisection import bisect
    from trtforensics.bisect.session.result import to_json
    from trtforensics.commands.searching.probing import check_commands, run_options
    from trtforensics.console import streams
    from trtforensics.console.diagnostics import ExitCode
    from trtforensics.console.progress import ProgressLine

    builds = _which_builds(args)
    directory = Path(args.artifacts_dir)
    lever = _lever(args, directory.absolute())
    options = check_commands(_only_ours(run_options(args, lever.judged)), lever)
    lever.needs_files = options.check is not None
    ranges = _ranges(lever)
    items = items_of(lever.caster, ranges.by_tensor)
    search = RepairSearch(
        items, atoms_of(lever.caster), lever.narrow.upper(), every=options.find == "all", limit=options.max_builds
    )
    if args.dry_run:
        cost = _forecast(lever, items, builds)
        streams.print_result(cost.to_json() if args.json else cost.text())
        return ExitCode.OK
    lever.builds = builds == "every"

    def switch_to_building() -> None:
        lever.builds = True

    certificate = builds == "certificate" and lever.target is not None
    plan = Certificate(
        search, partial(safe_repair, lever.oracle, items, ranges.masked), switch_to_building, builds=certificate
    )
    begun = time.monotonic()
    with ProgressLine(quiet=args.quiet) as progress:

        def show(_text: str) -> None:
            progress.show(progress_text(plan, time.monotonic() - begun, every=builds == "every"))

        document, fixed = bisect(directory, lever, plan, options, show)
    conclusion = Conclusion(lever, plan, items, directory, builds != "none", options.timeout)
    document, fixed = conclusion.write(document, fixed)
    wants_builds = builds != "none"
    text = to_json(document) if args.json else answer_text(document, directory, fixed, wants_builds=wants_builds)
    streams.print_result(text)
    return ExitCode.OK if document["status"] == "certified" else ExitCode.NO


def _ranges(lever: PrecisionLever) -> TensorRanges:
    """Return the ranges of the tensors, and note what they say of masks."""
    from trtforensics.bisect.precision.emulation.costs import cost_notes
    from trtforensics.bisect.precision.emulation.masks import mask_notes
    from trtforensics.bisect.precision.tensors.ranges import tensor_ranges

    ranges = tensor_ranges(lever.oracle)
    lever.notes += cost_notes(lever.oracle, lever.judge, lever.nodes)
    lever.notes += mask_notes(ranges.masked, ranges.empty_rows, lever.narrow)
    return ranges


def _which_builds(args: Namespace) -> str:
    """Return which probes are built.

    Raises:
        UsageError: ``--build`` names none of the choices.
    """
    from trtforensics.errors import UsageError

    chosen = args.build or BUILDS[0]
    if chosen not in BUILDS:
        next_step = f"Give one of {', '.join(BUILDS)}; a command of yours can build in `--check`, from {{model}}"
        raise UsageError("--build", f"{chosen!r} does not say which probes to build", next_step)
    args.build = None
    return str(chosen)


def _only_ours(options: RunOptions) -> RunOptions:
    """Return the options; outcomes here are deterministic.

    Raises:
        UsageError: an option has no meaning here.
    """
    from trtforensics.errors import UsageError

    if options.confidence is not None:
        raise UsageError("--confidence", "has no use here: emulation gives the same numbers each time", "Leave it out")
    return replace(options, build=None)


def _lever(args: Namespace, directory: Path) -> PrecisionLever:
    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.preparation import prepare
    from trtforensics.bisect.precision.casting.storage import STORAGES
    from trtforensics.bisect.precision.emulation.oracle import floating_outputs
    from trtforensics.bisect.precision.emulation.rules import rules_for
    from trtforensics.bisect.precision.lever import PrecisionLever
    from trtforensics.bisect.precision.remarks import model_notes, no_candidates
    from trtforensics.bisect.precision.rewrites.raising import raised_for, require_equal
    from trtforensics.commands.searching.sampling import samples_of
    from trtforensics.errors import SourceError

    searched = args.against or args.model
    original, storage = prepare(searched), STORAGES[args.precision]
    caster = Caster(raised_for(original, storage), storage)
    if not caster.candidates:
        raise SourceError(searched, *no_candidates(caster))
    outputs = [output.name for output in caster.prepared.proto.graph.output]
    rules = rules_for(floating_outputs(caster.prepared.proto, outputs), args.metric, args.tolerance)
    sampled = samples_of(args, caster.prepared.proto)
    oracle = _oracle(args, caster, sampled)
    if caster.prepared is not original:
        require_equal(oracle, original)
    target = _target(args, caster, sampled.samples)
    lever = PrecisionLever(caster, oracle, rules, target, directory / "models")
    lever.samples_are = f"{len(sampled.samples)} {'random ' if sampled.drawn else ''}samples"
    lever.notes += [*model_notes(caster), *sampled.notes]
    lever.converted = _converted(args, oracle, lever.judge) if args.against else None
    return lever


def _converted(args: Namespace, oracle: Oracle, judge: OutputJudge) -> ConvertedModel:
    """Judge the model of ``--against``'s 16-bit form.

    Raises:
        SourceError: the model cannot be read or run.
        UsageError: it does not compute in the type of ``--precision``, or has another interface than the original.
    """
    from trtforensics.bisect.precision.casting.eligibility import survey_of
    from trtforensics.bisect.precision.casting.preparation import prepare
    from trtforensics.bisect.precision.emulation.converted import judged
    from trtforensics.bisect.precision.remarks import computing_in_halves
    from trtforensics.errors import UsageError

    prepared = prepare(args.model)
    words = computing_in_halves(survey_of(prepared.proto))
    if not words:
        raise UsageError("--against", f"{args.model} has no node that computes in 16 bits", "Leave it out")
    if args.precision.upper() not in words:
        word = next(iter(words))
        raise UsageError("--precision", f"{args.model} computes in {word}", f"Give `--precision {word.lower()}`")
    return judged(prepared, oracle, judge)


def _oracle(args: Namespace, caster: Caster, sampled: SampleSet) -> Oracle:
    from trtforensics.bisect.precision.emulation.oracle import Oracle, RunError
    from trtforensics.commands.searching.sampling import explained

    accumulator = _accumulator(args, caster)
    try:
        return Oracle(caster, sampled.samples, args.mask_nonfinite, accumulator, args.custom_ops)
    except RunError as error:
        raise explained(error, caster.prepared.proto) if sampled.drawn else error from None


def _accumulator(args: Namespace, caster: Caster) -> Accumulator:
    """Return the type in which products sum.

    Raises:
        UsageError: no kernel sums BF16 in FP16, or the operator set lacks what the sums need.
    """
    from trtforensics.bisect.precision.emulation.accumulation import FIRST_OPERATOR_SET
    from trtforensics.bisect.precision.remarks import operator_set
    from trtforensics.errors import UsageError
    from trtforensics.model.accumulator import Accumulator

    accumulator = Accumulator(args.accumulate)
    if accumulator is Accumulator.FP16:
        if args.precision != "fp16":
            raise UsageError("--accumulate fp16", "is for FP16: BF16 products sum in FP32", "Leave it out")
        version = operator_set(caster.prepared.proto)
        if version < FIRST_OPERATOR_SET:
            what = f"needs operator set {FIRST_OPERATOR_SET} or later, and {args.model} uses {version}"
            raise UsageError("--accumulate fp16", what, "Convert it by onnx.version_converter")
    return accumulator


def _target(args: Namespace, caster: Caster, samples: tuple[Sample, ...]) -> Target | None:
    """Return the builder; None if none is installed.

    Raises:
        UsageError: the builder of ``--builder`` is not installed.
    """
    from trtforensics.bisect.precision.inputs.shapes import is_dynamic
    from trtforensics.bisect.precision.lever import Target
    from trtforensics.errors import UsageError
    from trtforensics.trt.interpreter import installed_modules

    there = installed_modules()
    if args.builder is not None and args.builder not in there:
        raise UsageError("--builder", f"{args.builder} is not installed", f"Run `pip install {args.builder}`")
    if not there:
        return None
    module = args.builder or there[0]
    constraints = args.by == "constraints"
    if constraints:
        _require_layer_precisions(module, args.precision)
    shapes = {name: array.shape for name, array in samples[0].items()} if is_dynamic(caster.prepared.proto) else {}
    return Target(module, shapes, args.compute_capability if module == "tensorrt_rtx" else None, constraints)


def _forecast(lever: PrecisionLever, items: Iterable[PrecisionItem], builds: str) -> PrecisionForecast:
    from trtforensics.bisect.precision.forecast import precision_forecast

    builder = lever.target.module if lever.target else None
    return precision_forecast(tuple(item.name for item in items), len(lever.nodes), builds, builder)


def _require_layer_precisions(module: str, precision: str) -> None:
    """Refuse ``--by constraints`` if the installed version has no layer precisions.

    Raises:
        UsageError: it is TensorRT-RTX, TensorRT 11 or later, or one that does not know the 16-bit type.
    """
    from trtforensics.errors import UsageError
    from trtforensics.trt.installed import look, require

    installed = look(module)
    require("constraints", installed)
    if precision.upper() not in installed.flags:
        next_step = "Leave out `--by constraints`, or ask for fp16"
        raise UsageError(installed.name, f"has no builder flag {precision.upper()}", next_step)
