"""Runs the GPU check of a repair where there is no GPU: ``python -m tests.support.gpu_check_run SCRIPT ORIGINAL``.

The emulator builds; a driver that holds memory in this process, and engines that multiply, stand in for the rest.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorrt as trt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FACTORS: Mapping[str, float] = {"model.onnx": 2.0}
"""What the engine of a model multiplies its input by, besides 1; by the name of the model."""


class Driver:
    """The CUDA driver's calls over memory of this process; those that allocate nothing succeed."""

    def __init__(self) -> None:
        self.memory: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *_: 0

    def cuMemAlloc_v2(self, address: Any, size: ctypes.c_size_t) -> int:  # noqa: N802 - the driver's name
        """Allocate."""
        memory = ctypes.create_string_buffer(size.value)
        address._obj.value = ctypes.addressof(memory)
        self.memory[ctypes.addressof(memory)] = memory
        return 0

    def cuMemcpyHtoD_v2(self, address: Any, source: Any, size: Any) -> int:  # noqa: N802 - the driver's name
        """Copy to the device."""
        ctypes.memmove(address.value, source, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, target: Any, address: Any, size: Any) -> int:  # noqa: N802 - the driver's name
        """Copy from the device."""
        ctypes.memmove(target, address.value, size.value)
        return 0

    def cuMemFree_v2(self, address: Any) -> int:  # noqa: N802 - the driver's name
        """Give memory back."""
        del self.memory[address.value]
        return 0


class Engine:
    """An engine and its context: ``y = factor * x``."""

    num_io_tensors = 2

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._shape: tuple[int, ...] = ()
        self._addresses: dict[str, int] = {}

    def get_tensor_name(self, index: int) -> str:
        """Return x or y."""
        return "xy"[index]

    def get_tensor_mode(self, name: str) -> Any:
        """Return whether it is read or written."""
        return trt.TensorIOMode.INPUT if name == "x" else trt.TensorIOMode.OUTPUT

    def get_tensor_dtype(self, _name: str) -> Any:
        """Return FP32."""
        return trt.DataType.FLOAT

    def create_execution_context(self) -> Engine:
        """Return what runs."""
        return self

    def set_input_shape(self, _name: str, shape: tuple[int, ...]) -> None:
        """Take the shape of both tensors."""
        self._shape = shape

    def get_tensor_shape(self, _name: str) -> tuple[int, ...]:
        """Return it."""
        return self._shape

    def set_tensor_address(self, name: str, address: int) -> None:
        """Take where a tensor lies."""
        self._addresses[name] = address

    def execute_async_v3(self, _stream: int) -> bool:
        """Multiply."""
        count = int(np.prod(self._shape))
        x, y = ((ctypes.c_float * count).from_address(self._addresses[name]) for name in "xy")
        for place in range(count):
            y[place] = x[place] * self._factor
        return True


def main() -> int:
    """Run the script with its stand-ins."""
    script, *arguments = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("check_on_gpu", script)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    driver, build = Driver(), module.build
    plans: dict[int, str] = {}

    def building(logger: Any, path: Path, samples: Any) -> Any:
        plan = build(logger, path, samples)
        plans[id(plan)] = path.name
        return plan

    class Runtime:
        def __init__(self, _logger: Any) -> None:
            pass

        def deserialize_cuda_engine(self, plan: Any) -> Engine:
            return Engine(FACTORS.get(plans[id(plan)], 1.0))

    module.build = building
    module.trt.Runtime = Runtime
    module.ctypes.CDLL = lambda _name: driver
    status = int(module.main(arguments))
    assert not driver.memory, "memory of the device is not given back"
    return status


if __name__ == "__main__":
    sys.exit(main())
