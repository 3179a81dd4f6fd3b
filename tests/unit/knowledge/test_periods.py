"""What is known of the names in a text: gone, not there yet, deprecated, packages that do not work."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.knowledge.periods import told_of


@for_each(
    ("text", "version", "kind", "says"),
    [
        (
            "BuilderFlag has no attribute 'FP16'",
            (11, 0),
            "gone",
            "kFP16 is in TensorRT from 6.0 to 10.16, and this is TensorRT 11.0. | Use strong typing",
        ),
        ("no member named 'setMaxWorkspaceSize'", None, "gone", "Use setMemoryPoolLimit. Or: Use TensorRT up to 9.3."),
        ("no member named 'addAttention'", (10, 3), "gone", "Go on to TensorRT 10.14 or later."),
        (
            "Unknown option: --nvtxMode",
            None,
            "gone",
            "from 7.1 to 9.3. | Use --profilingVerbosity. Or: Use TensorRT from 7.1 to 9.3.",
        ),
        ("DLA core 0", (11, 2, 1), "gone", "up to 10.7 and from 11.4.1 on, and this is TensorRT 11.2.1. | Go back"),
        ("--workspace flag", (8, 6, 1), "deprecated", "--workspace is deprecated from 8.4 on: use --memPoolSize"),
        ("kFP16", (10, 13), "deprecated", "kFP16 is deprecated from 10.12 on: use strong typing"),
        (
            "tensorrt_cu11==10.8.0",
            None,
            "gone",
            "10.7, and what is asked for is 10.8.0. | Use tensorrt-cu12",
        ),
        ("tensorrt-cu13==10.13.0", None, "gone", "Go on to TensorRT 10.13.2 or later."),
        ("torch_tensorrt 2.5.0 installed", None, "package", "is made for PyTorch 2.5, TensorRT 10.3 and CUDA 12.4"),
        ("onnxruntime-gpu==1.13.1", None, "package", "ONNX Runtime 1.12 to 1.13 is made for TensorRT 8.4"),
        ("nvidia_cuda_runtime_cu13-0.0.1.tar.gz", None, "package", "is a placeholder"),
    ],
)
def test_a_name_is_told_by_the_release(text: str, version: tuple[int, ...] | None, kind: str, says: str) -> None:
    assert says in told_of(text, version)[kind]


@for_each(
    ("text", "version"),
    [
        ("kFP16", (10, 3)),
        ("DLA core 0", (10, 3)),
        ("DLA core 0", (11, 4, 1)),
        ("tensorrt==10.3.0", None),
        ("--workspace", (8, 2)),
        ("onnxruntime-gpu is there", None),
        ("'tensorrt.tensorrt.Crow' object has no attribute 'caw'", None),
        ("--plugins", None),
        ("an ordinary line", (10, 3)),
    ],
)
def test_of_what_a_release_has_nothing_is_told(text: str, version: tuple[int, ...] | None) -> None:
    assert told_of(text, version) == {}
