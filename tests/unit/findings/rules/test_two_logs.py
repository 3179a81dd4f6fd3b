"""Rules that compare two logs of one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.examples import HALF, SINGLE, node, summed
from trtforensics.findings import earlier
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report

NAMES = ("a", "b", "c", "d")


def layer(name: str, kind: str, tactic: int) -> str:
    """Return the line of an engine layer."""
    return f"| Layer(CaskConvolution): {name}, Tactic: {tactic:#018x}, x (Float[2,8]) -> {name}_out ({kind}[2,8])"


def log(
    version: str = "10.16.1", batch: int = 2, types: str = "Float Float Float Float", tactic: int = 1, fused: str = ""
) -> str:
    """Return a log of four layers; ``fused`` are two that one engine layer holds."""
    names = [name for name in NAMES if name not in fused.split(" + ")]
    rows = zip([*names, *([fused] if fused else [])], types.split(), strict=False)
    layers = "\n".join(layer(name, kind, tactic if name == "d" else 1) for name, kind in rows)
    nodes = "".join(node(name) for name in NAMES)
    return f"""&& {version} --fp16
    i === Device Information ===
    i Selected Device: {"Old" if version < "10.16" else "New"} GPU
    V Adding network input: x with dtype: float32, dimensions: ({batch}, 8)
    {nodes}
    V Engine Layer Information:
    {layers}
    &&. end
    """


BASE = log()


def test_a_baseline_is_read_again_where_it_was_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "_KEPT_BYTES", 0)
    texts = [BASE, node("x") * 3 + "&& 10.16.1\n" + node("y"), log(tactic=2), log(tactic=3)]
    logs = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.log").write_text(marked(text).text, encoding="utf-8", newline="\n")
        logs.append(read_log(str(tmp_path / f"{number}.log"), max_bytes=1 << 30, on_progress=lambda _: None))
    found = [one for one in judge(Inputs(iter(logs)), Suppression()).findings if one.code == "TF903"]
    assert [one.source for one in found] == [2, 3]
    assert {one.evidence[0].span.file for one in found} == {str(tmp_path / "0.log")}
    brief = judge(Inputs(iter(logs)), Suppression(), whole=3)
    assert [one.title for one in brief.findings] == [one.title for one in judge(Inputs(logs), Suppression()).findings]
    first, second = (one for one in brief.findings if one.code == "TF903")
    assert first == found[0]
    assert (second.cause, second.evidence[0].text, second.evidence[0].span) == ("", "", found[1].evidence[0].span)


def report(first: str, second: str, folder: Path) -> Report:
    """Return the report on two logs."""
    logs = []
    for name, text in (("first", first), ("second", second)):
        path = folder / f"{name}.log"
        path.write_text(marked(text).text, encoding="utf-8", newline="\n")
        logs.append(read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None))
    return judge(Inputs(logs), Suppression())


@pytest.mark.parametrize(
    ("code", "other", "count"),
    [
        ("TF901", log(fused="a + b"), 1),
        ("TF902", log(types="Float Float Half Float"), 1),
        ("TF903", log(tactic=2), 1),
        ("TF904", log(version="10.12.0"), 2),
        ("TF905", log(batch=-1), 1),
    ],
    ids=lambda value: value[:5] if isinstance(value, str) else str(value),
)
def test_it_cites_lines_of_both_logs(code: str, other: str, count: int, tmp_path: Path) -> None:
    found = [one for one in report(BASE, other, tmp_path).findings if one.code == code]
    assert len(found) == count
    for one in found:
        assert one.source == 1
        assert {evidence.span.file for evidence in one.evidence} == {
            str(tmp_path / f"{n}.log") for n in ("first", "second")
        }
        assert all(evidence.text for evidence in one.evidence)


@pytest.mark.parametrize("code", ["TF901", "TF902", "TF903", "TF904", "TF905"])
def test_two_equal_logs_differ_in_nothing(code: str, tmp_path: Path) -> None:
    assert [one for one in report(BASE, BASE, tmp_path).findings if one.code == code] == []


def test_only_what_differs_is_reported(tmp_path: Path) -> None:
    codes = {one.code for one in report(BASE, log(tactic=2), tmp_path).findings}
    assert {code for code in codes if code.startswith("TF90")} == {"TF903"}


def test_logs_of_different_models_are_not_compared(tmp_path: Path) -> None:
    strange = BASE
    for name in NAMES:
        strange = strange.replace(f" {name} [", f" other_{name} [").replace(f"node: {name}", f"node: other_{name}")
    assert not [one for one in report(strange, log(version="10.12.0"), tmp_path).findings if one.code.startswith("TF9")]


@pytest.mark.parametrize(("second", "codes"), [(SINGLE, ["TF906"]), (HALF, [])])
def test_another_accumulator_is_reported_with_the_lines_of_both(second: str, codes: list[str], tmp_path: Path) -> None:
    first, other = (f"{BASE}{summed(types, types)}" for types in (HALF, second))
    found = [one for one in report(first, other, tmp_path).findings if one.code == "TF906"]
    assert [one.code for one in found] == codes
    for one in found:
        assert one.title == "1 layer with another accumulator: product (Half and Float)"
        assert {Path(e.span.file).stem for e in one.evidence} == {"first", "second"}


def test_what_both_logs_show_is_listed_as_common(tmp_path: Path) -> None:
    weak = "\n> w Weakly-typed networks have been deprecated in TensorRT. You can use\n&&. end"
    found = report(BASE.replace("\n    &&. end", weak), BASE.replace("\n    &&. end", weak), tmp_path)
    assert [(one.code, one.sources) for one in found.common if one.code == "TF407"] == [("TF407", (0, 1))]


def test_layers_are_not_compared_with_a_log_that_shows_none(tmp_path: Path) -> None:
    before, _, _ = log(version="8.6.1").partition("V Engine Layer Information:")
    found = {each.code for each in report(f"{before}&&. end", BASE, tmp_path).findings}
    assert found & {"TF901", "TF902", "TF903", "TF904"} == {"TF904"}
