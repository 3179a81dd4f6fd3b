"""Versions, commands, requests, registry and quotes: what rules are made with."""

from __future__ import annotations

import types
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.foreign import Transformer
from tests.support.marked_logs import marked
from trtforensics.errors import UsageError
from trtforensics.findings import registry
from trtforensics.findings.case import Case, Need
from trtforensics.findings.engine import MAX_EVIDENCE, Inputs, judge
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.precision import TypeRequest, foreign_members, type_requests
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import trtexec, workspace
from trtforensics.findings.suppression import Suppression
from trtforensics.findings.versions import Version
from trtforensics.parsers.builds.notes import causes
from trtforensics.sources.quoting import LONGEST_QUOTE, read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from trtforensics.findings.rule import Rule
    from trtforensics.model.log import BuildLog


@pytest.fixture
def case_of(load: Callable[[str], BuildLog]) -> Callable[[str], Case]:
    """Return what makes a case of a log in short notation."""

    def make(notation: str) -> Case:
        log = load(marked(notation).text)
        return Case(log.builds[0], log)

    return make


@pytest.mark.parametrize(
    ("since", "before", "has"),
    [
        ("", "", True),
        ("10.8", "", True),
        ("10.12", "", True),
        ("10.13", "", False),
        ("", "11", True),
        ("", "10.12", False),
    ],
)
def test_versions_compare_number_by_number(since: str, before: str, has: bool) -> None:  # noqa: FBT001 - a column
    assert Version((10, 12, 0)).has(since, before) is has


def test_a_fix_says_for_which_versions_it_is() -> None:
    assert Fix("x").versions == ""
    assert Fix("x", "10.8").versions == "TensorRT 10.8 and later"
    assert Fix("x", before="11").versions == "TensorRT before 11"
    assert Fix("x", "8.5", "11").versions == "TensorRT 8.5 and later, before 11"


def test_the_next_command_is_the_logs_own_with_flags_replaced(case_of: Callable[[str], Case]) -> None:
    case = case_of("&& 10.16.1 --fp16 --memPoolSize=workspace:1 --saveEngine=a b.plan\nV Original: 1 layers")
    assert trtexec(case, "--memPoolSize=workspace:8", without=("--fp16",)) == (
        "trtexec --onnx=m.onnx '--saveEngine=a b.plan' --memPoolSize=workspace:8 --verbose"
    )


@pytest.mark.parametrize(
    ("notation", "command"),
    [
        ("&& 10.16.1 --fp16\nV Original: 1 layers", "--memPoolSize=workspace:2 "),
        ("&& 8.0.3 --fp16 --workspace=1\nV Original: 1 layers", "--workspace=2 "),
        ("| [11/21/2026-10:00:00] [TRT] [V] Original: 1 layers", "config.set_memory_pool_limit("),
    ],
)
def test_the_workspace_is_set_as_the_version_and_the_tool_want_it(
    notation: str, command: str, case_of: Callable[[str], Case]
) -> None:
    step = workspace(case_of(notation), 1_115_648)
    assert command in f"{step.command} "
    assert "2 MiB" in step.what


def test_a_model_of_unknown_path_gets_a_placeholder(case_of: Callable[[str], Case]) -> None:
    assert trtexec(case_of("V Original: 1 layers"), "--fp16") == "trtexec --onnx=model.onnx --fp16 --verbose"


@pytest.mark.parametrize(
    ("pattern", "layer", "matches"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "ab", True),
        ("*b", "ab", True),
        ("a*b", "ab", True),
        ("ab*bc", "abc", False),
    ],
)
def test_a_request_has_one_wildcard(pattern: str, layer: str, matches: bool) -> None:  # noqa: FBT001 - a column
    assert TypeRequest("layerPrecisions", pattern, "fp32", None).matches(layer) is matches


def test_requests_are_split_where_a_type_ends(case_of: Callable[[str], Case]) -> None:
    flags = "--layerPrecisions=a,b:fp32,(Unnamed_Layer*_1):fp16 --layerOutputTypes=c:int32"
    asked = type_requests(case_of(f"&& 8.6.1 {flags}\nV Original: 1 layers"))
    assert [(r.option, r.pattern, r.type) for r in asked] == [
        ("layerPrecisions", "a,b", "fp32"),
        ("layerPrecisions", "(Unnamed_Layer*_1)", "fp16"),
        ("layerOutputTypes", "c", "int32"),
    ]


