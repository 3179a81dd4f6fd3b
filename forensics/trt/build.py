"""Builds one engine in this process: ``python -m trtforensics.trt.build JOB.json``.

It runs as a child process, so that a crash of TensorRT does not end the search. The verbose log goes to the standard
streams as TensorRT writes it; the outcome goes into the report file that the job names.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trtforensics.trt.api import RtxConfig, RtxModule, TensorRT, load
from trtforensics.trt.build_levers import BuildLever, BuildSetup, LeverResult, RouteSetting, TensorMarking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import tensorrt


BUILD_MODULE = "trtforensics.trt.build"

REFUSED = 3
"""Exit code if TensorRT refuses: the model does not parse, or the build returns no engine."""

NOT_ASKED = 125
"""Exit code if the lever cannot be applied: the build then says nothing about the items."""


@dataclass(frozen=True, slots=True)
class BuildJob:
    """One build.

    ``module`` is ``tensorrt`` or ``tensorrt_rtx``. ``shapes`` gives dynamic inputs one size: the minimum, optimum and
    maximum of their profile. ``compute_capability`` is the target of TensorRT-RTX without a GPU, such as ``SM89``.
    ``fp32_layers`` keeps ONNX nodes in FP32 by layer precisions (TensorRT 10 and older), in a weakly typed build that
    may otherwise use ``precision``, the name of a builder flag.

    ``flags`` are names of builder flags; without ``typed`` the network is weakly typed if the version can do that.
    At most one lever is set. ``replay`` pins tactics, by entries of a replay as JSON has them. ``keys`` pins those of
    an editable cache: it gives each key its tactic and its time in ms;
    :class:`trtforensics.trt.cache_file.CacheKeyPinning` describes ``bases``, ``optional`` and ``store``. ``outputs``
    marks tensors, as debug tensors with ``debug``. ``route`` sets the build route.
    """

    module: str
    model: str
    report: str
    engine: str | None = None
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    compute_capability: str | None = None
    fp32_layers: Sequence[str] | None = None
    precision: str = "FP16"
    flags: Sequence[str] = ()
    typed: bool = True
    level: int | None = None
    replay: Sequence[Mapping[str, Any]] | None = None
    keys: Mapping[str, tuple[int, float]] | None = None
    optional: Sequence[str] = ()
    bases: Sequence[str] = ()
    store: str = ""
    outputs: Sequence[str] | None = None
    debug: bool = False
    route: str | None = None


@dataclass(slots=True)
class BuildReport:
    """The outcome of a build; ``layers`` gives each network layer the type of its first output."""

    version: str
    parsed: bool = False
    built: bool = False
    errors: list[str] = field(default_factory=list)
    layers: dict[str, str] = field(default_factory=dict)
    engine_bytes: int = 0
    seconds: float = 0.0
    lever: LeverResult = field(default_factory=LeverResult)


def build(job: BuildJob) -> BuildReport:
    """Build the job, with a verbose log."""
    trt = load(job.module)
    report = BuildReport(str(trt.__version__))
    logger = trt.Logger(trt.Logger.VERBOSE)
    builder = trt.Builder(logger)
    network = builder.create_network(_network_flags(trt, job))
    parser = trt.OnnxParser(network, logger)
    report.parsed = bool(parser.parse_from_file(job.model))
    report.errors = [str(parser.get_error(index)) for index in range(parser.num_errors)]
    if not report.parsed:
        return report

    def make_config() -> tensorrt.IBuilderConfig:
        config = builder.create_builder_config()
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        _configure(trt, job, builder, network, config)
        return config

    setup, config = BuildSetup(trt, builder, network, make_config), make_config()
    lever = _lever(job)
    if lever is not None:
        report.lever = lever.result
        lever.attach(setup, config)
        if report.lever.refused:
            return report
    report.layers = {layer.name: _word(layer.get_output(0)) for layer in _layers(network)}
    begin = time.monotonic()
    engine = builder.build_serialized_network(network, config)
    report.seconds = time.monotonic() - begin
    if engine is None:
        if lever is not None:
            lever.explain(setup)
        return report
    report.built, report.engine_bytes = True, engine.nbytes
    if job.engine is not None:
        Path(job.engine).write_bytes(memoryview(engine))
    if lever is not None:
        lever.look(config)
    return report


def _lever(job: BuildJob) -> BuildLever | None:
    """Return the job's lever; the larger ones are imported only if they are used."""
    if job.replay is not None:
        from trtforensics.trt.tactics import TacticPinning, entry_from  # noqa: PLC0415 - see above

        return TacticPinning([entry_from(entry) for entry in job.replay])
    if job.keys is not None:
        from trtforensics.trt.cache_file import CacheKeyPinning  # noqa: PLC0415 - see above

        return CacheKeyPinning(job.keys, frozenset(job.optional), [Path(path) for path in job.bases], Path(job.store))
    if job.outputs is not None:
        return TensorMarking(job.outputs, debug=job.debug)
    if job.route is not None:
        return RouteSetting(job.route)
    return None


def _network_flags(trt: TensorRT, job: BuildJob) -> int:
    flags = trt.NetworkDefinitionCreationFlag
    if job.fp32_layers is None and job.typed:
        return 1 << int(flags.STRONGLY_TYPED)
    return 1 << int(flags.EXPLICIT_BATCH) if hasattr(flags, "EXPLICIT_BATCH") else 0


def _configure(
    trt: TensorRT,
    job: BuildJob,
    builder: tensorrt.Builder,
    network: tensorrt.INetworkDefinition,
    config: tensorrt.IBuilderConfig,
) -> None:
    if job.compute_capability is not None:
        rtx = cast("RtxConfig", config)
        rtx.num_compute_capabilities = 1
        rtx.set_compute_capability(cast("RtxModule", trt).ComputeCapability.__members__[job.compute_capability], 0)
    for name in job.flags:
        config.set_flag(trt.BuilderFlag.__members__[name])
    if job.level is not None:
        config.builder_optimization_level = job.level
    if job.shapes:
        profile = builder.create_optimization_profile()
        for name, shape in job.shapes.items():
            profile.set_shape(name, shape, shape, shape)
        config.add_optimization_profile(profile)
    if job.fp32_layers is not None:
        config.set_flag(trt.BuilderFlag.__members__[job.precision])
        config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
        _constrain(trt, frozenset(job.fp32_layers), network)


def _constrain(trt: TensorRT, names: frozenset[str], network: tensorrt.INetworkDefinition) -> None:
    for layer in _layers(network):
        if layer.name in names:
            layer.precision = trt.float32
            for index in range(layer.num_outputs):
                layer.set_output_type(index, trt.float32)


def _layers(network: tensorrt.INetworkDefinition) -> list[tensorrt.ILayer]:
    return [network.get_layer(index) for index in range(network.num_layers)]


def _word(tensor: tensorrt.ITensor | None) -> str:
    return str(tensor.dtype).rpartition(".")[2] if tensor is not None else ""


def main(arguments: Sequence[str]) -> int:
    """Run the job in a file; the report is written even if TensorRT refuses."""
    job = BuildJob(**json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    report = build(job)
    Path(job.report).write_text(json.dumps(asdict(report)), encoding="utf-8")
    if report.lever.refused:
        sys.stderr.write("".join(f"{sentence}\n" for sentence in report.lever.refused))
        return NOT_ASKED
    return 0 if report.built else REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
