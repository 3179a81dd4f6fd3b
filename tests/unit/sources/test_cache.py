"""Exports of timing caches read back, and what is wrong with them is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import NotATimingCacheError
from trtforensics.render import cache as cache_export
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.cache import load_timing_cache

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [f"0x{number:032x}" for number in (1, 2)]


@pytest.fixture
def log(samples: list[Path]) -> Path:
    return next(path for path in samples if "two-profiles" in path.name)


def test_an_export_holds_what_the_log_states_and_reads_back(log: Path, tmp_path: Path) -> None:
    built = cache_export.of_log(load_build_log([str(log)]))
    path = tmp_path / "export.json"
    path.write_text(cache_export.to_json(built))
    again = load_timing_cache(str(path))
    assert len(again.keys) == len(built.keys) == len({key.key for key in built.keys}) > 5
    for key, before in zip(again.keys, built.keys, strict=True):
        assert (key.op, key.key, key.selected, key.time_ms) == (before.op, before.key, before.selected, before.time_ms)
        tables = [[(c.tactic, c.time_ms, c.kernel) for c in one.candidates] for one in (key, before)]
        assert tables[0] == tables[1]
        assert key.key in path.read_text().split("\n")[key.span.line - 1]
        assert key.key in log.read_text().split("\n")[before.span.line - 1]
    document = json.loads(path.read_text())
    assert (document["schema"], document["kind"], document["made_from"]) == (1, "timing-cache", str(log))
    assert document["keys"][0]["line"] == built.keys[0].span.line


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('{"schema": 2', "has schema 2, and this version reads schema 1"),
        ('"kind": "diff"', "is no timing-cache export"),
        ('"key": "0x12"', "0x and 32 lower-case hexadecimal digits"),
        ('"selected": 12', "the tactic 12 is not 0x"),
        ('"time_ms": "fast"', "the time 'fast' is no number"),
        ('"candidates": {}', "no list of objects"),
        ('"candidates": [{"kernel": "k"}]', "a candidate has no tactic"),
    ],
)
def test_what_is_wrong_with_an_export_is_said(tmp_path: Path, change: str, what: str) -> None:
    key = '{"op": "a", "key": "%s", "selected": "0x1", "time_ms": 1.0, "candidates": []}' % KEYS[0]  # noqa: UP031 - braces
    text = f'{{"schema": 1, "kind": "timing-cache", "keys": [\n{key}\n]}}'
    name = change.split(":", maxsplit=1)[0].lstrip("{")
    start = text.index(name)
    end = text.index("]" if name == '"candidates"' else '"' if "kind" in name else ",", start + len(name) + 3) + (
        name in {'"candidates"', '"kind"'}
    )
    path = tmp_path / "export.json"
    path.write_text(text[:start] + change.lstrip("{") + text[end:])
    with pytest.raises(NotATimingCacheError, match=what):
        load_timing_cache(str(path))


@pytest.mark.parametrize("name", ["made_from", "tensorrt_version"])
@pytest.mark.parametrize("value", ["[[[1]]]", "8", "true", "{}"])
def test_a_heading_that_is_no_text_is_refused_with_its_place(tmp_path: Path, name: str, value: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(f'{{"schema": 1, "kind": "timing-cache",\n "{name}": {value}, "keys": []}}')
    with pytest.raises(NotATimingCacheError, match=f"json:2:[0-9]+: {name} is not a text"):
        load_timing_cache(str(path))
