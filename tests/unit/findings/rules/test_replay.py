"""Rules that hold a tactic replay against the log of a build."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.replay.from_log import replay_of
from trtforensics.replay.writing import to_text
from trtforensics.sources.quoting import QuotedLog, read_log
from trtforensics.sources.replay import ReplayFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.findings.finding import Finding

LOG = LOGS / "emulated-trtexec-10.16-three-passes.log"
Entries = dict[str, Any]


@pytest.fixture(scope="module")
def log() -> QuotedLog:
    """The log that the replays are made from."""
    return read_log(str(LOG), max_bytes=1 << 30, on_progress=lambda _: None)


def plain(entries: Entries) -> str:
    """Return a layer that is no ForeignNode and no reformat."""
    return next(name for name in entries if name.startswith("node_conv2d_1"))


def foreign(entries: Entries) -> str:
    """Return a ForeignNode."""
    return next(name for name in entries if name.startswith("{ForeignNode["))


def another_tactic(entries: Entries) -> None:
    entries[plain(entries)]["tactic"] = 42


def another_type(entries: Entries) -> None:
    for tensor in entries[foreign(entries)]["inputs"]:
        tensor["dtype"] = "DataType.BF16"


def another_name(entries: Entries) -> None:
    entries["nobody"] = entries.pop(plain(entries))


def one_less(entries: Entries) -> None:
    del entries[plain(entries)]


def as_recorded(entries: Entries) -> None:
    assert foreign(entries)


def without_foreign(entries: Entries) -> None:
    for name in [name for name in entries if name.startswith("{ForeignNode[")]:
        del entries[name]


def findings(log: QuotedLog, change: Callable[[Entries], None], folder: Path) -> list[Finding]:
    """Return the findings with the log's own replay, changed."""
    document = json.loads(to_text(replay_of(log.log.builds[0], log.log.source)[0].entries))
    change(document["replay"])
    path = folder / "replay.json"
    path.write_text(json.dumps(document, indent=4), encoding="utf-8")
    report = judge(Inputs([log], replay=ReplayFile(str(path))), Suppression())
    return [one for one in report.findings if one.code.startswith("TF80")]


@pytest.mark.parametrize(
    ("code", "speaks", "silent", "cited"),
    [
        ("TF801", another_tactic, as_recorded, '"tactic": 42'),
        ("TF802", another_type, as_recorded, '"dtype": "DataType.BF16"'),
        ("TF803", another_name, as_recorded, '"nobody": {'),
        ("TF804", one_less, as_recorded, None),
        ("TF805", as_recorded, without_foreign, '"{ForeignNode['),
    ],
)
def test_it_points_into_the_replay(  # noqa: PLR0913, PLR0917 - the columns of the table
    code: str,
    speaks: Callable[[Entries], None],
    silent: Callable[[Entries], None],
    cited: str | None,
    log: QuotedLog,
    tmp_path: Path,
) -> None:
    (found,) = [one for one in findings(log, speaks, tmp_path) if one.code == code]
    assert found.evidence
    assert cited is None or all(cited in evidence.text for evidence in found.evidence)
    assert [one for one in findings(log, silent, tmp_path) if one.code == code] == []


def test_entries_are_counted_in_the_title(log: QuotedLog, tmp_path: Path) -> None:
    (found,) = [one for one in findings(log, another_name, tmp_path) if one.code == "TF803"]
    assert found.title == "1 entry of the replay without effect: nobody"


def test_a_log_without_tuning_says_nothing_of_a_replay(log: QuotedLog, tmp_path: Path) -> None:
    path = tmp_path / "short.log"
    path.write_text("\n".join(LOG.read_text(encoding="utf-8").split("\n")[:40]), encoding="utf-8")
    short = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    assert findings(log, another_tactic, tmp_path)
    (tmp_path / "replay.json").replace(tmp_path / "kept.json")
    report = judge(Inputs([short], replay=ReplayFile(str(tmp_path / "kept.json"))), Suppression())
    assert [one for one in report.findings if one.code.startswith("TF80")] == []
