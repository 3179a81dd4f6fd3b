"""Starting the command line is cheap, and the parsers know nothing of the TUI."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import zstandard

from tests.support.for_each import for_each
from tests.support.repository import ROOT

PARSERS = ROOT / "parsers"
SOURCES = {
    "LOG": ROOT / "testdata" / "logs" / "emulated-trtexec-10.16-three-passes.log",
    "MODEL": ROOT / "testdata" / "models" / "convnet.onnx",
    "REPLAY": ROOT / "testdata" / "replays" / "edited.json",
}
HEAVY = ("lark", "networkx", "numpy", "onnx", "polygraphy", "textual")
NOT_FOR_A_LOG = (
    *("bz2", "lzma", "shutil", "zlib", "zstandard"),
    *("ipaddress", "pathlib", "urllib.parse"),
    *("select", "shlex", "signal", "subprocess", "threading"),
    *("lark", "networkx", "onnx", "polygraphy", "textual"),
)
"""What reading a log from a plain file does without: small logs take hardly longer than the imports."""

LIBRARIES = {*HEAVY, "zstandard"}
PAGE = ROOT / "docs" / "reference" / "imports.md"
TABLE = re.compile(r"^\| `(.+)` \| (.+) \|$", re.MULTILINE)

RUN_A_COMMAND = """
import sys
from trtforensics.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as stopped:
    status = stopped.code
assert status in {None, 0, 1}, status
"""
RUN_VERSION = """
import sys, trtforensics.cli
try:
    status = trtforensics.cli.main(["--version"])
except SystemExit as stopped:
    status = stopped.code
assert not status, status
"""
PARSE_A_LOG = f"""
import sys, numpy
for name in {NOT_FOR_A_LOG}:  # what numpy imports, and an editable installation, is none of ours
    sys.modules.pop(name, None)
from trtforensics.cli import main
assert main(["parse", "--json", "--quiet", sys.argv[1]]) == 0
"""
IMPORT_PARSERS = """
import importlib, pkgutil, sys, trtforensics.parsers
found = list(pkgutil.walk_packages(trtforensics.parsers.__path__, "trtforensics.parsers."))
assert found
for module in found:
    importlib.import_module(module.name)
"""
OPEN_A_LOG = """
import sys, trtforensics.cli, trtforensics.tui.app
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.sessions import open_log
LogScreen(open_log(sys.argv[1], 1 << 30)).discard()
"""
IMPORT_BUILDERS = """
import importlib, sys
for name in ("build", "cache_file", "elsewhere", "engine_files", "installed", "tactics"):
    importlib.import_module(f"trtforensics.trt.{name}")
"""
PRINT_MODULES = "\nprint('\\n--modules--', *sys.modules, sep='\\n')\n"


def modules_after(script: str, *arguments: str) -> set[str]:
    """Return what a fresh interpreter has imported when the script is done."""
    command = [sys.executable, "-c", script + PRINT_MODULES, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.partition("\n--modules--\n")[2].split("\n"))


def imported_names(path: Path) -> set[str]:
    """Return every name that the file imports anywhere, inside functions and type-checking blocks too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, ("trtforensics" * bool(node.level), node.module)))
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def brought_by_regex() -> set[str]:
    """Return what the package ``regex`` imports, which stands in for ``re`` on Python 3.10 (about 9 ms)."""
    return set() if sys.version_info >= (3, 11) else modules_after("import sys, regex")


def test_asking_for_the_version_imports_no_heavy_library() -> None:
    loaded = modules_after(RUN_VERSION)
    assert "trtforensics.cli" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_reading_a_plain_log_imports_nothing_that_it_does_without(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("[11/21/2026-07:52:04] [V] [TRT] Tactic: 0x0000000000000001 Time: 0.5\n")
    loaded = modules_after(PARSE_A_LOG, str(log))
    assert "trtforensics.render.log_json" in loaded
    assert (loaded - brought_by_regex()).isdisjoint(NOT_FOR_A_LOG)


def test_the_first_picture_of_a_log_waits_for_neither_numpy_nor_the_grammars() -> None:
    loaded = modules_after(OPEN_A_LOG, str(SOURCES["LOG"]))
    assert "textual" in loaded
    assert loaded.isdisjoint(
        {"numpy", "lark", "trtforensics.parsers.lines.dialects", "trtforensics.findings.explaining"}
    )


def test_what_builds_in_an_older_python_puts_its_annotations_off() -> None:
    own = (name for name in modules_after(IMPORT_BUILDERS) if name.startswith("trtforensics."))
    texts = {name: Path(str(import_module(name).__file__)).read_text(encoding="utf-8") for name in own}
    assert "trtforensics.model.replay" in texts
    assert not [
        name for name, text in texts.items() if "->" in text and "from __future__ import annotations" not in text
    ]


def test_importing_every_parser_imports_neither_textual_nor_the_tui() -> None:
    loaded = modules_after(IMPORT_PARSERS)
    assert "trtforensics.parsers" in loaded
    assert loaded.isdisjoint({"textual", "trtforensics.tui"})


@for_each("path", sorted(PARSERS.rglob("*.py")), ids=lambda path: path.name)
def test_no_parser_names_textual_or_the_tui_in_an_import(path: Path) -> None:
    tui = ("textual", "trtforensics.tui")
    assert not {name for name in imported_names(path) if f"{name}.".startswith(tuple(f"{part}." for part in tui))}


def test_the_page_names_more_than_one_command() -> None:
    assert len(TABLE.findall(PAGE.read_text(encoding="utf-8"))) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("command", "libraries"), TABLE.findall(PAGE.read_text(encoding="utf-8")))
def test_a_command_imports_what_its_page_says(command: str, libraries: str, tmp_path: Path) -> None:
    compressed = tmp_path / "build.log.zst"
    compressed.write_bytes(zstandard.ZstdCompressor().compress(SOURCES["LOG"].read_bytes()))
    places = {**{word: str(path) for word, path in SOURCES.items()}, "LOG.zst": str(compressed)}
    words = [places.get(word, word.replace("OUT/", f"{tmp_path}/")) for word in shlex.split(command)]
    expected = set() if libraries == "nothing" else set(libraries.split(", "))
    assert modules_after(RUN_A_COMMAND, *words) & LIBRARIES == expected
