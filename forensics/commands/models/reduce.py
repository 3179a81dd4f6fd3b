"""``trtforensics reduce``: the smallest model that still fails in the same way, fit to send to NVIDIA."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search_options import ModelRequest, run_options, with_commands
from trtforensics.bisection.session.job import to_json
from trtforensics.console import streams
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.progress import ProgressLine
from trtforensics.errors import UsageError
from trtforensics.reduce.running import ReductionOptions, lever_of, reduce_model

_AGAINST = "builtin:against:"


def run(args: Namespace) -> int:
    """Reduce, and print the answer."""
    directory = Path(args.artifacts_dir)
    options = _options(args)
    lever = lever_of(ModelRequest.of(args, ReductionOptions), options, directory.absolute())
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
