"""Runs a repaired model and the original on a GPU with the same samples, and prints how far their outputs differ.

    python check_on_gpu.py [--original MODEL.onnx] [--repaired model.onnx] [--samples FOLDER]

Needs TensorRT 9.1 or later (or TensorRT-RTX), NumPy and a GPU with its driver, nothing else. The original is built
without TF32, whose rounding is as coarse as FP16's. Exit status: 0 all outputs pass, 1 some do not, 2 it cannot run.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.bisection.precision.emulation.measures import peak_of, scores_of

if TYPE_CHECKING:
    import tensorrt as trt
else:
    try:
        import tensorrt as trt
    except ImportError:
        import tensorrt_rtx as trt

HERE = Path(__file__).resolve().parent
HIGHER = ("cosine", "psnr")
DTYPES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "BOOL": "bool",
    "INT32": "int32",
    "INT64": "int64",
    "INT8": "int8",
    "UINT8": "uint8",
}
TYPED_SINCE = 9
IMPLICIT_UNTIL = 10


class CannotRunError(Exception):
    """The check cannot run; the text says why."""


class Cuda:
    """The calls of the CUDA driver that a run needs; each raises an error if it fails."""

    def __init__(self, driver: Any) -> None:  # noqa: ANN401 - a library that ctypes has loaded
        self._driver = driver
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._driver, name)(*arguments)
        if status:
            raise CannotRunError(f"{name} failed with CUDA error {status}")

    def upload(self, array: np.ndarray[Any, Any]) -> int:
        """Copy an array to new memory of the device, and return its address."""
        address = self.allocate(array.nbytes)
        host, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), host, size)
        return address

    def allocate(self, size: int) -> int:
        """Return the address of new memory of the device."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        return int(address.value)

    def download(self, address: int, array: np.ndarray[Any, Any]) -> None:
        """Fill an array from memory of the device."""
        host, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        self._call("cuMemcpyDtoH_v2", host, ctypes.c_uint64(address), size)

    def free(self, address: int) -> None:
        """Give memory of the device back."""
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def wait(self) -> None:
        """Wait until the device is done."""
        self._call("cuCtxSynchronize")


