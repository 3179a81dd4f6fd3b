"""`parse` on an excerpt: a text without a prefix of TensorRT's that tells of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SETTINGS = "INFO:torch_tensorrt.dynamo._compiler:Compilation Settings: CompilationSettings(debug=True)\n"


@for_each(
    ("text", "code"),
    [(SETTINGS, 0), ("ModuleNotFoundError: No module named 'tensorrt'\n", 0), ("worker: nothing of TensorRT\n", 2)],
)
def test_an_excerpt_tells_of_a_program_or_of_what_happened(
    text: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build.log").write_text(text)
    assert main(["parse", "-q", str(tmp_path / "build.log")]) == code
    captured = capsys.readouterr()
    assert bool(captured.out) is (code == 0)
    assert captured.err.count("\n") == (1 if code else 0)
