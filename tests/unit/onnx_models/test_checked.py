"""A model is read, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.support.faulty_models import Values, model, node
from trtforensics.errors import SourceError
from trtforensics.onnx_models.checked import read_checked

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("content", "what"), [(b"no model", "is no ONNX model"), (b"", "is no ONNX model"), (None, "cannot be")]
)
def test_a_bad_model_is_one_clear_sentence(content: bytes | None, what: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=what):
        read_checked(str(path))


def test_a_squeeze_without_axes_refuses_a_dynamic_dimension_of_1(tmp_path: Path) -> None:
    """TensorRT-RTX 1.7.1 builds it for 2 and refuses it for 1."""
    inputs: Values = {"x": (onnx.TensorProto.FLOAT, ("n", 1, 8))}
    path = tmp_path / "m.onnx"
    onnx.save(model(node("Squeeze", "x", "y"), inputs=inputs), path)
    checked = read_checked(str(path))
    _, fault = checked.sizes_at({"x": [1, 1, 8]})
    assert fault is not None
    assert fault.message.endswith("without axes it drops dimension 0, a dynamic one")
    assert checked.sizes_at({"x": [2, 1, 8]})[1] is None
