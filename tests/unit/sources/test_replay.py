"""Replays of every form are read whole, and whatever is wrong with one is said with its place."""

from __future__ import annotations

import codecs
import gzip
import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.replays import CONV, ENTRIES, as_json, made, of_form
from trtforensics.errors import ForensicsError, NotAReplayError, SourceError
from trtforensics.model.replay import ProblemSeverity, ReplayForm, path_text
from trtforensics.replay.writing import to_text
from trtforensics.sources.replay import ReplayFile, load_replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORM_OF_VERSION = {
    **dict.fromkeys(("0.29.2",), "F1"),
    **dict.fromkeys(("0.30.3", "0.31.1", "0.33.0", "0.35.1", "0.38.0"), "F2"),
    **dict.fromkeys(("0.43.1", "0.44.2", "0.45.0"), "F3"),
    **dict.fromkeys(("0.47.1", "0.48.1", "0.49.0"), "F4"),
    **dict.fromkeys(("0.49.7", "0.49.9", "0.49.14", "0.49.18", "0.49.20", "0.49.24", "0.49.26-rtx", "0.49.27"), "F5"),
    **dict.fromkeys(("0.50.3-rtx", "0.53.4", "0.53.6-rtx"), "F5"),
}

LAYER = '.replay["node_conv2d + node_relu"]'
MALFORMED = {
    "bom.json": ("1:1", "encoding", ".", "byte order mark"),
    "dtype_arbitrary_attr.json": ("8:30", "datatype", f"{LAYER}.inputs[0].dtype", '"Logger" is no enumerator'),
    "dtype_enum_only.json": ("8:30", "datatype", f"{LAYER}.inputs[0].dtype", '"FLOAT" is no enumerator'),
    "dtype_int.json": ("8:30", "datatype", f"{LAYER}.inputs[0].dtype", "0 is no enumerator"),
    "dtype_unknown_enum.json": ("8:30", "datatype", f"{LAYER}.inputs[0].dtype", '"DataType.FP128" is no enumerator'),
    "duplicate_layer_name.json": ("1:13", "duplicate-layer", '.replay["L"]', "stands again at line 33"),
    "extra_keys_everywhere.json": ("18:28", "ignored-field", f"{LAYER}.inputs[0].baz", "Polygraphy ignores it"),
    "implementation_null.json": ("4:31", "implementation-type", f"{LAYER}.implementation", "null, no integer"),
    "inner_class_missing.json": ("3:36", "no-class", LAYER, "not for Algorithm"),
    "legacy_and_new_markers.json": ("1:1", "two-classes", ".", "the older one wins"),
    "missing_implementation.json": ("3:36", "missing-field", LAYER, "has no `implementation`"),
    "missing_vectorized_dim.json": ("7:17", "missing-field", f"{LAYER}.inputs[0]", "has no `vectorized_dim`"),
    "no_top_class.json": ("1:1", "no-class", ".", "cannot tell that it is TacticReplayData"),
    "strides_not_sequence.json": ("9:32", "strides-type", f"{LAYER}.inputs[0].strides", "does not load it"),
    "strides_string.json": ("9:32", "strides-type", f"{LAYER}.inputs[0].strides", "never equals"),
    "tactic_float.json": ("5:23", "tactic-type", f"{LAYER}.tactic", "6.596631851832846e+18, no integer"),
    "tactic_hex_string.json": ("5:23", "tactic-type", f"{LAYER}.tactic", '"0x5b8bf1b8028629d9", no integer'),
    "unknown_class.json": ("34:33", "unknown-class", f"{LAYER}.polygraphy_class", '"AlgorithmV2"'),
}
REFUSED = {
    "empty_file.json": ": the file is empty. ",
    "just_algorithm.json": ": is the entry of a single layer",
    "missing_replay.json": ": is marked as TacticReplayData, but has no `replay` object. ",
    "nan_tactic.json": ":5:23: NaN is no number that TensorRT or Polygraphy writes. ",
    "top_is_list.json": ": holds a list around a replay",
    "truncated.json": ":7:18: the JSON ends too early: ",
}
ACCEPTED = {"dtype_lowercase.json", "null_vectorized_dim.json", "numeric_key_layer.json"}
CORPUS = {
    "hack-convert-model-02-tactics.json": ("F4", 13),
    "hack-inspect-model-b.tactic": ("F2", 10),
    "hack-inspect-model-c.tactic": ("F2", 10),
    "hack-inspect-model-d.tactic": ("F2", 10),
    "hack-model-FP32-a.tacitc": ("F2", 10),
    "hack-model-FP32-b.tacitc": ("F2", 10),
    "hack-model-FP32-d.tacitc": ("F2", 10),
}
LOOKALIKES = {
    "hack-inspect-tactics-output-old.txt": "is the text that `polygraphy inspect tactics` prints",
    "hack-inspect-tactics-output.log": "is the text that `polygraphy inspect tactics` prints",
    "hack-polygraphy_debug_replay.json": "is a debug replay",
    "hack-run-outputs-lookalike.json": "holds the outputs of a run",
    "nvtrt-EfficientNMS-GoldenIO-lookalike.json": "holds arrays that Polygraphy saved",
}


