"""What trtexec prints around a simulated build: its options, the device, the model's header, the measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.log.event import TEN, Event, Version, six_digits
from tests.emulator.log.opening import (
    Banner,
    Blank,
    DeviceFact,
    EngineBuilt,
    EngineSize,
    Latency,
    Message,
    OnnxHeader,
    Option,
    OptionBlock,
    Throughput,
    TotalTime,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILD = 11
DEVICE = "GPU-0e0a0b1c-2d3e-4f50-8192-a3b4c5d6e7f8"
SHAPES = "x=1x3x32x32+8x3x32x32+16x3x32x32"
WEAK_TYPING = (
    "Weakly-typed networks have been deprecated in TensorRT. You can use the AutoCast tool "
    "(https://nvidia.github.io/TensorRT-Model-Optimizer/guides/8_autocast.html) "
    "to convert the network to be strongly typed."
)
RULE = "-" * 64


def arguments(*, level: int, inference: bool) -> str:
    """Return the command line of a build."""
    shapes = "--minShapes=x:1x3x32x32 --optShapes=x:8x3x32x32 --maxShapes=x:16x3x32x32"
    pool = "--memPoolSize=workspace:0.0625M"
    skip = "" if inference else " --skipInference"
    return f"trtexec --onnx=tiny.onnx {shapes} --fp16 {pool} --builderOptimizationLevel={level}{skip} --verbose"


def opening(version: Version, command: str, level: int) -> Iterator[Event]:
    """Yield trtexec's lines before the model is parsed."""
    newer = version >= TEN
    yield Banner("RUNNING", command, BUILD)
    if newer:
        yield Message("W", WEAK_TYPING, of_tensorrt=False)
    yield OptionBlock("Model Options")
    yield from (Option("Format", "ONNX"), Option("Model", "tiny.onnx"), Option("Output", None))
    yield OptionBlock("Build Options")
    yield from _build_options(level, newer=newer)
    yield OptionBlock("System Options")
    yield from (Option("Device", "0"), Option("DLACore", ""))
    yield Option("Loaded static plugins" if newer else "Plugins", None)
    yield from (Option("setPluginsToSerialize", None), Option("dynamicPlugins", None))
    yield from (Option("ignoreParsedPluginLibs", "0"), Blank())
    yield OptionBlock("Inference Options")
    yield from _inference_options(newer=newer)
    yield OptionBlock("Reporting Options")
    yield from (Option("Verbose", "Enabled"), Option("Averages", "10 inferences"), Option("Percentiles", "90,95,99"))
    yield from (Option("Dump refittable layers", "Disabled"), Option("Dump output", "Disabled"))
    yield from (Option("Profile", "Disabled"), Option("Export timing to JSON file", ""))
    yield from (Option("Export output to JSON file", ""), Option("Export profile to JSON file", ""), Blank())
    yield OptionBlock("Device Information")
    yield from _device(newer=newer)
    yield Message("I", f"TensorRT version: {'.'.join(map(str, version))}", of_tensorrt=False)
    yield Message("I", "Loading standard plugins", of_tensorrt=False)
    yield Message("I", "[MemUsageChange] Init CUDA: CPU +2, GPU +0, now: CPU 30, GPU 1021 (MiB)")
    yield Message("I", "Start parsing network model.", of_tensorrt=False)


def _build_options(level: int, *, newer: bool) -> Iterator[Event]:
    pools = "workspace: 0.0625 MiB, dlaSRAM: default, dlaLocalDRAM: default, dlaGlobalDRAM: default"
    if newer:
        yield from (Option("Memory Pools", f"{pools}, tacticSharedMem: default"), Option("avgTiming", "8"))
    else:
        yield from (Option("Max batch", "explicit batch"), Option("Memory Pools", pools))
        yield from (Option("minTiming", "1"), Option("avgTiming", "8"))
    yield from (Option("Precision", "FP32+FP16"), Option("LayerPrecisions", ""), Option("Layer Device Types", ""))
    yield from (Option("Calibration", ""), Option("Refit", "Disabled"), Option("Version Compatible", "Disabled"))
    yield from (Option("TensorRT runtime", "full"), Option("Sparsity", "Disabled"), Option("Safe mode", "Disabled"))
    yield from (Option("Save engine", ""), Option("Load engine", ""), Option("Profiling verbosity", "0"))
    yield Option("Tactic sources", "Using default tactic sources")
    yield Option("timingCacheMode", "global" if newer else "local")
    yield Option("timingCacheFile", "tiny.cache" if newer else "")
    yield from (Option("Preview Features", "Use default preview flags."), Option("MaxAuxStreams", "-1"))
    yield Option("BuilderOptimizationLevel", str(level))
    if newer:
        yield from (Option("MaxTactics", "-1"), Option("Runtime Platform", "Same As Build"))
    yield from (Option("Input(s)s format", "fp32:CHW"), Option("Output(s)s format", "fp32:CHW"))
    yield Option("Input build shape (profile 0)" if newer else "Input build shape", SHAPES)


