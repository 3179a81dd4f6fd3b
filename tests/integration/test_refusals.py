"""Whatever call a system refuses: one sentence and exit code 2, or the whole result; nothing half-written."""

from __future__ import annotations

import contextlib
import errno
import gettext
import gzip
import io
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

import onnx
import pytest
from onnx import TensorProto, helper

from tests.support.diff_samples import replay_text
from tests.support.engine_files import DETAILED, PROFILE
from tests.support.faults import Refusals, first_and_last
from tests.support.folders import working_in
from tests.support.pin_logs import OTHER, key_log, layer_log
from trtforensics.cli import main
from trtforensics.console.output import is_temporary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="errors and calls are Linux's")

ERRORS = (
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.EIO),
    *(errno.ENOSPC, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EBUSY, errno.ETXTBSY),
)
SEARCH = (
    *("bisect", "tactics", "--good", "good.json", "--bad", "bad.json", "--build", "cp {replay} {engine}"),
    *("--check", "! grep -q '.tactic.: 8' {engine}", "--artifacts-dir"),
)
COMMANDS = {
    "parse": ("parse", "a.log", "-o", "out"),
    "parse in parts": ("parse", "a.log.gz", "b.log"),
    "parse layers": ("parse", "layers.json", "profile.json"),
    "report": ("report", "a.log", "--onnx", "m.onnx", "--replay", "good.json", "--format", "html", "-o", "out"),
    "report with settings": ("report", "a.log"),
    "graph": ("graph", "a.log", "-o", "out.json"),
    "record": ("record", "m.onnx", "--release", "10.3"),
    "diff": ("diff", "a.log", "b.log"),
    "diff of folders": ("diff", "sides/good", "sides/bad"),
    "diff of a bisection": ("diff", "old", "good.json"),
    "table": ("table", "a.log", "--of", "choices", "--format", "csv", "-o", "out"),
    "plot": ("plot", "a.log", "-o", "out.svg"),
    "redact": ("redact", "a.log", "-o", "out"),
    "replay show": ("replay", "show", "good.json"),
    "replay lint": ("replay", "lint", "good.json", "--log", "a.log", "--onnx", "m.onnx"),
    "replay convert": ("replay", "convert", "a.log", "-o", "out"),
    "replay mix": ("replay", "mix", "--good", "good.json", "--bad", "bad.json", "--take", "fc", "-o", "out"),
    "pin": ("pin", "a.log", "--same-as", "b.log", "-o", "out"),
    "pin --verify": ("pin", "--verify", "pinned.json", "a.log"),
    "cache": ("cache", "export", "k.log", "-o", "out"),
    "repair": ("repair", "m.onnx", "--casts", "-o", "out"),
    "doctor": ("doctor",),
    "bisect dry": (*SEARCH, "dir", "--dry-run"),
    "bisect log": ("bisect", "log", "old"),
    "bisect": (*SEARCH, "dir"),
    "collect": (
        *("collect", "--build", "cp good.json {replay}", "--check", "true", "--until", "1"),
        *("--artifacts-dir", "dir"),
    ),
    "reduce": ("reduce", "m.onnx", "--check", "! grep -q Sigmoid {model}", "--artifacts-dir", "dir"),
}
LONG = {"bisect", "collect", "reduce", "doctor"}
"""Commands that start programs, so that a run takes half a second and more; their directories are theirs to resume."""

UNSURE = {*LONG, "bisect dry"}
"""``doctor`` takes a package that it cannot look at for one that is not there; the others print times and free space.
"""


