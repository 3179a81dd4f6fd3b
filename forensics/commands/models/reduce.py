"""``trtforensics reduce``: the smallest model that still fails in the same way, fit to send to NVIDIA."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.bisection.search_options import BuildOptions, SampleOptions, run_options, with_commands
from trtforensics.bisection.session.answer import to_json
from trtforensics.bisection.session.artifacts import reads_build
from trtforensics.console import streams
from trtforensics.console.arguments import read_options
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.progress import ProgressLine
from trtforensics.errors import UsageError
from trtforensics.reduce.deriving import Deriver, control_of
from trtforensics.reduce.failure import Sameness
from trtforensics.reduce.graph_lever import ReductionLever
from trtforensics.reduce.recording import record
from trtforensics.reduce.rewriting import file_of
from trtforensics.reduce.running import reduce_model
from trtforensics.reduce.simplifying import simplifications_of

if TYPE_CHECKING:
    from argparse import Namespace

    from trtforensics.bisection.levers.recipe import Recipe
    from trtforensics.bisection.runner.run_options import RunOptions


_AGAINST = "builtin:against:"


def run(args: Namespace) -> int:
    """Reduce, and print the answer."""
    directory = Path(args.artifacts_dir)
    options = _options(args)
    lever = _lever(args, directory.absolute(), options)
    options = with_commands(options, lever)
    with ProgressLine(quiet=args.quiet) as progress:
        answer, fixed = reduce_model(directory, lever, options, progress.show)
    streams.print_result(to_json(answer.document()) if args.json else answer.text(directory, fixed))
    return ExitCode.OK if answer.search.certified else ExitCode.NO


def _options(args: Namespace) -> RunOptions:
    """Return the options; a failed build is what is searched for."""
    given = args.__contains__
    if args.precision and any(map(given, ("build", "check", "builder"))):
        raise UsageError("--precision", "has the twin judge; no --build, --check or --builder is run", "Leave it out")
    judged = "{engine}" if given("build") or given("builder") else "{model}"
    check = args.check if given("check") else ""
    reference = check.removeprefix(_AGAINST) if check.startswith(_AGAINST) else ""
    is_original = reference and Path(reference).resolve() == Path(args.model).resolve()
    if is_original:
        args.check = f"{_AGAINST}model"
    options = run_options(args, f"{judged} --inputs {{inputs}}")
    if is_original:
        options = replace(options, check=(options.check or "").replace("--reference model", "--reference {model}"))
    return replace(options, build_failure="bad")


def _lever(args: Namespace, directory: Path, options: RunOptions) -> ReductionLever:
    from trtforensics.onnx_models.cutting import take_apart

    if args.keep_functions and args.anonymous:
        raise UsageError("--keep-functions", "keeps the names in functions, which --anonymous replaces", "Leave one")
    original = take_apart(args.model, inline=not args.keep_functions)
    file = file_of(original)
    recipe = _recipe(args, options)
    sample = read_options(args, SampleOptions).samples_of(original.model).samples[0]  # cut tensors get its values
    recording = record(original, sample)
    values = recording.values
    simpler = () if args.keep_values else simplifications_of(original, anonymous=args.anonymous, sample=values)
    storage = STORAGES[args.precision] if args.precision else None
    control = control_of(args.control) if args.control is not None else None
    return ReductionLever(
        Deriver(original, recording, (*simpler, *file.simplifications), file),
        directory,
        same=Sameness(args.same),
        recipe=recipe,
        storage=storage,
        commands=(options.build, options.check),
        control=control,
    )


def _recipe(args: Namespace, options: RunOptions) -> Recipe | None:
    """Return how the installed TensorRT builds; None where nothing, or a command of the user's, builds."""
    build = read_options(args, BuildOptions)
    needed = build.builder or options.check is None or reads_build(options.check)
    if args.precision or options.build is not None or not needed:
        return None
    return build.recipe(build.installed(), args.model)
