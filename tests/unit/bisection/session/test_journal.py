"""What is written to a journal is read back, and damage is named."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.journals import ASK, KEY, begin, end
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.history import JobKey
from trtforensics.bisection.session.journal import Journal, log_text, read_events, read_journal
from trtforensics.errors import OutputError, SourceError


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal, reason="control \n \x1b and \udce9 lone")
        begin(journal, 2, "")
    history = read_journal(tmp_path, KEY)
    probe = history.of(ASK)
    assert probe is not None
    assert (probe.number, probe.running, probe.building, probe.log_checks) == (1, False, False, 1)
    assert probe.made is not None
    assert probe.last is not None
    assert probe.last.verdict is Verdict.BAD
    assert history.probes[2].running
    assert history.next_number == 3


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_never_happened_and_is_written_over(tmp_path: Path, cut: int) -> None:
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(tmp_path, KEY) as journal:
        assert journal.history.probes[1].running
        end(journal, verdict="good")
    history = read_journal(tmp_path, KEY)
    assert [finished.verdict for finished in history.probes[1].finished] == ["good"]


def two_lines(folder: Path) -> Path:
    with Journal(folder, KEY) as journal:
        begin(journal)
        end(journal)
    return folder / "journal.jsonl"


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b"no",
        b"\xff\x00",
        b'{"schema":2,"length":7,"sum":"0123456789abcdef","event":"end"}',
        b'{"schema":3,"length":7,"sum":"0123456789abcdef","event":"end"}',
    ],
)
def test_a_damaged_line_is_named_with_what_can_be_saved(tmp_path: Path, line: bytes) -> None:
    path = two_lines(tmp_path)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(
        SourceError, match=r"journal\.jsonl:3: is damaged: .*; the 2 lines .*judged there: 1\)\. .*head -n 2"
    ):
        read_journal(tmp_path, KEY)
    assert len(list(islice(read_events(tmp_path, KEY), 2))) == 2
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert read_journal(tmp_path, KEY).probes[1].last


def test_any_changed_byte_shows(tmp_path: Path) -> None:
    """Of the last line feed, the line itself is cut off then, as after a crash."""
    path = two_lines(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(SourceError, match=r"journal\.jsonl:[12]: is damaged"):
            read_journal(tmp_path, KEY)
    path.write_bytes(whole[:-1] + b"\x0b")
    assert read_journal(tmp_path, KEY).probes[1].running


@pytest.mark.parametrize("order", [(1,), (0, 0), (1, 0), (0, 0, 1)])
def test_lines_that_are_missing_twice_or_moved_show(tmp_path: Path, order: tuple[int, ...]) -> None:
    path = two_lines(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(SourceError, match="lines are missing or were moved"):
        read_journal(tmp_path, KEY)


def line_of(number: int, event: dict[str, object]) -> bytes:
    """Spell a line as docs/reference/commands/bisect.md says."""
    rest = json.dumps({"line": number, "job": KEY.fingerprint, **event}).encode()[1:]
    head = f'{{"schema":2,"length":{len(rest)},"sum":"{hashlib.sha256(rest).hexdigest()[:16]}",'
    return head.encode() + rest + b"\n"


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN | st.sampled_from(["0-7", "run", "end"]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=3,
)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), VALUES | st.just(...)), min_size=1, max_size=3))
def test_events_that_make_no_sense_are_refused_in_one_sentence(changes: list[tuple[int, int, object]]) -> None:
    """Lines with right checksums, by somebody who means harm, of which fields are missing or hold anything."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with Journal(folder, KEY) as journal:
            journal.write("run", check="c", repeat=1, judge="j")
            begin(journal)
            end(journal)
            journal.write("forget", probe=1)
            begin(journal)
        events = list(read_events(folder, KEY))
        for place, field, value in changes:
            event = {name: held for name, held in events[place].items() if name not in {"line", "job"}}
            name = sorted(event)[field % len(event)]
            events[place] = {key: held for key, held in event.items() if key != name or value is not ...}
            if value is not ...:
                events[place][name] = value
        own = [{name: held for name, held in event.items() if name not in {"line", "job"}} for event in events]
        (folder / "journal.jsonl").write_bytes(b"".join(line_of(number, event) for number, event in enumerate(own, 1)))
        with suppress(SourceError):
            read = list(read_events(folder, KEY))
            assert list(log_text(read, KEY, [str(number) for number in range(KEY.items)]))


def test_another_job_s_journal_is_refused(tmp_path: Path) -> None:
    two_lines(tmp_path)
    with pytest.raises(SourceError, match="written for another job"):
        Journal(tmp_path, JobKey("fedcba9876543210", 8))


def test_a_journal_of_an_earlier_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"event": "run", "at": "2026-11-21T10:00:00", "check": null}\n')
    with pytest.raises(SourceError, match=r"journal of schema 1, .* reads schema 2. Name a new"):
        read_journal(tmp_path, KEY)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    path, elsewhere = tmp_path / "journal.jsonl", tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    if kind == "link":
        path.symlink_to(elsewhere)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(SourceError, match=r"journal\.jsonl: is (a symbolic link|no regular file|a directory)"):
        Journal(tmp_path, KEY)
    assert elsewhere.read_text() == "precious"


@pytest.mark.parametrize("taken_back", [True, False])
def test_an_append_that_fails_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, taken_back: bool
) -> None:
    """Two probes end at once: the first end cannot be written; the second may only follow whole lines."""
    path = two_lines(tmp_path)
    whole = path.read_bytes()
    write, truncate = os.write, os.ftruncate

    def half(descriptor: int, data: memoryview) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:100])

    def fail(_descriptor: int, _size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Journal(tmp_path, KEY) as journal:
        monkeypatch.setattr("os.write", half)
        monkeypatch.setattr("os.ftruncate", truncate if taken_back else fail)
        with pytest.raises(OutputError, match="no space left"):
            begin(journal, 2, "0")
        monkeypatch.undo()
        assert path.read_bytes().startswith(whole)
        if taken_back:
            assert path.read_bytes() == whole
            begin(journal, 2, "0")
        else:
            with pytest.raises(OutputError, match="could not be taken back"):
                begin(journal, 2, "0")
        assert set(journal.history.probes) == ({1, 2} if taken_back else {1})
    assert set(read_journal(tmp_path, KEY).probes) == ({1, 2} if taken_back else {1})
