"""Precision searches beside converters that decide by rules: ``python -m tests.benchmarks.precision [NAME …]``.

For each model of the zoo and each tool: nodes that stay FP32, the error of the twin, whether that is within the
tolerance of the search, processor seconds, and what is invalid. The peers are ONNX Runtime's and onnxconverter-common's
float16 converters with their defaults, and ModelOpt's AutoCast, each where it is installed; what is missing is named.
Ours is the minimal repair.
It fails where a search is not within its tolerance, or a peer that is keeps fewer nodes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import logging
import sys
import tempfile
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from tests.support.small_caster import narrow_tensors
from tests.support.zoo import models
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16, STORAGES
from trtforensics.bisection.precision.emulation.converted import raised_for
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError, floating_outputs, judge_for
from trtforensics.bisection.precision.emulation.ranges import tensor_ranges
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.items import atoms_of, items_of
from trtforensics.bisection.precision.repair.smallest import RepairSearch
from trtforensics.bisection.search import Verdict
from trtforensics.onnx_models.graphs import graphs
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import failures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.zoo import ZooModel
    from trtforensics.bisection.precision.emulation.judging import OutputJudge

    Convert = Callable[[Path], onnx.ModelProto]

OURS = "trtforensics"
_LIMIT = 1e4
_RAISED = (AttributeError, ImportError, LookupError, NotImplementedError, TypeError)
"""What a converter raises on a model that it cannot read, beside the errors of ONNX and ONNX Runtime."""


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One tool on one model; ``kept`` counts nodes that compute, ``invalid`` says why there is no error."""

    tool: str
    kept: int | None
    error: str
    within: bool
    seconds: float
    probes: int = 0
    invalid: str = ""


def common(path: Path) -> onnx.ModelProto:
    """Convert by onnxconverter-common."""
    module: Any = importlib.import_module("onnxconverter_common.float16")
    converted: onnx.ModelProto = module.convert_float_to_float16(onnx.load(path), keep_io_types=True)
    return converted


def onnx_runtime(path: Path) -> onnx.ModelProto:
    """Convert by ONNX Runtime's transformers tools."""
    module: Any = importlib.import_module("onnxruntime.transformers.float16")
    converted: onnx.ModelProto = module.convert_float_to_float16(onnx.load(path), keep_io_types=True)
    return converted


def autocast(path: Path) -> onnx.ModelProto:
    """Convert by ModelOpt's AutoCast."""
    with redirect_stdout(sys.stderr):  # it logs to stdout, which has the table
        module: Any = importlib.import_module("modelopt.onnx.autocast")
        logging.getLogger("modelopt.onnx").setLevel(logging.ERROR)
        converted: onnx.ModelProto = module.convert_to_mixed_precision(str(path), keep_io_types=True)
    return converted


PEERS: dict[str, Convert] = {"onnxconverter-common": common, "onnxruntime": onnx_runtime, "AutoCast": autocast}
NEEDS = {
    "onnxconverter-common": ("onnxconverter_common",),
    "onnxruntime": ("onnxruntime",),
    "AutoCast": ("modelopt", "torch"),
}
"""The modules that a peer imports."""


def searched(oracle: Oracle, judge: OutputJudge) -> ModelResult:
    """Search the minimal repair in this process, without a session's files."""
    caster, begun = oracle.caster, time.process_time()
    items = items_of(caster, tensor_ranges(oracle).by_tensor)
    search = RepairSearch(items, atoms_of(caster), caster.storage.name)
    probes = 0
    while not search.done:
        for ask in search.asks():
            keep = caster.kept([node for index, node in enumerate(search.nodes) if index not in ask.active])
            probes += 1
            passed = judge.judge(oracle.score_mixture(keep)).passes
            search.tell(ask, Verdict.GOOD if passed else Verdict.BAD)
    repairs = search.repairs
    nodes = repairs[0].nodes if repairs else frozenset[str]()
    judgement = judge.judge(oracle.score(emulate(caster.cast(caster.kept(nodes)))))
    seconds = time.process_time() - begun
    return ModelResult(OURS, len(nodes), _spelled(judgement.scores), judgement.passes, seconds, probes)


