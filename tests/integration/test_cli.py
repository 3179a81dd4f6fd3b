"""The command line as a whole: help, version, usage errors, and what each command makes of a good log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from tests.support.repository import LOGS
from trtforensics import __version__
from trtforensics.cli import COMMANDS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]


def test_the_version_is_printed(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"trtforensics {__version__}\n", "")


def test_help_names_every_command(run: Run) -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n    {command} " in done.stdout for command in COMMANDS)


ACTIONS = {
    "replay": ("show", "lint", "convert", "mix"),
    "cache": ("export", "apply"),
    "bisect": ("tactics", "cache", "precision", "outputs", "route", "items"),
}
"""The commands that have subcommands; the shared options are theirs."""
LINES = [f"{command} {action}".strip() for command in COMMANDS for action in ACTIONS.get(command, ("",))]


@pytest.mark.parametrize("line", LINES)
def test_the_help_of_every_command_has_an_example_and_the_shared_options(line: str, run: Run) -> None:
    done = run(*line.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"trtforensics {line} " in done.stdout.partition("example")[2]
    reads_sources = line not in {"completions", "doctor", "explain"}
    assert [option in done.stdout for option in ("--max-bytes", "--quiet")] == [reads_sources, reads_sources]
    assert "--debug" in done.stdout


THREE_LOGS = tuple(sorted(map(str, LOGS.glob("*.log")))[:3])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("prase", "build.log"), "prase: there is no such command. Perhaps `trtforensics parse` is meant."),
        (("parse",), "parse: the following arguments are required: SOURCE. Try `trtforensics parse --help`."),
        (
            ("parse", "build.log", "--js"),
            "parse: there is no option --js; perhaps --json is meant. Try `trtforensics parse --help`.",
        ),
        (("parse", "build.log", "--frob\x1b[31m"), "there is no option --frob␛[31m"),
        (("parse", "build.log", "--max-bytes", "many"), "'many' is not a size such as 500M or 64G"),
        (("parse", "build.log", "--max-bytes", "0"), "'0' is not a size"),
        (("graph", "build.log"), "graph: the following arguments are required: -o/--output"),
        (("graph", "build.log", "-o", "graph.txt"), "graph.txt: the ending does not name a form"),
        (("graph", "build.log", "-o", "-"), "-: this is written to a file"),
        (("tui", *THREE_LOGS), "are more than two sources to compare, and not the files of one engine"),
        (("tui", "-"), "tui: it needs a terminal to draw on and to read keys from"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...], sentence: str, refuse: Refuse) -> None:
    assert sentence in refuse(*arguments)


def test_debug_adds_the_traceback_and_changes_neither_sentence_nor_code(run: Run) -> None:
    plain = run("parse", "missing.log")
    done = run("parse", "missing.log", "--debug")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith(plain.stderr)


def test_parse_prints_a_summary_with_the_facts_of_the_log(run: Run, log: Path) -> None:
    done = run("parse", log)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{log}: 1,618 lines, 189.1 kB, 1 build\n")
    for fact in ("TensorRT 10.16.1", "outcome passed", "Precision: FP32+FP16", "backend strategy 3", "10 layers"):
        assert fact in done.stdout


def test_parse_prints_one_json_document(run: Run, log: Path) -> None:
    done = run("parse", log, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    parsed: dict[str, Any] = json.loads(done.stdout)
    assert (parsed["schema"], parsed["kind"]) == (3, "build-log")
    assert parsed["source"]["path"] == str(log)
    assert [p["chosen"] for p in parsed["builds"][0]["passes"]] == [False, True, False]


@pytest.mark.parametrize("ending", ["json", "graphml", "dot"])
def test_graph_writes_what_the_ending_asks_for_and_says_how_large_it_is(
    ending: str, run: Run, log: Path, tmp_path: Path
) -> None:
    done = run("graph", log, "-o", f"x.{ending}")
    assert (done.returncode, done.stdout) == (0, "")
    content = (tmp_path / "cwd" / f"x.{ending}").read_text(encoding="utf-8")
    if ending == "json":
        graph = nx.node_link_graph(json.loads(content), edges="edges")
        assert done.stderr == f"x.json: {len(graph)} nodes, {graph.number_of_edges()} edges\n"
    elif ending == "graphml":
        assert ET.fromstring(content).tag.endswith("graphml")  # noqa: S314 - we have just written it
    else:
        assert content.startswith("digraph build {\n")


def test_a_part_of_an_engine_is_drawn_as_dot_or_needs_graphviz(
    run: Run, refuse: Refuse, log: Path, tmp_path: Path
) -> None:
    for options in (["--top", "3"], ["--filter", "type:reformat"], ["--view", "engine", "--colour", "share"]):
        assert run("graph", log, "-o", "x.dot", *options).returncode == 0
        assert (tmp_path / "cwd" / "x.dot").read_text(encoding="utf-8").startswith("digraph engine {\n")
    assert run("graph", log, "-o", "x.onnx").returncode == 0
    without = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    assert "whose program `dot` is not installed" in refuse("graph", log, "-o", "x.svg", env=without)
    assert not (tmp_path / "cwd" / "x.svg").exists()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--hops", "2"), "--hops: says how far around what"),
        (("--top", "0"), "--top: 0 is too few"),
        (("--top", "3", "--around", "a"), "goes with no --around"),
        (("--around", "no such layer"), "no node of this view is named 'no such layer'"),
        (("--filter", "nosuch:1"), "nosuch"),
        (("--top", "3", "--view", "onnx"), "only the view engine has times"),
    ],
)
def test_options_of_graph_that_make_no_sense(refuse: Refuse, log: Path, options: tuple[str, ...], what: str) -> None:
    assert what in refuse("graph", log, "-o", "x.dot", *options)


def test_a_build_that_is_not_there_is_refused(refuse: Refuse, log: Path) -> None:
    assert "it has no build 7" in refuse("graph", log, "--build", "7", "-o", "x.dot")


@pytest.mark.slow
def test_the_same_log_gives_the_same_bytes_whatever_the_hash_seed(run: Run, log: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        settings = {"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        assert run("graph", log, "-o", "x.graphml", env=settings).returncode == 0
        assert run("parse", log, "--json", "-o", "x.json", env=settings).returncode == 0
        written.append([(tmp_path / "cwd" / name).read_bytes() for name in ("x.graphml", "x.json")])
    assert written[0] == written[1]
