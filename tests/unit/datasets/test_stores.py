"""Datasets in object stores, by URL: a version counts when it is whole, and the newest one counts."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from trtforensics.cli import main
from trtforensics.datasets import store
from trtforensics.datasets.store import Dataset, StoreParts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG = "emulated-trtexec-8.6.log"
ASK = ["query", "SELECT count(*) AS n FROM sources", "--format", "csv", "--dataset"]


@pytest.fixture
def memory(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("fsspec")
    return f"memory://{request.node.name}/set"


def _ingested(log: Path, url: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["ingest", str(log), "--into", url]) == 0
    return capsys.readouterr().out.removeprefix(f"{url}: ").strip()


def test_a_version_counts_when_it_is_whole(
    memory: str, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / LOG
    log.write_bytes((logs / LOG).read_bytes())
    assert main([*ASK, memory]) == 2
    assert "is no dataset" in capsys.readouterr().err
    assert _ingested(log, memory, capsys) == "1 read"
    assert _ingested(log, memory, capsys) == "1 unchanged"
    before = Dataset.opened(memory).sources()
    log.write_bytes(log.read_bytes() + b"more\n")
    write = StoreParts._write

    def killed(self: StoreParts, path: str, data: bytes) -> None:
        if path.endswith("sources.parquet"):
            raise KeyboardInterrupt
        write(self, path, data)

    with monkeypatch.context() as patched:
        patched.setattr(StoreParts, "_write", killed)
        main(["ingest", str(log), "--into", memory])
    capsys.readouterr()
    assert Dataset.opened(memory).sources() == before
    assert _ingested(log, memory, capsys) == "1 read"
    after = Dataset.opened(memory).sources()
    assert after != before
    assert len(Dataset.opened(memory).table("runs").to_table()) == 1
    monkeypatch.setattr(store, "_STALE_S", -1.0)
    assert _ingested(log, memory, capsys) == "1 unchanged"
    assert Dataset.opened(memory).sources() == after
    assert len({path[:2] for path in StoreParts(memory)._listed("parts/")}) == 1
    assert main(["trend", memory]) == 0


def test_a_url_that_nothing_opens_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fsspec")
    for command in ([*ASK, "nowhere://x/set"], ["ingest", __file__, "--into", "nowhere://x/set"]):
        assert main(command) == 2
        assert "nowhere://x/set: cannot be opened: " in capsys.readouterr().err


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of a local server; the URL lacks the place in it."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto is not installed; it is part of the extra `readers`")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60
        while True:
            try:
                make = urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")
                urllib.request.urlopen(make, timeout=10).close()  # noqa: S310 - as above
                break
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < end
                time.sleep(0.1)
        yield f"s3://bucket/{{}}?region=us-east-1&scheme=http&endpoint_override={quote(f'127.0.0.1:{port}')}"
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
def test_s3_keeps_what_a_folder_keeps(s3: str, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = s3.format("a/set")
    assert main(["ingest", str(logs), "--into", url, "--jobs", "2", "-q"]) == 0
    assert main(["ingest", str(logs), "--into", str(tmp_path / "set"), "-q"]) == 0
    assert main(["ingest", str(logs), "--into", url, "-q"]) == 0
    assert "unchanged" in capsys.readouterr().out
    for table in ("runs", "engine_layers", "candidates", "findings", "labels"):
        here, there = (Dataset.opened(at).table(table).to_table() for at in (str(tmp_path / "set"), url))
        assert sorted(map(repr, here.to_pylist())) == sorted(map(repr, there.to_pylist()))
    assert main([*ASK, s3.format("elsewhere")]) == 2