class Done(NamedTuple):
    """What a command did, and the calls that it made."""

    code: int
    out: str
    err: str
    calls: list[tuple[object, ...]]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source for every command."""
    folder = tmp_path_factory.mktemp("sources")
    texts = {
        "a.log": layer_log(),
        "b.log": layer_log(OTHER),
        "k.log": key_log(),
        "good.json": replay_text({"conv1": 5, "fc": 7}),
        "bad.json": replay_text({"conv1": 6, "fc": 8}),
        "layers.json": DETAILED,
        "profile.json": PROFILE,
        "trtforensics.toml": '[report]\nsuppress = ["TF502"]\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "a.log.gz").write_bytes(gzip.compress(texts["a.log"].encode()))
    for side, tactic in (("good", 5), ("bad", 6)):
        (folder / "sides" / side).mkdir(parents=True)
        (folder / "sides" / side / "r.json").write_text(replay_text({"conv1": tactic}))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "y")]
    nodes = [helper.make_node("Relu", ["x"], ["h"], "relu"), helper.make_node("Sigmoid", ["h"], ["y"], "sigmoid")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    with working_in(str(folder)), contextlib.redirect_stdout(io.StringIO()):
        assert main([*SEARCH, "old", "--quiet"]) == 0
        assert main(["pin", "a.log", "-o", "pinned.json"]) == 0
    return folder


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> Refusals:
    monkeypatch.setattr(gettext, "find", lambda *_, **__: None)  # argparse looks for translations of its words
    return Refusals(monkeypatch)


def run(
    refusals: Refusals, sources: Path, folder: Path, command: tuple[str, ...], refused: tuple[int, int] = (0, 0)
) -> Done:
    """Run a command in a fresh copy of the sources, one of its calls refused."""
    shutil.rmtree(folder, ignore_errors=True)
    needless = () if "old" in command else ("old",)
    shutil.copytree(sources, folder, symlinks=True, ignore=shutil.ignore_patterns(*needless))
    (folder / "tmp").mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder / "tmp")
    try:
        with (
            working_in(str(folder)),
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
            refusals.refuse(*refused),
        ):
            code = main([*command, "--quiet"])
            calls = refusals.places
    finally:
        tempfile.tempdir = before
    return Done(code, out.getvalue(), err.getvalue(), calls)


def tries(name: str, calls: list[tuple[object, ...]], *, each: bool) -> Iterator[tuple[int, int]]:
    """Give calls with errors: two errors for each place where a short command calls, or a few calls of each command.

    The first and the last call of a place are taken.
    """
    if each and name not in LONG:
        for call in first_and_last(calls):
            yield from ((call, ERRORS[(call * 7 + shift) % len(ERRORS)]) for shift in (0, 5))
        return
    step = max(len(calls) // (30 if each else 4), 1)
    yield from ((call, ERRORS[call % len(ERRORS)]) for call in range(1, len(calls) + 1, step))


def check(name: str, refusals: Refusals, sources: Path, folder: Path, *, each: bool) -> None:
    command = COMMANDS[name]
    run(refusals, sources, folder, command)  # imports
    whole = run(refusals, sources, folder, command)
    assert whole.code in {0, 1}, whole.err
    files = {path.relative_to(folder) for path in folder.rglob("*")}
    results = _results(folder)
    for call, error in tries(name, whole.calls, each=each):
        done = run(refusals, sources, folder, command, (call, error))
        about = f"{name}: {refusals.refused}, call {call}, {errno.errorcode[error]}: {done}"
        if name in LONG and "could not be read, while probes ran" in done.out:
            assert done.code == 1, about
        elif done.code == whole.code:
            assert name in UNSURE or done.out == whole.out or "skipped" in done.out, about
        else:
            assert done.code == 2, about
            assert done.err.startswith("trtforensics: error: "), about
            assert done.err.count("\n") == 1, about
        assert "Traceback" not in done.err, about
        assert _results(folder).items() <= results.items(), about
        if name in LONG:
            continue
        left = {path.relative_to(folder) for path in folder.rglob("*")} - files
        assert not [path for path in left if is_temporary(path.name)], about
        assert refusals.refused in CLEANING or not any((folder / "tmp").iterdir()), about


CLEANING = {"unlink", "scandir", "lstat", "open", "rmdir", "close", "stat", "fstat"}
"""The calls by which a temporary folder is removed: if the system refuses one, the folder stays."""


def _results(folder: Path) -> dict[str, bytes]:
    """Return the files that a command wrote; a plot writes its numbers too."""
    return {path.name: path.read_bytes() for path in folder.glob("out*")}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in LONG])
def test_a_refused_call_is_a_sentence(name: str, refusals: Refusals, sources: Path, tmp_path: Path) -> None:
    check(name, refusals, sources, tmp_path / "run", each=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_refused_call_is_a_sentence(name: str, refusals: Refusals, sources: Path, tmp_path: Path) -> None:
    check(name, refusals, sources, tmp_path / "run", each=True)


def test_the_sentence_names_the_file(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "n" * 300
    for line in (["parse", name], ["report", name], ["redact", str(sources / "a.log"), "-o", name]):
        assert main([*line, "--quiet"]) == 2
        assert name in capsys.readouterr().err


def test_a_loop_of_links_is_refused(tmp_path: Path, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    log, model = str(sources / "a.log"), str(sources / "m.onnx")
    lines = [
        ["parse", str(loop)],
        ["redact", log, "-o", str(loop)],
        ["repair", model, "--casts", "-o", str(loop)],
        ["reduce", model, "--check", f"against:{loop}", "--artifacts-dir", str(tmp_path / "dir")],
        [*SEARCH, str(loop)],
    ]
    for line in lines:
        with working_in(str(sources)):
            assert main([*line, "--quiet"]) == 2, line
        assert capsys.readouterr().err.count("\n") == 1


def test_a_bug_stays_a_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> int:
        raise RuntimeError("no loop of links")

    monkeypatch.setattr("trtforensics.commands.explain.run", broken)
    assert main(["explain", "TF301"]) == 70
    assert "bug of trtforensics" in capsys.readouterr().err
