"""How findings are arranged: roots first, consequences below them, the findings of several builds as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.findings.finding import Confidence, Evidence, Finding, Severity, Step
from trtforensics.findings.tree import MAX_EVIDENCE, FindingWithCauses, arranged
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Sequence


def at(line: int) -> SourceSpan:
    """Return a line of the log."""
    return SourceSpan("b.log", line, 100 * line)


def judged(  # noqa: PLR0913 - the fields that matter here
    code: str,
    lines: Sequence[int],
    severity: Severity = Severity.ERROR,
    *,
    build: int = 0,
    follows: tuple[str, ...] = (),
    because: Sequence[int] = (),
    discarded: bool = False,
    cost_ms: float = 0.0,
) -> FindingWithCauses:
    """Return a finding of a build at these lines."""
    spans = [at(line) for line in lines]
    finding = Finding(
        code=code,
        severity=severity,
        title=code,
        cause="",
        confidence=Confidence.CERTAIN,
        settle="",
        source=0,
        builds=(build,),
        evidence=tuple(Evidence(span, "") for span in spans[:MAX_EVIDENCE]),
        evidence_total=len(spans),
        signature=code,
        pass_discarded=discarded,
        cost_ms=cost_ms,
    )
    return FindingWithCauses(finding, frozenset(spans), frozenset(map(at, because)), follows)


def shown(found: Sequence[FindingWithCauses]) -> list[tuple[str, int | None]]:
    """Return the codes in order, each with the index of its root."""
    return [(one.code, one.consequence_of) for one in arranged(found)]


def test_a_finding_follows_from_the_one_that_cites_its_cause() -> None:
    chain = [
        judged("TF302", [5], Severity.WARNING),
        judged("TF301", [9], because=[5]),
        judged("TF717", [12], because=[9]),
    ]
    assert shown(chain) == [("TF302", None), ("TF301", 0), ("TF717", 0)]


@pytest.mark.parametrize(("line", "root"), [(3, 0), (30, None)])
def test_a_declared_cause_must_begin_no_later(line: int, root: int | None) -> None:
    cause = judged("TF305", [line], Severity.WARNING)
    found = dict(shown([judged("TF304", [7, 8], Severity.WARNING, follows=("TF305",)), cause]))
    assert (found["TF304"], found["TF305"]) == (root, None)


def test_findings_of_a_build_with_one_title_are_one() -> None:
    (found,) = arranged([judged("TF101", [3]), judged("TF101", [9])])
    assert [each.span.line for each in found.evidence] == [3, 9]


def test_a_cause_of_another_build_is_none() -> None:
    found = [judged("TF305", [1], build=0), judged("TF304", [7], build=1, follows=("TF305",))]
    assert shown(found) == [("TF305", None), ("TF304", None)]


def test_findings_that_follow_from_each_other_are_no_endless_chain() -> None:
    found = [judged("TF101", [1], follows=("TF102",)), judged("TF102", [1], follows=("TF101",))]
    assert {code for code, _ in shown(found)} == {"TF101", "TF102"}


def test_roots_rank_by_the_worst_of_what_follows_then_those_about_the_log_then_by_line() -> None:
    found = [
        judged("TF716", [1]),
        judged("TF208", [2], Severity.WARNING),
        judged("TF305", [8], Severity.WARNING),
        judged("TF301", [20], follows=("TF305",)),
        judged("TF402", [30]),
        judged("TF303", [3], Severity.NOTE, discarded=True),
        judged("TF502", [4], Severity.NOTE),
    ]
    assert [code for code, _ in shown(found)] == ["TF305", "TF402", "TF716", "TF208", "TF502", "TF303", "TF301"]


def test_warnings_whose_time_is_known_stand_in_its_order_and_others_where_their_line_puts_them() -> None:
    found = [
        judged("TF601", [1], Severity.WARNING),
        judged("TF602", [2], Severity.WARNING, cost_ms=0.25),
        judged("TF603", [3], Severity.WARNING, cost_ms=0.5),
        judged("TF401", [5]),
        judged("TF402", [6], cost_ms=1.0),
    ]
    assert [code for code, _ in shown(found)] == ["TF401", "TF402", "TF601", "TF603", "TF602"]


def test_the_same_finding_of_several_builds_is_one() -> None:
    found = [judged("TF508", list(range(30 * b + 1, 30 * b + 26)), build=b) for b in (0, 1, 3)]
    (one,) = arranged(found)
    assert one.builds == (0, 1, 3)
    assert one.evidence_total == 75
    assert len(one.evidence) <= MAX_EVIDENCE
    assert {e.span.line // 30 for e in one.evidence} == {0, 1, 3}


def test_a_finding_that_is_a_root_in_one_build_only_stays_apart() -> None:
    found = [
        judged("TF305", [1], build=0),
        judged("TF304", [2], build=0, follows=("TF305",)),
        judged("TF304", [12], build=1, follows=("TF305",)),
    ]
    assert [(one.code, one.builds, one.consequence_of) for one in arranged(found)] == [
        ("TF305", (0,), None),
        ("TF304", (1,), None),
        ("TF304", (0,), 0),
    ]


CODES = ("TF101", "TF301", "TF302", "TF305", "TF502", "TF717")


@given(
    st.lists(
        st.builds(
            judged,
            st.sampled_from(CODES),
            st.lists(st.integers(1, 30), min_size=1, max_size=3),
            st.sampled_from(Severity),
            build=st.integers(0, 2),
            follows=st.lists(st.sampled_from(CODES), max_size=2).map(tuple),
            because=st.lists(st.integers(1, 30), max_size=2),
        ),
        max_size=12,
    )
)
def test_nothing_is_lost_and_every_consequence_names_a_root_of_its_builds(found: list[FindingWithCauses]) -> None:
    result = arranged(found)
    assert sum(len(one.builds) for one in result) >= len({(j.finding.code, j.finding.build) for j in found})
    assert sum(one.evidence_total for one in result) == sum(one.finding.evidence_total for one in found)
    roots = [one for one in result if one.consequence_of is None]
    assert list(result[: len(roots)]) == roots
    for one in result:
        if one.consequence_of is not None:
            root = result[one.consequence_of]
            assert root.consequence_of is None
            assert set(one.builds) <= set(root.builds)


def test_what_is_of_one_of_several_builds_says_of_which() -> None:
    entries = []
    for build in (2, 4):
        entry = judged("TF508", [build], build=build)
        steps = (
            Step("Lock the clocks", "nvidia-smi -lgc 1", (build,)),
            Step("Measure again", f"trtexec --onnx={build}.onnx", (build,)),
        )
        finding = replace(entry.finding, title=f"{build} % spread", next_steps=steps)
        entries.append(replace(entry, finding=finding))
    (merged,) = arranged(entries)
    assert merged.title == "2 % spread in build 3, alike in others"
    both = Step("Lock the clocks", "nvidia-smi -lgc 1", (2, 4))
    first, second = (Step(f"Measure again (build {b + 1})", f"trtexec --onnx={b}.onnx", (b,)) for b in (2, 4))
    assert merged.next_steps == (both, first, second)
    assert merged.in_build(4).next_steps == (both, second)


def test_a_command_stands_once_and_other_findings_of_the_build_name_it() -> None:
    entries: list[FindingWithCauses] = []
    for code, build in (("TF305", 0), ("TF304", 0), ("TF306", 1)):
        entry = judged(code, [len(entries) + 1], build=build)
        steps = (Step("Build with more workspace", "trtexec --memPoolSize=workspace:1024", (build,)),)
        entries.append(replace(entry, finding=replace(entry.finding, next_steps=steps)))
    by_code = {finding.code: finding.next_steps for finding in arranged(entries)}
    assert by_code["TF305"] == entries[0].finding.next_steps
    assert by_code["TF304"] == (Step("Build with more workspace: as under TF305", "", (0,)),)
    assert by_code["TF306"] == entries[2].finding.next_steps, "another build's"
