"""The options of searches as commands read them: how probes run, how TensorRT builds, on which samples models run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from trtforensics.bisection.runner.placeholders import ALWAYS, unknown
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.console.arguments import Options, count, option, read_options
from trtforensics.errors import SourceError, UsageError
from trtforensics.trt.api import MODULES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    import onnx

    from trtforensics.bisection.levers.recipe import Recipe
    from trtforensics.bisection.session.lever import Lever
    from trtforensics.onnx_models.samples import SampleSet
    from trtforensics.trt.installed import Installed

_LEVELS = range(6)
_RANDOM = 4
_FROM_A_SCRIPT = 16


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How the installed TensorRT builds; ``cli`` applies ``builder_python`` before a command runs."""

    builder: str | None = option("--builder", choices=MODULES)
    builder_python: str | None = option("--builder-python")
    builder_flags: str = option("--builder-flags", default="")
    strongly_typed: bool = option("--strongly-typed", default=False)
    optimization_level: int | None = option("--optimization-level", type=int, choices=_LEVELS)
    shapes: tuple[str, ...] = option("--shapes", default=())
    compute_capability: str = option("--compute-capability", default="SM89")

    def installed(self, lever: str | None = None) -> Installed:
        """Return the installed TensorRT, which must have the lever."""
        from trtforensics.trt.installed import look, require

        installed = look(self.builder)
        if lever is not None:
            require(lever, installed)
        return installed

    def recipe(self, installed: Installed, model: str | None) -> Recipe:
        """Return how a model is built; a SourceError or UsageError where there is none, or an option is not known."""
        from trtforensics.bisection.levers.recipe import Recipe
        from trtforensics.onnx_models.shapes import parse_shapes

        if model is None:
            raise UsageError("--onnx", "is needed to build without a `--build` command", "Give the model, or `--build`")
        if not Path(model).is_file():
            raise SourceError(model, "is no file", "Give an ONNX model")
        flags = tuple(flag.strip() for flag in self.builder_flags.split(",") if flag.strip())
        for flag in flags:
            if flag not in installed.flags:
                what = f"{installed.name} has no builder flag {flag}"
                raise UsageError("--builder-flags", what, f"It has {', '.join(installed.flags)}")
        target = self.compute_capability if installed.module == "tensorrt_rtx" else None
        if target is not None and target not in installed.capabilities:
            what = f"{installed.name} does not build for {target}"
            raise UsageError("--compute-capability", what, f"It builds for {', '.join(installed.capabilities)}")
        shapes = parse_shapes(self.shapes)
        path = Path(model).resolve()
        return Recipe(installed, path, shapes, target, flags, self.strongly_typed, self.optimization_level)


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """The samples on which a model runs."""

    inputs: tuple[str, ...] = option("--inputs", "--load-inputs", default=())
    data_loader_script: str | None = option("--data-loader-script")
    samples: int | None = option("--samples", type=count)
    shapes: tuple[str, ...] = option("--shapes", default=())
    val_range: tuple[str, ...] = option("--val-range", default=())

    def samples_of(self, model: onnx.ModelProto) -> SampleSet:
        """Return a model's samples, and how they came about; a SourceError or UsageError where they do not fit."""
        from trtforensics.onnx_models.samples import SampleSet, read_samples, run_script

        sources = {"--inputs": self.inputs, "--data-loader-script": self.data_loader_script}
        given = [name for name, value in sources.items() if value]
        if len(given) > 1:
            raise UsageError("--inputs", "and --data-loader-script both give samples", "Give one of them")
        for name, value in (("--shapes", self.shapes), ("--val-range", self.val_range)):
            if given and value:
                raise UsageError(name, f"has no use with {given[0]}, which gives the arrays", "Leave it out")
        if self.inputs:
            if self.samples is not None:
                raise UsageError("--samples", "has no use with --inputs: all of them are used", "Leave it out")
            return SampleSet(read_samples(model, self.inputs))
        if self.data_loader_script is None:
            return self._drawn(model)
        limit = self.samples or _FROM_A_SCRIPT
        samples = run_script(model, self.data_loader_script, limit)
        more = f"the first {limit} samples of the script are used; --samples takes more"
        return SampleSet(samples, notes=(more,) if len(samples) == limit and self.samples is None else ())

    def _drawn(self, model: onnx.ModelProto) -> SampleSet:
        from trtforensics.onnx_models.drawing import described, integer_choices, parse_ranges, random_samples
        from trtforensics.onnx_models.samples import SampleSet
        from trtforensics.onnx_models.shapes import defaulted, parse_shapes

        ranges, choices = parse_ranges(model, self.val_range), integer_choices(model)
        shapes = parse_shapes(self.shapes)
        samples = random_samples(model, shapes, self.samples or _RANDOM, ranges=ranges, choices=choices)
        ones = ",".join(defaulted(model, shapes))
        sizes = (f"dynamic dimensions are 1, as in trtexec: --shapes {ones} sets others",) if ones else ()
        return SampleSet(samples, drawn=True, notes=(*sizes, described(model, ranges, choices)))


