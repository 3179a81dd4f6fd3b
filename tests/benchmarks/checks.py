"""How much ``check`` finds: planted faults beside another checker, and forecasts beside the parser of TensorRT-RTX.

    python -m tests.benchmarks.checks [--peer EXE] [--models FOLDER]

Planted faults are those of ``tests/support/faulty_models.py``; a peer is a command that takes ``MODEL --format json
--output FILE`` and lists ``issues`` with a ``severity`` there. Forecasts are of the models of ONNX's own backend tests,
or of a folder: a model that the parser refuses is found where ``check --target rtx`` reports an error, or an operator
that needs a plugin.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.faulty_models import pairs, written
from tests.support.in_process import run_in_process

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLUGIN = "TF172"


def planted(peer: str | None) -> None:
    """Print how many faults are found, and how many faultless models are blamed with an error or a warning."""
    counts: Counter[str] = Counter()
    for pair in pairs():
        with tempfile.TemporaryDirectory() as folder:
            paths = written(pair, Path(folder))
            ours = {name: _ours(path, *pair.options) for name, path in paths.items()}
            theirs = {name: _theirs(peer, path) for name, path in paths.items()} if peer else {}
        counts["faults"] += 1
        counts["found"] += pair.code in {code for code, _ in ours["faulty"]}
        counts["blamed"] += pair.code in {code for code, _ in ours["faultless"]}
        if theirs:
            counts["found by the peer"] += bool(theirs["faulty"] - theirs["faultless"])
            counts["blamed by the peer"] += bool(theirs["faultless"] - theirs["faulty"])
    print(dict(counts))


def _ours(path: str, *options: str) -> set[tuple[str, str]]:
    done = run_in_process(["check", path, *options, "--json"], Path(path).parent)
    findings = json.loads(done.stdout)["findings"] if done.stdout else []
    return {(finding["code"], finding["severity"]) for finding in findings}


def _theirs(peer: str, path: str) -> set[tuple[str, str]]:
    answer = Path(f"{path}.json")
    line = [peer, path, "--format", "json", "--output", str(answer)]
    subprocess.run(line, capture_output=True, check=False)
    issues = json.loads(answer.read_text(encoding="utf-8"))["issues"] if answer.is_file() else []
    return {(issue["rule_id"], issue["severity"]) for issue in issues}


def forecasts(folder: Path) -> None:
    """Print how many models the parser takes and refuses, and how many of each ``check`` reports."""
    import tensorrt_rtx  # noqa: PLC0415 - an extra of this benchmark

    logger = tensorrt_rtx.Logger(tensorrt_rtx.Logger.INTERNAL_ERROR)
    builder = tensorrt_rtx.Builder(logger)
    counts: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.onnx")):
        network = builder.create_network(0)
        taken = tensorrt_rtx.OnnxParser(network, logger).parse_from_file(str(path))
        found = _ours(str(path), "--target", "rtx")
        reported = any(severity == "error" or code == _PLUGIN for code, severity in found)
        counts[f"{'taken' if taken else 'refused'}, {'reported' if reported else 'not reported'}"] += 1
    print(dict(counts))


def node_models(folder: Path) -> Iterator[str]:
    """Write the models of ONNX's backend tests of nodes."""
    import onnx  # noqa: PLC0415 - as above
    from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415 - as above

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            if case.model is not None:
                onnx.save(case.model, folder / f"{case.name}.onnx")
            yield case.name


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="EXE", help="another checker")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="models to forecast, instead of ONNX's")
    options = parser.parse_args()
    planted(options.peer)
    with tempfile.TemporaryDirectory() as scratch:
        if options.models is None:
            print(f"{sum(1 for _ in node_models(Path(scratch)))} models", file=sys.stderr)
        forecasts(options.models or Path(scratch))
