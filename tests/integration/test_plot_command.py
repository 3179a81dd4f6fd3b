"""``trtforensics plot`` as a subprocess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.engine_files import DETAILED, PROFILE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]


@pytest.fixture
def files(run: Run, tmp_path: Path) -> tuple[str, str]:  # noqa: ARG001 - `run` makes the folder
    folder = tmp_path / "cwd"
    (folder / "layers.json").write_text(DETAILED)
    (folder / "profile.json").write_text(PROFILE.replace("fc", "{ForeignNode[a...b]}"))
    return "layers.json", "profile.json"


def test_a_page_holds_every_figure_that_the_files_give(run: Run, files: tuple[str, str], tmp_path: Path) -> None:
    done = run("plot", *files, "-o", "x.html", "--against", *files)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "x.html: waterfall, compare, layers, types, memory\n"
    page = (tmp_path / "cwd" / "x.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 5


def test_one_figure_has_its_data_beside_it(run: Run, files: tuple[str, str], tmp_path: Path) -> None:
    assert run("plot", *files, "-o", "x.svg", "--of", "types").stderr == "x.svg: types\n"
    assert (tmp_path / "cwd" / "x.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "cwd" / "x.csv").read_text().startswith("type,compute_precision,time_ms\n")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("-o", "x.txt"), "x.txt: the ending does not name a form"),
        (("-o", "x.svg", "--of", "types", "--of", "layers"), "x.svg: holds one figure"),
        (("-o", "x.svg", "--of", "margins"), "does not give the figure margins. It needs a verbose log"),
        (("-o", "x.svg", "--of", "waterfall"), "It needs a second engine"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    refuse: Refuse, files: tuple[str, str], tmp_path: Path, arguments: tuple[str, ...], what: str
) -> None:
    before = sorted((tmp_path / "cwd").iterdir())
    assert what in refuse("plot", *files, *arguments)
    assert sorted((tmp_path / "cwd").iterdir()) == before
