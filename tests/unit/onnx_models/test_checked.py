"""A model is read, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
