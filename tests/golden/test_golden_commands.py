"""What commands print of our logs and of engines with all their files, byte for byte; ``--update-golden`` renews it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.engine_pair import write_pair
from tests.support.in_process import run_in_process
from tests.support.repository import ROOT
from tests.support.rounding import rounded

if TYPE_CHECKING:
    from pathlib import Path

HERE = ROOT / "tests" / "golden" / "commands"
LOGS = {
    "chain": "emulated-trtexec-10.16-three-passes",
    "old": "emulated-trtexec-8.6",
    "profiles": "emulated-python-10.16-two-profiles",
    "rtx": "rtx-convnet",
}
FILES = {
    "model.onnx": "models/transformer.onnx",
    "norms.onnx": "models/norm-chain.onnx",
    "edited.json": "replays/edited.json",
}
NEEDING = {"repairs": "onnxruntime", "trends": "pyarrow"}
LONG = 150
"""Lines of an answer that are kept."""
FAST, SLOW = (" ".join(f"{name}.{kind}.json" for kind in ("layers", "profile", "times")) for name in ("fast", "slow"))
SIDES = f"fast.layers.json slow.layers.json --good {FAST[17:]} --bad {SLOW[17:]}"
COMMANDS = {
    "diff": (
        "diff old.log chain.log",
        "diff rtx.log profiles.log",
        "diff old.log chain.log --all --exit-code",
        f"diff {SIDES}",
        "diff chain.log edited.json",
        "diff edited.json profiles.log",
        "diff fast.profile.json slow.profile.json",
        "diff fast.times.json slow.times.json",
        f"diff {SIDES} --json",
    ),
    "tables": (
        *(
            f"table chain.log --of {of}"
            for of in ("fusions", "messages", "runs", "builds", "results", "passes", "ledger")
        ),
        "table old.log --of choices --filter time>0.01 --format markdown",
        "table chain.log --of candidates --filter 'time<0.02 -reformat' --columns layer,tactic,time_ms",
        "table profiles.log --of candidates --sort=-time_ms --columns layer,tactic,time_ms --build 1 --filter time>0.1",
        f"table {FAST}",
        f"table {SLOW} --sort=-time_ms --format markdown",
        f"table {SLOW} --filter 'type:conv time>0.05' --json",
        f"table {FAST} --of profile",
        "table chain.log old.log rtx.log --of runs --columns source,outcome,gpu,latency_median_ms,root",
    ),
    "figures": (
        *(f"plot {FAST} -o {of}.svg --of {of}" for of in ("layers", "types", "blocks", "memory", "roofline", "spread")),
        f"plot {FAST} -o inferences.svg --of inferences",
        f"plot {FAST} --against {SLOW} -o waterfall.svg --of waterfall",
        f"plot {FAST} --against {SLOW} -o compare.svg --of compare",
        "plot old.log -o margins.svg --of margins",
        "plot chain.log -o build.svg --of build",
    ),
    "models": (
        "check model.onnx",
        "check model.onnx --target 8.6",
        "check model.onnx --target 8.4 --json",
        "check norms.onnx --target 10.0",
        "record model.onnx --release 10.3",
        "graph fast.layers.json fast.profile.json -o engine.dot",
    ),
    "repairs": ("repair norms.onnx --fold --reshape --casts --broadcasts -o fixed.onnx",),
    "trends": (
        "trend old.log chain.log profiles.log",
        "trend old.log chain.log profiles.log --format json",
        "trend old.log chain.log -o trend.json --since 2020",
        "trend chain.log old.log -o trend.html",
        "trend rtx.log --since 2100 --fail-on regression",
    ),
    "reports": (
        "report old.log",
        "report rtx.log --json",
        "report chain.log old.log",
        "pin chain.log -o pinned.json",
        "pin chain.log -o single.json --no-splitk --accumulate fp32 --json",
        "replay lint edited.json --json",
        "replay show edited.json",
        "explain TF507",
        "explain TF310 --json",
        "explain layernorm",
        "redact rtx.log -o redacted.log",
    ),
    "layers": (
        f"parse {FAST[:16]}",
        f"parse {FAST[17:34]}",
        f"parse {FAST[35:]}",
        f"report {SLOW}",
        "parse profiles.log",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, log in LOGS.items():
        (tmp_path / f"{name}.log").symlink_to(ROOT / "testdata" / "logs" / f"{log}.log")
    for name, path in FILES.items():
        (tmp_path / name).symlink_to(ROOT / "testdata" / path)
    write_pair(tmp_path)
    return tmp_path


def answer(line: str, folder: Path) -> str:
    """Return what a command line prints and writes; long lines of pictures are broken where an element begins."""
    words, before = shlex.split(line), {*folder.iterdir()}
    done = run_in_process([*words, "--quiet"], folder)
    written = sorted({*folder.iterdir()} - before)
    texts = [path.read_text(encoding="utf-8") for path in written if path.suffix not in {".html", ".onnx"}]
    printed = [kept for text in (done.stdout.decode(), done.stderr.decode(), *texts) for kept in _beginning(text)]
    return "\n".join([f"$ trtforensics {line}", *printed, f"exit {done.returncode}", ""])


def _beginning(text: str) -> list[str]:
    lines = text.replace("><", ">\n<").splitlines()
    return [*lines[:LONG], f"… ({len(lines) - LONG} more lines)"] if len(lines) > LONG else lines


@pytest.mark.parametrize("name", COMMANDS)
def test_what_commands_print_is_the_golden_text(
    name: str,
    folder: Path,
    no_trials: None,  # noqa: ARG001 - nothing starts a child process
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    if name in NEEDING:
        pytest.importorskip(NEEDING[name])
    printed = rounded("\n".join(answer(line, folder) for line in COMMANDS[name]))
    golden = HERE / f"{name}.txt"
    if update_golden:
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8"), f"{golden.name} differs: look at the change first"