@pytest.mark.corpus
@for_each("version", FORM_OF_VERSION)
def test_each_polygraphys_files_have_their_form_and_the_same_content(version: str, replay_samples: Path) -> None:
    folder = replay_samples / f"polygraphy-{version}"
    good, bad, empty = (load_replay(str(folder / f"{name}.json")) for name in ("good_0", "bad_0", "empty"))
    assert [good.form, bad.form, empty.form] == [FORM_OF_VERSION[version], FORM_OF_VERSION[version], None]
    assert (len(good.entries), len(empty.entries)) == (5, 0)
    assert [good.problems, bad.problems, empty.problems] == [(), (), ()]
    assert empty.written_by == ("0.27.0 to 0.29.2" if version == "0.29.2" else "0.30.0 and later")
    pinned = {entry.layer: entry.tactic for entry in good.entries}
    assert pinned["node_max_pool2d"] == 0xA7A495EE24D0C659  # negative in the file
    changed = [e.layer for e, other in zip(good.entries, bad.entries, strict=True) if e.algorithm != other.algorithm]
    assert changed == ["node_conv2d + node_relu"]


@pytest.mark.corpus
def test_no_version_of_the_samples_is_forgotten(replay_samples: Path) -> None:
    assert {path.name for path in replay_samples.glob("polygraphy-*")} == {f"polygraphy-{v}" for v in FORM_OF_VERSION}
    malformed = {path.name for path in (replay_samples / "malformed").iterdir()}
    assert malformed == MALFORMED.keys() | REFUSED.keys() | ACCEPTED


@pytest.mark.corpus
@for_each("name", MALFORMED)
def test_each_malformed_sample_has_its_message(name: str, replay_samples: Path) -> None:
    place, code, field, what = MALFORMED[name]
    path = replay_samples / "malformed" / name
    problem = load_replay(str(path)).problems[0]
    assert str(problem.span) == f"{path}:{place}"
    assert (problem.code, problem.field) == (code, field)
    assert what in problem.what


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
def test_each_sample_that_is_no_replay_is_refused_with_its_reason(name: str, replay_samples: Path) -> None:
    path = replay_samples / "malformed" / name
    with pytest.raises(ForensicsError) as refusal:
        load_replay(str(path))
    assert str(refusal.value).startswith(f"{path}{REFUSED[name]}")


@pytest.mark.corpus
@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_what_polygraphy_loads_and_matches_is_no_problem(name: str, replay_samples: Path) -> None:
    assert not load_replay(str(replay_samples / "malformed" / name)).problems


@pytest.mark.parametrize("value", [None, [], {}, "x", 1.5, True])
def test_a_class_of_any_type_is_refused_as_no_replay(tmp_path: Path, value: object) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"a": [{"polygraphy_class": value}]}))
    with pytest.raises(NotAReplayError, match="but no tactic replay"):
        load_replay(str(tmp_path / "a.json"))


@pytest.mark.corpus
def test_every_replay_of_the_corpus_is_read_or_named(corpus: Path) -> None:
    files = {path.name for path in (corpus / "replay").iterdir()}
    assert files == CORPUS.keys() | LOOKALIKES.keys()
    for name, (form, layers) in CORPUS.items():
        replay = load_replay(str(corpus / "replay" / name))
        assert (replay.form, len(replay.entries), replay.problems) == (form, layers, ())
    for name, what in LOOKALIKES.items():
        with pytest.raises(NotAReplayError, match=what):
            load_replay(str(corpus / "replay" / name))


@pytest.mark.corpus
def test_the_old_form_in_an_artifacts_directory_is_read_too(replay_samples: Path) -> None:
    assert load_replay(str(replay_samples / "dirs" / "good" / "old_format.json")).form is ReplayForm.F3
    with pytest.raises(NotAReplayError, match="is no JSON"):
        load_replay(str(replay_samples / "dirs" / "bad" / "notes.txt"))


