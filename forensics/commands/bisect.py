"""``trtforensics bisect``: the smallest sets of items that make a build bad, found and proved by real builds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisection import search_options
from trtforensics.console import streams
from trtforensics.console.arguments import read_options
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.progress import ProgressLine
from trtforensics.console.terminal import visible
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from trtforensics.bisection.levers.recipe import Recipe
    from trtforensics.bisection.precision.answer.precision_answer import PrecisionAnswer
    from trtforensics.bisection.precision.what_if import WhatIf
    from trtforensics.bisection.runner.run_options import RunOptions
    from trtforensics.bisection.search import ProbeSearch
    from trtforensics.bisection.session.history import Event
    from trtforensics.bisection.session.lever import Lever


def run(args: Namespace) -> int:
    """Bisect, and print the answer."""
    if args.mode == "log":
        return _log(args)
    if args.mode == "precision":
        return _precision(args)
    from trtforensics.bisection.session.bisection import bisect, forecast
    from trtforensics.bisection.session.job import to_json

    options = search_options.run_options(args)
    lever = _LEVERS[args.mode](args)
    options = search_options.with_commands(options, lever)
    directory, search = Path(args.artifacts_dir), _search(lever, options)
    if args.dry_run:
        cost = forecast(lever, search.outlook(), options, directory)
        streams.print_result(to_json(asdict(cost)) if args.json else cost.text())
        return ExitCode.OK
    with ProgressLine(quiet=args.quiet) as progress:
        answer, fixed = bisect(directory, lever, search, options, progress.show)
    streams.print_result(to_json(answer.document()) if args.json else answer.text(directory, fixed))
    return ExitCode.OK if answer.certified else ExitCode.NO


def _items(args: Namespace) -> Lever:
    from trtforensics.bisection.levers.items import read_items

    return read_items(args.items, max_bytes=args.max_bytes)


def _outputs(args: Namespace) -> Lever:
    from trtforensics.bisection.levers.items import read_items
    from trtforensics.bisection.levers.outputs import OutputsLever, tensors_of

    recipe = None
    if "build" not in args:
        recipe = _recipe(args, "debug" if args.debug_tensors else None, args.model)
    named = None
    if args.tensors is not None:
        named = [item.name for item in read_items(args.tensors, max_bytes=args.max_bytes).items]
    tensors, outputs = tensors_of(args.model, named)
    return OutputsLever(tensors, outputs, recipe, debug=args.debug_tensors)


def _recipe(args: Namespace, lever: str | None, model: str | None) -> Recipe:
    """Return how the installed TensorRT, which must have the lever, builds a model."""
    build = read_options(args, search_options.BuildOptions)
    return build.recipe(build.installed(lever), model)


def _route(args: Namespace) -> Lever:
    from trtforensics.bisection.levers.route import RouteLever, read_knobs

    if "build" in args:
        raise UsageError("--build", "has no use here: `bisect route` always builds by itself", "Leave it out")
    recipe = _recipe(args, "route", args.model)
    return RouteLever(read_knobs(recipe.installed.routes), args.good, args.bad, recipe)


def _cache(args: Namespace) -> Lever:
    from trtforensics.bisection.levers.cache import CacheLever, pinned_caches
    from trtforensics.commands.cache import load
    from trtforensics.pin.conditions import is_request
    from trtforensics.sources.cache import is_binary

    recipe = None if "build" in args else _recipe(args, "cache", args.onnx)
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
    from trtforensics.bisection.levers.tactics import TacticsLever, edges_of, load_side, pinned_replays
    from trtforensics.pin.conditions import is_request

    recipe = None if "build" in args else _recipe(args, "tactics", args.onnx)
    if is_request(args.good):
        good, bad, known = pinned_replays(args.bad, args.good, max_bytes=args.max_bytes)
    else:
        good = load_side(args.good, "good", max_bytes=args.max_bytes)
        bad = load_side(args.bad, "bad", max_bytes=args.max_bytes)
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


_LEVERS = {"items": _items, "cache": _cache, "outputs": _outputs, "route": _route, "tactics": _tactics}


def _search(lever: Lever, options: RunOptions) -> ProbeSearch:
    from trtforensics.bisection.search import FewestSearch, Search

    if lever.wants_fewest:
        if options.confidence is not None:
            raise UsageError("--confidence", "has no use in a search for the fewest items", "Use `--repeat N`")
        return FewestSearch(len(lever.items), limit=options.max_builds)
    return Search(
        lever.items, find=options.find, confidence=options.confidence, edges=lever.edges, max_builds=options.max_builds
    )


def _precision(args: Namespace) -> int:
    from trtforensics.bisection.precision.nodes import PrecisionLever
    from trtforensics.bisection.precision.running import builds_of, forecast_of, search
    from trtforensics.bisection.precision.what_if import TYPES, forecast_what_if, what_if
    from trtforensics.bisection.session.job import to_json

    request = search_options.ModelRequest.of(args, search_options.PrecisionOptions)
    directory, options = Path(args.artifacts_dir), search_options.run_options(args, PrecisionLever.judged)
    in_8_bits = request.asked.precision in TYPES
    if args.dry_run:
        cost = (forecast_what_if if in_8_bits else forecast_of)(request, options)
        streams.print_result(to_json(asdict(cost)) if args.json else cost.text())
        return ExitCode.OK
    answer: PrecisionAnswer | WhatIf
    with ProgressLine(quiet=args.quiet) as progress:
        if in_8_bits:
            answer, fixed = what_if(request, options, directory, progress.show)
        else:
            answer, fixed = search(request, options, directory, progress.show, progress.keep)
    text = answer.text(directory, fixed, wants_builds=builds_of(options) != "none")
    streams.print_result(to_json(answer.document()) if args.json else text)
    return ExitCode.OK if answer.certified else ExitCode.NO


def _log(args: Namespace) -> int:
    """Print the history of a directory; where a file of it is damaged, what stands before the damage, and the error."""
    from trtforensics.bisection.session.job import key_of, names_of, read_job
    from trtforensics.bisection.session.journal import event_json, log_text, read_events

    directory = Path(args.directory)
    job = read_job(directory)
    key = key_of(job)
    events: list[Event] = []
    damage = None
    try:
        events.extend(read_events(directory, key))
    except SourceError as error:
        damage = error
    if args.json:
        streams.print_pieces(map(event_json, events))
    else:
        streams.print_pieces(log_text(events, key, names_of(job)))
    if damage is not None:
        raise damage
    return 0
