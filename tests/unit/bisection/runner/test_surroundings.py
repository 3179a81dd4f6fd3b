"""Which files a command names, and that another content of any of them makes it another command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import helper

from trtforensics.bisection.runner import surroundings
from trtforensics.bisection.runner.surroundings import UNREADABLE, differing, stamp_of, surroundings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OUT = Path("out")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with scripts, data, folders, and an executable, and another one on the path."""
    files = {"a.sh": "x", "b": "#!/bin/sh", "c": "plain", "run": "ELF", "m.onnx": "", "bin/d": "#!", "it's": "x"}
    files |= {"data/1.npz": "1", "data/sub/2.npz": "2", "proj/check.py": "x", "out/probes/0001/engine": "x"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("run", "bin/d"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOLDEN", f"{tmp_path}/data/1.npz")
    monkeypatch.setenv("HOME", str(tmp_path))
    bin_ = tmp_path / "bin"
    monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")  # version managers put scripts there that are named python3


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("true", set()),
        ("./run {engine}", {"./run"}),
        ("X=1 ./run --model=m.onnx > a.sh 2>>b", {"./run", "m.onnx"}),
        ("sh a.sh; . c; python3 -u c", {"a.sh", "c"}),
        ("test -e c && ! { b; } || ./b", {"c", "./b"}),
        ("d {items} | ./b\n./run", {"bin/d", "./b", "./run"}),
        ("sh -c 'sleep 1 && ./b' a.sh", {"./b", "a.sh"}),
        ("tool --script=a.sh --data=m.onnx c", {"a.sh", "m.onnx", "c"}),
        ("tool --loadInputs=x:data/1.npz,y:c", {"data/1.npz", "c"}),
        ("MODEL=m.onnx ./run", {"m.onnx", "./run"}),
        ("./run \"it's\" 'a.sh'", {"./run", "it's", "a.sh"}),
        ("cd proj && python3 check.py `cat c`", {"proj/check.py", "c"}),
        ("./run data", {"./run", "data"}),
        ("./run 'data/*.npz' '.*'", {"./run", "data/*.npz"}),
        ("./run $GOLDEN ${GOLDEN} $NOWHERE", {"./run", "{golden}", "$GOLDEN"}),
        ("./run ~/c < a.sh", {"./run", "~/c", "a.sh"}),
        ("./run $TRTFORENSICS_ENGINE $CUDA_VISIBLE_DEVICES", {"./run"}),
        ("./run -o c --saveEngine=m.onnx --export-times b | tee -a a.sh", {"./run"}),
        ("cat c >> c; touch a.sh; wc -l < a.sh", set()),
        ("./run . .. / out/probes/0001/engine {dir}/../../../c", {"./run"}),
        ("echo 'unbalanced ./run", {"./run"}),
        (f"echo {'x' * 5000} {{dir}}/a.sh '' /dev/null a.sh/b", set()),
    ],
)
def test_what_a_command_names(tmp_path: Path, command: str, inputs: set[str]) -> None:
    home = {"~/c": f"{tmp_path}/c", "{golden}": f"{tmp_path}/data/1.npz", "bin/d": f"{tmp_path}/bin/d"}
    assert set(surroundings_of(command, OUT).inputs) == {home.get(name, name) for name in inputs}


def external(text: str) -> None:
    """Write a model whose weights lie in a file beside it."""
    tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[1])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    Path("weights.bin").write_text(text)
    Path("m.onnx").write_bytes(helper.make_model(helper.make_graph([], "g", [], [], [tensor])).SerializeToString())


