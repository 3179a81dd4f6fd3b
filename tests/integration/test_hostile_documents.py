"""Documents that were made to exhaust memory or to mislead: exit code 2 in one sentence, in little memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.diff_samples import replay_text
from tests.support.sources import posix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
import gc, json, os, resource, sys
from trtforensics.cli import main
sys.stdout = open(os.devnull, "w")
for line in json.load(sys.stdin):
    status = main(line)
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = max(used.ru_maxrss for used in both) / 1024
    told = [status, os.fstat(2).st_size, peak, sum(used.ru_utime + used.ru_stime for used in both)]
    print(json.dumps(told), file=sys.__stdout__, flush=True)
    gc.collect()
"""
"""Runs command lines one behind the other, and prints after each what is known of all so far.

What a command takes is seen where it is more than those before it took.
"""
FROM_SMALL = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
"""Starts a command from a small process: a child's peak begins with the size of what it was forked from."""


class Measured(NamedTuple):
    """A command that ran: what it said, and the most memory and the processor time of all up to it."""

    status: int
    said: str
    peak_mib: float
    cpu_s: float


def measured(lines: Sequence[Sequence[str]], folder: Path) -> list[Measured]:
    """Run command lines in a folder."""
    with (folder / "said").open("w+b") as said:
        given = json.dumps([*map(list, lines)])
        done = subprocess.run(
            [*FROM_SMALL, sys.executable, "-c", MEASURED],
            input=given,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=folder,
            text=True,
            check=False,
        )
        text = (folder / "said").read_bytes()
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(rows)) == (0, len(lines)), text.decode()
    ends = [0, *(row[1] for row in rows)]
    texts = [text[begin:end].decode() for begin, end in pairwise(ends)]
    return [Measured(row[0], text, *row[2:]) for row, text in zip(rows, texts, strict=True)]


def refused(*lines: Sequence[str], folder: Path) -> list[str]:
    """Run commands that end with exit code 2, one sentence and little memory; return the sentences."""
    done = measured(lines, folder)
    bad = [each for each in done if each.status != 2 or each.said.count("\n") != 1 or each.peak_mib >= MOST_MIB]
    assert bad == []
    return [each.said for each in done]


@pytest.mark.slow
@pytest.mark.parametrize("group", range(4))
def test_they_are_refused_in_one_sentence_and_little_memory(group: int, tmp_path: Path) -> None:
    files = [f"{name}.json" for name in HOSTILE][group::4]
    for file in files:
        (tmp_path / file).write_text(HOSTILE[file.removesuffix(".json")]())
    told = refused(*(["parse", file, "--json"] for file in files), folder=tmp_path)
    assert [file for file, sentence in zip(files, told, strict=True) if file not in sentence] == []


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
    ("command", "forms"),
    [
        ("graph -o out.json", (LAYER_LOG, MESSAGE_LOG, LAYERS)),
        ("redact -o out.log", (LAYER_LOG, MESSAGE_LOG)),
        ("report --format json", (LAYER_LOG, MESSAGE_LOG, LAYERS)),
        ("table --of layers", (LAYERS,)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_long_names_are_borne(command: str, forms: Sequence[str], tmp_path: Path) -> None:
    """Names that are all emoji, marks, brackets and the like, one behind the other."""
    verb, *options = command.split()
    lines = []
    for number, form in enumerate(forms):
        parts = [form % name for name in LONG_NAMES]
        path = tmp_path / f"{number}.{'json' if form is LAYERS else 'log'}"
        text = f'{{"Layers": [{", ".join(parts)}], "Bindings": []}}' if form is LAYERS else "".join(parts)
        path.write_text(text, "utf-8")
        lines.append([verb, path.name, *options])
    done = measured(lines, tmp_path)
    assert [each for each in done if each.status not in {0, 2}] == []
    assert [each for each in done if each.peak_mib >= MOST_MIB_FOR_NAMES] == []
    assert done[-1].cpu_s < MOST_CPU_S


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_a_document_is_bounded_and_the_bound_can_be_raised(tmp_path: Path, *, compressed: bool) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") if not compressed else gzip.open(path, "wb", 1) as file:
        file.write(b'{"replay": {')
        for _ in range(257):
            file.write(b" " * (1 << 20))
        file.write(b"}")
    told = refused(["parse", str(path)], ["parse", str(path), "--max-bytes", "1M"], folder=tmp_path)
    assert "has a text of more than 268435456 bytes" in told[0]
    assert "more than 1048576 bytes" in told[1]


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
