"""A model of the command lines that findings propose: what is wrong with a command, held against the log it is for.

It parses trtexec's and Polygraphy's options as these programs do. Which options trtexec has in a version it takes from
the product's table; everything else it works out from the log's own first line.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.cli import build_parser
from trtforensics.console.secrets import masked
from trtforensics.errors import ForensicsError
from trtforensics.findings.case import Case
from trtforensics.findings.versions import flags, has_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.finding import Finding, Report
    from trtforensics.model.log import Build, BuildLog

_PLACEHOLDER = re.compile(r"…|[<>{}]|\b(?:NAME|PLAN|TENSOR|MHZ|INPUT|MODEL|LIB|FILE)\b")
_TO_FILE = re.compile(r" > (\S+) 2>&1$")
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
_MADE = re.compile(r"mixed(\.\d+)?(\.again)*\.onnx|\{model\}")
"""Models that an earlier command of the same finding writes, or the one around it."""
_TRTEXEC_WRITES = {
    *("--saveEngine", "--timingCacheFile", "--exportTimes", "--exportProfile", "--exportOutput", "--exportLayerInfo"),
}
_OTHERS_WRITE = {"--output_path", "-o", "--save-engine", "--save-timing-cache", "--save-tactics", "--save-inputs"}
"""Options of the other programs that name a file to write."""
_TAKE_MORE_TO_LOAD = {"--profile", "--stripWeights", "--safe", "--buildDLAStandalone"}
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
    what: str
    command: str
    build: Build
    log: BuildLog

    def harms(self) -> Iterator[str]:
        """Give the kinds of harm that the step does: what the user would not want."""
        own = self.build.command or ""
        given = {word.partition("=")[0] for word in _words(self.build)[1:]}
        named = {*re.findall(r"with (--\w+)", self.what)} | ({"--verbose"} if "verbose" in self.what else set())
        yield from _unless(not named & given, "advises what the log shows done")
        yield from _unless(not self._builds_though_loaded(given), "builds though the log loads an engine")
        if not self.command:
            return
        problems = [*self.problems()]
        of_the_user = {*re.split(r"[ =]+", own), self.log.source.path}
        rights = "sudo" in self.command or "--lock-gpu-clocks" in self.command
        kinds = {
            "writes over a file of the user": any(
                path in of_the_user for path in self._written() if path[:5] != "/dev/"
            ),
            "takes rights without saying so": rights and "root" not in self.what,
            "repeats a secret": masked(self.command) != self.command or "[secret]" in self.command,
            "advises what the log shows done": sorted(self.command.split()) == sorted(own.split()),
            "builds where loading answers": self._builds_though_loading_answers(given),
            "lowers the workspace": 0 < workspace_of(self.command) < _given_workspace(self.build),
            "measures with the profiler on": self.finding.code == "TF606" and self._profiles(),
            "belongs to another build": any("is not in the log" in problem for problem in problems),
            "has an option that does not exist": any("no option of" in problem for problem in problems),
        }
        yield from (kind for kind, done in kinds.items() if done)

    def _profiles(self) -> bool:
        return bool(re.search(r"--(?:dump|export)Profile", self.command)) and "--separateProfileRun" not in self.command

    def _builds_though_loaded(self, given: set[str]) -> bool:
        """Whether advice to build is given for a run that loads an engine, and does not say that it is of the build."""
        if "--loadEngine" not in given:
            return False
        texts = [re.sub(r" \(builds? [^)]*\)$", "", self.what), *self.finding.fixes]
        building = re.compile(r"(?i)\bbuild(ing|er)?\b(?!\.log)")
        loose = [text for text in texts if building.search(text) and "is built" not in text]
        program = _own_words(self.build)[:1]
        another = self.command.startswith(tuple(program)) and "--loadEngine" not in self.command
        return bool(loose) or another

    def _written(self) -> set[str]:
        """Return the paths that the command writes to."""
        to_file = _TO_FILE.search(self.command)
        words = _split(_TO_FILE.sub("", self.command))
        pairs = [word.partition("=")[::2] for word in words] + [*pairwise(words)]
        paths = {value for name, value in pairs if name in _TRTEXEC_WRITES | _OTHERS_WRITE and value}
        return paths | ({to_file.group(1)} if to_file else set())

    def _builds_though_loading_answers(self, given: set[str]) -> bool:
        """Whether the log's build saved an engine, and the command differs in options of the run alone."""
        own = _own_words(self.build)
        saves = [word for word in own if word.startswith("--saveEngine=")]
        later = self.log.builds[self.build.index + 1 :]
        replaced = any(word in (build.command or "").split() for word in saves for build in later)
        if not saves or replaced or self.build.outcome != "passed" or given & _TAKE_MORE_TO_LOAD:
            return False
        words = _words_of(_TO_FILE.sub("", self.command))
        if words[0] != own[0] or any(word.startswith("--loadEngine=") for word in words):
            return False
        kept = [word for word in own if word.partition("=")[0] not in _TRTEXEC_WRITES]
        changed = {word.partition("=")[0] for word in {*kept} ^ {*words}} - _TRTEXEC_WRITES
        return bool(changed) and all(flag in flags() and flags()[flag].when == "run" for flag in changed)

    def problems(self) -> Iterator[str]:
        """Give what is wrong with the command; nothing for one that can be typed as it stands."""
        typed = _TO_FILE.sub("", self.command)
        words = _split(typed)
        own = _own_words(self.build)
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
        elif words[0] == "trtforensics":
            yield from self._ours(words)
        elif words[0] not in {"sudo", "head"} and words != ["nvidia-smi"]:
            yield f"an unknown program: {typed}"

    def _trtexec(self, given: list[str]) -> Iterator[str]:
        case = Case(self.build, self.log)
        own, names = _own_words(self.build)[1:], {word.partition("=")[0] for word in given}
        same_names = {word.partition("=")[0] for word in own} & _TRTEXEC_WRITES
        added = {word.partition("=")[0] for word in given if word not in own} - same_names
        for word in given:
            name, equals, value = word.partition("=")
            known = flags().get(name)
            if name in added and (known is None or not has_flag(case.version, name)):
                yield f"{name} is no option of {case.version}"
            if known is not None and known.takes_value != bool(equals and value) and word not in own:
                yield f"{word} with or without a value"
            if name in {"--onnx", "--loadEngine"} and value not in _names(self.build) and not _MADE.fullmatch(value):
                yield f"{value} is not in the log"
        if sorted(given) == sorted(own) and not _TO_FILE.search(self.command):
            yield "the log's own command"
        if "--stronglyTyped" in names and names & _WEAK:
            yield "precisions of a strongly typed network"
        lost = {word.partition("=")[0] for word in own} & _KEPT - names
        loads = any(word.startswith("--loadEngine") for word in (*own, *names))
        lost -= {"--minShapes", "--optShapes", "--maxShapes", *_WEAK} if loads else set()
        lost -= _REMOVES.get(self.finding.code, set()) | (_WEAK if "--stronglyTyped" in names else set())
        lost -= {note.text("name").partition("=")[0] for note in case.notes("unknown_option")}
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
        own = {word.partition("=")[0] for word in (self.build.command or "").split()}
        options = [word.partition("=")[0] for word in words if word.startswith("-")]
        for option in options:
            yield from _unless(option in own | _POLYGRAPHY[verb], f"{option} is no option of polygraphy {verb}")
        models = {word for word in words if word.endswith(".onnx")} - {"folded.onnx"}
        yield from (f"{model} is not in the log" for model in models if model not in _names(self.build))

    def _ours(self, words: list[str]) -> Iterator[str]:
        try:
            build_parser(words[1]).parse_args(words[1:])
        except (SystemExit, ForensicsError):
            yield f"no option of trtforensics: {words}"
        if words[1] == "reduce":
            yield from self._reduce(words)

    def _reduce(self, words: list[str]) -> Iterator[str]:
        if words[3:4] + words[5:] != ["--build", "--artifacts-dir", "reduced"]:
            yield f"not how reduce is called: {words}"
            return
        yield from _unless(words[2] in _names(self.build), f"a model that the log does not name: {words[2]}")
        build = _split(words[4])
        if build[0] == "polygraphy":
            yield from _unless("{model}" in build, f"a build that is always the same: {words[4]}")
        else:
            yield from self._trtexec(build[1:])


