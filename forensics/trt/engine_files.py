"""What trtexec exports, written from objects of TensorRT's Python API: an engine's layers, a context's layer times.

``python -m trtforensics.trt.engine_files PLAN LAYERS.json`` opens a plan and writes its layers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from trtforensics.console.output import write_text
from trtforensics.trt.api import MODULES, TensorRT, load

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import tensorrt


def write_layers(engine: tensorrt.ICudaEngine, path: str | os.PathLike[str]) -> None:
    """Write what ``trtexec --exportLayerInfo`` writes: the layers of an engine as its inspector tells them.

    An engine tells types, formats and tactics only if ``profiling_verbosity`` was ``DETAILED`` when it was built.
    """
    form = _module_of(engine).LayerInformationFormat.JSON
    write_text(path, engine.create_engine_inspector().get_engine_information(form))


def write_profile(
    context: tensorrt.IExecutionContext, infer: Callable[[], object], path: str | os.PathLike[str], *, runs: int = 50
) -> None:
    """Write what ``trtexec --exportProfile`` writes: the layers' times, in ms, of one or more inferences.

    ``infer`` does one inference with the context and waits for its end; the first call is not counted. The context has
    its own profiler back afterwards. A ValueError tells that no layer reported a time.

    Raises:
        OutputError: the file cannot be written.
        ValueError: ``runs`` is below 1, or no layer reported a time.
    """
    if runs < 1:
        raise ValueError(f"{runs} runs have no times")
    times: dict[str, list[float]] = {}
    base = _module_of(context).IProfiler

    class Profiler(base):  # type: ignore[misc, valid-type]  # which module's class it is shows only now
        def __init__(self) -> None:
            base.__init__(self)

        def report_layer_time(self, layer_name: str, ms: float) -> None:
            times.setdefault(layer_name, []).append(ms)

    before = context.profiler
    infer()
    context.profiler = Profiler()
    try:
        for _ in range(runs):
            infer()
    finally:
        context.profiler = before
    total = sum(map(sum, times.values()))
    if not total:
        raise ValueError("no layer reported a time: `infer` must run the context itself, not a captured graph")
    rows = [
        {"name": name, "timeMs": sum(each), "averageMs": sum(each) / runs, "medianMs": median(each)}
        | {"percentage": 100 * sum(each) / total}
        for name, each in times.items()
    ]
    write_text(path, json.dumps([{"count": runs}, *rows], indent=1) + "\n")


def _module_of(thing: object) -> TensorRT:
    """Return the module that a thing is of, such as ``tensorrt`` of ``tensorrt_bindings.tensorrt``."""
    return load(MODULES[type(thing).__module__.startswith(MODULES[1])])


def main(arguments: list[str]) -> int:
    """Open a plan and write its layers; 1 if TensorRT refuses the plan, which it says itself."""
    plan, layers = arguments
    trt = load(MODULES[0])
    engine = trt.Runtime(trt.Logger(trt.Logger.WARNING)).deserialize_cuda_engine(Path(plan).read_bytes())
    if engine is None:
        return 1
    write_layers(engine, layers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