@dataclass(frozen=True, slots=True)
class PrecisionOptions:
    """What a precision search emulates, how it judges outputs, and how it builds."""

    precision: Literal["fp16", "bf16", "int8", "fp8"] = option(
        "--precision", default="fp16", choices=("fp16", "bf16", "int8", "fp8")
    )
    accumulate: Literal["fp32", "fp16"] = option("--accumulate", default="fp32", choices=("fp32", "fp16"))
    custom_ops: tuple[str, ...] = option("--custom-ops", default=())
    against: str | None = option("--against")
    reference: str | None = option("--reference")
    calibration: str | None = option("--calibration")
    metric: tuple[str, ...] = option("--metric", default=())
    tolerance: tuple[str, ...] = option("--tolerance", default=())
    held_out: int | None = option("--held-out", type=int)
    mask_nonfinite: bool = option("--mask-nonfinite", default=False)
    by: Literal["casts", "constraints"] = option("--by", default="casts", choices=("casts", "constraints"))


_Asked = TypeVar("_Asked", bound=Options)


@dataclass(frozen=True, slots=True)
class ModelRequest(Generic[_Asked]):
    """A model, what is asked of its search, what makes its samples, and how it is built."""

    model: str
    asked: _Asked
    samples_of: Callable[[onnx.ModelProto], SampleSet]
    build: BuildOptions

    @classmethod
    def of(cls, args: Namespace, asked: type[_Asked]) -> ModelRequest[_Asked]:
        """Return what a command line requests."""
        samples_of = read_options(args, SampleOptions).samples_of
        return cls(args.model, read_options(args, asked), samples_of, read_options(args, BuildOptions))


def run_options(args: Namespace, judged: str = "{engine}") -> RunOptions:
    """Return the options of a command line, else a UsageError; ``judged`` are the arguments of a built-in check."""
    from trtforensics.bisection.checks import command_of

    options = read_options(args, RunOptions)
    if options.confidence is not None and options.repeat > 1:
        raise UsageError("--repeat", "has no use with `--confidence`, which repeats as needed", "Give one of them")
    if options.gpus and options.probes_at_once > len(options.gpus):
        what = f"asks for {options.probes_at_once} probes at once on {len(options.gpus)} GPUs"
        raise UsageError("--jobs", what, "Give as many GPUs")
    return options if options.check is None else replace(options, check=command_of(options.check, judged))


def require_linux() -> None:
    """Refuse to run probes on systems other than Linux, by a UsageError."""
    if not sys.platform.startswith("linux"):
        raise UsageError(sys.platform, "probes run on Linux only", "Run it there; everything else works here")


def with_commands(options: RunOptions, lever: Lever) -> RunOptions:
    """Return the options with a build command; a UsageError where none can run, or with another mode's placeholder."""
    require_linux()
    options = replace(options, build=options.build or lever.build)
    if options.build is None and options.check is None and not lever.judges:
        raise UsageError(f"bisect {lever.mode}", "needs a `--build` or a `--check` to run", "Give one")
    for flag, command in (("--build", options.build), ("--check", options.check)):
        for name in unknown(command or "", frozenset((*ALWAYS, lever.placeholder, *lever.more_placeholders))):
            raise UsageError(flag, f"uses {{{name}}}, which has no value in this mode", f"Use {{{lever.placeholder}}}")
    return options
