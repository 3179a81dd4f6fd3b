"""``trtforensics reduce``: the smallest model that still fails in the same way, fit to send to NVIDIA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from trtforensics.bisect.levers.recipe import Recipe
    from trtforensics.bisect.precision.inputs.sample import Sample
    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.reduce.lever import ReductionLever
    from trtforensics.reduce.original import Original

EXAMPLE = """Without --build and --check, the installed TensorRT builds (--builder), and a failed build is the failure.
With --precision, the model's emulated twin is judged, and nothing is built. {model} is the probe's model, {inputs} a
folder with its recorded inputs (000.npz, and inputs.json for Polygraphy). A probe that fails in another way than the
original is unresolved. The same command on the same directory goes on where it stopped.

examples:
  trtforensics reduce model.onnx --builder tensorrt_rtx --artifacts-dir out
  trtforensics reduce model.onnx --check 'polygraphy run {model} --trt --onnxrt' --artifacts-dir out
  trtforensics reduce model.onnx --precision fp16 --inputs sample.npz --artifacts-dir out"""

_AGAINST = "builtin:against:"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``reduce``."""
    from trtforensics.commands.searching.building import add_build_arguments
    from trtforensics.commands.searching.probing import add_probe_arguments, count
    from trtforensics.commands.searching.sampling import add_sample_arguments

    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="the ONNX model that fails")
    parser.add_argument(
        "--same",
        choices=("strict", "loose"),
        default="strict",
        help="strict: operator, source file, function and message must be the original's too (default); "
        "loose: the way it ended and the root finding's code",
    )
    parser.add_argument(
        "--precision", choices=("fp16", "bf16"), help="judge by the emulated twin in this type; nothing is built"
    )
    parser.add_argument(
        "--keep-values", action="store_true", help="leave weights, sizes and attributes as they are: cut nodes only"
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="replace names, texts and, where the failure allows, weights"
    )
    add_build_arguments(parser, shapes=False)
    add_sample_arguments(parser)
    parser.add_argument(
        "--max-builds", type=count, metavar="N", help="stop after N probes, counting those of earlier runs"
    )
    parser.add_argument("--retry-unresolved", action="store_true", help="run again what earlier runs could not judge")
    add_probe_arguments(
        parser,
        build="the command that builds a probe's {model}; it may be what fails",
        check="judges a probe: a command, or builtin:finite, rows, repeat, against:FILE (default: build's status)",
    )


def run(args: Namespace) -> int:
    """Reduce, and print the answer.

    Raises:
        SourceError: the model, its inputs, or the directory's job or journal cannot be read.
        UsageError: the arguments make no sense together, or the directory is another job's or in use.
        OutputError: the directory cannot be written to.
    """
    from trtforensics.bisect.session.result import to_json
    from trtforensics.commands.searching.probing import check_commands
    from trtforensics.console import streams
    from trtforensics.console.diagnostics import ExitCode
    from trtforensics.console.progress import ProgressLine
    from trtforensics.reduce.report import reduction_text
    from trtforensics.reduce.running import reduce_model

    directory = Path(args.artifacts_dir)
    options = _options(args)
    lever = _lever(args, directory.absolute(), options)
    options = check_commands(options, lever)
    with ProgressLine(quiet=args.quiet) as progress:
        document, fixed = reduce_model(directory, lever, options, progress.show)
    streams.print_result(to_json(document) if args.json else reduction_text(document, directory, fixed))
    return ExitCode.OK if document["status"] == "certified" else ExitCode.NO


def _options(args: Namespace) -> RunOptions:
    """Return the options; a failed build is what is searched for.

    Raises:
        UsageError: options exclude each other.
    """
    from dataclasses import replace

    from trtforensics.commands.searching.probing import run_options
    from trtforensics.errors import UsageError

    if args.precision and (args.build or args.check or args.builder):
        raise UsageError("--precision", "has the twin judge; no --build, --check or --builder is run", "Leave it out")
    judged = "{engine}" if args.build or args.builder else "{model}"
    reference = str(args.check or "").removeprefix(_AGAINST) if str(args.check or "").startswith(_AGAINST) else ""
    if reference and Path(reference).resolve() == Path(args.model).resolve():
        args.check = f"{_AGAINST}model"
        judged = f"{judged} --inputs {{inputs}}"
        options = run_options(args, judged)
        own = (options.check or "").replace("--reference model", "--reference {model}")
        options = replace(options, check=own)
    else:
        options = run_options(args, f"{judged} --inputs {{inputs}}")
    return replace(options, build_failure_is_bad=True)


def _lever(args: Namespace, directory: Path, options: RunOptions) -> ReductionLever:
    from trtforensics.bisect.precision.casting.storage import STORAGES
    from trtforensics.reduce.deriving import Deriver
    from trtforensics.reduce.failure import Sameness
    from trtforensics.reduce.lever import Judging, ReductionLever
    from trtforensics.reduce.original import take_apart
    from trtforensics.reduce.recording import record
    from trtforensics.reduce.simplifying import simplifications_of

    original = take_apart(args.model)
    recipe = _recipe(args, options)
    recording = record(original, _sample(args, original))
    values = recording.values
    simpler = () if args.keep_values else simplifications_of(original, anonymous=args.anonymous, sample=values)
    storage = STORAGES[args.precision] if args.precision else None
    judging = Judging(Sameness(args.same), recipe, storage, (options.build, options.check))
    return ReductionLever(Deriver(original, recording, simpler), directory, judging)


def _recipe(args: Namespace, options: RunOptions) -> Recipe | None:
    """Return how the installed TensorRT builds; None where nothing, or a command of the user's, builds.

    Raises:
        UsageError: it is not installed.
    """
    from trtforensics.bisect.session.engines import reads_build
    from trtforensics.commands.searching.building import recipe_of
    from trtforensics.trt.installed import look

    needed = args.builder or options.check is None or reads_build(options.check)
    if args.precision or options.build is not None or not needed:
        return None
    return recipe_of(args, look(args.builder), args.model)


def _sample(args: Namespace, original: Original) -> Sample:
    """Return the sample whose values cut tensors get."""
    from trtforensics.commands.searching.sampling import samples_of

    return samples_of(args, original.model).samples[0]
