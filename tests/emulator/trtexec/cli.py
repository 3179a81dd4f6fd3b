"""A program that stands in for trtexec with full TensorRT: it builds a network, and says and writes what trtexec would.

    python -m tests.emulator.trtexec.cli --layers 300 --seed 1 --save-replay good.json --engine good.engine
    python -m tests.emulator.trtexec.cli --layers 300 --seed 1 --replay mix.json --engine mix.engine --verbose

It also takes and writes Polygraphy's tactic replays, which trtexec does not. Exit status 0 after a build, 1 after a
failed one, as trtexec's. Lines of TensorRT 11 and of editable timing caches were never captured: the log says so.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

from tests.emulator.engine import chances, faults
from tests.emulator.engine.builder import Build, CacheEntry, Refused, Request
from tests.emulator.engine.files import (
    BadFile,
    cache_bytes,
    engine_bytes,
    present,
    read_cache,
    read_engine,
    read_replay,
    read_sets,
    replay_document,
)
from tests.emulator.engine.kernels import dice
from tests.emulator.engine.net import Net, generate, restricted
from tests.emulator.engine.selecting import Selecting
from tests.emulator.log.dialect import Dialect, polygraphy, prefixed, version_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.emulator.engine.selecting import Remark
    from tests.emulator.log.event import Event, Version

ELEVEN: Version = (11, 0, 0)
WHERE = {8: "[optimizer.cpp::computeCosts::3869] "}
"""What stands before an error's code; from 10 on the function."""

CHAIN = (
    "Engine could not be created from network",
    "Building engine failed",
    "Failed to create engine from model or file.",
    "Engine set up failed",
)
"""What trtexec says after a failed build."""


class Failed(Exception):  # noqa: N818 - the build has failed, which the log says
    """The build ended; the text is TensorRT's error, or empty where all is said."""


