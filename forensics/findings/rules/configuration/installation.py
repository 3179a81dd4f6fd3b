"""What the installed TensorRT lacks (settings of RTX, libraries), and processes with two loggers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF409",
    Severity.WARNING,
    "TensorRT-RTX does not know this setting",
    cause="TensorRT-RTX shares the interface of TensorRT, but not all of what is behind it.",
    confirm="The message names the call.",
    fixes=("For RTX: compute capabilities instead of hardware compatibility, no timing cache, no algorithm selector.",),
    sources=("TensorRT-RTX 1.7.1 logs", "pytorch/TensorRT#3817"),
)
def rtx(case: Case) -> Iterator[Observation]:
    """Name the calls."""
    yield from observe(case.notes("rtx_unsupported"), "TensorRT-RTX does not support {names}", names="name")


@rule(
    "TF410",
    Severity.ERROR,
    "A library of TensorRT is missing",
    cause="A component that the program asks for (lean runtime, builder resources of a GPU, a library of CUDA) is not "
    "installed or not found. TensorFlow looks for libraries of its own in the same way, which TensorRT does not use.",
    confirm="Look for the file in the folders of LD_LIBRARY_PATH.",
    fixes=(
        "Install the package that holds it, and put its folder on the loader path (LD_LIBRARY_PATH).",
        "Of pip's packages, put the folder tensorrt_libs there.",
        "Drop the option that needs it, where an option does (--versionCompatible).",
        "On Windows, cuDNN 8 needs zlibwapi.dll (cuDNN's installation guide) and the folder of its DLLs on PATH.",
    ),
    sources=("a TensorRT-RTX 1.7.1 log", "the C library's loader", "TensorFlow 1.15 and 2", "trtexec and cuDNN 8"),
)
def library(case: Case) -> Iterator[Observation]:
    """Name the libraries; TensorFlow, which looks for its libraries so, goes on without them."""
    optional = case.notes("library_optional")
    lines = {note.span.line for note in optional}
    notes = [note for note in case.notes("library_missing", "library_unopened") if note.span.line not in lines]
    yield from observe(notes, "The library {names} cannot be loaded", names="name")
    title = "TensorFlow cannot load the library {names}, and goes on without it"
    yield from observe(optional, title, names="name", severity=Severity.NOTE)


@rule(
    "TF411",
    Severity.NOTE,
    "Two loggers in one process",
    cause="The process registered another logger before: TensorRT keeps the first one, so this log may miss messages.",
    confirm="Search the program for a second trt.Logger, also inside libraries that use TensorRT.",
    fixes=("Create one logger and pass it everywhere.",),
    sources=("a 10.x log",),
)
def second_logger(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    title = "A second logger was passed: what follows may not be in this log"
    yield from observe(
        case.notes("second_logger"), title, settle="Whether all loggers of the process write to this log"
    )


@rule(
    "TF416",
    Severity.WARNING,
    "A CUDA library is of another version than TensorRT was built with",
    cause="The process loaded another cuBLAS, cuDNN or NVRTC than the one TensorRT was linked against, a version "
    "mismatch that arises where another package (PyTorch, a second CUDA toolkit) brought its own. A newer one usually "
    "works; an older one may "
    "fail, or choose other kernels.",
    confirm="ldd of libnvinfer, LD_LIBRARY_PATH, and the order in which the program imports packages.",
    fixes=(
        (
            "Install the CUDA version that this TensorRT release names (where the loaded library is the older one, "
            "update "
            "CUDA), and let the loader find that one first."
        ),
        Fix("Build without it: --tacticSources=-CUBLAS,-CUBLAS_LT,-CUDNN.", "8.0", "11"),
    ),
    sources=("grimoire/mmdetection-to-tensorrt#124", "open-mmlab/mmdeploy#266"),
)
def libraries(case: Case) -> Iterator[Observation]:
    """Name both versions; an error where TensorRT refuses to go on."""
    errors = {message.span.line for message in case.build.messages if message.severity == "E"}
    for note in case.notes("libraries_differ"):
        yield Observation(
            f"TensorRT was built with {note.text('first')}, and the process loaded {note.text('second')}",
            (note.span,),
            severity=Severity.ERROR if note.span.line in errors else None,
            same_as=f"libraries {note.text('first')} {note.text('second')}",
        )
    notes = case.notes("nvrtc_differs", "nvrtc_architecture")
    title = "The NVRTC (CUDA version) that is loaded is not the one that is needed"
    yield from observe(notes, title, severity=Severity.ERROR)


@rule(
    "TF417",
    Severity.ERROR,
    "cuDNN or cuBLAS failed",
    cause="A call of the library returned an error. NOT_INITIALIZED and VERSION_MISMATCH mean an installation that "
    "does not fit: driver, CUDA and library versions; ALLOC_FAILED means GPU memory.",
    confirm="The same call in a program of the library's own samples.",
    fixes=("Install the versions that this TensorRT release names.", "Free GPU memory, where the status names it."),
    sources=("the status codes of cuDNN's and cuBLAS's headers",),
    follows=("TF416", "TF309", "TF314"),
)
def library_status(case: Case) -> Iterator[Observation]:
    """Name the status."""
    yield from observe(case.notes("library_status"), "A CUDA library failed with {names}", names="status")


placeholder = said(
    "TF420",
    Severity.ERROR,
    "pip cannot install TensorRT's package",
    kinds=("package_placeholder",),
    cause="The wheel is not on PyPI for this Python version or platform, or is on NVIDIA's own index; on Jetson the "
    "package comes with JetPack and not from pip.",
    confirm="python --version; pip debug --verbose lists the tags of wheels that it takes.",
    fixes=(
        "pip install tensorrt with a Python that the release supports, and a recent pip.",
        "Use NVIDIA's index: pip install --extra-index-url https://pypi.nvidia.com PACKAGE.",
        "On Jetson use JetPack's own (python3-libnvinfer), in a virtual environment with --system-site-packages.",
    ),
    sources=("pip's messages in public threads",),
)


linker = said(
    "TF421",
    Severity.ERROR,
    "The compiler or linker does not find TensorRT or CUDA",
    kinds=("linker_missing", "header_missing"),
    says="The build of the program does not find TensorRT's or CUDA's libraries and headers",
    cause="The library or header is not installed in the folders that the build looks in (a tar installation), or is "
    "not part of this release any more (nvparsers and nvcaffe_parser are gone with TensorRT 10).",
    confirm="find / -name 'libnvinfer.so*' -o -name NvInfer.h",
    fixes=(
        "Install TensorRT's development packages, or give the build its folder (TENSORRT_ROOT, CMAKE_PREFIX_PATH, -L).",
        "Take libraries that the release no longer has out of the build.",
    ),
    sources=("messages of ld and the compiler in public threads",),
)

no_program = said(
    "TF450",
    Severity.ERROR,
    "A program of TensorRT is not on the path",
    kinds=("program_missing",),
    cause="trtexec comes with the packages of TensorRT (/usr/src/tensorrt/bin, or bin of the tar file) and not with "
    "pip's tensorrt; polygraphy is a package of its own.",
    confirm="ls /usr/src/tensorrt/bin; pip show polygraphy.",
    fixes=(
        "Call trtexec by its path: /usr/src/tensorrt/bin/trtexec (Debian packages, containers, JetPack).",
        "pip install polygraphy, in the environment of the shell.",
    ),
    sources=("NVIDIA's installation guide, 8 to 10",),
)