def _inference_options(*, newer: bool) -> Iterator[Event]:
    yield Option("Batch", "Explicit")
    yield Option("Input inference shape " if newer else "Input inference shape", "x=8x3x32x32")
    yield from (Option("Iterations", "10"), Option("Duration", "3s (+ 200ms warm up)"), Option("Sleep time", "0ms"))
    yield from (Option("Inference Streams", "1"), Option("Data transfers", "Enabled"), Option("CUDA Graph", "Disabled"))
    yield Option("Inputs", None)


def _device(*, newer: bool) -> Iterator[Event]:
    name = "Emulated GPU"
    if newer:
        yield DeviceFact("Available Devices", "")
        yield Message("I", f'  Device 0: "{name}" UUID: {DEVICE}', of_tensorrt=False)
    yield DeviceFact("Selected Device", name)
    if newer:
        yield from (DeviceFact("Selected Device ID", "0"), DeviceFact("Selected Device UUID", DEVICE))
    yield from (DeviceFact("Compute Capability", "8.9"), DeviceFact("SMs", "48"))
    yield from (DeviceFact("Device Global Memory", "16384 MiB"), DeviceFact("Shared Memory per SM", "100 KiB"))
    yield DeviceFact("Memory Bus Width", "256 bits (ECC disabled)")
    yield DeviceFact("Application Compute Clock Rate", "2.1 GHz")
    yield from (DeviceFact("Application Memory Clock Rate", "9.501 GHz"), Blank())
    note = "The application clock rates do not reflect the actual clock rates that the GPU is currently running at."
    yield from (DeviceFact("Note", note), Blank())


def model_header(*, newer: bool) -> Iterator[Event]:
    """Yield the block that describes the model file."""
    yield Message("I", RULE)
    yield OnnxHeader("Input filename", "tiny.onnx")
    yield OnnxHeader("ONNX IR version", "0.0.10" if newer else "0.0.8")
    yield OnnxHeader("Opset version", "18" if newer else "17")
    yield from (OnnxHeader("Producer name", "emulator"), OnnxHeader("Producer version", "1"))
    yield from (OnnxHeader("Domain", ""), OnnxHeader("Model version", "0"), OnnxHeader("Doc string", ""))
    yield Message("I", RULE)


def closing(command: str, seconds: float, estimate: float | None, *, newer: bool) -> Iterator[Event]:
    """Yield trtexec's lines after the build; ``estimate`` is the inference time in ms, None skips the inference."""
    if newer:
        yield EngineSize(0.731628)
    yield EngineBuilt(seconds)
    yield Message("I", "Loaded engine size: 0 MiB")
    yield Message("V", "Deserialization required 1433 microseconds.")
    yield Message("I", "Engine deserialized in 0.00172 sec.", of_tensorrt=False)
    if estimate is None:
        yield Message("I", "Skipped inference phase since --skipInference is added.", of_tensorrt=False)
    else:
        yield from _measurements(estimate)
    yield Banner("PASSED", command, BUILD)


def _measurements(estimate: float) -> Iterator[Event]:
    yield Message("I", "Using random values for input x", of_tensorrt=False)
    yield Message("I", "Input binding for x with dimensions 8x3x32x32 is created.", of_tensorrt=False)
    yield Message("I", "Starting inference", of_tensorrt=False)
    yield Message("I", "Warmup completed 1800 queries over 200 ms", of_tensorrt=False)
    yield Message("I", "Timing trace has 28000 queries over 3.0002 s", of_tensorrt=False)
    yield Blank()
    yield OptionBlock("Performance summary")
    yield Throughput(9332.71)
    for name, ms in (("Latency", estimate + 0.021), ("Enqueue Time", 0.0312), ("H2D Latency", 0.0114)):
        yield _distribution(name, ms)
    yield from (_distribution("GPU Compute Time", estimate), _distribution("D2H Latency", 0.00522))
    yield from (TotalTime("Total Host Walltime", 3.0002), TotalTime("Total GPU Compute Time", 2.11406))
    unstable = "* GPU compute time is unstable, with coefficient of variance = 4.1274%."
    yield Message("W", unstable, of_tensorrt=False)
    hint = "  If not already in use, locking GPU clock frequency or adding --useSpinWait may improve the stability."
    yield Message("W", hint, of_tensorrt=False)
    end = "Explanations of the performance metrics are printed in the verbose logs."
    yield from (Message("I", end, of_tensorrt=False), Blank())


def _distribution(name: str, ms: float) -> Latency:
    return Latency(name, *(six_digits(ms * factor) for factor in (0.94, 1.9, 1.0, 0.99, 1.03, 1.05, 1.2)))
