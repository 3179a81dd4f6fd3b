"""Every command that a finding proposes can be typed as it stands: on real, emulated and generated logs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulator.engine.foreign import Transformer
from tests.support.command_lines import Proposal, harms_of, proposals, workspace_of
from tests.support.marked_logs import marked
from tests.support.repository import ROOT
from tests.unit.findings.rules.examples import EXAMPLES
from trtforensics.errors import NotABuildLogError
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.findings.finding import Report
    from trtforensics.sources.quoting import QuotedLog

VERSIONS = ("10.16.1", "10.12.0", "11.1.0", "8.6.1", "8.0.3")
OPTIONS = (
    "--fp16",
    "--int8",
    "--best",
    "--stronglyTyped",
    "--memPoolSize=workspace:1024MiB",
    "--workspace=1",
    "--timingCacheFile=my.cache",
    "--dumpProfile --separateProfileRun",
    "--buildOnly",
    "--skipInference",
    "--loadEngine=a.plan",
    "--plugins=libp.so",
    "--minShapes=x:1x3 --optShapes=x:2x3 --maxShapes=x:4x3",
    "--layerPrecisions=a:fp16 --precisionConstraints=obey",
    "--saveEngine=a b.plan",
    "--saveEngine=again.plan --exportTimes=times.json --exportProfile=/dev/null",
    "--stripWeights",
    "--shapes=x:2x3",
    "--useCudaGraph",
    "--builderOptimizationLevel=0",
)
DEVICES = (
    ("Orin", "8.7", "7619 MiB", "1.02 GHz"),
    ("NVIDIA GeForce GTX 1070", "6.1", "8111 MiB", "1.645 GHz"),
    ("NVIDIA H100 PCIe", "9.0", "81081 MiB", "1.755 GHz"),
)
LINES = tuple(
    line.strip()
    for example in EXAMPLES.values()
    if isinstance(example.fires, str)
    for line in example.fires.splitlines()
    if line.strip() and "&&" not in line
)
"""The lines for which findings speak."""


def check(path: Path) -> int:
    """Assert that each proposed command on a log can be typed; return how many there are."""
    log = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    return check_report(log, judge(Inputs([log]), Suppression()))


def check_report(log: QuotedLog, report: Report) -> int:
    """Assert that each proposed command of a report can be typed; return how many there are."""
    assert harms_of(report, [log.log]) == {}
    found = [one for finding in report.findings for one in proposals(finding, log.log) if one.command]
    assert [problem for one in found for problem in one.problems()] == []
    assert all(len(sizes) <= 1 for sizes in _workspaces(found).values()), "several workspaces for one build"
    return len(found)


def _workspaces(found: list[Proposal]) -> dict[int, set[int]]:
    sizes: dict[int, set[int]] = {}
    for one in found:
        own = workspace_of(one.build.command or "")
        size = workspace_of(one.command)
        if size not in {0, own}:
            sizes.setdefault(one.build.index, set()).add(size)
    return sizes


@pytest.mark.slow
@pytest.mark.corpus
def test_on_the_corpus(corpus: Path) -> None:
    rounds = corpus.parent / "rounds"
    others = corpus.parent / "cases", rounds / "0" / "cases", *(rounds / number / "logs" for number in "012")
    made = 0
    for path in sorted([*(corpus / "buildlog").iterdir(), *(path for folder in others for path in folder.iterdir())]):
        if path.suffix != ".json":
            with suppress(NotABuildLogError):
                made += check(path)
    assert made > 100


@pytest.mark.parametrize("path", sorted((ROOT / "testdata" / "logs").glob("*.log")), ids=lambda path: path.name)
def test_on_the_logs_of_the_project(path: Path) -> None:
    check(path)


@pytest.mark.parametrize("detailed", [False, True])
@pytest.mark.parametrize("constraints", ["none", "obey"])
def test_on_emulated_transformers(detailed: bool, constraints: str, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter
    log = Transformer(precisions="/layers.*LayerNormalization:fp32", constraints=constraints, detailed=detailed).log()
    (tmp_path / "build.log").write_text(log.text(), encoding="utf-8", newline="\n")
    assert check(tmp_path / "build.log")


@given(
    version=st.sampled_from(VERSIONS),
    options=st.lists(st.sampled_from(OPTIONS), unique=True, max_size=5),
    device=st.sampled_from(DEVICES),
    lines=st.lists(st.sampled_from(LINES), max_size=12),
    verdict=st.sampled_from(("&&.", "&&!")),
)
def test_on_generated_logs(  # noqa: PLR0913, PLR0917 - what is drawn
    version: str,
    options: list[str],
    device: tuple[str, str, str, str],
    lines: list[str],
    verdict: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    name, capability, memory, clock = device
    facts = (
        "i === Device Information ===",
        f"i Selected Device: {name}",
        f"i Compute Capability: {capability}",
        f"i Device Global Memory: {memory}",
        f"i Compute Clock Rate: {clock}",
    )
    notation = "\n".join((f"&& {version} {' '.join(options)}", *facts, *lines, verdict))
    path = tmp_path_factory.mktemp("generated") / "build.log"
    path.write_text(marked(notation).text, encoding="utf-8", newline="\n")
    check(path)