def rewritten(name: str) -> Callable[[], object]:
    return lambda: Path(name).write_text("y")


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("sh a.sh", rewritten("a.sh")),
        ("./run", rewritten("run")),
        ("d", rewritten("bin/d")),
        ("./run m.onnx", rewritten("m.onnx")),
        ("./run m.onnx", lambda: external("y")),
        ("./run --golden=c", rewritten("c")),
        ("./run data", rewritten("data/sub/2.npz")),
        ("./run data", rewritten("data/3.npz")),
        ("./run data", lambda: Path("data/1.npz").unlink()),
        ("./run data", lambda: Path("data/1.npz").rename("data/0.npz")),
        ("./run data/*.npz", rewritten("data/3.npz")),
        ("./run new", rewritten("new")),
        ("./run c", lambda: Path("c").unlink()),
        ("./run $GOLDEN", rewritten("data/1.npz")),
        ("./run $GOLDEN", lambda: os.environ.__setitem__("GOLDEN", "c")),
    ],
)
def test_another_content_is_another_command(command: str, change: Callable[[], object]) -> None:
    external("x")
    before, same = surroundings_of(command, OUT), surroundings_of(command, OUT)
    assert before == same
    change()
    assert differing(before.inputs, surroundings_of(command, OUT).inputs)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (". ./lib.sh", {"lib.sh"}),
        ('. "$(dirname "$0")/lib.sh"', {"proj/lib.sh"}),
        ("#!/bin/sh\nsh $HERE/lib.sh < ../c", {"proj/lib.sh", "proj/../c"}),
        ("import helper\nfrom pkg.deep import it", {"proj/helper.py", "proj/pkg/deep.py", "proj/golden.npz"}),
        ("print('nothing here', 'out/probes')", set()),
    ],
)
def test_scripts_are_read_for_what_they_name(text: str, files: set[str]) -> None:
    others = {"lib.sh": "", "helper.py": "open('golden.npz')", "golden.npz": "\0", "pkg/deep.py": ""}
    for name, other in others.items():
        Path("proj", name).parent.mkdir(exist_ok=True)
        Path("proj", name).write_text(other)
    if text.startswith(". ./"):
        Path("lib.sh").write_text("")
        Path("proj/lib.sh").unlink()
    Path("proj/check.py").write_text(text)
    before = surroundings_of("python3 proj/check.py", OUT)
    assert {str(before.paths[name][0]) for name in before.inputs} == {"proj/check.py", *files}
    for file in sorted(files):
        Path(file).write_text("another")
        assert differing(before.inputs, surroundings_of("python3 proj/check.py", OUT).inputs)
    Path("proj/check.py").write_text(f"{text}\nnew.log")
    named = surroundings_of("python3 proj/check.py", OUT)
    Path("new.log").write_text("as the check writes it")
    assert not differing(named.inputs, surroundings_of("python3 proj/check.py", OUT).inputs)


def test_what_cannot_be_read_equals_nothing_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    readable = surroundings_of("./run c data", OUT)

    def refuse(path: Path) -> str:
        raise PermissionError(13, "refused", str(path))

    monkeypatch.setattr(surroundings, "_sha256", refuse)
    refused = surroundings_of("./run c data", OUT)
    assert refused.inputs["c"] == UNREADABLE
    assert differing(readable.inputs, refused.inputs) == ["./run", "c", "data"]


def test_a_folder_is_known_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bytes, files are known by size and time; beyond the number of files, not at all."""
    for name in ("data/job.json", "data/journal.jsonl"):
        Path(name).write_text("an artifacts directory")
    empty = surroundings_of("./run data", OUT).inputs["data"]
    Path("data/job.json").unlink()
    before = surroundings_of("./run data", OUT).inputs["data"]
    assert empty != before
    monkeypatch.setattr(surroundings, "_MOST_BYTES", 0)
    by_time = surroundings_of("./run data", OUT).inputs["data"]
    os.utime("data/1.npz", ns=(1, 1))
    assert len({before, by_time, surroundings_of("./run data", OUT).inputs["data"]}) == 3
    monkeypatch.setattr(surroundings, "_MOST_FILES", 1)
    first = surroundings_of("./run data", OUT).inputs["data"]
    Path("data/sub/2.npz").write_text("another")
    assert surroundings_of("./run data", OUT).inputs["data"] == first


def test_no_more_of_a_folder_is_walked_than_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        folder = Path(f"wide/{number:02}")
        folder.mkdir(parents=True)
        (folder / "file").write_text("")
    visited = [0]

    def walked(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for visit in walk(folder):
            visited[0] += 1
            yield visit

    walk = os.walk
    monkeypatch.setattr(os, "walk", walked)
    monkeypatch.setattr(surroundings, "_MOST_FILES", 3)
    assert len(stamp_of([Path("wide")])) == 3
    assert visited == [4]


def test_a_change_shows_by_size_and_time_without_reading() -> None:
    paths = [Path("c"), Path("data"), Path("nowhere")]
    before = stamp_of(paths)
    assert stamp_of(paths) == before
    Path("data/sub/2.npz").write_text("longer")
    assert stamp_of(paths) != before
