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


def test_times_of_inferences_are_drawn_by_themselves_and_beside_an_engine(
    run: Run, refuse: Refuse, files: tuple[str, str], tmp_path: Path
) -> None:
    rows = ", ".join(f'{{"startEnqMs": {n}, "endD2hMs": {n + 1}, "latencyMs": 1, "computeMs": 0.5}}' for n in range(9))
    (tmp_path / "cwd" / "times.json").write_text(f"[{rows}]")
    assert run("plot", "times.json", "-o", "x.html").stderr == "x.html: inferences, spread\n"
    assert run("plot", "times.json", "-o", "x.svg", "--of", "spread").stderr == "x.svg: spread\n"
    assert (tmp_path / "cwd" / "x.csv").read_text().startswith("run,from_ms,to_ms,inferences\n")
    done = run("plot", *files, "times.json", "-o", "y.html", "--against", *files, "times.json")
    assert done.stderr == "y.html: waterfall, compare, layers, types, memory, inferences, spread\n"
    what = "times.json: does not give the figure layers. It needs times of layers"
    assert what in refuse("plot", "times.json", "-o", "z.html", "--of", "layers")
    assert "times.json: it has no build 1" in refuse("plot", "times.json", "-o", "z.html", "--build", "1")


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
