"""A verdict belongs to all that it depends on: in every mode, whatever of that changes is judged again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from tests.emulator.tensorrt.python_path import environment
from tests.support.failing_models import determinant, model_with
from tests.support.in_process import run_in_process
from tests.support.repository import ROOT
from trtforensics.model.replay import ReplayEntry, ReplayTensor
from trtforensics.model.span import SourceSpan
from trtforensics.replay.writing import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")

NORM_CHAIN = ROOT / "testdata" / "models" / "norm-chain.onnx"
CHECK = "sh check.sh golden.txt samples $LIMIT"
SCRIPT = '. ./lib.sh\necho >> ran\ntest "$(cat golden.txt samples/0 | tr -d "\\n")$LIMIT" = 002\n'
"""Says that all is well, until something is another."""


class Place:
    """A folder in which commands run; ``ran`` there has a line for each check."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "LIMIT": "2"}
        self.write("check.sh", SCRIPT)
        self.write("lib.sh", ":\n")
        self.write("golden.txt", "0\n")
        self.write("samples/0", "0\n")

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def run(self, *words: str, status: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
        """Run a command and return its answer."""
        line = [*words, "--artifacts-dir", "out", "--json", "--quiet"]
        if self.environment.get("PYTHONPATH") == os.environ.get("PYTHONPATH"):
            done = run_in_process(line, self.folder, self.environment)
        else:  # another TensorRT is to be found
            command = [sys.executable, "-m", "trtforensics", *line]
            done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False)
        assert done.returncode in status, done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else {"said": done.stderr.decode()}

    def ran(self) -> int:
        """Return how many checks have run."""
        path = self.folder / "ran"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def items(place: Place) -> list[str]:
    place.write("items.txt", "a\nb\nc\n")
    return ["bisect", "items", "--items", "items.txt"]


def tactics(place: Place) -> list[str]:
    tensor = ReplayTensor("HALF", None, (8, 1), -1, 1)
    for side, tactic in (("good", 1), ("bad", 2)):
        entries = [ReplayEntry(f"layer {n}", 9, tactic, (tensor,), (tensor,), SourceSpan("x", 1, 0)) for n in range(3)]
        place.write(f"{side}.json", to_text(entries))
    return ["bisect", "tactics", "--good", "good.json", "--bad", "bad.json", "--build", "true"]


def cache(place: Place) -> list[str]:
    for side, tactic in (("good", "0x0000000000000001"), ("bad", "0x0000000000000002")):
        keys = [{"op": f"op{n}", "key": f"0x{n:032x}", "selected": tactic, "time_ms": 0.5} for n in range(3)]
        document = {"schema": 1, "kind": "timing-cache", "source": {"path": "x"}, "format": "json"}
        place.write(f"{side}.json", json.dumps({**document, "keys": [{**key, "candidates": []} for key in keys]}))
    return ["bisect", "cache", "--good", "good.json", "--bad", "bad.json", "--build", "true"]


def outputs(place: Place) -> list[str]:
    onnx.save(model_with(None, 6), place.folder / "model.onnx")
    return ["bisect", "outputs", "model.onnx", "--build", "true"]


def route(place: Place) -> list[str]:
    place.environment |= environment(version="11.4.0", luck="a")
    onnx.save(model_with(None, 6), place.folder / "model.onnx")
    return ["bisect", "route", "model.onnx", "--good=-kgen:tiling=off", "--bad=-copy_ppg=off -reshape_ppg=off"]


def precision(place: Place) -> list[str]:
    shutil.copy(NORM_CHAIN, place.folder / "model.onnx")
    return ["bisect", "precision", "model.onnx", "--build", "none"]


def reduction(place: Place) -> list[str]:
    onnx.save(model_with(determinant, 6), place.folder / "model.onnx")
    return ["reduce", "model.onnx", "--keep-values"]


def collection(place: Place) -> list[str]:
    del place
    return ["collect", "--until", "3", "--build", "true"]


