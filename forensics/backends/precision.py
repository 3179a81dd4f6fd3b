"""Precision: a probe is the model with some nodes in FP32 and all others in 16 bits.

Items are the nodes that compute; active ones are in 16 bits. A probe is judged by its emulated twin, inside this process;
a build is asked for where it is to show that TensorRT takes the model and reads the types as they were asked.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from trtforensics.backends.backend import Backend
from trtforensics.backends.build import Job as BuildJob
from trtforensics.errors import SourceError
from trtforensics.loading import load_build_log
from trtforensics.precision.evidence import differences
from trtforensics.precision.fixes import write_fixes
from trtforensics.precision.items import atoms_of
from trtforensics.precision.oracle import RunError, Scores, judge
from trtforensics.precision.twin import emulate
from trtforensics.search import Item, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from trtforensics.backends.backend import Described
    from trtforensics.precision.caster import Caster
    from trtforensics.precision.metrics import Rule
    from trtforensics.precision.oracle import Oracle
    from trtforensics.precision.oracle import Verdict as Judgement

SCORES = "scores.json"
FAILURE = "failure.txt"
"""The last lines of the log of a build that failed."""

_REPORT = "build-report.json"
_JOB = "build-job.json"
_LOG = "build.log"


@dataclass(frozen=True, slots=True)
class Target:
    """What builds: the module ``tensorrt`` or ``tensorrt_rtx``, for which inputs and compute capability."""

    module: str
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compute_capability: str | None = None


class PrecisionBackend(Backend):
    """Nodes of a model; active ones compute in 16 bits.

    ``needs_files`` has every probe's models written, for a check command; ``builds`` is switched by whoever runs the
    session: only then a probe is built.
    """

    mode = "precision"
    placeholder = "model"
    file = "fp32-nodes.txt"

    def __init__(
        self, caster: Caster, oracle: Oracle, rules: Mapping[str, Rule], target: Target | None, models: Path | None
    ) -> None:
        """``models`` is the folder of the probes' models where external data must lie beside them, else None."""
        self.caster = caster
        self.oracle = oracle
        self.rules = rules
        self.target = target
        self.needs_files = False
        self.builds = False
        self.nodes = tuple(atoms_of(caster))
        self.items = tuple(Item(name) for name in self.nodes)
        self.settings = _spelled(rules)
        self._models = models
        self._keeps: dict[str, frozenset[str]] = {}
        self._scores: dict[frozenset[str], Scores] = {}
        self._lock = threading.Lock()

    def content(self) -> object:
        """Return what decides a probe's scores."""
        return content_of(self.caster, self.oracle)

    def describe(self, index: int) -> Described:
        """Return a node; FP32 is good."""
        name = self.nodes[index]
        candidate = self.caster.candidates[name]
        return {"item": name, "op": candidate.op, "good": {"precision": "fp32"}, "bad": {"precision": self.narrow}}

    @property
    def narrow(self) -> str:
        """The 16-bit type's name."""
        return self.caster.storage.name

    def keep_of(self, active: Collection[int]) -> frozenset[str]:
        """Return the nodes that stay FP32, those that move FP32 data included."""
        return self.caster.kept([name for index, name in enumerate(self.nodes) if index not in active])

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the nodes that stay FP32, and the models where a build or a check command reads them."""
        keep = self.keep_of(active)
        self._keeps[str(folder)] = keep
        (folder / self.file).write_text("".join(f"{n}\n" for n in self.caster.candidates if n in keep), encoding="utf-8")
        if not (self.builds or self.needs_files):
            return {}
        place, stem = (folder, "") if self._models is None else (self._models, f"{folder.name}.")
        paths = {"model": place / f"{stem}model.onnx", "twin": place / f"{stem}twin.onnx"}
        typed = self.caster.cast(keep)
        paths["model"].write_bytes(typed.SerializeToString())
        paths["twin"].write_bytes(emulate(typed).SerializeToString())
        if self.target is not None:
            job = BuildJob(
                module=self.target.module,
                model=str(paths["model"]),
                report=str(folder / _REPORT),
                engine=str(folder / "engine"),
                shapes=self.target.shapes,
                compute_capability=self.target.compute_capability,
            )
            (folder / _JOB).write_text(json.dumps(asdict(job), indent=1), encoding="utf-8")
        return paths

    def verify(self, active: frozenset[int], folder: Path) -> str:
        """Hold the types that the build's log shows against those asked for."""
        try:
            log = load_build_log([str(folder / _LOG)])
        except SourceError as error:
            return f"the build's log cannot be read: {error.what}"
        found = differences(self.caster, self.keep_of(active), log.builds[-1])
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"the build did not read what was asked: {found[0]}{more}" if found else ""

    def score(self, folder: Path) -> tuple[Verdict, str]:
        """Run a prepared probe's twin, store every measure, and judge it."""
        keep = self._keeps[str(folder)]
        try:
            with self._lock:
                scores = self._scores.get(keep) or self.oracle.score(emulate(self.caster.cast(keep)))
                self._scores[keep] = scores
        except RunError as error:
            return Verdict.UNRESOLVED, error.what
        (folder / SCORES).write_text(json.dumps({"schema": 1, "outputs": scores.outputs}, indent=1), encoding="utf-8")
        return _told(self.judgement(scores), self.rules)

    def judgement(self, scores: Scores) -> Judgement:
        """Judge scores by the present rules."""
        return judge(scores, self.oracle.floor, self.rules, self.caster.storage.half_unit)

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:
        """Judge a stored probe by the present rules; None where it has no scores."""
        if (folder / FAILURE).exists():
            return Verdict.UNRESOLVED, "build: failed"
        scores = read_scores(folder)
        return None if scores is None else _told(self.judgement(scores), self.rules)

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write the first repair's files."""
        return write_fixes(self.caster, [self.nodes[index] for index in sorted(culprits[0])], folder)


def content_of(caster: Caster, oracle: Oracle) -> dict[str, object]:
    """Return what a directory's job is: model, type, samples."""
    samples = hashlib.sha256()
    for sample in oracle.samples:
        for name, array in sorted(sample.items()):
            samples.update(f"{name} {array.dtype} {array.shape}".encode())
            samples.update(array.tobytes())
    model = hashlib.sha256(caster.prepared.proto.SerializeToString(deterministic=True)).hexdigest()
    return {"model": model, "precision": caster.storage.name, "samples": samples.hexdigest(), "masked": oracle.masked}


def read_scores(folder: Path) -> Scores | None:
    """Read a probe's stored scores; None where there are none."""
    try:
        document = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Scores({name: tuple(samples) for name, samples in document["outputs"].items()})


def _told(judgement: Judgement, rules: Mapping[str, Rule]) -> tuple[Verdict, str]:
    shown = ", ".join(
        f"{name}: {rules[name].metric.name} {score:.3g}" for name, score in judgement.worst.items() if score is not None
    )
    near = ", near the tolerance" if judgement.near else ""
    return (Verdict.GOOD if judgement.passed else Verdict.BAD), f"emulated: {judgement.why or shown}{near}"


def _spelled(rules: Mapping[str, Rule]) -> str:
    return ", ".join(
        f"{name}: {rule.metric.name} {'default' if rule.tolerance is None else format(rule.tolerance, 'g')}"
        for name, rule in rules.items()
    )