def _split(command: str) -> list[str]:
    """Return the words of a command; a backslash is a part of a path."""
    return shlex.split(command.replace("\\", "\\\\"))


def workspace_of(command: str) -> int:
    """Return the MiB of workspace that a trtexec command asks for; 0 for none."""
    found = re.search(r"--(?:memPoolSize=(?:\S*,)?workspace:|workspace=)(\d+)(?=[ ,]|$)", command)
    return int(found.group(1)) if found else 0


def _given_workspace(build: Build) -> float:
    """Return the MiB of workspace that the log's trtexec prints as its limit; 0 where it prints none."""
    given = [build.option("build", name) or "" for name in ("Workspace", "Memory Pools")]
    sizes = re.search(r"(?:^|workspace: )([0-9.e+-]+) MiB", " ".join(given).strip())
    return float(sizes[1]) if sizes else 0


def proposals(finding: Finding, log: BuildLog) -> Iterator[Proposal]:
    """Give the commands of a finding."""
    for step in finding.next_steps:
        for build in step.builds or finding.builds:
            yield Proposal(finding, step.what, step.command, log.builds[build], log)


def harms_of(report: Report, logs: Sequence[BuildLog]) -> dict[str, list[str]]:
    """Return what the steps of a report do that the user would not want, by kinds of harm."""
    harms: dict[str, list[str]] = {}
    shown: set[tuple[str, str, int]] = set()
    for finding in report.findings:
        for proposal in proposals(finding, logs[finding.source]):
            key = proposal.log.source.path, proposal.command, proposal.build.index
            kinds = [*proposal.harms(), *(["stands there already"] if proposal.command and key in shown else [])]
            for kind in kinds:
                harms.setdefault(kind, []).append(f"{key[0]} {finding.code}: {proposal.what}: {proposal.command}")
            shown.add(key)
    return harms


def _unless(fine: bool, problem: str) -> Iterator[str]:  # noqa: FBT001 - what is tested, and what to say of it
    if not fine:
        yield problem


def _own_words(build: Build) -> list[str]:
    """Return the words of the log's trtexec command, which the log does not quote."""
    return _words(build) if build.tool == "trtexec" else []


def _words(build: Build) -> list[str]:
    return _words_of(build.command) if build.command else []


def _words_of(command: str) -> list[str]:
    return [word.strip() for word in re.split(r" (?=--?[A-Za-z])", command.strip())]


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
