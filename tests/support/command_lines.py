"""A model of the command lines that findings propose: what is wrong with a command, held against the log it is for.

It parses trtexec's and Polygraphy's options as these programs do. Which options trtexec has in a version it takes from
the product's table; everything else it works out from the log's own first line.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.findings.case import Case
from trtforensics.findings.steps.trtexec_flags import flags, has_flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.finding import Finding
    from trtforensics.model.log import Build, BuildLog

_PLACEHOLDER = re.compile(r"…|[<>{}]|\b(?:NAME|PLAN|TENSOR|MHZ|INPUT|MODEL|LIB|FILE)\b")
_TO_FILE = " > again.log 2>&1"
_WEAK = {"--fp16", "--bf16", "--int8", "--fp8", "--int4", "--best", "--layerPrecisions", "--layerOutputTypes"}
_KEPT = {
    *_WEAK,
    "--shapes",
    "--minShapes",
    "--optShapes",
    "--maxShapes",
    "--plugins",
    "--staticPlugins",
    "--dynamicPlugins",
}
_REMOVES = {
    "TF209": {"--fp16", "--best"},
    "TF404": {"--shapes", "--minShapes", "--optShapes", "--maxShapes"},
    "TF405": _WEAK,
    "TF413": _KEPT,
    "TF418": _KEPT,
}
"""What a finding's step may leave out of the log's command: what it is about."""
_MADE = {"mixed.onnx", "{model}"}
"""Models that an earlier command of the same finding writes, or the one around it."""
_POLYGRAPHY = {
    "run": {
        *("--trt", "--onnxrt", "--fp16", "--int8", "--bf16", "--fp8", "--trt-outputs", "--onnx-outputs", "--atol"),
        *("--rtol", "--trt-min-shapes", "--trt-opt-shapes", "--trt-max-shapes", "--plugins", "--pool-limit"),
        *("--workspace", "--save-timing-cache", "--load-timing-cache", "-vv"),
    },
    "surgeon sanitize": {"--fold-constants", "-o"},
    "inspect model": {"--show"},
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A command that a finding proposes for a build."""

    finding: Finding
    command: str
    build: Build
    log: BuildLog

    def problems(self) -> Iterator[str]:
        """Give what is wrong with the command; nothing for one that can be typed as it stands."""
        words = shlex.split(self.command.removesuffix(_TO_FILE))
        own = _own_words(self.build)
        typed = self.command.removesuffix(_TO_FILE)
        added = " ".join(word for word in words if word not in (self.build.command or ""))
        if _PLACEHOLDER.search(added.replace("{model}", "") if words[1:2] == ["reduce"] else added):
            yield f"a placeholder: {typed}"
        if own and words[0] == own[0]:
            yield from self._trtexec([word for word in words[1:] if word])
        elif words[0] == "polygraphy":
            yield from self._polygraphy(words[1:])
        elif words[:2] == ["nvidia-smi", words[-1]]:
            if not re.fullmatch(r"--lock-gpu-clocks=[1-9]\d{2,3}", words[1]) or _capability(self.build) < (7, 0):
                yield f"clocks that this GPU cannot lock: {typed}"
        elif words[:3] == ["python", "-m", "modelopt.onnx.autocast"]:
            yield from _unless(words[4] in _names(self.build), f"a model that the log does not name: {words[4]}")
        elif words[:2] == ["trtforensics", "reduce"]:
            yield from self._reduce(words)
        elif words[0] not in {"sudo", "head", "trtforensics"}:
            yield f"an unknown program: {typed}"

    def _trtexec(self, given: list[str]) -> Iterator[str]:
        case = Case(self.build, self.log)
        own, names = _own_words(self.build)[1:], {word.partition("=")[0] for word in given}
        added = {word.partition("=")[0] for word in given if word not in own}
        for word in given:
            name, equals, value = word.partition("=")
            known = flags().get(name)
            if name in added and (known is None or not has_flag(case.version, name)):
                yield f"{name} is no option of {case.version}"
            if known is not None and known.takes_value != bool(equals and value) and word not in own:
                yield f"{word} with or without a value"
            if name in {"--onnx", "--loadEngine"} and value not in {*_names(self.build), *_MADE}:
                yield f"{value} is not in the log"
        if sorted(given) == sorted(own) and not self.command.endswith(_TO_FILE):
            yield "the log's own command"
        if "--stronglyTyped" in names and names & _WEAK:
            yield "precisions of a strongly typed network"
        lost = {word.partition("=")[0] for word in own} & _KEPT - names
        lost -= _REMOVES.get(self.finding.code, set()) | (_WEAK if "--stronglyTyped" in names else set())
        lost = {name for name in lost if has_flag(case.version, name)}
        yield from _unless(not lost, f"it loses {sorted(lost)}")
        kinds = {flags()[name].when for name in added if name in flags()}
        yield from _unless("--loadEngine" not in names or "build" not in kinds, "a build flag beside --loadEngine")
        idle = names & {"--buildOnly", "--skipInference"}
        yield from _unless(not idle or "run" not in kinds, f"a run flag beside {sorted(idle)}")
        workspace, memory = workspace_of(self.command), _memory(self.build)
        yield from _unless(not {"--memPoolSize", "--workspace"} & added or workspace <= memory, "more than the memory")

    def _polygraphy(self, words: list[str]) -> Iterator[str]:
        verb = next((verb for verb in _POLYGRAPHY if " ".join(words).startswith(f"{verb} ")), "")
        if not verb:
            yield f"an unknown subcommand: {words[:2]}"
            return
        own = (self.build.command or "").split()
        options = [word.partition("=")[0] for word in words if word.startswith("-") and word not in own]
        yield from (f"{option} of polygraphy {verb}" for option in options if option not in _POLYGRAPHY[verb])
        models = {word for word in words if word.endswith(".onnx")} - {"folded.onnx"}
        yield from (f"{model} is not in the log" for model in models if model not in _names(self.build))

    def _reduce(self, words: list[str]) -> Iterator[str]:
        if words[3:4] + words[5:] != ["--build", "--artifacts-dir", "reduced"]:
            yield f"not how reduce is called: {words}"
            return
        yield from _unless(words[2] in _names(self.build), f"a model that the log does not name: {words[2]}")
        build = shlex.split(words[4])
        if build[0] == "polygraphy":
            yield from _unless("{model}" in build, f"a build that is always the same: {words[4]}")
        else:
            yield from self._trtexec(build[1:])


