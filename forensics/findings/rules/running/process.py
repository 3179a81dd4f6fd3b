"""What ends a process, or keeps it from starting: memory of the host, CUDA contexts, modules and libraries."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

killed = said(
    "TF650",
    Severity.ERROR,
    "The system killed the process, most likely for want of memory",
    kinds=("host_killed",),
    cause="A bare 'Killed' comes from the kernel's OOM killer (out of memory): host memory ran out. On Jetson, CPU and "
    "GPU share that memory.",
    confirm="dmesg | grep -i -E 'killed process|out of memory', right after it.",
    fixes=(
        "Free host memory or add swap; build with fewer parallel jobs, on a machine with more memory, and run there.",
        (
            "On Jetson: there is not enough memory for Python, CUDA and TensorRT at once; use the C++ program or "
            "trtexec, "
            "stop the desktop, and add swap."
        ),
        Fix("Set CUDA_MODULE_LOADING=LAZY: libraries then take less host memory.", "8.5"),
    ),
    settle="The kernel's log of that minute.",
    sources=("public threads of 8.0 on Jetson Nano and of TensorRT-LLM builds",),
)

no_context = said(
    "TF651",
    Severity.ERROR,
    "No CUDA context is current in this thread",
    kinds=("context_missing",),
    cause="PyCUDA, or a driver call, was used in a process or thread where nothing created a CUDA context.",
    confirm="pycuda.driver.Context.get_current() is None in that thread.",
    fixes=(
        (
            "import pycuda.autoinit in the main thread, or create a CUDA context yourself (Device(0).make_context()) "
            "and push "
            "it in every thread that uses it. cuda-python and torch use the primary context and need none of that."
        ),
    ),
    sources=("pycuda's LogicError in public threads",),
)

other_context = said(
    "TF652",
    Severity.ERROR,
    "A CUDA object is used in another context than it was made in",
    kinds=("handle_invalid",),
    cause="A stream, event or library handle belongs to a CUDA context: PyCUDA's own context beside the primary one of "
    "torch, a context of another thread, or one that was destroyed.",
    confirm="Run with one library for CUDA only, in one thread.",
    fixes=("Make and use engine, streams and buffers in one context: push it in each thread, or use the primary one.",),
    settle="Whether PyCUDA and another CUDA library are in the process.",
    sources=("cudaErrorInvalidResourceHandle (400) in public threads",),
)

no_kernel = said(
    "TF653",
    Severity.ERROR,
    "A CUDA kernel was not compiled for this GPU",
    kinds=("kernel_missing",),
    cause="A library holds no code for this GPU's compute capability: a plugin or program compiled for another GPU "
    "architecture, a TensorRT too old for the GPU, or the wrong GPU of a machine with several (device id).",
    confirm="nvidia-smi --query-gpu=index,name,compute_cap --format=csv against the -gencode flags; "
    "cuobjdump --list-elf LIBRARY.",
    fixes=(
        "Compile plugins and program for this compute capability (-gencode arch=compute_XY,code=sm_XY).",
        "Choose the GPU that was meant: its device id, or CUDA_VISIBLE_DEVICES.",
        "Use a TensorRT that supports this GPU.",
    ),
    settle="Which library's kernel it is: the line before names a plugin or a runner.",
    sources=("cudaErrorNoKernelImageForDevice (209, older 48) in public threads",),
)

forked = said(
    "TF654",
    Severity.ERROR,
    "CUDA is used in a forked process",
    kinds=("forked",),
    cause="A process that used CUDA was forked; CUDA does not work in the child.",
    confirm="multiprocessing.get_start_method() is fork.",
    fixes=("Use the start method spawn, or create engine and context in the child only.",),
    sources=("torch and multiprocessing in public threads",),
)

factory = said(
    "TF655",
    Severity.ERROR,
    "TensorRT's builder or runtime could not be created",
    kinds=("factory_null",),
    cause="Creating the object failed inside TensorRT: CUDA could not be initialised (no GPU, a driver too old, "
    "another "
    "CUDA version), or libraries of two versions are mixed.",
    confirm="TensorRT's own line before it (CUDA initialization failure with error N); nvidia-smi.",
    fixes=("Mend the GPU, driver or CUDA installation; in a container, start it with --gpus all.",),
    settle="The line of TensorRT's logger before the traceback.",
    sources=("pybind11 tracebacks of tensorrt.Builder and tensorrt.Runtime in public threads",),
    follows=("TF310", "TF410", "TF622"),
)

undefined_symbol = said(
    "TF656",
    Severity.ERROR,
    "A library was built against another version of what it uses",
    kinds=("symbol_undefined",),
    says="A library wants the symbol {name}, and the loaded libraries do not have it",
    cause="The library was built against another version of TensorRT, PyTorch or CUDA than the one that is installed: "
    "Torch-TensorRT pairs with one PyTorch version, plugins with one TensorRT.",
    confirm="c++filt SYMBOL names the class; pip list and ldd LIBRARY name the versions.",
    fixes=(
        (
            "Install the matching version: for Torch-TensorRT the version of PyTorch that its release notes name, for "
            "plugins "
            "the TensorRT that they were compiled with, or compile them again."
        ),
    ),
    sources=("ImportError lines in public threads",),
)

entry = said(
    "TF665",
    Severity.ERROR,
    "A plugin library lacks the function by which TensorRT asks for its plugins",
    kinds=("plugin_entry",),
    says="The plugin library has no function {name}",
    cause="IPluginRegistry::loadLibrary calls getCreators (TensorRT 10; getPluginCreators before) and "
    "setLoggerFinder of the library. The library was written for loading with dlopen, or for another TensorRT.",
    confirm="nm -D LIBRARY lists the functions that it exports.",
    fixes=(
        'Export the function from the library as extern "C", and build it against this TensorRT.',
        "Or load the library with dlopen (ctypes.CDLL): its plugins then register themselves.",
    ),
    sources=("IPluginRegistry::loadLibrary of 10.x; NVIDIA/TensorRT#4121",),
)

no_module = said(
    "TF657",
    Severity.ERROR,
    "A Python module is not installed in this environment",
    kinds=("module_missing",),
    says="Python does not find the module {name}",
    cause="The module is not installed for the Python that runs: another virtual environment, another Python version "
    "(on Jetson TensorRT's module belongs to the system's Python only), or it was never installed.",
    confirm="python -c 'import sys; print(sys.executable)'; python -m pip list.",
    fixes=(
        "Install it for this Python (python -m pip install tensorrt for TensorRT), or run the Python that has it.",
        "On Jetson, make the virtual environment with --system-site-packages.",
    ),
    sources=("ModuleNotFoundError lines in public threads",),
)

on_windows = said(
    "TF658",
    Severity.ERROR,
    "A DLL of TensorRT is not on the PATH",
    kinds=("library_on_windows",),
    says="{name} cannot be loaded: a DLL is not on the PATH",
    cause="The Python module was found, its libraries were not: the folder with TensorRT's DLLs is not on the PATH, or "
    "they are of another version than the module.",
    confirm="where nvinfer*.dll",
    fixes=("Add the lib folder of TensorRT (and bin of CUDA) to the PATH, of the version of the Python module.",),
    sources=("tensorrt/__init__.py on Windows",),
)

api_gone = said(
    "TF659",
    Severity.ERROR,
    "The program uses an interface that this TensorRT no longer has",
    kinds=("attribute_gone",),
    says="The program uses {name}, which was removed in a later TensorRT than it was written for",
    cause="The program was written for an older TensorRT. TensorRT 8 removed what 7 had deprecated, and TensorRT 10 "
    "what "
    "8 had: implicit batch, bindings by index, max_workspace_size, build_engine, execute_async_v2.",
    confirm="python -c 'import tensorrt; print(tensorrt.__version__)'",
    fixes=(
        "max_workspace_size: config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, BYTES).",
        "build_engine, build_cuda_engine: builder.build_serialized_network(network, config), then a Runtime.",
        "Bindings by index: num_io_tensors, get_tensor_name, get_tensor_shape, get_tensor_mode, get_tensor_dtype.",
        "execute_async, execute_async_v2: set_tensor_address for each tensor, then execute_async_v3(stream).",
        "set_binding_shape: set_input_shape. fp16_mode, int8_mode: config.set_flag(trt.BuilderFlag.FP16).",
        "Or install the older TensorRT that the program was written for (TensorRT 8 where it uses bindings).",
    ),
    sources=("NVIDIA/TensorRT#3816; migration notes of 8.0 and 10.0",),
)

module_attribute = said(
    "TF660",
    Severity.ERROR,
    "Python imports something else under the name tensorrt",
    kinds=("module_attribute",),
    says="The imported module tensorrt has no {name}",
    cause="Another thing is imported as tensorrt: a folder or file of that name in the working directory, a package "
    "that "
    "is installed in part, or a version without that name.",
    confirm="python -c 'import tensorrt; print(tensorrt.__file__, tensorrt.__version__)'",
    fixes=("Rename the folder or file, or install TensorRT's package again as a whole.",),
    settle="Which file is imported.",
    sources=("AttributeError lines in public threads",),
)

not_lazy = said(
    "TF661",
    Severity.NOTE,
    "CUDA loads all kernels at once",
    kinds=("lazy_loading",),
    cause="Without lazy loading CUDA loads every kernel of every library at the start, which takes time and hundreds "
    "of "
    "MiB on host and GPU. Results are the same.",
    confirm="Compare GPU memory with CUDA_MODULE_LOADING=LAZY.",
    fixes=("Set CUDA_MODULE_LOADING=LAZY (lazy loading, CUDA 11.7 and later; the default from 12.2).",),
    sources=("TensorRT 8.5 and later, runtime warning",),
)

calibrator = said(
    "TF662",
    Severity.ERROR,
    "The calibrator's batch is not device memory of the right size",
    kinds=("calibrator_access",),
    cause="The CUDA error comes while TensorRT copies the calibrator's first batch: what get_batch (getBatch) hands "
    "over "
    "is no device pointer, or is smaller than the input at calibration, whose dynamic dimensions need a calibration "
    "profile.",
    confirm="compute-sanitizer, or print pointer and size in get_batch.",
    fixes=(
        (
            "Hand over device memory of the size that the input has during calibration; set a calibration profile for "
            "dynamic shapes."
        ),
        "Or calibrate with fixed shapes once, and build from the calibration cache (--calib=CACHE).",
    ),
    sources=("calibrator.cpp of 8.x in public threads",),
)

destroyed = said(
    "TF600",
    Severity.WARNING,
    "Objects of TensorRT are destroyed in the wrong order",
    kinds=("destroyed_early",),
    cause="A runtime, builder or engine is destroyed while objects that it made still live. What it did before is "
    "right; a crash at the program's end, or in its next step, is a consequence. trtexec of 8.6 does so itself after "
    "--refit.",
    confirm="The order in which the program's objects go out of scope.",
    fixes=("Destroy contexts first, then engines, then the runtime: declare them in the opposite order.",),
    sources=("runtime.cpp and builder.cpp of 8.0 to 10; NVIDIA/TensorRT#4299",),
)
