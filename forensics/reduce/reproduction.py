"""How a reduced model shows its failure: ``repro.sh`` runs it, ``repro.md`` is the report that goes with it.

The script builds or runs the model as the reduction did, by trtexec, Polygraphy, or its own commands.
"""

import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtforensics import __version__
from trtforensics.bisection.levers.recipe import Recipe
from trtforensics.bisection.runner.placeholders import ALWAYS, fill, mentions, variable
from trtforensics.bisection.session.answer import SearchAnswer
from trtforensics.bisection.session.job import tool_versions, versions_of
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.knowledge.table import rows
from trtforensics.reduce.failure import NUMBERS, Failure

COMMANDS = "commands"
"""The way by the commands that the reduction was given."""

_OPTIONS = {row["flag"]: (row["trtexec"], row["polygraphy"]) for row in rows("builder_flags")}
"""Builder flags as options of trtexec (its ``--help``, 8.6 to 10.16) and of Polygraphy 0.53; "": it has none.

trtexec uses TF32 unless it is forbidden; Polygraphy has no option for four bits, the timing cache, or memory.
"""
_BY_DEFAULT = "default"
"""Stands for the option of a flag that a tool sets by itself."""

_BUILDS = (
    ("--stronglyTyped", "--builderOptimizationLevel={}", "--useGPU", "--computeCapabilities={}{}"),
    ("--strongly-typed", "--builder-optimization-level {}", "--use-gpu", "--compute-capabilities {}.{}"),
)
"""Options of trtexec and of Polygraphy: strong types, level, and what TensorRT-RTX builds for; NONE is its default."""
_SM = re.compile(r"SM(\d+)(\d)$")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How a reduced model is built and judged.

    ``shapes`` are the sizes of its inputs, ``is_dynamic`` whether some are not written in the model. ``precision`` is
    the 16-bit type that the twin judged. ``commands`` are the user's build and check, None where there is none;
    ``builtin`` names the built-in check. ``is_silent``: there were commands, and they must not be told.
    """

    failure: Failure | None
    recipe: Recipe | None
    shapes: Mapping[str, Sequence[int]]
    precision: str = ""
    commands: tuple[str | None, str | None] = (None, None)
    builtin: str = ""
    is_dynamic: bool = False
    has_golden: bool = False
    is_silent: bool = False

    @property
    def flags(self) -> list[str]:
        """The builder flags, by TensorRT's names."""
        return [*(self.recipe.flags if self.recipe is not None else ()), *([self.precision] if self.precision else [])]

    @property
    def is_rtx(self) -> bool:
        """Whether TensorRT-RTX builds it."""
        return self.recipe is not None and self.recipe.installed.module == "tensorrt_rtx"

    @property
    def is_run(self) -> bool:
        """Whether an engine must run for the failure to show."""
        return self.failure is not None and (self.failure.stage == NUMBERS or bool(self.builtin))

    @property
    def ways(self) -> dict[str, str]:
        """The lines of each way to reproduce it, the best first."""
        build, check = self.commands
        ways = {COMMANDS: self._commands()} if (build or check) and not self.is_silent else {}
        if self.failure is not None and self.failure.stage == "check" and not self.builtin and ways:
            return ways
        lines = {"polygraphy": f"exec {polygraphy_line(self)}", "trtexec": f"exec {trtexec_line(self)}"}
        return {**ways, **{name: lines[name] for name in (lines if self.is_rtx else reversed(lines))}}

    def _commands(self) -> str:
        """Return the user's commands, in a scratch folder that has what a probe's folder has."""
        build, check = self.commands
        commands = [command for command in (build, check) if command]
        names = [name for name in ("model", "inputs", *ALWAYS) if any(mentions(command, name) for command in commands)]
        values = {name: f'"${variable(name)}"' for name in names}
        places = {"model": '"$here/reduced.onnx"', "probe": "repro"}
        lines = ["scratch=$(mktemp -d) || exit 2"] if set(names) - {"model", "probe"} else []
        for name in names:
            place = places.get(name, '"$scratch"' if name == "dir" else f'"$scratch/{name}"')
            lines.append(f"export {variable(name)}={place}")
        if "inputs" in names:
            lines += [f"mkdir {values['inputs']}", f'cp "$here/inputs.json" {values["inputs"]}']
            lines.append(f'cp "$here/inputs.npz" {values["inputs"]}/000.npz')
        lines += [f'echo "log: {values["log"][1:-1]}" >&2'] if "log" in names else []
        lines += ['cd "$called_from" || exit 2']
        if build:
            lines.append(f"( {_filled(build, values)} ) || exit")
        elif self.recipe is not None and check and mentions(check, "engine"):
            lines.append(f'( cd "$here" && {polygraphy_line(self, values["engine"])} ) || exit')
        lines += [f"( {_filled(check, values)} )"] if check else []
        return "\n    ".join(lines)


