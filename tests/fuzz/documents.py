"""What is fuzzed beside logs: replays, engine layers, profiles, caches, settings, and the directory of a bisection.

Each goes through the commands that read it, which end with exit code 0, 1 or 2. A directory is that of a real
bisection; ``diff`` reads it, the TUI looks at it, and the bisection goes on in it.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.checks import patience
from tests.support.diff_samples import replay_text
from tests.support.engine_files import DETAILED, ELEVEN, NAMES, PROFILE
from tests.support.folders import working_in
from trtforensics.bisection.session.view import view_directory
from trtforensics.cli import main
from trtforensics.errors import ForensicsError

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE = json.dumps(
    {
        "schema": 1,
        "kind": "timing-cache",
        "made_from": "build.log",
        "tensorrt_version": "10.9.0",
        "keys": [
            {"op": "mul", "key": f"0x{'1' * 32}", "selected": "0x1", "time_ms": 0.01, "candidates": [], "line": 3},
            {"op": "add", "key": f"0x{'2' * 32}", "selected": "0x2", "time_ms": 0.02, "candidates": [], "line": 4},
        ],
    },
    indent=1,
)
SETTINGS = '[report]\nsuppress = ["TF502", "TF201:/a/*"]\nfail-on = "error"\n'
LOG = "[V] [TRT] Original: 2 layers\n[W] [TRT] some warning\n"
TACTICS = replay_text({"conv1": 5, "fc": 7})
OTHERS = replay_text({"conv1": 6, "fc": 8})

FILES = {
    "replay.json": TACTICS,
    "layers.json": DETAILED,
    "eleven.json": ELEVEN,
    "names.json": NAMES,
    "profile.json": PROFILE,
    "cache.json": CACHE,
    "trtforensics.toml": SETTINGS,
    "job.json": "",
    "journal.jsonl": "",
    "result.json": "",
}
"""The files that are damaged; those of a bisection's directory are made by a session."""

COMMANDS = {
    "replay.json": [
        ["parse", "F"],
        ["replay", "show", "F", "--json"],
        ["replay", "lint", "F"],
        ["diff", "good.json", "F"],
    ],
    "layers.json": [["parse", "F", "--json"], ["diff", "F", "F"]],
    "eleven.json": [["parse", "F", "--json"]],
    "names.json": [["parse", "F"]],
    "profile.json": [["parse", "layers.json", "F", "--json"]],
    "cache.json": [["parse", "F", "--json"], ["diff", "F", "cache.json", "--json"]],
    "trtforensics.toml": [["report", "build.log"]],
}
BISECTION = [
    *("bisect", "tactics", "--good", "good.json", "--bad", "bad.json", "--artifacts-dir", "dir"),
    *("--build", "cp {replay} {engine}", "--check", "! grep -q '.tactic.: 8' {engine}"),
]
OF_DIRECTORY = [["bisect", "log", "dir"], ["diff", "dir", "good.json"], BISECTION]
_MARKS = (*'{}[]",:\\\n\0 ', "é", "\ud7ff", "[" * 3000, '{"a":' * 500)
_VALUES = (
    *("null", "true", "[]", "{}", '""', '"x"', '"0x1"', "0", "-1", "1.5", "NaN", "1e999", "18446744073709551615"),
    *("9" * 30, "9" * 5000, '[{"a": [1]}]', '"\\u0000"', '"\\ud800"', '"\x1b[31m"', "[" * 60 + "]" * 60),
)


def damaged_document(pick: random.Random) -> tuple[str, bytes]:
    """Return the name of a file and its damaged content; of a bisection's files the seed of the damage."""
    name = pick.choice([*FILES])
    return name, damage(FILES[name].encode(), pick) if FILES[name] else pick.randbytes(8)


def damage(data: bytes, pick: random.Random) -> bytes:
    """Replace values by others, or cut, overwrite, double or splice parts of a document, a few times."""
    for _ in range(pick.choice((1, 1, 1, 2, 4))):
        values = [*_VALUE.finditer(data)] if pick.random() < _OTHER_VALUES else []
        if values:
            low, high = pick.choice(values).span()
            new = pick.choice(_VALUES).encode()
        else:
            low, high = sorted((pick.randint(0, len(data)), pick.randint(0, len(data))))
            high = min(high, low + pick.choice((0, 1, 3, 40)))
            part, mark = data[low:high], pick.choice(_MARKS).encode("utf-8", "surrogatepass")
            new = pick.choice((b"", mark, part + part, part * 300, part[::-1]))
        data = data[:low] + new + data[high:]
    return data[: pick.randrange(len(data) + 1)] if pick.random() < _CUTS else data


_VALUE = re.compile(rb'"[^"\n]*"|-?[0-9][0-9.]*|\b(?:null|true|false)\b|\[[^\[\]]*\]|\{[^{}]*\}')
_OTHER_VALUES = 0.7
_CUTS = 0.15


def check_document(name: str, data: bytes) -> str:
    """Have every command that reads such a file read it; return ``refused`` or ``read``.

    Raises:
        AssertionError: a command ended with a bug.
    """
    with tempfile.TemporaryDirectory() as folder, working_in(folder), patience():
        for other, text in FILES.items():
            if other in COMMANDS and other != "trtforensics.toml":
                Path(other).write_text(text)
        Path("good.json").write_text(TACTICS)
        Path("bad.json").write_text(OTHERS)
        Path("build.log").write_text(LOG)
        return _read(_lines(name, data))


def _lines(name: str, data: bytes) -> Iterator[list[str]]:
    if name in COMMANDS:
        file = name if name.endswith(".toml") else f"damaged-{name}"
        Path(file).write_bytes(data)
        yield from ([file if word == "F" else word for word in line] for line in COMMANDS[name])
        return
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*BISECTION, "--quiet"]) == 0
    path = Path("dir") / name
    path.write_bytes(_of_seed(path, data))
    _look(Path("dir"))
    yield from OF_DIRECTORY


def _look(directory: Path) -> None:
    """Read a directory as the TUI does: as it is, or refused."""
    with contextlib.suppress(ForensicsError):
        assert view_directory(directory).path == directory


def _of_seed(path: Path, seed: bytes) -> bytes:
    return damage(path.read_bytes(), random.Random(seed))  # noqa: S311 - repeatable


def _read(lines: Iterator[list[str]]) -> str:
    results = set()
    for line in lines:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = main([*line, "--quiet"]) if line[:2] != ["bisect", "log"] else main(line)
        said = err.getvalue()
        assert code in {0, 1, 2}, f"{line}: {code}: {said}"
        assert code != 2 or said.count("\n") == 1, said
        assert "Traceback" not in said + out.getvalue()
        results.add(code)
    return "refused" if 2 in results else "read"