class Printer(NamedTuple):
    """Writes the log: to a file, or to stdout and, for warnings and errors, stderr."""

    dialect: Dialect
    version: Version
    verbose: bool
    file: TextIO | None

    def say(self, letter: str, text: str, *, tensorrt: bool = True) -> None:
        """Write a message."""
        if letter != "V" or self.verbose:
            self._write(prefixed(text, self.dialect, datetime.now(), letter, tensorrt=tensorrt), letter)  # noqa: DTZ005

    def remark(self, remark: Remark) -> None:
        """Write a message of Polygraphy's."""
        self._write(polygraphy(remark.letter, remark.text), remark.letter)

    def bare(self, text: str) -> None:
        """Write a line that has no prefix."""
        self._write(text, "I")

    def tell(self, events: Iterable[Event]) -> None:
        """Write the lines of a verbose log."""
        from tests.emulator.log.render import line, severity  # noqa: PLC0415 - slow, and few builds tell anything

        now = datetime.now()  # noqa: DTZ005 - logs have no zone
        for event in events:
            self._write(line(event, self.version, self.dialect, now), severity(event, self.version))

    def _write(self, text: str, letter: str) -> None:
        # trtexec flushes every line: where both streams go into one pipe, no line stands in the middle of another.
        print(text, file=self.file or (sys.stderr if letter in "FEW!" else sys.stdout), flush=self.file is None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; return the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(given)
    luck = chances.luck(options)
    with open(options.log, "w") if options.log else _nothing() as log:  # noqa: PTH123 - quick start-up
        printer = Printer(cast("Dialect", options.dialect), options.version, options.verbose, log)
        banner = f"TensorRT.trtexec [TensorRT v{version_code(options.version)}]"
        banner += " [b11]" if options.version >= (10, 7, 0) else ""
        line = f"# trtexec {' '.join(given)}"
        as_trtexec = options.dialect == "trtexec"
        if as_trtexec:
            printer.bare(f"&&&& RUNNING {banner} {line}")
        if not options.when:
            faults.strike(faults.from_arguments(options, dice("fault", luck).random()))
        started = time.monotonic()
        try:
            _build(options, luck, printer)
        except (Failed, BadFile) as error:
            _explain(printer, str(error))
            if as_trtexec:
                printer.bare(f"&&&& FAILED {banner} {line}")
            return 1
        if as_trtexec:
            printer.say("I", f"Engine built in {time.monotonic() - started:.6g} sec.", tensorrt=False)
            printer.bare(f"&&&& PASSED {banner} {line}")
    return 0


def _build(options: argparse.Namespace, luck: str, printer: Printer) -> None:
    selecting_asked = options.replay or options.save_replay
    if selecting_asked and options.version >= ELEVEN:
        version = ".".join(map(str, options.version))
        text = f"Algorithm selectors (TacticRecorder/TacticReplayer) is not available on TensorRT version {version}."
        printer.bare(polygraphy("!", text))
        raise Failed("")
    net = _network(options)
    remarks: list[Remark] = []
    replay = read_replay(options.replay) if options.replay else {}
    selecting = Selecting(net, replay, remarks.append) if selecting_asked else None
    cache = _read_cache(options, printer)
    time.sleep(options.seconds)
    wanted = Request(
        luck=luck,
        noise=options.noise,
        selector=selecting if options.replay else None,
        cache=cache,
        error_on_miss=options.error_on_miss,
        runner_up=options.runner_up,
    )
    build = Build(net, wanted)
    refusal = ""
    try:
        build.run()
    except Refused as error:
        refusal = str(error)
    plan = b"" if refusal else engine_bytes(build, options.version, luck=dice("luck", luck).random())
    if plan and options.refuse and present(read_engine(plan), read_sets(options.refuse)):
        refusal = f"Error Code 10: Internal Error (Could not find any implementation for node {net.layers[0].name}.)"
    _tell(options, printer, build, remarks, ended=not refusal)
    if refusal:
        raise Failed(refusal)
    if options.when and present(read_engine(plan), read_sets(options.when)):
        faults.strike(faults.from_arguments(options, dice("fault", luck).random()))
    _write_files(options, build, selecting, plan)


def _network(options: argparse.Namespace) -> Net:
    eleven = options.version >= ELEVEN
    if options.onnx:
        from tests.emulator.engine.onnx_net import Unsupported, to_net  # noqa: PLC0415 - needs the heavy onnx package

        try:
            net = to_net(Path(options.onnx).read_bytes(), eleven=eleven)
        except (OSError, Unsupported) as error:
            raise Failed(f"ModelImporter.cpp:{821}: {error}") from error
        return restricted(net, half=options.fp16 or eleven, wanted={})
    coupled = [range(first, last + 1) for first, last in options.coupled]
    return generate(options.layers, options.seed, coupled=coupled, foreign=not options.no_foreign, eleven=eleven)


def _read_cache(options: argparse.Namespace, printer: Printer) -> dict[int, CacheEntry] | None:
    if options.cache is None:
        return None
    path = Path(options.cache)
    if not path.exists():
        printer.say("W", f"Could not read cache from: {path}. A new cache will be generated and written.")
        return {}
    content = path.read_bytes()
    printer.say("I", f"Loaded {len(content)} bytes of cache from file: {path}")
    return read_cache(content, options.version)


def _tell(options: argparse.Namespace, printer: Printer, build: Build, remarks: list[Remark], *, ended: bool) -> None:
    """Tell the whole build to a verbose log, the selector's messages alone to any other."""
    if not options.verbose:
        for remark in remarks:
            printer.remark(remark)
        return
    from tests.emulator.engine import never_captured  # noqa: PLC0415 - slow, and few builds tell anything
    from tests.emulator.engine.story import Story  # noqa: PLC0415 - as above

    mark = never_captured.mark(options.version, editable=options.editable)
    if mark is not None:
        printer.bare(mark)
    story = Story(build, options.version, editable=options.editable, detailed=options.detailed, remarks=remarks)
    printer.tell([*story.parsed(), *story.optimised(), *story.tuned()])
    if ended:
        printer.tell(story.finished())


def _explain(printer: Printer, error: str) -> None:
    """Say what follows an error: trtexec's chain, or Polygraphy's last word."""
    code = error.partition("Error Code ")[2].partition(":")[0]
    if code:
        place = WHERE.get(printer.version[0], "IBuilder::buildSerializedNetwork: ")
        if printer.dialect == "trtexec":
            printer.say("E", f"Error[{code}]: {place}{error}", tensorrt=False)
        else:
            printer.say("E", f"{place}{error}")
    elif error:
        printer.say("E", error)
    if printer.dialect == "trtexec":
        for text in CHAIN:
            printer.say("E", text, tensorrt=False)
    elif printer.dialect == "polygraphy":
        printer.bare(polygraphy("!", "Invalid Engine. Please ensure the engine was built correctly"))


def _write_files(options: argparse.Namespace, build: Build, selecting: Selecting | None, plan: bytes) -> None:
    if options.save_replay and selecting is not None:
        import json  # noqa: PLC0415 - as below

        selecting.report(build.decisions)
        Path(options.save_replay).write_text(json.dumps(replay_document(selecting.chosen, options.form), indent=4))
    if options.cache is not None and build.request.cache is not None:
        Path(options.cache).write_bytes(cache_bytes(build.request.cache, options.version))
    if options.engine:
        Path(options.engine).write_bytes(plan)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trtexec_cli", description=__doc__, allow_abbrev=False)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--onnx", metavar="MODEL", help="the model to build")
    source.add_argument("--layers", type=int, metavar="N", help="build a generated network of N layers")
    parser.add_argument("--seed", type=int, default=0, help="which generated network")
    parser.add_argument("--no-foreign", action="store_true", help="generate no ForeignNodes nor other linear layers")
    parser.add_argument(
        "--coupled", type=_runs, default=[], metavar="A-B[,C-D…]", help="runs of layers without reformats in between"
    )
    parser.add_argument("--version", type=_version, default=(10, 16, 1), help="TensorRT's (default 10.16.1)")
    parser.add_argument("--fp16", action="store_true", help="offer tactics in Half for a model (generated: always)")
    parser.add_argument("--replay", metavar="FILE", help="make these choices again")
    parser.add_argument("--save-replay", metavar="FILE", help="write what was chosen")
    parser.add_argument("--form", choices=("F1", "F2", "F3", "F4", "F5"), default="F5", help="form of that replay")
    parser.add_argument("--engine", metavar="FILE", help="write the engine")
    parser.add_argument("--cache", metavar="FILE", help="read and write a timing cache")
    parser.add_argument("--editable", action="store_true", help="print the keys of an editable timing cache")
    parser.add_argument("--error-on-miss", action="store_true", help="fail where the timing cache lacks something")
    parser.add_argument("--log", metavar="FILE", help="write the log there instead of stdout and stderr")
    parser.add_argument("--verbose", action="store_true", help="log everything")
    parser.add_argument("--detailed", action="store_true", help="dump the engine's layers in detail")
    parser.add_argument(
        "--dialect", choices=("trtexec", "python", "polygraphy"), default="trtexec", help="whose logger"
    )
    parser.add_argument("--noise", type=float, default=0.01, help="standard deviation of the timing, as a share")
    chances.add_arguments(parser)
    parser.add_argument("--runner-up", action="store_true", help="the second best of every layer measures best")
    parser.add_argument("--refuse", metavar="FILE", help="sets of conditions that TensorRT cannot build")
    parser.add_argument("--when", metavar="FILE", help="sets of conditions under which the faults happen")
    parser.add_argument("--seconds", type=float, default=0.0, help="how long the build takes besides")
    faults.add_arguments(parser)
    return parser


def _version(text: str) -> tuple[int, int, int]:
    major, minor, patch = (*map(int, text.split(".")), 0, 0)[:3]
    return major, minor, patch


def _runs(text: str) -> list[tuple[int, int]]:
    pairs = [part.partition("-") for part in text.split(",")]
    return [(int(first), int(last)) for first, _, last in pairs]


class _nothing:  # noqa: N801 - a context, as contextlib has them, without its import
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main())
