"""Calls that Python, a compiler or TensorRT refuses: interfaces of other versions, arguments, shapes, flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Confidence, Fix, Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note

too_new = said(
    "TF667",
    Severity.ERROR,
    "The program uses an interface that this TensorRT does not have yet",
    kinds=("attribute_new",),
    says="The program uses {name}, which came with a later TensorRT than the one that is installed",
    cause="The program was written for a newer TensorRT: tensors by name came with 8.5, set_memory_pool_limit with "
    "8.4, build_serialized_network with 8.0, optimization profiles and builder configurations with 6 and 7.",
    confirm="python -c 'import tensorrt; print(tensorrt.__version__, tensorrt.__file__)'",
    fixes=("Install the TensorRT that the program was written for, or use the older form of the call.",),
    sources=("TensorRT's release notes, 6 to 10",),
)

enumerator = said(
    "TF668",
    Severity.ERROR,
    "An enumerator does not exist in this TensorRT",
    kinds=("attribute_flag", "enumerator_missing", "option_missing"),
    says="This TensorRT has no {name} ({type})",
    cause="Flags come and go with releases: FP16, INT8 and the constraints on precision are gone with TensorRT 11 (the "
    "model states its types), EXPLICIT_PRECISION with 10; FP8, BF16 and others came late.",
    confirm="python -c 'import tensorrt; print(tensorrt.__version__)'",
    fixes=(
        "Install the TensorRT that the program was written for, or drop the flag.",
        Fix("Give the types in the model: convert it to FP16 (ModelOpt AutoCast), quantise with Q/DQ.", "11.0"),
    ),
    sources=("TensorRT's release notes, 8 to 11", "Polygraphy's loaders with TensorRT 11"),
)

arguments = said(
    "TF669",
    Severity.ERROR,
    "A function of TensorRT is called with arguments that it does not take",
    kinds=("arguments_refused",),
    cause="Likeliest first: an argument is None, because what should have made it failed (the lines 'Invoked with' end "
    "in None); the call is of another TensorRT version; a type is not the one it takes (a list for Dims, a tensor for "
    "an address).",
    confirm="The lines behind it: the forms that are supported, and 'Invoked with'.",
    fixes=(
        "If it was called with None: mend the step that returned None, and check what it returns.",
        "Else call it as the supported form says (int(pointer), tuples for shapes).",
    ),
    settle="The line 'Invoked with'.",
    sources=("pybind11's TypeError in public threads",),
)

numpy_alias = said(
    "TF663",
    Severity.ERROR,
    "NumPy is newer than this TensorRT's Python module",
    kinds=("numpy_alias",),
    says="NumPy no longer has numpy.{name}, which older TensorRT modules use",
    cause="NumPy 1.24 removed the aliases bool, int, float and object. tensorrt's nptype used numpy.bool up to 8.5.",
    confirm="python -c 'import numpy; print(numpy.__version__)'",
    fixes=("pip install 'numpy<1.24', or use TensorRT 8.6 and later.",),
    sources=("tensorrt/__init__.py of 8.5 and earlier; NumPy 1.24's release notes",),
)

rank = said(
    "TF620",
    Severity.ERROR,
    "A shape is set that has another number of dimensions than the input",
    kinds=("rank_differs",),
    cause="The shape that the program sets has more or fewer dimensions than the engine's input. Usual: the batch or "
    "the channel is missing, or the engine is of another model.",
    confirm="engine.get_tensor_shape(name) against the shape that is set.",
    fixes=("Give a shape with as many dimensions as the engine's input has, the batch included.",),
    sources=("engine.cpp (setBindingDimensions) of 7 and 8",),
)

output = said(
    "TF621",
    Severity.ERROR,
    "The shape of an output is set",
    kinds=("output_shaped",),
    cause="Shapes are set for inputs only; TensorRT works out those of outputs.",
    confirm="engine.get_tensor_mode(name), engine.binding_is_input(index).",
    fixes=("Set shapes of inputs only, and read an output's with context.get_tensor_shape (get_binding_shape).",),
    sources=("engine.cpp (setBindingDimensions) of 7 and 8; NVIDIA/TensorRT#536",),
)

_CODES = {
    "2": "out of memory: GPU memory ran out",
    "3": "initialization error: driver and CUDA libraries do not fit, or CUDA was used before a fork",
    "4": "a kernel failed (CUDA before 10.1), or the CUDA runtime is being unloaded",
    "30": "an unknown error (CUDA before 10.1)",
    "35": "the driver is older than the CUDA runtime needs",
    "38": "no CUDA device is seen (CUDA before 10.1)",
    "46": "all devices are busy or not available",
    "48": "no kernel of the program was compiled for this GPU",
    "77": "an illegal memory access (CUDA before 10.1)",
    "100": "no CUDA device is seen",
    "101": "the device number is not valid",
    "209": "no kernel of the program was compiled for this GPU",
    "222": "the driver is too old for a kernel's PTX",
    "700": "an illegal memory access",
    "702": "a kernel ran longer than the watchdog allows",
    "716": "a misaligned address",
    "719": "a kernel failed to launch or crashed",
    "802": "the system is not ready: the fabric manager of the GPUs does not run",
    "803": "driver and its user libraries differ in version",
    "804": "the forward compatibility package does not support this GPU",
    "999": "an unknown error: often the driver after a suspend or an update without reboot",
}
"""Numbers of cudaError_t, and what they mean for a user of TensorRT; numbers below 100 changed with CUDA 10.1."""


@rule(
    "TF622",
    Severity.ERROR,
    "A CUDA call failed",
    cause="A call of CUDA returned an error. CUDA reports errors of kernels late, so the call that is named need not "
    "be the one that failed.",
    confirm="CUDA_LAUNCH_BLOCKING=1, and compute-sanitizer PROGRAM for illegal accesses; nvidia-smi for the driver.",
    fixes=(
        "Codes 3, 35, 222, 803, 804: make driver, CUDA and TensorRT versions fit (update the driver, reboot).",
        "Code 2: free GPU memory; codes 48 and 209: compile for this GPU's compute capability.",
        "Codes 700, 716, 719: check sizes and devices of the buffers that are bound, and plugins' kernels.",
    ),
    sources=("cudaError_t in the CUDA runtime's documentation; NVIDIA/TensorRT#4690",),
    follows=("TF309", "TF310", "TF314", "TF653"),
    last=True,
)
def cuda_call(case: Case) -> Iterator[Observation]:
    """Give the meaning of the code, where no rule speaks of its words."""
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in case.notes("cuda_code"):
        if note.span.line not in case.explained:
            code, words = note.text("status"), note.text("text").strip(" .)")
            groups.setdefault((code, words or _CODES.get(code, "")), []).append(note)
    for (code, meaning), notes in groups.items():
        number = f" with error {code}" if code else ""
        yield Observation(
            f"A CUDA call failed{number}" + (f": {meaning}" if meaning else ""),
            [note.span for note in notes],
            confidence=Confidence.CERTAIN if meaning else Confidence.LIKELY,
            settle="" if meaning else "CUDA_LAUNCH_BLOCKING=1: the call that fails, with CUDA's own words",
            same_as=f"CUDA {code or meaning}",
        )


@rule(
    "TF623",
    Severity.ERROR,
    "A plugin failed while it ran",
    cause="The plugin's enqueue returned an error, or a CUDA call inside it failed. Likeliest first: a kernel of the "
    "plugin does not fit the shapes or types it was given; it was not compiled for this GPU; memory.",
    confirm="compute-sanitizer on the program, and the plugin's own messages before it.",
    fixes=("Mend or rebuild the plugin for this GPU and TensorRT; check the formats that it claims to support.",),
    sources=("pluginV2DynamicExtRunner.cpp of 7 and 8",),
    follows=("TF309", "TF314", "TF653"),
)
def plugin_failed(case: Case) -> Iterator[Observation]:
    """Report the runner's refusal."""
    yield from observe(
        case.notes("plugin_failed"),
        "A plugin failed while it ran",
        settle="Whether the engine runs with the plugin replaced, and the first CUDA error under compute-sanitizer",
    )


