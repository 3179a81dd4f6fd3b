"""Documents that were made to exhaust memory or to mislead: exit code 2 in one sentence, in little memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.diff_samples import replay_text
from tests.support.sources import posix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = posix

SIZE = 8_000_000
REPLAY = '{"replay": {"a": %s}, "polygraphy_class": "TacticReplayData"}'
MOST_MIB = 200

HOSTILE: dict[str, Callable[[], str]] = {
    "empty-lists": lambda: REPLAY % f"[{'[],' * (SIZE // 3)}[]]",
    "numbers": lambda: REPLAY % f"[{'1,' * (SIZE // 2)}1]",
    "repeated-layers": lambda: (
        f'{{"replay": {{{chr(34)}a": 1{(", " + chr(34) + "a" + chr(34) + ": 1") * (SIZE // 8)}}}}}'
    ),
    "deep": lambda: REPLAY % f"{'[' * 900}{']' * 900}",
    "digits": lambda: REPLAY % ("9" * SIZE),
    "nan": lambda: REPLAY % "NaN",
    "layers": lambda: f'{{"Layers": [{"[]," * (SIZE // 3)}[]]}}',
    "layer-digits": lambda: f'{{"Layers": [{{"Name": "x", "Count": {"9" * 5000}}}]}}',
    "layer-deep": lambda: f'{{"Layers": [{{"Name": "x", "Foo": {"[" * 950}{"]" * 950}}}]}}',
    "layer-twice": lambda: '{"Layers": [{"Name": "x", "Name": "y"}]}',
    "time": lambda: '[{"count": 1}, {"name": "a", "timeMs": 1e999, "averageMs": 1, "percentage": 1}]',
    "long-time": lambda: f'[{{"count": 1}}, {{"name": "a", "timeMs": {"9" * 400}, "averageMs": 1, "percentage": 1}}]',
    "name": lambda: f'{{"replay": {{"{"é" * (SIZE // 2)}": {{}}}}, "polygraphy_class": "TacticReplayData"}}',
    "escapes": lambda: REPLAY % ('"' + "\\n" * (SIZE // 2) + '"'),
    "lines": lambda: REPLAY % ("\n" * SIZE),
    "flaws": lambda: f'{{"replay": {{{", ".join(f"{chr(34)}{n:064}{chr(34)}: {{}}" for n in range(SIZE // 70))}}}}}',
    "ignored": lambda: (
        f'{{"replay": {{"a": {{{", ".join(f"{chr(34)}{n:016}{chr(34)}: 1" for n in range(SIZE // 25))}}}}}}}'
    ),
    "damaged": lambda: f'{{"replay": {{{(chr(34) + "a" + chr(34) + ": 1234567,") * (SIZE // 13)}}}}}',
    "quotes": lambda: '{"Layers": ["' + 'a"' * (SIZE // 2) + '"]}',
    "few-quotes": lambda: '{"Layers": ["' + 'ab"c' * (SIZE // 4) + '"]}',
    "backslashes": lambda: '{"Layers": ["' + "abcdefghijklmnop\\" * (SIZE // 17) + '"]}',
    "many-layers": lambda: f'{{"Layers": [{", ".join(f"{chr(34)}{n:012}{chr(34)}" for n in range(SIZE // 16))}]}}',
    "cache": lambda: f'{{"schema": 1, "kind": "timing-cache", "keys": [{{"key": "0x{"0" * 32}", "time_ms": 1e999}}]}}',
}
"""Texts, made when a test needs them: the memory of a child begins with that of this process."""


MEASURED = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
sys.exit(status)
"""
"""Runs a command from a small process: a child's peak begins with the size of what it was forked from.

It prints the peak in MiB and the processor time in seconds.
"""


def refused(*arguments: str) -> str:
    """Run a command that ends with exit code 2, one sentence and little memory; return the sentence."""
    line = [sys.executable, "-c", MEASURED, sys.executable, "-m", "trtforensics", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert float(done.stdout.split()[0]) < MOST_MIB
    return done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_in_one_sentence_and_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(HOSTILE[name]())
    assert str(path) in refused("parse", str(path), "--json")


LAYER_LOG = (
    "[01/01/2024-00:00:00] [V] [TRT] Layer(CaskConvolution): %s, Tactic: 0x1, in (Float[1,2]) -> out (Float[1,2])\n"
)
MESSAGE_LOG = "[01/01/2024-00:00:00] [E] [TRT] %s\n"
LAYERS = '{"Name": "%s", "LayerType": "Shuffle", "Inputs": [], "Outputs": []}'
NAME_SIZE = 400_000
MOST_MIB_FOR_NAMES = 100
LONG_NAMES = (
    "😀" * (NAME_SIZE // 4),
    "e" + "\u0301" * (NAME_SIZE // 2),
    "\u202e" * (NAME_SIZE // 3),  # an override of the direction
    "{" * NAME_SIZE,
    "curl-" * (NAME_SIZE // 5),
)
MOST_CPU_S = 20
"""Processor time that no command takes for 2 MB, on a busy machine too; time that grows with the square is an hour."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "command"),
    [
        *(
            (form, command)
            for form in (LAYER_LOG, MESSAGE_LOG)
            for command in ("graph -o out.json", "redact -o out.log")
        ),
        *((form, "report --format json") for form in (LAYER_LOG, MESSAGE_LOG, LAYERS)),
        (LAYERS, "graph -o out.json"),
        (LAYERS, "table --of layers"),
    ],
    ids=lambda value: "layer log" if value is LAYER_LOG else "messages" if value is MESSAGE_LOG else None,
)
def test_long_names_are_borne(form: str, command: str, tmp_path: Path) -> None:
    """Names that are all emoji, marks, brackets and the like, one behind the other."""
    parts = [form % name for name in LONG_NAMES]
    path = tmp_path / ("a.json" if form is LAYERS else "a.log")
    path.write_text(
        f'{{"Layers": [{", ".join(parts)}], "Bindings": []}}' if form is LAYERS else "".join(parts), "utf-8"
    )
    verb, *options = command.split()
    line = [sys.executable, "-c", MEASURED, sys.executable, "-m", "trtforensics", verb, str(path), *options]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode in {0, 2}, done.stderr
    most_mib, cpu_s = map(float, done.stdout.split())
    assert most_mib < MOST_MIB_FOR_NAMES
    assert cpu_s < MOST_CPU_S


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_a_document_is_bounded_and_the_bound_can_be_raised(tmp_path: Path, *, compressed: bool) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") if not compressed else gzip.open(path, "wb", 1) as file:
        file.write(b'{"replay": {')
        for _ in range(257):
            file.write(b" " * (1 << 20))
        file.write(b"}")
    assert "has a text of more than 268435456 bytes" in refused("parse", str(path))
    assert "more than 1048576 bytes" in refused("parse", str(path), "--max-bytes", "1M")


@pytest.mark.slow
def test_a_large_replay_with_a_repeated_layer_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    text = replay_text({f"layer {number}": number + 1 for number in range(6000)})
    path.write_text(text.replace('"layer 5999"', '"layer 7"').replace('"vectorized_dim": -1', '"vectorized_dim": 0', 1))
    line = [sys.executable, "-m", "trtforensics", "replay", "lint", str(path)]
    said = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    place = text[: text.index('"layer 7"')].count("\n") + 1
    assert f"{path}:{place}:" in said
    assert "layer 7" in said
