"""The notebooks of the docs run from their first cell to their last."""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT, label

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_both_notebooks_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["coming_from_trex", "why_is_fp16_slower"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=label)
def test_a_notebook_runs_and_is_stored_without_outputs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            printed = io.StringIO()
            code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, names)  # noqa: S102 - our own notebook
    assert printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=label)
def test_a_notebook_runs_in_a_kernel(path: Path) -> None:
    pytest.importorskip("ipykernel", reason="runs a notebook's kernel; part of the extra `readers`")
    nbformat = pytest.importorskip("nbformat", reason="reads notebooks; part of the extra `readers`")
    nbclient = pytest.importorskip("nbclient", reason="runs notebooks; part of the extra `readers`")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