MODES = (
    *(items, collection),
    *(pytest.param(mode, marks=pytest.mark.slow) for mode in (precision, reduction, tactics, cache, outputs, route)),
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_what_changed_is_judged_again_and_nothing_else(place: Place, mode: Callable[[Place], list[str]]) -> None:
    words = [*mode(place), "--check", CHECK]
    place.run(*words)
    changes: Mapping[str, Callable[[], object]] = {
        "check.sh": lambda: place.write("check.sh", f"{SCRIPT}\n"),
        "lib.sh (read by check.sh)": lambda: place.write("lib.sh", "true\n"),
        "golden.txt": lambda: place.write("golden.txt", "1\n"),
        "samples": lambda: place.write("samples/1", "0\n"),
        "$LIMIT": lambda: place.environment.update(LIMIT="3"),
    }
    # What a check reads is the same for every search: two changes, of a file and of the surroundings, are enough there.
    chosen = changes if mode is items else {name: changes[name] for name in ("golden.txt", "$LIMIT")}
    for name, change in chosen.items():
        unchanged, before = place.run(*words), place.ran()
        change()
        found = place.run(*words)
        assert place.ran() - before == len(found["probes"]) > 0, name
        assert unchanged["verdicts"] == {"reused": len(unchanged["probes"]), "again": []}, name
        assert found["verdicts"]["reused"] == 0, name
        assert [each["why"] for each in found["verdicts"]["again"]] == [f"{name} of the check changed"]
        place.run(*words)
        assert place.ran() - before == len(found["probes"]), name


def test_an_edit_while_probes_run_takes_the_certificate(place: Place) -> None:
    place.write("check.sh", 'echo >> ran\n[ $(wc -l < ran) = 5 ] && echo >> golden.txt\n! grep -qx b "$1"\n')
    words = [*items(place), "--check", "sh check.sh {items} golden.txt"]
    found = place.run(*words)
    why = "golden.txt changed, or could not be read, while probes ran; run it again"
    assert (found["status"], found["why"]) == ("named", why)
    assert place.run(*words)["status"] == "certified"


@pytest.mark.parametrize("mode", MODES)
def test_other_commands_and_repetitions_are_another_judge(place: Place, mode: Callable[[Place], list[str]]) -> None:
    """A check that is added runs, one that is left out has no say, and the build's verdicts come back."""
    words = mode(place)
    without = mode not in {items, reduction}
    place.run(*words, *([] if without else ["--check", "true"]))
    added = place.run(*words, "--check", CHECK)
    assert place.ran() == len(added["probes"]) > 0
    why = "a check was added" if without else "the check is another command"
    assert {each["why"] for each in added["verdicts"]["again"]} == {why}
    place.environment["LIMIT"] = "2"
    twice = place.run(*words, "--check", CHECK, "--repeat", "2")
    assert {each["why"] for each in twice["verdicts"]["again"]} == {"another `--repeat`"}
    assert twice["verdicts"]["reused"] == 0
    before = place.ran()
    if without:
        bare = place.run(*words)
        assert (place.ran(), bare["verdicts"]["again"]) == (before, [])
    back = place.run(*words, "--check", CHECK)
    assert (place.ran(), back["verdicts"]["again"]) == (before, [])


@pytest.mark.slow
@pytest.mark.parametrize("mode", [tactics, collection])
def test_a_build_of_other_files_is_another_job(place: Place, mode: Callable[[Place], list[str]]) -> None:
    """Its directory is left as it is; what builds write themselves is none of their files."""
    place.write("tool/build.sh", "echo >> built; echo >> notes.txt; cp tool/model.onnx $1\n")
    external(place.folder / "tool" / "model.onnx", "weights of 1")
    place.write("notes.txt", "")
    place.write("log.txt", "")
    build = "sh tool/build.sh {engine} notes.txt --onnx=tool/model.onnx > log.txt"
    words = [*mode(place)[:-2], "--build", build]
    first = place.run(*words)
    for name in ("log.txt", "notes.txt"):
        place.write(name, "x")
        again = place.run(*words)
        assert again["reused"] == first["builds"]
    before = {path: path.lstat().st_mtime_ns for path in (place.folder / "out").rglob("*")}
    external(place.folder / "tool" / "model.onnx", "weights of 2")
    said = place.run(*words, status=(2,))["said"]
    assert "belongs to another job (tool/model.onnx of its build command changed)" in said
    assert {path: path.lstat().st_mtime_ns for path in (place.folder / "out").rglob("*")} == before


PLACES = ("fixed", "result.json", "journal.jsonl", "job.json", ".lock", "probes", "good", "bad", "probes/{0}")
DEEPER = ("fixed/items.txt", "fixed/new.txt", "probes/{0}/verdict.json", "probes/{0}/check.log", "probes/{0}/items.txt")


@pytest.mark.parametrize(
    "broken", [pytest.param(True, marks=pytest.mark.slow), pytest.param(False)], ids=["broken", "whole"]
)
@pytest.mark.parametrize(
    "linked", [*PLACES, DEEPER[0], *(pytest.param(place, marks=pytest.mark.slow) for place in DEEPER[1:])]
)
def test_no_link_in_a_directory_is_followed_by_what_writes_there(place: Place, linked: str, broken: bool) -> None:  # noqa: FBT001 - a case
    """Each file and folder of a directory is moved outside, or to nowhere, and a link to it takes its place."""
    words = [*items(place), "--check", "! grep -qx b {items}"]
    place.run(*words)
    outside = place.folder / "outside"
    outside.mkdir()
    moved = (
        place.folder / "out" / linked.format(*sorted(path.name for path in (place.folder / "out" / "probes").iterdir()))
    )
    if moved.exists() and not broken:
        moved.rename(outside / "moved")
    else:
        shutil.rmtree(moved, ignore_errors=True)
        moved.unlink(missing_ok=True) if moved.is_file() else None
        moved.parent.mkdir(exist_ok=True)
    moved.symlink_to(outside / "moved")
    before = content_of(outside)
    refused = place.run(*words[:-1], "! grep -qx c {items}", status=(0, 2))
    assert content_of(outside) == before
    if linked in PLACES:
        assert "link" in refused["said"] or "holds files" in refused["said"]


def content_of(folder: Path) -> dict[str, bytes]:
    """Return all that is below a folder."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.slow
def test_a_damaged_record_of_the_original_is_said_and_a_missing_one_is_seen_again(place: Place) -> None:
    """Without the original's failure, any failure would be the same."""
    script = "import sys, onnx\nops = [n.op_type for n in onnx.load(sys.argv[1]).graph.node]\n"
    script += (
        "'Det' in ops and 'Sigmoid' in ops and sys.exit('no Det after Sigmoid')\n'Det' in ops and sys.exit('no Det')"
    )
    place.write("check.py", script)
    words = [*reduction(place), "--check", f"{sys.executable} check.py {{model}}"]
    first = place.run(*words)
    record = place.folder / "out" / "failure.json"
    written = record.read_text()
    for damage in (written.replace("Sigmoid", "sigmoid", 1), written[:-9], "[" * 10_000):
        record.write_text(damage)
        said = place.run(*words, status=(2,))["said"]
        assert "failure.json: is damaged: its checksum does not match" in said
        assert said.count("\n") == 1
    for of_an_earlier_version in (None, '{"stage": "check", "ended": "failed"}'):
        record.unlink()
        if of_an_earlier_version is not None:
            record.write_text(of_an_earlier_version)
        found = place.run(*words)
        assert found["culprits"] == first["culprits"]
        assert record.read_text() != of_an_earlier_version


def external(path: Path, weights: str) -> None:
    """Write a model whose weights lie in a file beside it; the model is the same whatever they are."""
    tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[3])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    path.with_name("weights.bin").write_text(weights)
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [tensor])), path)