def build(logger: trt.ILogger, path: Path, samples: list[dict[str, np.ndarray[Any, Any]]]) -> trt.IHostMemory:
    """Build a model, strongly typed, for the shapes of the samples."""
    major = int(trt.__version__.split(".")[0])
    rtx = trt.__name__ == "tensorrt_rtx"
    if major < TYPED_SINCE and not rtx:
        raise CannotRunError(f"TensorRT {trt.__version__} has no strongly typed networks; use 9.1 or later")
    flags = 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    if major < IMPLICIT_UNTIL and not rtx:
        flags |= 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    builder = trt.Builder(logger)
    network = builder.create_network(flags)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(path)):
        errors = "; ".join(str(parser.get_error(index)) for index in range(parser.num_errors))
        raise CannotRunError(f"{path} does not parse: {errors}")
    config = builder.create_builder_config()
    if not rtx:
        config.clear_flag(trt.BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    for name in samples[0]:
        shapes = [sample[name].shape for sample in samples]
        low, high = (tuple(each(sizes) for sizes in zip(*shapes, strict=True)) for each in (min, max))
        profile.set_shape(name, low, high, high)
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        raise CannotRunError(f"{path} does not build; TensorRT's last error is above")
    return plan


def run(
    engine: trt.ICudaEngine, cuda: Cuda, samples: list[dict[str, np.ndarray[Any, Any]]]
) -> list[dict[str, np.ndarray[Any, Any]]]:
    """Return the outputs of an engine for each sample."""
    names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
    outputs = [name for name in names if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT]
    context = engine.create_execution_context()
    results = []
    for sample in samples:
        addresses = {}
        for name in (name for name in names if name not in outputs):
            array = np.ascontiguousarray(sample[name], _dtype(engine, name))
            context.set_input_shape(name, array.shape)
            addresses[name] = cuda.upload(array)
        made = {name: _room(engine, context, name) for name in outputs}
        addresses.update({name: cuda.allocate(array.nbytes) for name, array in made.items()})
        for name, address in addresses.items():
            context.set_tensor_address(name, address)
        if not context.execute_async_v3(0):
            raise CannotRunError("the engine does not run; TensorRT's last error is above")
        cuda.wait()
        for name, array in made.items():
            cuda.download(addresses[name], array)
        for address in addresses.values():
            cuda.free(address)
        results.append(made)
    return results


def _room(engine: trt.ICudaEngine, context: trt.IExecutionContext, name: str) -> np.ndarray[Any, Any]:
    """Return an array of the size of an output."""
    shape = tuple(context.get_tensor_shape(name))
    if any(size < 0 for size in shape):
        raise CannotRunError(f"the size of the output {name} depends on data, which this script does not allocate")
    return np.empty(shape, _dtype(engine, name))


def _dtype(engine: trt.ICudaEngine, name: str) -> np.dtype[Any]:
    word = engine.get_tensor_dtype(name).name
    if word not in DTYPES:
        raise CannotRunError(f"{name} has the type {word}, which NumPy does not have")
    return np.dtype(DTYPES[word])


def measures(
    wanted: np.ndarray[Any, Any], output: np.ndarray[Any, Any], peak: float, lowest: float
) -> dict[str, float] | None:
    """Measure one output against its reference, as :func:`scores_of` does; NaN of the reference are left out."""
    known = ~np.isnan(wanted)
    return scores_of(wanted[known], output[known], peak=peak, lowest=lowest)


def report(
    wanted: list[dict[str, np.ndarray[Any, Any]]],
    outputs: list[dict[str, np.ndarray[Any, Any]]],
    settings: dict[str, Any],
) -> bool:
    """Print the worst of each measure of each output over the samples; return whether all outputs pass."""
    passed = True
    for name in wanted[0]:
        references = [sample[name] for sample in wanted]
        lowest = settings.get("lowest", {}).get(name, -math.inf)
        peak = max(peak_of(each, lowest) for each in references)
        pairs = zip(references, outputs, strict=True)
        scores = [measures(reference, other[name], peak, lowest) for reference, other in pairs]
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            sys.stdout.write(f"{name}: NaN or infinity where the original has none: FAILS\n")
            passed = False
            continue
        worst = {key: (min if key in HIGHER else max)(score[key] for score in known) for key in known[0]}
        spelled = ", ".join(f"{key} {value:.3g}" for key, value in worst.items())
        sys.stdout.write(f"{name}: {spelled}\n")
        for rule in settings.get("judged", {}).get(name, []):
            metric, limit = rule["metric"], rule["tolerance"]
            good = worst[metric] >= limit if metric in HIGHER else worst[metric] <= limit
            sys.stdout.write(f"  {metric} {'passes' if good else 'FAILS'}, tolerance {limit:.3g}\n")
            passed = passed and good
    return passed


def outputs_of(path: Path, samples: list[dict[str, np.ndarray[Any, Any]]]) -> list[dict[str, np.ndarray[Any, Any]]]:
    """Build a model and run it on each sample."""
    if not samples:
        raise CannotRunError("there are no samples: give --samples, a folder of .npz files")
    if not path.is_file():
        raise CannotRunError(f"there is no model {path}")
    logger = trt.Logger(trt.Logger.WARNING)
    cuda = Cuda(ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"))
    engine = trt.Runtime(logger).deserialize_cuda_engine(build(logger, path, samples))
    if engine is None:
        raise CannotRunError("TensorRT refuses the engine that it has built")
    return run(engine, cuda, samples)


def main(arguments: list[str] | None = None) -> int:
    """Check the models that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    notes = HERE / "check_on_gpu.json"
    settings = json.loads(notes.read_text(encoding="utf-8")) if notes.exists() else {}
    original = settings.get("original")
    there = {"default": Path(original)} if original else {"required": True}
    parser.add_argument("--original", type=Path, **there, help="the FP32 model")
    parser.add_argument("--repaired", type=Path, default=HERE / "model.onnx")
    parser.add_argument("--samples", type=Path, default=HERE / "samples", help="a folder of .npz files")
    args = parser.parse_args(arguments)
    try:
        samples = [dict(np.load(path)) for path in sorted(args.samples.glob("*.npz"))]
        wanted, outputs = (outputs_of(path, samples) for path in (args.original, args.repaired))
    except (CannotRunError, OSError) as error:
        sys.stderr.write(f"check_on_gpu: {error}\n")
        return 2
    what = f"{args.repaired.name} against {args.original.name}"
    sys.stdout.write(f"{trt.__name__} {trt.__version__}, {len(samples)} samples, {what}\n")
    return 0 if report(wanted, outputs, settings) else 1


if __name__ == "__main__":
    sys.exit(main())