@pytest.mark.parametrize("form", ReplayForm)
def test_every_form_gives_back_what_was_written(form: ReplayForm, tmp_path: Path) -> None:
    replay = load_replay(str(made(tmp_path, form)))
    assert replay.form is form
    assert replay.written_by == form.written_by
    assert not replay.problems
    for entry, original in zip(replay.entries, ENTRIES, strict=True):
        assert replace(entry, span=original.span) == of_form(original, form)


def test_an_entry_knows_where_its_layer_stands(tmp_path: Path) -> None:
    path = made(tmp_path)
    lines = path.read_text().splitlines()
    for entry in load_replay(str(path)).entries:
        line = lines[entry.span.line - 1]
        assert line[getattr(entry.span, "column", 0) - 1 :].startswith(json.dumps(entry.layer))


def edit(change: Callable[[Any], object], form: ReplayForm = ReplayForm.F5) -> bytes:
    """Return a replay with a change made to its JSON value."""
    value = as_json(form)
    change(value)
    return json.dumps(value).encode()


def algorithm(value: Any) -> Any:
    return value["replay"][CONV.layer]


WRONG: dict[str, tuple[bytes, str, str, str]] = {
    "a tactic beyond 64 bits": (
        edit(lambda v: algorithm(v).update(tactic=1 << 64)),
        "tactic-range",
        "does not fit into 64 bits",
        "Restore it",
    ),
    "an unsigned tactic": (
        edit(lambda v: algorithm(v).update(tactic=0xA7A495EE24D0C659)),
        "tactic-unsigned",
        "spelled unsigned",
        "Write -6366799123142621607",
    ),
    "a truth value": (edit(lambda v: algorithm(v).update(tactic=True)), "tactic-type", "true, no integer", "Restore"),
    "hexadecimal text": (
        edit(lambda v: algorithm(v).update(tactic="0xa7a495ee24d0c659")),
        "tactic-type",
        "no integer",
        "Write -6366799123142621607, without quotes",
    ),
    "a runner of 64 bits": (
        edit(lambda v: algorithm(v).update(implementation=1 << 40)),
        "implementation-range",
        "32 bits",
        "Restore",
    ),
    "an entry that is a number": (edit(lambda v: v["replay"].update(x=3)), "entry-type", "an integer", "Restore"),
    "inputs that are no list": (edit(lambda v: algorithm(v).update(inputs={})), "tensors-type", "an object", "list"),
    "a tensor that is text": (edit(lambda v: algorithm(v).update(inputs=["x"])), "tensor-type", "a string", "Restore"),
    "a stride that is a float": (
        edit(lambda v: algorithm(v)["inputs"][0].update(strides=[1, 2.5])),
        "strides-type",
        "2.5 is no integer",
        "number",
    ),
    "a packed dimension that is not there": (
        edit(lambda v: algorithm(v)["inputs"][0].update(vectorized_dim=7)),
        "vectorized-dim",
        "has 4",
        "-1 means none",
    ),
    "text for a packed dimension": (
        edit(lambda v: algorithm(v)["inputs"][0].update(vectorized_dim="1")),
        "vectorized-dim-type",
        "no integer",
        "number",
    ),
    "a format that does not exist": (
        edit(lambda v: algorithm(v)["inputs"][0].__setitem__(0, "TensorFormat.CHW64"), ReplayForm.F3),
        "tensorformat",
        "no enumerator",
        "TensorFormat.LINEAR",
    ),
    "two forms": (
        edit(lambda v: algorithm(v)["inputs"][0].update(tensor_format="TensorFormat.LINEAR")),
        "mixed-forms",
        "has form F4 while most of the file has F5",
        "Convert",
    ),
    "a class of another name": (
        edit(lambda v: v.update(polygraphy_class="Replay")),
        "unknown-class",
        "'Replay' where TacticReplayData",
        "TacticReplayData",
    ),
    "a tactic twice": (
        to_text(ENTRIES).replace('"tactic": 0,', '"tactic": 0, "tactic": 1,').encode(),
        "duplicate-field",
        "stands again at line",
        "Remove",
    ),
}


@for_each("name", WRONG)
def test_what_is_wrong_is_said_with_what_to_do(name: str, tmp_path: Path) -> None:
    content, code, what, next_step = WRONG[name]
    path = tmp_path / "replay.json"
    path.write_bytes(content)
    (problem,) = load_replay(str(path)).problems
    assert problem.code == code
    assert what in problem.what
    assert next_step in problem.next_step
    assert path_text(problem.path) == problem.field


def test_an_unknown_field_is_noted_once_with_how_often_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(to_text(ENTRIES).replace('"dtype": "DataType.HALF",', '"dtype": "DataType.HALF", "stride": 1,'))
    (problem,) = load_replay(str(path)).problems
    assert (problem.code, problem.severity, problem.layer) == ("ignored-field", ProblemSeverity.NOTE, CONV.layer)
    assert "`stride` belongs to no form of a replay (4 times)" in problem.what