@pytest.mark.parametrize(("version", "listed"), [((10, 12, 0), True), ((8, 6, 1), False)])
def test_members_of_a_foreign_node_are_listed_or_inferred(
    version: tuple[int, int, int],
    listed: bool,  # noqa: FBT001 - a column
    load: Callable[[str], BuildLog],
) -> None:
    transformer = Transformer(version)
    held = foreign_members(load(transformer.log().text()).builds[0])
    assert list(held) == list(transformer.inside)
    assert {(one.name, one.listed) for one in held.values()} == {(transformer.foreign, listed)}


def test_a_cause_is_found_wherever_it_stands_in_a_message() -> None:
    text = "Error[9]: f: Error Code 9: Internal Error (Target GPU SM 61 is not supported by this TensorRT release.)"
    assert causes(text) == (("target_sm", {"sm": "61"}),)
    assert causes("nothing of the kind") == ()


@pytest.mark.parametrize(("said", "found"), [("24 tensors", 1), ("3 tensors", 0), ("all ONNX tensors", 0)])
def test_many_marked_tensors_are_found_without_the_command(said: str, found: int, tmp_path: Path) -> None:
    text = marked(f"I Detected 1 inputs and 24 output network tensors.\n| [V] Marking {said} as outputs").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF214"]
    assert len(seen) == found


def test_long_evidence_is_cut_and_counted(tmp_path: Path) -> None:
    names = ("t" * 2000 + str(number) for number in range(30))
    said = "Missing scale and zero-point for tensor {}, expect fall back to non-int8 implementation for it"
    text = marked("\n".join(f"W {said.format(name)}" for name in names)).text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF211"]
    assert len(found.evidence) == MAX_EVIDENCE
    assert found.evidence_total == 30
    assert {len(e.text) for e in found.evidence} == {LONGEST_QUOTE + 1}


def declared(code: str = "XX001", needs: tuple[Need, ...] = ()) -> Rule:
    """Return a rule of somebody else's."""

    @rule(code, Severity.NOTE, "A title", cause="c", confirm="d", fixes=("e",), sources=("f",), needs=needs)
    def check(case: Case) -> Iterator[Observation]:
        yield Observation("seen", [case.build.stages[0].span], steps=(Step("s"),))

    return check


def entry_points(monkeypatch: pytest.MonkeyPatch, loaded: object) -> None:
    """Let one entry point be found, which loads to this; a class of errors is raised instead."""

    def load(_: EntryPoint) -> object:
        if isinstance(loaded, type) and issubclass(loaded, Exception):
            raise loaded("broken")
        return loaded

    found = EntryPoint("other", "other.rules", registry.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", lambda group: [found] if group == registry.ENTRY_POINTS else [])
    registry.rules.cache_clear()


@pytest.fixture(autouse=True)
def _fresh_registry() -> Iterator[None]:
    yield
    registry.rules.cache_clear()


@pytest.mark.parametrize("as_module", [True, False])
def test_other_packages_bring_rules_by_entry_point(
    as_module: bool,  # noqa: FBT001 - a column
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    module = types.ModuleType("other")
    vars(module)["its"] = declared()
    entry_points(monkeypatch, module if as_module else declared())
    (tmp_path / "b.log").write_text(marked("V Original: 1 layers").text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert "XX001" in {one.code for one in judge(Inputs([log]), Suppression()).findings}


@pytest.mark.parametrize("loaded", [ImportError, AttributeError, types.ModuleType("empty"), declared("TF201")])
def test_a_bad_entry_point_is_one_clear_sentence(loaded: object, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points(monkeypatch, loaded)
    with pytest.raises(UsageError):
        registry.rules()


def test_a_rule_that_uses_what_it_does_not_declare_is_told_so(case_of: Callable[[str], Case]) -> None:
    case = case_of("V Original: 1 layers")
    for read in (lambda: case.the_model, lambda: case.the_replay, lambda: case.the_baseline):
        with pytest.raises(LookupError, match="without declaring"):
            read()