def script_text(reproduction: Reproduction) -> str:
    """Return ``repro.sh``."""
    ways = reproduction.ways
    branches = [f"{name})\n    {lines}\n    ;;" for name, lines in ways.items()]
    lines = [
        "#!/bin/sh",
        f"# Shows the failure of reduced.onnx: ./repro.sh [{'|'.join(ways)}]",
        *(f"# {line}" for line in needs(reproduction)),
        "called_from=$PWD",
        'cd "$(dirname "$0")" || exit 2',
        "here=$PWD",
        f'case "${{1:-{next(iter(ways))}}}" in',
        *branches,
        f'*)\n    echo "usage: $0 {"|".join(ways)}" >&2\n    exit 2\n    ;;',
        "esac",
    ]
    return "\n".join(lines) + "\n"


def needs(reproduction: Reproduction) -> list[str]:
    """Return a sentence about what each way needs, and about what it cannot show."""
    ways, recipe, sentences = reproduction.ways, reproduction.recipe, []
    plain = [name for name in ("trtexec", "polygraphy") if name in ways]
    module = recipe.installed.module if recipe is not None else "tensorrt"
    if COMMANDS in ways:
        sentences.append("commands: what the reduction ran; paths in them count from where the script is called.")
    if "trtexec" in ways:
        sentences.append(f"trtexec: needs {_program(reproduction)} on the PATH.")
    if "polygraphy" in ways:
        sentences.append(f"polygraphy: needs Polygraphy on the PATH, installed in a Python that has {module}.")
    if recipe is not None:
        sentences.append(f"The reduction built with {recipe.installed.name}{_target_text(recipe)}.")
    elif plain and not reproduction.precision:
        sentences.append(f"{' and '.join(plain)} use default options, not those of the reduction's own command.")
    if reproduction.is_silent:
        sentences.append("The commands of the reduction are left out, since they may tell names and paths.")
    return [*sentences, *_needs_to_run(reproduction), *_lacking(reproduction)]


def _needs_to_run(reproduction: Reproduction) -> list[str]:
    """Return what it takes to run an engine, where the failure is in its numbers."""
    if not reproduction.is_run:
        return []
    sentences = ["A GPU is needed to run the engine."]
    if reproduction.precision:
        sentences.append(f"TensorRT 11 has no flag for {reproduction.precision.upper()}: use 10 or older.")
    if "trtexec" in reproduction.ways:
        shown = "compare them with outputs.npz" if reproduction.has_golden else "look for nan and inf"
        sentences.append(f"trtexec prints the outputs: {shown}.")
    return sentences


def _lacking(reproduction: Reproduction) -> list[str]:
    sentences = []
    for name in reproduction.flags:
        tools = [tool for place, tool in enumerate(("trtexec", "Polygraphy")) if not _option(name, place)]
        sentences += [f"{' and '.join(tools)} cannot set the builder flag {name}."] if tools else []
    return sentences


def _target_text(recipe: Recipe) -> str:
    capability = recipe.compute_capability
    if not capability:
        return ""
    where = "" if recipe.installed.gpu else ", on a machine without a GPU"
    return (f" for {capability}" if _SM.match(capability) else "") + where


def _program(reproduction: Reproduction) -> str:
    return "tensorrt_rtx" if reproduction.is_rtx else "trtexec"


def _option(flag: str, place: int) -> str:
    return _OPTIONS.get(flag.upper(), ("", ""))[place]


def _options(reproduction: Reproduction, place: int) -> list[str]:
    words = [word for flag in reproduction.flags for word in _option(flag, place).split() if word != _BY_DEFAULT]
    recipe = reproduction.recipe
    if recipe is None:
        return words
    typed, level, current, target = _BUILDS[place]
    words += [typed] if recipe.typed and not (place == 0 and reproduction.is_rtx) else []
    words += level.format(recipe.level).split() if recipe.level is not None else []
    if match := _SM.match(recipe.compute_capability or ""):
        return [*words, *target.format(*match.groups()).split()]
    return [*words, current] if recipe.compute_capability == "CURRENT" else words


def _filled(command: str, values: Mapping[str, str]) -> str:
    marks = {name: f"@{name}@" for name in values}
    filled = fill(command, marks)
    for name, mark in marks.items():
        filled = filled.replace(mark, values[name])
    return filled


def trtexec_line(reproduction: Reproduction) -> str:
    """Return the command line of trtexec, or of TensorRT-RTX's program."""
    words = [_program(reproduction), "--onnx=reduced.onnx", "--verbose"]
    words += ["--iterations=1", "--warmUp=0", "--duration=0"] if reproduction.is_run else ["--skipInference"]
    words += _options(reproduction, 0)
    shapes = ",".join(f"{_quoted(name)}:{'x'.join(map(str, shape))}" for name, shape in reproduction.shapes.items())
    if shapes and reproduction.is_dynamic:
        words += [f"--{kind}Shapes={shapes}" for kind in ("min", "opt", "max")]
    if reproduction.is_run:
        fed = ",".join(f"{_quoted(name)}:{raw_input(place)}" for place, name in enumerate(reproduction.shapes))
        words += [f"--loadInputs={fed}", "--dumpOutput"]
    return shlex.join(words)


