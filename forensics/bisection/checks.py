"""Checks without a golden output: ``--check builtin:NAME`` runs ``python -m trtforensics.bisection.checks NAME MODEL``.

MODEL is an engine, which needs TensorRT and a GPU, or an ONNX model, which ONNX Runtime runs on the CPU. Polygraphy
loads, feeds and compares. Inputs are those of a folder, or random ones of a fixed seed.
"""

import argparse
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trtforensics.errors import UsageError

Feed = Mapping[str, Any]

PREFIX = "builtin:"

BAD = 3
"""The exit status of a model that fails. Any other failure, such as an exception, says nothing about the model."""

_SEED = 1
_SAMPLES = 3
_CLOSE = 1e-2


def command_of(check: str, judged: str) -> str:
    """Return the command of ``builtin:NAME`` on ``judged``, of any other itself; a UsageError where it is wrong."""
    if not check.startswith(PREFIX):
        return check
    name, _, reference = check.removeprefix(PREFIX).partition(":")
    if name not in CHECKS:
        raise UsageError("--check", f"there is no built-in check {name!r}", f"Choose from {', '.join(CHECKS)}")
    if bool(reference) != (name == "against"):
        next_step = "Write builtin:against:FILE" if name == "against" else f"Write {PREFIX}{name}"
        raise UsageError("--check", f"{check!r} is not how the built-in check {name} is written", next_step)
    words = [sys.executable, "-m", "trtforensics.bisection.checks", name]
    rest = f" --reference {shlex.quote(reference)}" if reference else ""
    run = f"{shlex.join(words)} {judged}{rest}"
    return f"{run}; case $? in 0) exit 0;; {BAD}) exit 1;; *) exit 125;; esac"


def builtin_of(command: str) -> str:
    """Return which built-in check a command runs, "" for any other."""
    match = re.search(r" -m trtforensics\.bisection\.checks (\w+) ", command)
    return match[1] if match else ""


def finite(request: Namespace) -> bool:
    """No output holds NaN or infinity."""
    from polygraphy.comparator import Comparator  # noqa: PLC0415 - heavy, and needed by the child process only

    return bool(Comparator.validate(_results([request.model], _feeds(request)), check_inf=True, check_nan=True))


def repeat(request: Namespace) -> bool:
    """Two runs agree bit for bit."""
    import numpy as np  # noqa: PLC0415 - needed by the child process only

    twice = [feed for feed in _feeds(request) for _ in range(2)]
    runs = [dict(run) for _, results in _results([request.model], twice).items() for run in results]
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return all(np.array_equal(a, second[name], equal_nan=True) for first, second in pairs for name, a in first.items())


def against(request: Namespace) -> bool:
    """Outputs are within 1 % of another model's: an FP16 engine against the FP32 one."""
    from polygraphy.comparator import Comparator, CompareFunc  # noqa: PLC0415 - heavy, for the child process only

    compare = CompareFunc.simple(rtol=_CLOSE, atol=_CLOSE)
    results = _results([request.model, request.reference], _feeds(request))
    return bool(Comparator.compare_accuracy(results, compare_func=compare))


def rows(request: Namespace) -> bool:
    """Equal rows of a batch give equal rows; a UsageError where no input has a batch of two rows or more."""
    import numpy as np  # noqa: PLC0415 - needed by the child process only

    feeds = [
        {name: np.repeat(a[:1], len(a), axis=0) if np.ndim(a) else a for name, a in feed.items()}
        for feed in _feeds(request)
    ]
    batch = {array.shape[0] for feed in feeds for array in feed.values() if array.ndim} - {1}
    if not batch:
        raise UsageError(request.model, "has no batch of two rows or more", "Export it with one, or use another check")
    results = _results([request.model], feeds)
    outputs = [np.asarray(output) for _, runs in results.items() for run in runs for output in run.values()]
    batched = [output for output in outputs if output.ndim and output.shape[0] in batch]
    return all(np.array_equal(output, np.broadcast_to(output[:1], output.shape), equal_nan=True) for output in batched)


CHECKS: Mapping[str, Callable[[Namespace], bool]] = {each.__name__: each for each in (finite, rows, repeat, against)}


def _results(models: Sequence[str], feeds: Sequence[Feed]) -> Any:  # noqa: ANN401 - Polygraphy's
    from polygraphy.comparator import Comparator  # noqa: PLC0415 - heavy, for the child process only

    runners = [_runner(model, f"run {number}") for number, model in enumerate(models, 1)]
    return Comparator.run(runners, data_loader=feeds)


def _runner(model: str, name: str) -> Any:  # noqa: ANN401 - Polygraphy's
    if model.endswith(".onnx"):
        from polygraphy.backend.onnxrt import OnnxrtRunner, SessionFromOnnx  # noqa: PLC0415 - heavy

        return OnnxrtRunner(SessionFromOnnx(model), name=name)
    from polygraphy.backend.common import BytesFromPath  # noqa: PLC0415 - heavy
    from polygraphy.backend.trt import EngineFromBytes, TrtRunner  # noqa: PLC0415 - heavy

    return TrtRunner(EngineFromBytes(BytesFromPath(model)), name=name)


def _feeds(request: Namespace) -> list[Feed]:
    """Return the samples of a folder of ``.npz`` files, or random ones."""
    import numpy as np  # noqa: PLC0415 - needed by the child process only
    from polygraphy.comparator import DataLoader  # noqa: PLC0415 - heavy

    if request.inputs:
        return [dict(np.load(path)) for path in sorted(Path(request.inputs).glob("*.npz"))]
    loader = DataLoader(seed=_SEED, iterations=_SAMPLES)
    with _runner(request.model, "inputs") as runner:
        loader.input_metadata = runner.get_input_metadata()
        return [dict(loader[index]) for index in range(_SAMPLES)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a model: 0 where it passes, 3 where it does not."""
    parser = argparse.ArgumentParser(prog="python -m trtforensics.bisection.checks", description=__doc__)
    parser.add_argument("name", choices=CHECKS)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--reference", metavar="FILE", default="", help="what `against` compares with")
    parser.add_argument("--inputs", metavar="DIR", default="", help="run on its .npz files instead of random inputs")
    args = parser.parse_args(arguments)
    return 0 if CHECKS[args.name](args) else BAD


if __name__ == "__main__":
    sys.exit(main())
