"""A few hundred inputs of the fuzzer, the same each time; ``python -m tests.fuzz`` goes on from there."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import checks, documents
from tests.fuzz.checks import HungError, check
from tests.fuzz.documents import check_document, damaged_document
from tests.fuzz.mutations import damaged
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("count", [15, pytest.param(195, marks=pytest.mark.slow)])
def test_damaged_logs_are_read_or_refused_and_counts_add_up(count: int, samples: list[Path]) -> None:
    logs = [path.read_bytes().split(b"\n") for path in samples]
    pick = random.Random(20261123)  # noqa: S311 - the same each time
    results = [check(damaged(pick.choice(logs), pick.choice(logs), pick)) for _ in range(count)]
    assert set(results) == {"read", "refused"}


@pytest.mark.slow
def test_damaged_documents_are_read_or_refused() -> None:
    pick = random.Random(20261122)  # noqa: S311 - the same each time
    results = [check_document(*damaged_document(pick)) for _ in range(60)]
    assert set(results) == {"read", "refused"}


def test_a_setting_of_five_thousand_digits_is_refused() -> None:
    """What the fuzzer found: it ended with exit code 70."""
    assert check_document("trtforensics.toml", b"[report]\nsuppress = " + b"9" * 5000) == "refused"


def test_the_fuzzer_notices_a_bug_in_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "main", lambda _: 70)
    with pytest.raises(AssertionError):
        check_document("replay.json", b"{}")


TENSOR = b" { Name: , Dimensions: [], Format/Datatype:  }"

FOUND = (
    b"[0][TRT] Tactic: 0x000000000000m3e8 Time: 0\n",
    b"[0] [V] [TRT] Tactic: 0x185ag5379580418f Time: 0\n",
    b"[04/30/2026-18:16:00] [I] Average on 1. runs - GPU latency: 0 ms - Host latency: 9 ms (enqueue 9 ms)\n" * 2,
    b"[TensorRT] VERBOSE: Layer(d): ], Tactic: 7, Set Tactic Name: v\n",
    b"[V] [TRT] Original: 2 layers\n\x1b[G\x1b[K",
    b"\x1b[G\x1b[K",
    b"Name: d, LayerType: a, Inputs: [%b], Outputs: [%b], P, TacticValue:0x\n" % (TENSOR, TENSOR),
    b"[07/07/2026-02:10:58] [I] Latency: min = 6 ms, max = 7 ms, mean = 3 ms, median = f ms, percentile(0%) = 0 ms\n",
    b"[V] [TRT] a line\n" * 3 + b"[[11/21/2026-10:05:00] [V] [TRT]\n",
)
"""What the fuzzer found, cut down to what it takes; each once broke a check."""


@pytest.mark.parametrize("data", FOUND, ids=range(len(FOUND)))
def test_what_the_fuzzer_found_stays_mended(data: bytes) -> None:
    assert check(data) in {"read", "refused"}


def test_the_fuzzer_notices_a_count_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "load_build_log", lambda paths: _without_a_build(load_build_log(paths)))
    with pytest.raises((AssertionError, IndexError)):
        check(b"[V] [TRT] Original: 2 layers\n")


@pytest.mark.slow
def test_the_fuzzer_notices_what_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PATIENCE_S", 1)
    monkeypatch.setattr(checks, "load_build_log", lambda _: _forever())
    with pytest.raises(HungError):
        check(b"[V] [TRT] Original: 2 layers\n")


def _forever() -> None:
    while True:
        pass


def _without_a_build(log: object) -> object:
    object.__setattr__(log, "builds", ())
    return log
