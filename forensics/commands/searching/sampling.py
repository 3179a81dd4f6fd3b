"""The arguments of ``bisect precision`` that say on which samples a model is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import onnx

    from trtforensics.bisect.precision.inputs.sample import SampleSet
    from trtforensics.errors import ForensicsError

_RANDOM = 3
_FROM_A_SCRIPT = 16


def add_sample_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from trtforensics.commands.searching.probing import count

    parser.add_argument(
        *("--inputs", "--load-inputs"),
        dest="inputs",
        action="append",
        default=[],
        metavar="FILE",
        help="samples to judge on: .npz, .npy, Polygraphy's JSON, or a folder of them; repeat",
    )
    parser.add_argument(
        "--data-loader-script",
        metavar="FILE[:NAME]",
        help="samples from a Python script whose load_data() gives a mapping for each, as Polygraphy runs it",
    )
    parser.add_argument(
        "--samples",
        type=count,
        metavar="N",
        help=f"how many random samples (default: {_RANDOM}), or the most from a script (default: {_FROM_A_SCRIPT})",
    )
    parser.add_argument("--shapes", action="append", default=[], metavar="x:2x16,…", help="sizes of dynamic inputs")
    parser.add_argument(
        "--val-range",
        action="append",
        default=[],
        metavar="[x:][LOW,HIGH]",
        help="the values of random inputs (default: floats of a normal distribution, integers by the graph); repeat",
    )


def samples_of(args: Namespace, model: onnx.ModelProto) -> SampleSet:
    """Return the samples of a command line, with notes on how they came about.

    Raises:
        SourceError: A file or script cannot be read or does not fit the model.
        UsageError: Options exclude each other, or do not fit the model.
    """
    from trtforensics.bisect.precision.inputs.files import read_samples
    from trtforensics.bisect.precision.inputs.sample import SampleSet
    from trtforensics.bisect.precision.inputs.script import run_script
    from trtforensics.errors import UsageError

    sources = {"--inputs": args.inputs, "--data-loader-script": args.data_loader_script}
    given = [name for name, there in sources.items() if there]
    if len(given) > 1:
        raise UsageError("--inputs", "and --data-loader-script both give samples", "Give one of them")
    for option, there in (("--shapes", args.shapes), ("--val-range", args.val_range)):
        if given and there:
            raise UsageError(option, f"has no use with {given[0]}, which gives the arrays", "Leave it out")
    if args.inputs:
        if args.samples is not None:
            raise UsageError("--samples", "has no use with --inputs, all of which are used", "Leave it out")
        return SampleSet(read_samples(model, args.inputs))
    if args.data_loader_script:
        limit = args.samples or _FROM_A_SCRIPT
        samples = run_script(model, args.data_loader_script, limit)
        cut = len(samples) == limit and args.samples is None
        more = f"the first {limit} samples of the script are used; --samples takes more"
        return SampleSet(samples, notes=(more,) if cut else ())
    return _drawn(args, model)


def _drawn(args: Namespace, model: onnx.ModelProto) -> SampleSet:
    from trtforensics.bisect.precision.inputs.drawing import described, parse_ranges, random_samples
    from trtforensics.bisect.precision.inputs.integers import integer_choices
    from trtforensics.bisect.precision.inputs.sample import SampleSet
    from trtforensics.bisect.precision.inputs.shapes import parse_shapes

    ranges, choices = parse_ranges(model, args.val_range), integer_choices(model)
    samples = random_samples(model, parse_shapes(args.shapes), args.samples or _RANDOM, ranges=ranges, choices=choices)
    return SampleSet(samples, drawn=True, notes=(described(model, ranges, choices),))


def explained(error: ForensicsError, model: onnx.ModelProto) -> ForensicsError:
    """Return the error of a model that does not run on random samples, with the inputs that lead to it.

    A model may be right to refuse them: indices, lengths and rates are no random numbers.
    """
    from trtforensics.bisect.precision.inputs.failures import how_to_give, inputs_behind

    names = inputs_behind(model, error.what)
    what = f"on random values of {', '.join(names)}: {error.what}"
    return type(error)(error.where, what, how_to_give(model, names))
