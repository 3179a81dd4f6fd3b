"""``trtforensics bisect``: the smallest sets of items that make a build bad, found and proved by real builds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.session.lever import Lever
    from trtforensics.bisect.session.plan import SetSearch

EXAMPLE = """examples:
  trtforensics bisect tactics --good good.json --bad bad.json --artifacts-dir out --check './accuracy.sh {engine}' \\
      --build 'polygraphy convert model.onnx --fp16 --load-tactics {replay} -o {engine}'
  trtforensics bisect items --items switches.txt --check './works.sh {items}' --artifacts-dir out"""

_COMMANDS = """CMD runs through /bin/sh. {%(own)s}, {engine}, {log}, {dir} and {probe} in it are replaced by quoted
paths, which are also in $TRTFORENSICS_%(env)s, $TRTFORENSICS_ENGINE and so on. --check decides by its exit status:
0 good, 1 to 124 bad, anything else, a signal or a timeout unresolved. The same command on the same directory goes on
where it stopped."""


def add_arguments(parser: ArgumentParser) -> list[ArgumentParser]:
    """Declare the modes of ``bisect`` and return their parsers."""
    parser.epilog = EXAMPLE
    from trtforensics.commands.searching.probing import add_run_arguments

    modes = parser.add_subparsers(dest="mode", metavar="MODE", required=True, parser_class=type(parser))
    added = []
    for name, (summary, own, declare, example) in _MODES.items():
        mode = modes.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"{_COMMANDS % {'own': own, 'env': own.upper()}}\n\nexample: trtforensics bisect {name} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        declare(mode)
        _add_search_arguments(mode)
        add_run_arguments(mode, **_COMMAND_HELP.get(name, {}))
        added.append(mode)
    from trtforensics.commands.searching.bisect_log import add_log_arguments

    return [*added, add_log_arguments(modes)]


_PINNED = "or pin:CONDITION,…, BAD with tactics chosen as `pin` does (pin:accumulate=fp32, pin:same-as=good.log)"


def _tactics_arguments(parser: ArgumentParser) -> None:
    what = "a replay, a directory of replays, or an artifacts directory"
    parser.add_argument("--good", required=True, metavar="GOOD", help=f"tactics of good builds: {what}; {_PINNED}")
    parser.add_argument(
        "--bad", required=True, metavar="BAD", help=f"tactics of bad builds: {what}; with pin:…, a verbose build log"
    )
    parser.add_argument(
        "--onnx",
        metavar="MODEL",
        help="the model: it is built without --build, and shows which layers share a tensor if a mix is refused",
    )
    parser.add_argument(
        "--log", metavar="LOG", help="a verbose build log, which shows the same for the engine's layers"
    )
    _build_arguments(parser)


def _build_arguments(parser: ArgumentParser) -> None:
    from trtforensics.commands.searching.building import add_build_arguments

    add_build_arguments(parser)


def _items_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--items", required=True, metavar="FILE", help="names, one a line; # comments and blank lines are skipped"
    )


def _precision_arguments(parser: ArgumentParser) -> None:
    from trtforensics.commands.searching.bisect_precision import add_arguments

    add_arguments(parser)


def _cache_arguments(parser: ArgumentParser) -> None:
    what = "a verbose build log that prints keys, `cache export` JSON, or a binary editable cache"
    parser.add_argument(
        "--good", required=True, metavar="GOOD", help=f"timing-cache keys of a good build: {what}; {_PINNED}"
    )
    parser.add_argument(
        "--bad", required=True, metavar="BAD", help="timing-cache keys of a bad build, from the same kinds of files"
    )
    parser.add_argument("--onnx", metavar="MODEL", help="the model that is built without --build")
    _build_arguments(parser)


def _outputs_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the ONNX model")
    parser.add_argument(
        "--tensors", metavar="FILE", help="tensors to search among, one a line (default: all tensors between nodes)"
    )
    parser.add_argument(
        "--debug-tensors", action="store_true", help="mark debug tensors instead of outputs (TensorRT 10 or later)"
    )
    _build_arguments(parser)


def _route_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the ONNX model")
    parser.add_argument("--good", metavar="ROUTE", help="a route that builds well, such as '-a=on -b=off'")
    parser.add_argument("--bad", default="", metavar="ROUTE", help="the route that does not (default: TensorRT's own)")
    _build_arguments(parser)


_MODES = {
    "tactics": (
        "find which layers' tactics make a build bad",
        "replay",
        _tactics_arguments,
        "--good G --bad B --build 'CMD {replay} {engine}' --check 'CMD {engine}' --artifacts-dir DIR",
    ),
    "cache": (
        "find which keys of the timing cache make a build bad (TensorRT 10.8 or later)",
        "cache",
        _cache_arguments,
        "--good good.log --bad bad.log --onnx model.onnx --check 'CMD {engine}' --artifacts-dir DIR",
    ),
    "outputs": (
        "find the fewest tensors to mark as outputs so that the build becomes good",
        "outputs",
        _outputs_arguments,
        "model.onnx --check 'CMD {engine}' --artifacts-dir DIR",
    ),
    "route": (
        "find which build-route knobs break a build or repair it (TensorRT 11.1 or later)",
        "route",
        _route_arguments,
        "model.onnx --check 'CMD {engine}' --artifacts-dir DIR",
    ),
    "precision": (
        "find which nodes of an ONNX model must stay FP32",
        "model",
        _precision_arguments,
        "model.onnx --artifacts-dir DIR",
    ),
    "items": (
        "find which of any named switches are bad",
        "items",
        _items_arguments,
        "--items switches.txt --check './works.sh {items}' --artifacts-dir DIR",
    ),
}


_COMMAND_HELP = {
    "precision": {
        "build": "which probes are really built: certificate (what proves the answer; default), every or none",
        "check": "judges a probe instead of its scores, from {model} (typed) or {twin} (emulated); or builtin:NAME",
    }
}


def _add_search_arguments(parser: ArgumentParser) -> None:
    from trtforensics.commands.searching.probing import count

    parser.add_argument(
        "--confidence",
        type=_share,
        metavar="P",
        help="for noisy outcomes: search until the answer is right with this probability, such as 0.99",
    )
    parser.add_argument(
        "--max-builds", type=count, metavar="N", help="stop after N builds, counting those of earlier runs"
    )
    parser.add_argument(
        "--find", choices=("first", "all"), default="all", help="stop at one set, or go on (default: all)"
    )
    parser.add_argument(
        "--retry-unresolved", action="store_true", help="build again what earlier runs here could not judge"
    )
    parser.add_argument(
        "--from-log", metavar="FILE", help="take over the verdicts of a log that `bisect log` printed, as you edited it"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what there is to search and what it costs; run nothing"
    )


def run(args: Namespace) -> int:
    """Bisect, and print the answer.

    Raises:
        SourceError: a source, or the directory's job or journal, cannot be read.
        UsageError: the arguments make no sense together, or the directory is another job's or in use.
        OutputError: the directory cannot be written to.
    """
    if args.mode == "log":
        from trtforensics.commands.searching.bisect_log import run as run_log

        return run_log(args)
    if args.mode == "precision":
        from trtforensics.commands.searching.bisect_precision import run as run_precision

        return run_precision(args)
    from trtforensics.commands.searching.probing import check_commands, run_options

    options = run_options(args)
    lever = _lever(args)
    options = check_commands(options, lever)
    if args.dry_run:
        return _dry_run(args, lever, options)
    return _bisect(args, lever, options)


def _lever(args: Namespace) -> Lever:
    if args.mode == "items":
        from trtforensics.bisect.levers.items import read_items

        return read_items(args.items, max_bytes=args.max_bytes)
    if args.mode == "cache":
        return _cache(args)
    if args.mode == "outputs":
        return _outputs(args)
    if args.mode == "route":
        return _route(args)
    return _tactics(args)


def _outputs(args: Namespace) -> Lever:
    from trtforensics.bisect.levers.items import read_items
    from trtforensics.bisect.levers.outputs import OutputsLever, tensors_of
    from trtforensics.commands.searching.building import recipe_of
    from trtforensics.trt.installed import look, require

    recipe = None
    if args.build is None:
        installed = look(args.builder)
        if args.debug_tensors:
            require("debug", installed)
        recipe = recipe_of(args, installed, args.model)
    named = None
    if args.tensors is not None:
        named = [item.name for item in read_items(args.tensors, max_bytes=args.max_bytes).items]
    tensors, outputs = tensors_of(args.model, named)
    return OutputsLever(tensors, outputs, recipe, debug=args.debug_tensors)


def _route(args: Namespace) -> Lever:
    from trtforensics.bisect.levers.route import RouteLever, read_knobs
    from trtforensics.commands.searching.building import installed_for, recipe_of
    from trtforensics.errors import UsageError

    if args.build is not None:
        raise UsageError("--build", "has no use here: `bisect route` always builds by itself", "Leave it out")
    installed = installed_for(args, "route")
    return RouteLever(read_knobs(installed.routes), args.good, args.bad, recipe_of(args, installed, args.model))


def _cache(args: Namespace) -> Lever:
    from trtforensics.bisect.levers.cache import CacheLever
    from trtforensics.bisect.levers.pinned import pinned_caches
    from trtforensics.commands.cache import load
    from trtforensics.commands.searching.building import installed_for, recipe_of
    from trtforensics.console import streams
    from trtforensics.pin.conditions import is_request
    from trtforensics.sources.cache import is_binary

    recipe = None if args.build else recipe_of(args, installed_for(args, "cache"), args.onnx)
    if is_request(args.good):
        good, bad = pinned_caches(args.bad, args.good, max_bytes=args.max_bytes)
    else:
        good, bad = (load(path, args.max_bytes) for path in (args.good, args.bad))
    bases = [Path(path).resolve() for path in (args.good, args.bad) if is_binary(path)]
    lever = CacheLever(good, bad, recipe, bases)
    for side, keys in zip(("good", "bad"), lever.alone, strict=True):
        if keys and not args.quiet:
            streams.tell(f"trtforensics: only {side} has {', '.join(keys)}: pinned where it comes up, not searched\n")
    return lever


def _tactics(args: Namespace) -> Lever:
    from trtforensics.bisect.levers.pinned import pinned_replays
    from trtforensics.bisect.levers.tactics import TacticsLever, edges_of, load_side
    from trtforensics.commands.searching.building import installed_for, recipe_of
    from trtforensics.console import streams
    from trtforensics.console.terminal import visible
    from trtforensics.pin.conditions import is_request

    recipe = None if args.build else recipe_of(args, installed_for(args, "tactics"), args.onnx)
    if is_request(args.good):
        good, bad, known = pinned_replays(args.bad, args.good, max_bytes=args.max_bytes)
    else:
        good, bad = (load_side(getattr(args, side), side, max_bytes=args.max_bytes) for side in ("good", "bad"))
        known = {}, {}
    layers = {entry.layer for replay in (*good.replays, *bad.replays) for entry in replay.entries}
    edges = edges_of(args.onnx, args.log, layers, max_bytes=args.max_bytes)
    lever = TacticsLever(good, bad, edges, recipe, known=known)
    if not args.quiet:
        notes = [f"skipped {line}" for line in (*good.skipped, *bad.skipped)]
        if len(good.replays) + len(bad.replays) > len("ab"):
            pair = f"{lever.good.source.path} and {lever.bad.source.path}"
            notes.append(f"bisecting between {pair}, which differ in the fewest layers ({len(lever.items)})")
        streams.tell("".join(f"trtforensics: {visible(note)}\n" for note in notes))
    return lever


def _search(lever: Lever, options: RunOptions) -> SetSearch:
    from trtforensics.bisect.search import FewestSearch, Search
    from trtforensics.errors import UsageError

    if lever.wants_fewest:
        if options.confidence is not None:
            raise UsageError("--confidence", "has no use in a search for the fewest items", "Use `--repeat N`")
        return FewestSearch(len(lever.items), limit=options.max_builds)
    return Search(
        lever.items,
        find=options.find,
        confidence=options.confidence,
        edges=lever.edges,
        max_builds=options.max_builds,
        recheck=_can_recheck(options),
    )


def _can_recheck(options: RunOptions) -> bool:
    """Whether a check can be run again on what a probe built: there is one, and it reads the engine or the folder."""
    from trtforensics.bisect.session.engines import reads_build

    return options.check is not None and (options.build is None or reads_build(options.check))


def _dry_run(args: Namespace, lever: Lever, options: RunOptions) -> int:
    from trtforensics.bisect.session.forecast import forecast, forecast_text
    from trtforensics.console import streams

    cost = forecast(lever, _search(lever, options).outlook(), options, Path(args.artifacts_dir))
    streams.print_result(cost.to_json() if args.json else forecast_text(cost))
    return 0


def _bisect(args: Namespace, lever: Lever, options: RunOptions) -> int:
    from trtforensics.bisect.session.bisection import bisect
    from trtforensics.bisect.session.report import bisection_text
    from trtforensics.bisect.session.result import to_json
    from trtforensics.console import streams
    from trtforensics.console.diagnostics import ExitCode
    from trtforensics.console.progress import ProgressLine

    directory = Path(args.artifacts_dir)
    with ProgressLine(quiet=args.quiet) as progress:
        document, fixed = bisect(directory, lever, _search(lever, options), options, progress.show)
    streams.print_result(to_json(document) if args.json else bisection_text(document, directory, fixed))
    return ExitCode.OK if document["status"] == "certified" else ExitCode.NO


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 < value < 1:  # noqa: PLR2004 - below one half, a coin would do
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability between 0.5 and 1")
    return value
