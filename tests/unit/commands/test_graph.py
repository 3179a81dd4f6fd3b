"""The command that writes the graph of a build."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from tests.support.graph_builds import build, log, small_build
from trtforensics import cli
from trtforensics.commands import graph as command
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import OutputError, UsageError
from trtforensics.graphs.build import BuildGraph
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    parsed = log(small_build(), build(index=1))
    monkeypatch.setattr("trtforensics.engines.joining.kind_of", lambda _: Kind.BUILD_LOG)
    monkeypatch.setattr("trtforensics.engines.joining.load_build_log", lambda _sources, **_: parsed)
    return command.run(cli.build_parser("graph").parse_args(["graph", *arguments]))


def test_the_command_writes_the_graph_and_says_so_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.json"
    assert run(monkeypatch, "build.log", "-o", str(out)) == 0
    expected = BuildGraph(EngineFacts(small_build())).graph
    assert nx.utils.graphs_equal(nx.node_link_graph(json.loads(out.read_bytes()), edges="edges"), expected)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"{out}: {len(expected)} nodes, {expected.number_of_edges()} edges\n"


def test_the_command_graphs_the_build_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "x.json"
    run(monkeypatch, "build.log", "--build", "2", "-o", str(out))
    assert json.loads(out.read_bytes())["nodes"] == []


def test_the_command_writes_nothing_where_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no build 7"):
        run(monkeypatch, "build.log", "--build", "7", "-o", str(tmp_path / "x.dot"))
    with pytest.raises(OutputError, match="folder does not exist"):
        run(monkeypatch, "build.log", "-o", str(tmp_path / "missing" / "x.dot"))
    assert list(tmp_path.iterdir()) == []
