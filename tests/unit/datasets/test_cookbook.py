"""Every question of the page about many logs gives what plain Python over ``parse --json`` gives."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT
from trtforensics.cli import main
from trtforensics.datasets.ingesting import Ingestion
from trtforensics.datasets.sql import Questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGE = (ROOT / "docs" / "how-to" / "many-logs.md").read_text("utf-8")
ASKED = dict(re.findall(r"^([^\n]+\?)\n\n```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
Documents = dict[str, dict[str, Any]]
ANSWERS: dict[str, Callable[[Documents], Any]] = {}


@pytest.fixture(scope="module")
def documents(logs: Path, capsys_of_module: Any) -> Documents:
    return {str(path): capsys_of_module("parse", "--json", str(path)) for path in sorted(logs.glob("*.log"))}


@pytest.fixture(scope="module")
def capsys_of_module() -> Any:
    """Run a command and return the JSON that it prints; ``capsys`` is for one test."""
    import contextlib  # noqa: PLC0415 - here alone
    import io  # noqa: PLC0415 - as above

    def printed(*words: str) -> Any:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            main(list(words))
        return json.loads(out.getvalue())

    return printed


@pytest.fixture(scope="module")
def questions(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Questions:
    ingestion = Ingestion(str(tmp_path_factory.mktemp("set")), {}, None, 1 << 30)
    list(ingestion.run([str(path) for path in sorted(logs.iterdir())], 1, lambda _: None))
    return Questions(ingestion.dataset)


def answer(question: str) -> Callable[[Callable[[Documents], Any]], None]:
    return lambda function: ANSWERS.__setitem__(question, function)


def builds(documents: Documents) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, build) for path, document in documents.items() for build in document["builds"])


def layers(documents: Documents) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    for path, build in builds(documents):
        for layer in build["engine_layers"]:
            yield path, layer, (layer["compute_precision"] or {}).get("type")


def runs(documents: Documents) -> list[tuple[str, dict[str, Any], str | None]]:
    return [
        (path, run, document["builds"][run["builds"][-1]]["tensorrt_version"])
        for path, document in documents.items()
        for run in document["runs"]
    ]


@answer("What failed, and why?")
def _(documents: Documents) -> Any:
    outcomes = [(path, run["program"]["name"], run["outcome"]) for path, run, _ in runs(documents)]
    return [(path, name, end["is"], end["why"]) for path, name, end in outcomes if end["is"] != "passed"]


@answer("How do runs end, by release?")
def _(documents: Documents) -> Any:
    counts = Counter((release, run["outcome"]["is"]) for _, run, release in runs(documents))
    return sorted(((*key, number) for key, number in counts.items()), key=lambda row: (row[0] is None, row))


@answer("Which files could not be read?")
def _(documents: Documents) -> Any:
    folder = next(iter(documents)).rpartition("/")[0]
    return [(f"{folder}/poem.txt", "no line carries a TensorRT or trtexec prefix")]


@answer("Which layers take longest?")
def _(documents: Documents) -> Any:
    units = [(path, unit) for path, build in builds(documents) for unit in build["ledger"]["units"]]
    timed = [(path, unit["name"], unit["ms"]) for path, unit in units if unit["ms"] is not None]
    return sorted(timed, key=lambda row: (-row[2], row[0], row[1]))[:10]


@answer("Where does the time go, by type of layer?")
def _(documents: Documents) -> Any:
    times = defaultdict(list)
    for _, layer, _ in layers(documents):
        if layer["time_ms"] is not None:
            times[layer["type"]].append(layer["time_ms"])
    return [(kind, len(each), sum(each)) for kind, each in sorted(times.items())]


@answer("Which near ties may flip in the next build?")
def _(documents: Documents) -> Any:
    return [
        (path, c["line"], c["layer"], c["tactic"], c["time_ms"], c["runner_up_ms"])
        for path, build in builds(documents)
        for c in build["choices"]
        if c["final"] is not False and c["runner_up_ms"] and c["runner_up_ms"] <= c["time_ms"] * 1.02
    ]


@answer("Which layers compute in different types in different builds?")
def _(documents: Documents) -> Any:
    types: dict[str, set[Any]] = defaultdict(set)
    for _, layer, kind in layers(documents):
        types[layer["name"]] |= {kind} - {None}
    return [(name, tuple(sorted(kinds))) for name, kinds in sorted(types.items()) if len(kinds) > 1]


@answer("In which builds does an ONNX node compute in FP32?")
def _(documents: Documents) -> Any:
    wide = [(path, layer) for path, layer, kind in layers(documents) if kind == "Float"]
    return sorted((node, path, layer["line"]) for path, layer in wide for node in layer["onnx_nodes"])


@answer("Since which build does this layer compute in FP16?")
def _(documents: Documents) -> Any:
    name = "/stem/conv/Conv + /stem/act/Relu"
    has = {path for path, layer, kind in layers(documents) if layer["name"] == name and kind == "Half"}
    order = ["emulated-trtexec-8.6.log", "emulated-trtexec-10.16-three-passes.log", "failed.log", "later.log"]
    places = [number for number, file in enumerate(order, 1) if any(path.endswith(f"/{file}") for path in has)]
    return [(min(places),)]


@answer("Which kernels do the engines use?")
def _(documents: Documents) -> Any:
    return sorted(Counter(layer["tactic_name"] for _, layer, _ in layers(documents) if layer["tactic_name"]).items())


@answer("How many tactics were timed, and for how long in all?")
def _(documents: Documents) -> Any:
    return [
        (path, sum(c["candidates"] for c in build["choices"]), None)
        for path, build in builds(documents)
        if any(choice["candidates"] for choice in build["choices"])
    ]


@answer("Which tactic won where, with which margin?")
def _(documents: Documents) -> Any:
    return [
        (path, c["line"], c["layer"], c["tactic"], c["runner_up_ms"] / c["time_ms"] - 1 if c["runner_up_ms"] else None)
        for path, build in builds(documents)
        for c in build["choices"]
        if c["final"]
    ]


@answer("How long did builds take, and what did their timing cache spare?")
def _(documents: Documents) -> Any:
    return [
        (p, b["results"].get("build_s"), b["autotuning"]["tactics_timed"], b["autotuning"]["cache_hits"])
        for p, b in builds(documents)
    ]


@answer("How did the 99th percentile of latency go?")
def _(documents: Documents) -> Any:
    return [(p, b["results"]["latency_ms"]["p99"]) for p, b in builds(documents) if "latency_ms" in b["results"]]


@answer("Which engines grew?")
def _(documents: Documents) -> Any:
    sizes = [(p, b["results"]["engine_bytes"]) for p, b in builds(documents) if "engine_bytes" in b["results"]]
    return sorted(sizes, key=lambda row: (-row[1], row[0]))


@answer("Which options differ?")
def _(documents: Documents) -> Any:
    values = defaultdict(set)
    for _, build in builds(documents):
        for name, value in build["options"].get("build", {}).items():
            values[name].add(value)
    return [(name, tuple(sorted(each))) for name, each in sorted(values.items()) if len(each) > 1]


@answer("Which fusions are made how often?")
def _(documents: Documents) -> Any:
    return sorted(Counter(fusion["kind"] for _, build in builds(documents) for fusion in build["fusions"]).items())


@answer("Which pass of the builder was kept?")
def _(documents: Documents) -> Any:
    return [
        (path, place, one["backend_strategy"], one.get("estimated_ms"))
        for path, build in builds(documents)
        for place, one in enumerate(build["passes"])
        if one["chosen"]
    ]


@answer("How much of the engines' time is known?")
def _(documents: Documents) -> Any:
    units: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for path, build in builds(documents):
        for unit in build["ledger"]["units"]:
            units[path, unit["is"]].append(unit["ms"])
    known = {key: [ms for ms in each if ms is not None] for key, each in units.items()}
    return [(*key, len(each), sum(known[key]) if known[key] else None) for key, each in sorted(units.items())]


def rows(questions: Questions, text: str) -> list[tuple[Any, ...]]:
    return list(questions.ask(text).values())


def same(ours: Any, expected: Any) -> None:
    assert len(ours) == len(expected)
    for mine, other in zip(ours, expected, strict=True):
        assert mine == tuple(pytest.approx(v, rel=1e-9) if isinstance(v, float) else v for v in other)


def test_there_are_twenty_questions() -> None:
    assert len(ASKED) == 20
    assert ANSWERS.keys() | {"Which findings are in how many logs?"} == ASKED.keys()


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer_is_that_of_plain_python(question: str, questions: Questions, documents: Documents) -> None:
    ours, expected = rows(questions, ASKED[question]), ANSWERS[question](documents)
    assert ours
    if question.startswith("How many tactics"):
        assert all(row[2] > 0 for row in ours)
        ours = [(*row[:2], None) for row in ours]
    same(ours, expected)


def test_the_findings_are_those_of_the_report(
    questions: Questions, documents: Documents, capsys_of_module: Any
) -> None:
    counts: Counter[str] = Counter()
    for path in documents:
        findings = capsys_of_module("report", "--json", path)["findings"]
        counts.update({each["code"] for each in findings if each["severity"] != "note"})
    assert rows(questions, ASKED["Which findings are in how many logs?"]) == sorted(counts.items())
