"""The same surroundings for every test, whoever runs it; where the corpus and the sample logs are."""

from __future__ import annotations

import gc
import importlib
import os
import re
import signal
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from trtforensics.model.log import BuildLog

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Variables that change what our commands, Textual or Python print are gone before a test module is imported: Textual
# reads its own once.
_SPEAKING = re.compile(
    r"NO_COLOR|FORCE_COLOR|COLORTERM|COLUMNS|LINES|EMULATED_TENSORRT"
    r"|TEXTUAL(?!_SNAPSHOT).*|POLYGRAPHY_.*|TRTFORENSICS_(?!CORPUS$).*|PYTHON(UNBUFFERED|IOENCODING|WARNINGS|DEVMODE|VERBOSE)"
)
for _name in filter(_SPEAKING.fullmatch, list(os.environ)):
    del os.environ[_name]
os.environ["LC_ALL"] = "C.UTF-8"
os.environ["LANGUAGE"] = "C"  # argparse asks for translations a hundred times a command line, and finds out at once

# The tests make and remove hundreds of thousands of small files: in memory where there is room, and programs may run.
_MEMORY, _ROOM = "/dev/shm", 4 << 30  # noqa: S108 - pytest makes its own folder there
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK):
    _state = os.statvfs(_MEMORY)
    if _state.f_bavail * _state.f_frsize >= _ROOM and not _state.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = _MEMORY

# A shell lets what it starts in the background ignore Ctrl-C, and the processes of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no judgement by the clock: a test fails by what it tests, not by luck or load.
# The usual profile draws a part of the examples that a test names, HYPOTHESIS_PROFILE=full all of them; `explore` draws
# new ones and more, and a failure prints how to repeat it.
settings.register_profile(
    "full", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("full"), max_examples=10)
settings.register_profile("explore", settings.get_profile("full"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Every report looks for its settings in our own pyproject.toml: taken apart once, not a thousand times.
_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
_toml.loads = cache(_toml.loads)

# Modules and items are many objects that live to the end. Looking for cycles among them again and again took a fifth of
# the time of an app's tests.
gc.set_threshold(50_000, 20, 50)

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw-1").removeprefix("gw"))
"""The number of this worker of pytest-xdist; -1 in a process that runs the tests itself."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every other worker of pytest-xdist collect from the end, so that two halve what a new clone has to compile.

    Each keeps the bytecode of the modules that it comes to first, and finds that of the others.
    """
    report = yield
    if _WORKER % 2 and isinstance(collector, pytest.Directory) and report.result:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the modules into the same order in every worker."""
    if _WORKER >= 0:
        items.sort(key=lambda item: item.path)


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the search for cycles."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of the real logs; a test that asks for it carries `@pytest.mark.corpus`."""
    folder = Path(os.environ.get("TRTFORENSICS_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not folder.is_dir():
        pytest.skip(f"no corpus of real logs at {folder}; set TRTFORENSICS_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def replay_samples(corpus: Path) -> Path:
    """The replays that 23 versions of Polygraphy wrote, and malformed ones; they lie beside the corpus."""
    folder = corpus.parent / "research" / "samples" / "replay"
    if not folder.is_dir():
        pytest.skip(f"no sample replays at {folder}")
    return folder


@pytest.fixture(scope="session")
def samples() -> list[Path]:
    """The logs that this project made itself."""
    return sorted((ROOT / "testdata" / "logs").glob("*.log"))


@pytest.fixture
def no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models be checked without the child process that tries their nodes."""
    monkeypatch.setattr("trtforensics.onnx_models.trying.PATIENCE_S", 0)


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], BuildLog]:
    """Return what reads a text as ``report`` does, which takes excerpts too."""
    from trtforensics.sources.quoting import read_log  # noqa: PLC0415 - the workers' controller reads no log

    def read_text(text: str) -> BuildLog:
        path = tmp_path / "run.log"
        path.write_text(text)
        return read_log(str(path), max_bytes=1 << 20, on_progress=lambda *_: None).log

    return read_text


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], BuildLog]:
    """Return what parses a text as a build log."""
    from trtforensics.sources.build_log import load_build_log  # noqa: PLC0415 - the workers' controller reads no log

    def parse(text: str) -> BuildLog:
        path = tmp_path / "build.log"
        path.write_bytes(text.encode())
        return load_build_log([str(path)])

    return parse