@rule(
    "TF624",
    Severity.ERROR,
    "A GPU library failed inside TensorRT",
    cause="A kernel or a call of cuDNN, cuBLAS, cuTENSOR or CASK failed. Likeliest first: GPU memory ran out; an "
    "earlier CUDA error broke the context; the library's version does not fit this TensorRT or the driver.",
    confirm="The first CUDA error of the same run; nvidia-smi for free memory; ldd for the library that is loaded.",
    fixes=(
        "Free GPU memory and try again; mend an earlier CUDA error first.",
        "Install the cuDNN and cuBLAS versions that this TensorRT release names.",
    ),
    sources=("error lines of 5 to 10",),
    follows=("TF416", "TF309", "TF310", "TF314", "TF622"),
    last=True,
)
def library_call(case: Case) -> Iterator[Observation]:
    """Quote the call, where no rule knows its status."""
    for note in case.notes("library_call"):
        if note.span.line not in case.explained:
            yield Observation(
                f"A GPU library failed inside TensorRT: {note.text('text').strip(' .)')[:160]}",
                [note.span],
                confidence=Confidence.LIKELY,
                settle="The first error of the run, and free GPU memory at that moment (nvidia-smi)",
                same_as=f"library {note.text('text')}",
            )


host_copy = said(
    "TF626",
    Severity.ERROR,
    "A copy between host and GPU has the wrong size",
    kinds=("host_copy",),
    cause="More bytes are copied than the buffer on one side has, or a pointer is not one of CUDA's. Usual: the "
    "picture is resized to another size than the engine's input, the batch differs, the type is float64 instead of "
    "float32, or an output's shape is dynamic and its buffer was made for another.",
    confirm="Print nbytes of the array and of the buffer before the copy, and the engine's shape and type.",
    fixes=("Give the array the shape and type of the engine's input (np.ascontiguousarray), and size buffers by it.",),
    settle="The two sizes in bytes.",
    sources=("jkjung-avt/tensorrt_demos#69, #266; OpenPPL/ppq#461",),
)

plugin_formats = said(
    "TF625",
    Severity.ERROR,
    "A plugin takes none of the types and formats it is offered",
    kinds=("plugin_formats",),
    cause="supportsFormatCombination of the plugin refuses every combination for the types at its place. Likeliest "
    "first: the plugin computes in FP16 or INT8 only and the precision flag is missing (or the reverse); its library "
    "is of another version than the model; a field such as type_id says another type.",
    confirm="The types of its inputs, and the plugin's supportsFormatCombination.",
    fixes=("Give the precision that the plugin is made for, and take model, plugin and TensorRT of one release.",),
    settle="Which types the plugin's source accepts.",
    sources=("cudnnBuilderGraphNodes.cpp of 7; NVIDIA/TensorRT#726",),
)
