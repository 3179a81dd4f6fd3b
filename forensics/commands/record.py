"""``trtforensics record``: the commands that write the log, layers, profile and times of a model or an engine."""

import re
import shlex
import shutil
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from trtforensics.console import streams
from trtforensics.console.diagnostics import remark
from trtforensics.console.processes import completed
from trtforensics.errors import UsageError
from trtforensics.findings.versions import EXPORTED, NO_LONGER_NEEDED, WRITTEN, Version, flags, flags_of, has_flag
from trtforensics.knowledge.table import NEWEST
from trtforensics.parsers.builds.header import decoded_version
from trtforensics.parsers.text.stored import StoredBytes
from trtforensics.render.json_text import dumps
from trtforensics.sources.strangers import AN_ONNX_MODEL, form_by_opening
from trtforensics.trt.installed import child_line, installed_modules

_BANNER = re.compile(rb"TensorRT v([0-9]{4,6})\b")
_OURS = {"--onnx", "--loadEngine", "--buildOnly", "--skipInference"}
_OLDEST = 7
_OPENING = 64
_PATIENCE_S = 60
_GPU = "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,POWER"


class _Command(NamedTuple):
    """A command line for a shell, the files that it writes, and those of them that say something of the engine."""

    command: str
    writes: tuple[str, ...]
    exports: tuple[str, ...] = ()


def run(args: Namespace) -> int:
    """Print the commands, as a shell script or as JSON, or run them; 1 if one fails."""
    with closing(StoredBytes(args.source, _OPENING)) as stored:
        form = form_by_opening(stored.peek(0, _OPENING))
    name = form["name"] if form is not None else "neither an ONNX model nor an engine"
    is_plan = form is not None and name != AN_ONNX_MODEL and bool(form["release"])
    if not is_plan and name != AN_ONNX_MODEL:
        raise UsageError(args.source, f"is {name}", "Give an ONNX model, or an engine of TensorRT")
    version = _version(args.release or (form["release"] if form is not None and is_plan else "") or _of_trtexec())
    commands = list(_commands(args, version, is_plan=is_plan))
    if args.run and shutil.which("trtexec") is None:
        commands = [_in_python(args, name, is_plan=is_plan)]
    lines = [f"mkdir -p {shlex.quote(args.into)}", *(each.command for each in commands)]
    if args.run:
        return _run(lines, quiet=args.quiet)
    release = ".".join(map(str, version.numbers))
    listed = [{"command": each.command, "writes": each.writes} for each in commands]
    document = {"schema": 1, "kind": "record", "release": release, "commands": listed}
    files = [commands[0].writes[0], *(file for each in commands for file in each.exports)]
    script = [f"# trtexec of {version}", "set -e", *lines, f"# then: trtforensics tui {shlex.join(files)}"]
    streams.print_result(f"{dumps(document)}\n" if args.json else "\n".join([*script, ""]))
    return 0


def _version(text: str) -> Version:
    numbers = tuple(map(int, text.split("."))) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)*", text) else ()
    if numbers < (_OLDEST,):
        raise UsageError("--release", f"{text} is no release of TensorRT from {_OLDEST} on", "Give one such as 10.3")
    return Version(numbers)


def _of_trtexec() -> str:
    """Return the version that trtexec on the path says in its help; the newest that the tables know without one."""
    program = shutil.which("trtexec")
    banner = program and _BANNER.search(completed([program, "--help"], timeout=_PATIENCE_S).stdout)
    return decoded_version(int(banner[1])) if banner else ".".join(map(str, NEWEST))


def _commands(args: Namespace, version: Version, *, is_plan: bool) -> Iterator[_Command]:
    """Give the command lines in the order in which they run."""
    given = {option: option.partition("=")[0] for option in args.options}
    for name in given.values():
        if not has_flag(version, name):
            raise UsageError("--options", f"trtexec of {version} has no {name}", "Leave it out, or name a --release")
        if is_plan and name in flags_of("build"):
            raise UsageError("--options", f"{args.source} is built, so that {name} has no effect", "Leave it out")
        if name in (WRITTEN | _OURS) - {"--timingCacheFile"}:
            raise UsageError("--options", f"`record` itself sets {name}", "Leave it out")

    def trtexec(log: str, *words: str) -> _Command:
        known = [word for word in words if has_flag(version, word.partition("=")[0])]
        parts = [word.partition("=") for word in known]
        written, exports = ([value for name, _, value in parts if name in names] for names in (WRITTEN, EXPORTED))
        log = f"{args.into}/{log}"
        line = f"{shlex.join(['trtexec', *known])} > {shlex.quote(log)} 2>&1"
        return _Command(line, (log, *written), tuple(exports))

    running = [option for option, name in given.items() if flags()[name].when != "build"]
    load = f"--loadEngine={args.source if is_plan else f'{args.into}/model.plan'}"
    no_run = "--skipInference" if has_flag(version, "--skipInference") else "--buildOnly"
    described = ["--verbose", no_run, f"--exportLayerInfo={args.into}/layers.json"]
    if is_plan:
        yield trtexec("load.log", load, *described, *running)
    else:
        building = [option for option, name in given.items() if flags()[name].when != "run" or name == "--shapes"]
        made = [f"--onnx={args.source}", f"--saveEngine={args.into}/model.plan", "--profilingVerbosity=detailed"]
        yield trtexec("build.log", *made, *described, *building)
    apart = {"--separateProfileRun"} - (NO_LONGER_NEEDED if version.numbers >= (11,) else set())
    yield trtexec("profile.log", load, "--dumpProfile", f"--exportProfile={args.into}/profile.json", *apart, *running)
    yield trtexec("times.log", load, f"--exportTimes={args.into}/times.json", *running)
    gpu = f"{args.into}/gpu.txt"
    yield _Command(f"{_GPU} > {shlex.quote(gpu)}", (gpu,))


def _in_python(args: Namespace, name: str, *, is_plan: bool) -> _Command:
    """Return the command that writes a plan's layers by TensorRT's Python API."""
    if not is_plan or "tensorrt" not in installed_modules():
        what = f"is {name}, and there is no trtexec on the path" + (" nor a `tensorrt` in Python" if is_plan else "")
        raise UsageError(args.source, what, "Leave out `--run`, and run the commands where TensorRT is")
    layers = f"{args.into}/layers.json"
    return _Command(shlex.join(child_line("trtforensics.trt.engine_files", args.source, layers)), (layers,))


def _run(lines: list[str], *, quiet: bool) -> int:
    """Run the lines one after the other; 1 after the first that fails, which is printed."""
    for line in lines:
        remark(line, quiet=quiet)
        status = completed(["/bin/sh", "-c", line]).returncode
        if status:
            log = line.removesuffix(" 2>&1").rpartition("> ")[2]
            streams.print_result(f"exit status {status}: {line}\nwhy: trtforensics report {log}\n")
            return 1
    return 0