def workspace_of(command: str) -> int:
    """Return the MiB of workspace that a trtexec command asks for; 0 for none."""
    found = re.search(r"--(?:memPoolSize=(?:\S*,)?workspace:|workspace=)(\d+)(?=[ ,]|$)", command)
    return int(found.group(1)) if found else 0


def proposals(finding: Finding, log: BuildLog) -> Iterator[Proposal]:
    """Give the commands of a finding."""
    for step in finding.next_steps:
        if step.command:
            yield Proposal(finding, step.command, log.builds[finding.build], log)


def _unless(fine: bool, problem: str) -> Iterator[str]:  # noqa: FBT001 - what is tested, and what to say of it
    if not fine:
        yield problem


def _own_words(build: Build) -> list[str]:
    """Return the words of the log's trtexec command, which the log does not quote."""
    return _words(build) if build.tool == "trtexec" else []


def _words(build: Build) -> list[str]:
    if not build.command:
        return []
    return [word.strip() for word in re.split(r" (?=--?[A-Za-z])", build.command.strip())]


def _names(build: Build) -> set[str]:
    """Return the paths that a build's own lines name."""
    command = {word.partition("=")[2] for word in _words(build)} | set((build.command or "").split())
    return command | {note.text("value") for note in build.notes if note.kind == "onnx_header"}


def _device(build: Build, name: str) -> str:
    return next((fact.value for fact in build.options.get("device", ()) if fact.name == name), "")


def _capability(build: Build) -> tuple[int, ...]:
    return tuple(int(part) for part in _device(build, "Compute Capability").strip().split(".") if part)


def _memory(build: Build) -> int:
    words = _device(build, "Device Global Memory").split()
    return int(words[0]) if words else 1 << 40