def test_the_rest_of_a_file_with_problems_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_bytes(WRONG["a truth value"][0])
    first, *others = load_replay(str(path)).entries
    assert first.tactic is None
    assert [entry.tactic for entry in others] == [entry.tactic for entry in ENTRIES[1:]]


def test_of_a_layer_that_stands_twice_the_last_counts_and_the_first_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(to_text((CONV, *ENTRIES[1:], replace(CONV, tactic=7))))
    replay = load_replay(str(path))
    assert [entry.layer for entry in replay.entries] == [entry.layer for entry in ENTRIES]
    assert [(entry.tactic, entry.span.line) for entry in replay.shadowed] == [(CONV.tactic, 3)]
    assert replay.entries[0].tactic == 7
    (problem,) = replay.problems
    assert (problem.code, problem.severity, problem.span.line) == ("duplicate-layer", ProblemSeverity.WARNING, 3)


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        (lambda data: codecs.BOM_UTF8 + data, "encoding"),
        (lambda data: codecs.BOM_UTF16_LE + data.decode().encode("utf-16-le"), "encoding"),
        (gzip.compress, "encoding"),
        (lambda data: data.replace(b"\n", b"\r\n"), None),
        (lambda data: b"\n\n" + data + b"\n", None),
    ],
    ids=["byte order mark", "UTF-16", "gzip", "CRLF", "blank lines"],
)
def test_encodings_are_read_and_those_that_polygraphy_does_not_are_said(
    stored: Callable[[bytes], bytes], code: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "replay.json"
    path.write_bytes(stored(to_text(ENTRIES).encode()))
    replay = load_replay(str(path))
    assert [entry.tactic for entry in replay.entries] == [entry.tactic for entry in ENTRIES]
    assert [problem.code for problem in replay.problems] == ([code] if code else [])


NO_REPLAY = {
    b"": "the file is empty",
    b" \r\n\t": "the file is empty",
    b"\x00\x01\x02": "is binary",
    b"just words\n": "is no JSON",
    b"[01/02/2026-03:04:05] [V] [TRT] Original: 3 layers\n": "is a log",
    b"[]": "no `replay` object",
    b'{"replay": 3}': "no `replay` object",
    b'{"schema": 1, "kind": "diff"}': "is a `diff` document of trtforensics",
    b'{"Layers": [], "Bindings": []}': "layer information",
    b'[{"count": 10}, {"name": "a", "timeMs": 1.0}]': "is a profile",
    b'{"replay": {"a": {"tactic" 3}}}': ":1:28: this is no JSON: a colon should stand before",
    b'{"replay": {"a": [1,]}}': ":1:21: this is no JSON: a value should stand before",
    b'{"replay": {}}\n{}': ":2:1: this is no JSON: the end of the file should stand before",
    b'{"replay": {"a": {"tactic": ' + b"1" * 5000 + b"}}}": ":1:29: 11111111111111111111… is no number",
    b'{"replay":' * 20_000: "nests more than 64 containers",
    b'{"replay": {"a\xff": 3}}': ":1:15: is no UTF-8 text",
}


@for_each("content", NO_REPLAY, ids=list(NO_REPLAY.values()))
def test_what_is_no_replay_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(ForensicsError) as refusal:
        load_replay(str(path))
    assert NO_REPLAY[content] in str(refusal.value)


class _Bomb:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return pytest.fail, ("a pickle was loaded",)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_named_and_never_loaded(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "old.pkl"
    path.write_bytes(pickle.dumps(_Bomb(), protocol))
    with pytest.raises(NotAReplayError, match="is a Python pickle"):
        load_replay(str(path))


def test_a_directory_a_missing_file_and_a_long_one_are_refused(tmp_path: Path) -> None:
    for path, what in ((tmp_path, "is a directory"), (tmp_path / "none.json", "there is no such file")):
        with pytest.raises(SourceError, match=what):
            load_replay(str(path))
    with pytest.raises(ForensicsError, match="a text of more than 100 bytes"):
        load_replay(str(made(tmp_path)), max_bytes=100)


def test_a_field_that_is_missing_has_the_place_of_what_lacks_it(tmp_path: Path) -> None:
    file = ReplayFile(str(made(tmp_path)))
    layer = ("replay", CONV.layer)
    assert file.place((*layer, "nothing")) == file.place(layer)
    assert file.place((*layer, "inputs", 0, "strides", 2)).line == file.place((*layer, "inputs", 0, "strides")).line + 3