def converted(tool: str, path: Path, oracle: Oracle, judge: OutputJudge) -> ModelResult:
    """Have a peer convert the model, and judge the twin of what it wrote."""
    begun = time.process_time()
    try:
        model = PEERS[tool](path)
    except _raised() as error:
        return ModelResult(tool, None, "", within=False, seconds=time.process_time() - begun, invalid=_first(error))
    seconds = time.process_time() - begun
    try:
        onnx.checker.check_model(model, full_check=True)
        invalid = ""
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        invalid = f"checker: {_first(error)}"
    if not invalid and _alters_constants(tool, oracle.caster):
        invalid = "clamps constants to 1e4 that FP16 holds"
    try:
        judgement = judge.judge(oracle.score(emulate(model)))
    except (RunError, onnx.shape_inference.InferenceError) as error:
        return ModelResult(tool, None, "", within=False, seconds=seconds, invalid=invalid or _first(error))
    kept = _kept(model, oracle.caster)
    return ModelResult(tool, kept, _spelled(judgement.scores), judgement.passes, seconds, 0, invalid)


def _raised() -> tuple[type[Exception], ...]:
    return (*_RAISED, *failures(), onnx.checker.ValidationError, onnx.shape_inference.InferenceError)


def missing(tool: str) -> list[str]:
    """Return the modules that a peer imports and that are not installed."""
    return [module for module in NEEDS[tool] if importlib.util.find_spec(module) is None]


def _alters_constants(tool: str, caster: Caster) -> bool:
    """Whether a converter makes another model: onnxconverter-common's default limit is 1e4 (its 1.16.0)."""
    values = [numpy_helper.to_array(each) for each in caster.survey.constants.values() if each.data_type == 1]
    size = [np.abs(each[np.isfinite(each)]) for each in values]
    return tool == "onnxconverter-common" and any(bool(((v > _LIMIT) & (v <= FP16.largest)).any()) for v in size)


def _kept(model: onnx.ModelProto, caster: Caster) -> int:
    """Count the nodes that compute and write or read nothing in 16 bits, those in bodies too."""
    narrow = narrow_tensors(model)
    computing = {name for name, node in caster.candidates.items() if node.moves is None}
    return sum(
        node.name in computing and not any(name in narrow for name in (*node.output, *node.input))
        for graph in graphs(model.graph)
        for node in graph.node
    )


def _spelled(worst: Mapping[str, float | None]) -> str:
    return ", ".join("not finite" if value is None else f"{value:.3g}" for value in worst.values())


def _first(error: BaseException) -> str:
    return (str(error).strip().split("\n") or [""])[0][:70] or type(error).__name__


def measured(zoo: ZooModel, folder: Path) -> list[ModelResult]:
    """Return what each tool makes of a model."""
    path = folder / "model.onnx"
    if zoo.external:
        onnx.save(zoo.build(), path, save_as_external_data=True, location="model.data", size_threshold=0)
    else:
        onnx.save(zoo.build(), path)
    storage = STORAGES[zoo.precision]
    prepared = raised_for(prepare(str(path)), zoo.precision)
    oracle = Oracle(Caster(prepared, storage), zoo.samples)
    judge = judge_for(oracle, rules_for(floating_outputs(prepared.proto), [], []))
    results = [searched(oracle, judge)]
    if zoo.precision == "fp16":
        there = [tool for tool in PEERS if not missing(tool)]
        results += [converted(tool, path, oracle, judge) for tool in there]
    return results


def failed(results: list[ModelResult]) -> bool:
    """Whether ours is outside of its tolerance, or a valid peer within it keeps fewer nodes."""
    ours, *others = results
    smaller = [o for o in others if o.within and not o.invalid and o.kept is not None and o.kept < (ours.kept or 0)]
    return not ours.within or bool(smaller)


def main() -> int:
    """Print a row for each model and tool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the zoo (default: all but the large ones)")
    args = parser.parse_args()
    chosen = [zoo for zoo in models() if (zoo.name in args.names if args.names else not zoo.large)]
    bad = []
    for tool in PEERS:
        if missing(tool):
            sys.stdout.write(f"{tool} is left out: not installed are {', '.join(missing(tool))}\n")
    sys.stdout.write(
        f"{'model':28} {'tool':21} {'kept':>5} {'error':>12} {'within':>6} {'cpu s':>6} {'probes':>6}  invalid\n"
    )
    for zoo in chosen:
        with tempfile.TemporaryDirectory() as folder:
            results = measured(zoo, Path(folder))
        for row in results:
            kept = "-" if row.kept is None else row.kept
            within = "yes" if row.within else "no"
            sys.stdout.write(
                f"{zoo.name:28} {row.tool:21} {kept:>5} {row.error:>12} {within:>6} {row.seconds:6.2f} "
                f"{row.probes or '':>6}  {row.invalid}\n"
            )
        sys.stdout.flush()
        bad += [zoo.name] if failed(results) else []
    sys.stdout.write(f"{len(chosen)} models; failed: {', '.join(bad) or 'none'}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