def raw_input(place: int) -> str:
    """Return the name of the file with an input's bytes, as trtexec loads them."""
    return f"input{place}.bin"


def _quoted(name: str) -> str:
    """Return a tensor's name as trtexec reads it: in quotes where it has a colon or a comma."""
    return f"'{name}'" if set(name) & set(":,") else name


def polygraphy_line(reproduction: Reproduction, engine: str = "/dev/null") -> str:
    """Return the command line of Polygraphy, which writes the engine where it only builds."""
    flags = _options(reproduction, 1)
    if reproduction.shapes and reproduction.is_dynamic:
        named = [f"{name}:[{','.join(map(str, shape))}]" for name, shape in reproduction.shapes.items()]
        flags += [word for kind in ("min", "opt", "max") for word in (f"--trt-{kind}-shapes", *named)]
    if reproduction.is_run:
        words = ["polygraphy", "run", "reduced.onnx", "--trt", "--load-inputs", "inputs.json", "--validate", *flags]
        words += ["--load-outputs", "outputs.json"] if reproduction.has_golden else ["--onnxrt"]
        line = shlex.join(words)
    else:
        words = ["polygraphy", "convert", "reduced.onnx", "--convert-to", "trt", "-vv", *flags]
        line = f"{shlex.join(words)} -o {engine}"
    return f"env POLYGRAPHY_USE_TENSORRT_RTX=1 {line}" if reproduction.is_rtx else line


_PYTHON_PACKAGES = ("onnx", "onnxruntime", "numpy")


def notes_text(reproduction: Reproduction, answer: SearchAnswer, nodes: tuple[int, int], model: str) -> str:
    """Return ``repro.md``: what fails, with what, how to see it, and what is known of the model.

    ``nodes`` are the numbers before and after, ``model`` is the model as text where it is small.
    """
    failure, (before, after) = reproduction.failure, nodes
    kept = "the original's only node" if before == 1 else f"{after:,} of the original's {before:,} nodes"
    lines = ["# A minimal model that fails", ""]
    if failure is not None:
        lines += [f"The {failure.stage} {failure.ended}: {failure.sentence}", ""]
        lines += ["```", *failure.lines, "```", ""] if failure.lines else []
    lines += ["## Model", "", f"`reduced.onnx`: {kept}. {_certificate(answer, after)}", ""]
    lines += ["```", model.rstrip(), "```", ""] if model else []
    lines += _to_reproduce(reproduction)
    lines += ["## Versions", "", *(f"- {name} {version}" for name, version in _versions(reproduction).items()), ""]
    return "".join(f"{visible(masked(line))}\n" for text in lines for line in text.split("\n"))


def _certificate(answer: SearchAnswer, count: int) -> str:
    if not answer.certified:
        return f"That it is the smallest was not shown: {answer.why}."
    if count == 1:
        return "It failed twice."
    return f"Without {any_one(count)} of them it does not fail so; each was left out once."


def _to_reproduce(reproduction: Reproduction) -> list[str]:
    ways = reproduction.ways
    words = {"trtexec": trtexec_line(reproduction), "polygraphy": polygraphy_line(reproduction)}
    lines = ["## To reproduce", "", "`./repro.sh`, in the folder of `reduced.onnx`, runs:", "", "```"]
    commands = [command for command in reproduction.commands if command] if COMMANDS in ways else []
    lines += [*commands, *(words[name] for name in ways if name in words), "```", ""]
    lines += [f"- {sentence}" for sentence in needs(reproduction)]
    if reproduction.precision:
        lines.append(f"- The numbers were computed by emulating {reproduction.precision} on the CPU, not on a GPU.")
    return [*lines, ""]


def _versions(reproduction: Reproduction) -> dict[str, str]:
    versions = dict(tool_versions())
    if reproduction.recipe is not None:
        installed = reproduction.recipe.installed
        versions.pop(installed.module.replace("_", "-"), None)
        versions[installed.module] = installed.version
        versions["GPU"] = installed.gpu or "none: the engine was built on a CPU"
        versions |= {"driver": installed.driver} if installed.driver else {}
        target = reproduction.recipe.compute_capability
        versions |= {"compute capability": target} if target else {}
    return {
        **versions,
        **versions_of(_PYTHON_PACKAGES),
        "Python": platform.python_version(),
        "system": platform.platform(),
        "trtforensics": __version__,
    }


def any_one(count: int) -> str:
    """Return how a sentence speaks of each of several: ``either`` of two, ``any one`` of more."""
    return "either" if count == 2 else "any one"  # noqa: PLR2004 - either is of two
