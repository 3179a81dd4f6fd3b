"""The one place where what goes wrong becomes a sentence and an exit code."""

from __future__ import annotations

import gc
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics import cli
from trtforensics.console.diagnostics import ExitCode
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    Outcome = tuple[int, str, str]


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command that ends in some way; return exit code, stdout and stderr."""

    def run(end: BaseException | int, *options: str) -> Outcome:
        def command(_: argparse.Namespace) -> int:
            if isinstance(end, BaseException):
                raise end
            return end

        module = SimpleNamespace(run=command)
        monkeypatch.setitem(sys.modules, "trtforensics.commands.parse", module)
        code = cli.main(["parse", "my build.log", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize("code", [0, 1])
def test_a_commands_own_code_is_passed_on_in_silence(code: int, ending: Callable[..., Outcome]) -> None:
    assert ending(code) == (code, "", "")


def test_an_error_of_the_input_is_one_sentence_and_exit_code_2(ending: Callable[..., Outcome]) -> None:
    failure = SourceError("a\x1b[31m\n.log", "is odd", "Mend it")
    assert ending(failure) == (2, "", "trtforensics: error: a␛[31m␊.log: is odd. Mend it.\n")


@pytest.mark.parametrize(
    ("bug", "what"),
    [
        (KeyError("layer"), "KeyError: 'layer'"),
        (ValueError("two\nlines."), "ValueError: two␊lines"),
        (AssertionError(), "AssertionError"),
        (MemoryError(), "MemoryError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_bug_of_ours_is_one_sentence_and_exit_code_70(
    bug: Exception, what: str, ending: Callable[..., Outcome]
) -> None:
    code, out, err = ending(bug)
    assert (code, out) == (ExitCode.BUG, "") == (70, "")
    advice = "This is a bug of trtforensics: `--debug` shows the traceback, please report it with that."
    assert err == f"trtforensics: error: {what}. {advice}\n"


def test_a_refusal_of_the_system_is_one_sentence_and_exit_code_2(ending: Callable[..., Outcome]) -> None:
    code, out, err = ending(OSError(5, "Input/output error", "x.log"))
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith("trtforensics: error: x.log: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("end", [KeyError("layer"), SourceError("x.log", "is odd")], ids=["bug", "bad input"])
def test_debug_shows_the_traceback_before_the_sentence(end: Exception, ending: Callable[..., Outcome]) -> None:
    plain = ending(end)
    code, out, err = ending(end, "--debug")
    assert (code, out) == plain[:2]
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(plain[2])


def test_a_traceback_shows_no_control_characters(ending: Callable[..., Outcome]) -> None:
    err = ending(SourceError("\x1b[31m", "is odd"), "--debug")[2]
    assert "␛[31m: is odd" in err
    assert "\x1b" not in err


def test_an_interrupted_run_names_the_command_that_starts_it_again(ending: Callable[..., Outcome]) -> None:
    code, out, err = ending(KeyboardInterrupt(), "--max-bytes=1G")
    assert (code, out) == (130, "")
    again = "trtforensics parse 'my build.log' --max-bytes=1G"
    assert err == f"trtforensics: error: interrupted. To start again, run `{again}`.\n"


def test_a_reader_that_left_is_no_error(ending: Callable[..., Outcome]) -> None:
    assert ending(BrokenPipeError()) == (0, "", "")


@for_each(("text", "size"), [("1", 1), ("1K", 1024), ("2k", 2048), ("500M", 500 << 20), ("64G", 64 << 30)])
def test_sizes_count_in_1024s(text: str, size: int) -> None:
    assert cli.build_parser("parse").parse_args(["parse", "x", "--max-bytes", text]).max_bytes == size


@pytest.mark.parametrize("text", ["", "0", "0K", "K", "-1", "1.5M", "1MB", "1 M", "1e6"])
def test_what_is_no_size_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["parse", "x", f"--max-bytes={text}"]) == 2
    assert f"{text!r} is not a size such as 500M or 64G" in capsys.readouterr().err


def test_no_command_is_imported_for_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = []

    def import_module(name: str) -> SimpleNamespace:
        imported.append(name)
        return SimpleNamespace()

    monkeypatch.setattr("importlib.import_module", import_module)
    every = cli.build_parser().format_help()
    assert cli.build_parser("graph").format_help() == every
    assert cli.build_parser("graph", alone=True).format_help() != every
    assert imported == []


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_while_a_command_runs_and_then_as_before(enabled: bool) -> None:  # noqa: FBT001
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with cli._without_collector():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


THREADS = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ.update(word.split("=") for word in sys.argv[2:])
before = dict(os.environ)
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print("numpy:", os.environ.get("OPENBLAS_NUM_THREADS"))
sys.meta_path.insert(0, Watch())
exec(sys.argv[1])
assert dict(os.environ) == before
"""
COMMAND = "import trtforensics.cli; trtforensics.cli.main(['explain', 'TF101'])"


@pytest.mark.parametrize(
    ("script", "chosen", "seen"),
    [
        (COMMAND, [], "1"),
        pytest.param(COMMAND, ["OPENBLAS_NUM_THREADS=2"], "2", marks=pytest.mark.slow),
        ("import trtforensics.parsers.lines.scanner", [], "None"),
    ],
)
def test_a_command_starts_no_threads_of_numpy_and_leaves_the_environment_as_a_library_does(
    script: str, chosen: list[str], seen: str
) -> None:
    command = [sys.executable, "-c", THREADS, script, *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"numpy: {seen}\n" in done.stdout


@for_each(
    ("given", "meant"),
    [
        ([], ["--help"]),
        (["help"], ["--help"]),
        (["help", "pin"], ["pin", "--help"]),
        (["version"], ["--version"]),
        (["-V"], ["-V"]),
        (["-", "--json"], ["report", "-", "--json"]),
        (["report", "help"], ["report", "help"]),
    ],
)
def test_a_command_line_is_understood_as_it_is_meant(given: list[str], meant: list[str]) -> None:
    assert cli._understood(given) == meant


@pytest.mark.parametrize("given", [["--val-range", "-1,1"], ["--val-range=-1,1"], ["--val-range", "[-1,1]"]])
def test_a_range_may_begin_with_a_minus(given: list[str]) -> None:
    args = cli.build_parser("bisect").parse_args(["bisect", "precision", "m.onnx", "--artifacts-dir", "d", *given])
    assert [value.strip("[]") for value in args.val_range] == ["-1,1"]


def test_a_file_alone_is_reported_on_and_a_command_of_its_name_is_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("build.log", "parse"):
        (tmp_path / name).write_text("")
    assert cli._understood(["build.log", "--json"]) == ["report", "build.log", "--json"]
    assert cli._understood(["parse", "build.log"]) == ["parse", "build.log"]
