"""The answer of a precision search, its text and its document: nodes, reasons, how probes were judged, the repair."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from trtforensics.bisection.precision.answer.kernels import KernelNotes, kernel_lines
from trtforensics.bisection.precision.answer.operators import OperatorFix
from trtforensics.bisection.precision.answer.original_layers import OriginalReport
from trtforensics.bisection.precision.answer.quantization import CalibrationReport, QuantizationCost
from trtforensics.bisection.precision.casting.storage import STORAGES, AlteredConstant
from trtforensics.bisection.precision.emulation.converted import ConvertedModel
from trtforensics.bisection.precision.emulation.judging import Tolerance, scores_text
from trtforensics.bisection.precision.emulation.oracle import TopRows
from trtforensics.bisection.precision.repair.certificate import Holding
from trtforensics.bisection.precision.repair.curve import RoundingCurve
from trtforensics.bisection.precision.repair.losses import RangeReason, TensorLoss
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.answer import JudgedProbe, SearchAnswer, answer_text
from trtforensics.console.counting import counted, head_lines, listed
from trtforensics.model.data_types import Accumulator
from trtforensics.parsers.lines.dialects import is_error

WorstScores = Mapping[str, float | None]
"""The worst score of each output by its first metric; None where it is not finite."""

_SHOWN = 20
_FEW = 8
_MORE = "more in result.json"
_NEGLIGIBLE = 1e-5
"""No rounding of an output to 16 bits shows an error as small; outputs that are saturated have such."""
_SENTENCES = {"named": "Named, not certified", "inconclusive": "Inconclusive", "not-reproduced": "Nothing to search"}
_EMULATED: Mapping[Accumulator, str] = {
    Accumulator.FP32: "16-bit storage of every result, on the CPU",
    Accumulator.FP16: "16-bit storage of every result, and of the sums of products after each 16 terms, on the CPU",
}
_SINCE: Mapping[str, str] = {"GroupNormalization": "10.15", "LayerNormalization": "8.6", "RMSNormalization": "10.15"}
"""The TensorRT version whose ONNX parser has the operator (changelogs of onnx-tensorrt and TensorRT).

GroupNormalization of operator set 21 needs the normalisation layer with a scale for each channel, new in 10.15."""


@dataclass(frozen=True, slots=True)
class ScoredProbe(JudgedProbe):
    """A probe with its scores; ``near`` the tolerance, noise may decide. ``built`` is None where nothing was built."""

    scores: WorstScores
    near: bool
    built: bool | None
    log_tail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedOutput(Tolerance):
    """How an output is judged: by its first metric, and by others besides."""

    also: tuple[Tolerance, ...]


@dataclass(frozen=True, slots=True)
class RepairSummary:
    """The nodes that a repair keeps in FP32, in the model's order, and its probe."""

    nodes: tuple[str, ...]
    verdict: str | None
    scores: WorstScores
    folder: str | None


@dataclass(frozen=True, slots=True)
class TensorReason:
    """Why the nodes at a tensor must stay FP32; ``set`` is the number of their repair."""

    tensor: str
    moved_as: tuple[str, ...]
    why: str
    nodes: tuple[str, ...]
    set: int


@dataclass(frozen=True, slots=True)
class RepairNode:
    """A node of a repair, with the scores of two probes: the node alone in 16 bits, and the repair without it."""

    node: str
    op: str
    set: int
    needed: bool | None
    alone_in_16_bits: WorstScores | None
    dropped: WorstScores | None


@dataclass(frozen=True, slots=True)
class PrecisionAnswer:
    """Which nodes of a model must stay FP32, and why.

    ``search`` is the answer of the search for sets of nodes. ``builds`` counts real builds, ``oracle_probes`` the
    mixtures whose twins were scored. ``safe`` is the repair, ``minimal`` one of fewer nodes that passes too, None where
    there is none; ``reasons`` has what the safe one keeps besides. ``inside`` has the tensors that the minimal one
    loses, ``left`` those that even the safe one does, ``unseen`` the nodes whose bodies do not show what they lose.
    """

    search: SearchAnswer
    builds: int
    oracle_probes: int
    precision: str
    accumulate: Accumulator
    converted: ConvertedModel | None
    builder: str | None
    evidence: Mapping[str, bool]
    judged: Mapping[str, JudgedOutput]
    samples: int
    samples_are: str
    masked: Mapping[str, int]
    minimal: RepairSummary | None
    safe: RepairSummary | None
    inside: tuple[TensorLoss, ...]
    left: tuple[TensorLoss, ...]
    unseen: tuple[str, ...]
    reasons: tuple[RangeReason, ...]
    curve: RoundingCurve | None
    holding: Holding | None
    kernels: KernelNotes
    top_rows: Mapping[str, TopRows]
    quantization: QuantizationCost | None
    calibration: CalibrationReport | None
    original: OriginalReport | None
    tensors: tuple[TensorReason, ...]
    nodes: tuple[RepairNode, ...]
    constants: tuple[AlteredConstant, ...]
    notes: tuple[str, ...]
    probes: tuple[ScoredProbe, ...]
    operators: OperatorFix | None

    def __repr__(self) -> str:
        return f"<precision search, {self.status}: {len(self.nodes)} nodes stay FP32>"

    @property
    def status(self) -> str:
        """How the search ended: ``certified``, ``named``, ``inconclusive`` or ``not-reproduced``."""
        return self.search.status

    @property
    def certified(self) -> bool:
        """Whether the search ended with a certificate."""
        return self.search.certified

    @property
    def why(self) -> str:
        """Why it is not certified, or ""."""
        return self.search.why

    def document(self) -> dict[str, object]:
        """Return ``result.json``."""
        return {**self.search.document(), **{name: part for name, part in asdict(self).items() if name != "search"}}

    def text(self, directory: Path, fixed: Sequence[str] = (), *, wants_builds: bool = True) -> str:
        """Return the answer as text; ``fixed`` has a line about each file of ``fixed/`` in the directory."""
        lines = [*_unbuildable(self), *_converted(self), *_headline(self), *_operators(self), *_sets(self)]
        lines += self.curve.lines(self.samples_are) if self.curve else []
        lines += _losses(self)
        lines += kernel_lines(self.kernels, STORAGES[self.precision], self.accumulate)
        parts = (self.original, self.quantization, self.calibration)
        grids = [line for part in parts if part for line in part.lines()]
        lines = [*grids, *lines] if self.quantization else [*lines, *grids]
        lines += [*_judged(self), *_beside(self), *_constants(self)]
        lines += [f"Note: {note}." for note in self.notes]
        lines += _evidence(self, wants_builds=wants_builds)
        return answer_text([*lines, *self.search.verdicts.lines], directory, fixed)


def _unbuildable(answer: PrecisionAnswer) -> list[str]:
    """Return the line that comes before any answer: TensorRT does not build the model in FP32 either."""
    for probe in answer.probes:
        if probe.built is False and probe.purpose == "everything in FP32":
            return [f"TensorRT does not build this model in FP32 either: {last_error(probe.log_tail)}"]
    return []


def last_error(lines: Sequence[str]) -> str:
    """Return the last line of a log that is an error, else its last line that is not empty."""
    errors = [line for line in lines if is_error(line) or "rror" in line]
    telling = errors or [line for line in lines if line.strip()]
    return telling[-1].strip() if telling else "its log is empty"


def _converted(answer: PrecisionAnswer) -> list[str]:
    converted = answer.converted
    if converted is None:
        return []
    passes = f"passes against the original ({scores_text(converted.scores)})"
    verdict = passes if converted.passes else f"fails against it: {converted.why}"
    return [f"{converted.model}, as it was converted, {verdict}.", "The search is in the original:"]


def _headline(answer: PrecisionAnswer) -> list[str]:
    on = answer.samples_are
    if answer.status != "certified":
        not_safe = answer.inside and answer.status == "not-reproduced"
        opening = "Not safe as it is" if not_safe else _SENTENCES[answer.status]
        return [f"{'A matter of rounding' if answer.curve else opening}, on {on}: {answer.why}."]
    nodes, passes, fails = "these nodes", "passes", "without any one of them it fails"
    if answer.inside:
        nodes, passes = "the first nodes below", "passes (not yet safe)"
    elif [len(members) for members in answer.search.culprits[:1]] == [1]:
        nodes, fails = "this node", "without it the model fails"
    return [f"Certified on {on}: with {nodes} in FP32 the model {passes}, and {fails}."]


def _operators(answer: PrecisionAnswer) -> list[str]:
    fix = answer.operators
    if fix is None or answer.minimal is None or answer.safe is None:
        return []
    counts = Counter(chain.operator for chain in fix.chains)
    spelled = " and ".join(f"{count} x {operator} ({_SINCE[operator]})" for operator, count in sorted(counts.items()))
    kept = {"needs": len(fix.nodes), "minimal": len(answer.minimal.nodes), "safe": len(answer.safe.nodes)}
    apart = f"differs from the original by {fix.difference:.1g} of the largest magnitude"
    compared, error = apart if fix.difference else "equals the original", scores_text(fix.scores)
    lines = lines_about("operators", fix=fix, spelled=spelled, compared=compared, error=error, **kept)
    if fix.built is not None:
        lines.append("  It was built as asked." if fix.built else f"  Not proven: {fix.why_not_built}.")
    return lines


def _sets(answer: PrecisionAnswer) -> list[str]:
    lines = []
    sets = answer.search.culprits
    for number, members in enumerate(sets):
        title = f"Alternative {number}, which does as well" if number else "Must stay FP32"
        lines.append(f"{title} ({len(members)} of {answer.search.items} nodes):")
        nodes = [node for node in answer.nodes if node.set == number]
        lines += head_lines([_node(node, answer, alone=len(sets) == 1) for node in nodes], _SHOWN)
        reasons = [f"  because {each.tensor} {each.why}" for each in answer.tensors if each.set == number and each.why]
        if not number:
            kept = {node.node for node in nodes}
            first = [each for each in answer.reasons if kept.intersection(each.nodes)]
            reasons += [f"  because {each.tensor} {each.why}{_where(each.samples)}" for each in first]
        lines += head_lines(reasons, _SHOWN, "more reasons in result.json")
        lines += [] if number else _besides(answer)
    if not sets:
        lines += _besides(answer)
    if answer.search.suspects and not sets and answer.status == "inconclusive" and answer.curve is None:
        lines.append(f"Suspects left: {listed(answer.search.suspects, _SHOWN, _MORE)}")
    return lines


def _besides(answer: PrecisionAnswer) -> list[str]:
    """Return what else stays FP32, so that nothing is lost inside, by the tensor that asks for it."""
    minimal, safe = answer.minimal, answer.safe
    if minimal is None or safe is None or len(safe.nodes) == len(minimal.nodes) or not answer.reasons:
        return []
    more = len(safe.nodes) - len(minimal.nodes)
    besides = " besides," if minimal.nodes else ""
    count = counted(more, "node") if minimal.nodes else f"{more} of {counted(answer.search.items, 'node')}"
    kept = set(minimal.nodes)
    shown = [each for each in answer.reasons if not kept.intersection(each.nodes)]
    reasons = [f"  {listed(each.nodes, _FEW, _MORE)}: {each.tensor} {each.why}{_where(each.samples)}" for each in shown]
    title = f"Must stay FP32{besides} so that no value is lost inside ({count}):"
    return [title, *head_lines(reasons, _SHOWN, "more reasons in result.json")]


def _where(samples: Sequence[int]) -> str:
    shown = ", ".join(map(str, samples[:_FEW])) + (", …" if len(samples) > _FEW else "")
    return f" (sample{'s' if len(samples) > 1 else ''} {shown})" if samples else ""


def _node(node: RepairNode, answer: PrecisionAnswer, *, alone: bool) -> str:
    """Return a node of a repair, with the scores of the repair without it; ``alone``: there is no other repair."""
    without = ""
    if node.dropped and answer.judged:
        without = "  without it: " + ", ".join(
            f"{name} not finite" if score is None else f"{name} {answer.judged[name].metric} {score:.3g}"
            for name, score in node.dropped.items()
        )
    others = "; other nodes can do its part" if node.needed is False and alone else ""
    return f"  {node.node} [{node.op}]{without}{others}"


def _losses(answer: PrecisionAnswer) -> list[str]:
    """Return what is lost inside the repaired model, and which fewer nodes pass too but lose more."""
    minimal, safe = answer.minimal, answer.safe
    if minimal is None or safe is None:
        return []
    unseen = []
    if answer.unseen:
        names = listed(answer.unseen, _FEW, _MORE)
        unseen = [f"ONNX Runtime does not show losses inside the bodies of {names}; only outputs judge."]
    where = "in the main graph of" if unseen else "inside"
    what = "the repaired model" if safe.nodes else f"the model in {answer.precision}"
    if not answer.left:
        lines = [f"Safe on {answer.samples_are}: nothing overflows, becomes NaN or is flushed {where} {what}."]
    else:
        lines = [f"Not safe: some values are lost {where} {what} even so.", *_lost("lost", answer.left)]
    if answer.inside and minimal.verdict == Verdict.GOOD.value:
        fewer = f"Fewer nodes also pass these samples: {listed(minimal.nodes, _FEW, _MORE)}" if minimal.nodes else ""
        lines += [
            f"{fewer or 'The model as it is also passes these samples'}, but values are lost inside:",
            *_lost("overflows or becomes NaN", [each for each in answer.inside if each.lost]),
            *_lost("is flushed to zero in a part that counts", [each for each in answer.inside if not each.lost]),
            "  Layers that these feed may be dead: with other inputs the output can show it.",
            _repair("minimal", minimal, answer),
            _repair("safe", safe, answer, ", in fixed/"),
        ]
    return [*lines, *unseen]


def _lost(what: str, tensors: Sequence[TensorLoss]) -> list[str]:
    return [f"  {len(tensors)} x {what}: {listed([_place(each) for each in tensors], _FEW, _MORE)}"] if tensors else []


def _place(loss: TensorLoss) -> str:
    """Name a lost tensor, and in a body the node that makes it, as the names of its tensors may say nothing."""
    return f"{loss.tensor} (made by {loss.node} in {' in '.join(loss.bodies_of)})" if loss.bodies_of else loss.tensor


def _repair(kind: str, repair: RepairSummary, answer: PrecisionAnswer, place: str = "") -> str:
    error = f", error {scores_text(repair.scores)}" if repair.scores else ""
    verdict = "" if repair.verdict == "good" else f", {repair.verdict}"
    kept = f"{len(repair.nodes)} of {answer.search.items} nodes in FP32"
    return f"The {kind} repair: {kept}{error}{verdict}{place}."


def _judged(answer: PrecisionAnswer) -> list[str]:
    lines = []
    for name, rule in answer.judged.items():
        rules = (rule, *rule.also)
        lines.append(f"Judged on {answer.samples_are}: {name} by {' and '.join(map(_rule, rules))}.")
        below = [each for each in rules if each.below_floor]
        if any(each.default for each in below):
            costs = ", ".join(f"{each.metric} {_number(each.rounding_floor)}" for each in below)
            lines += lines_about("rounding beyond the cap", narrow=answer.precision.upper(), name=name, costs=costs)
        elif below:
            lines += lines_about("rounding beyond the tolerance", narrow=answer.precision, name=name)
    for name, count in answer.masked.items():
        lines.append(f"Left out: {count} values of {name} that are not finite in the FP32 model itself.")
    lines += [_top_rows(name, rows) for name, rows in answer.top_rows.items()]
    near = [probe.folder for probe in answer.probes if probe.near]
    if near:
        lines.append(f"Near the tolerance, so rounding noise may have decided: {', '.join(near[:_SHOWN])}")
    return lines


def _beside(answer: PrecisionAnswer) -> list[str]:
    """Return how the answer does on held-out samples and by other roundings, and the errors to expect on a GPU."""
    holding = answer.holding
    if holding is None:
        return []
    lines = [] if holding.held_out else ["Held out: nothing, of fewer than 4 samples."]
    held = counted(holding.held_out, "held-out sample")
    for where, seen in (("By two other roundings", holding.other_roundings), (f"On {held}", holding.on_held_out)):
        if seen is not None:
            lines.append(f"{where}, which the search did not see, the answer {seen}.")
    ends = {name: each for name, each in holding.expected.items() if each and max(each) > _NEGLIGIBLE}
    if ends and not holding.why:
        known = listed([f"{name} {first:.3g} to {last:.3g}" for name, (first, last) in ends.items()], _FEW, _MORE)
        lines.append(f"On a GPU expect {known}, by all these roundings and samples; its kernels may double the error.")
    if holding.lost:
        lines.append(f"Lost inside fixed/ on held-out samples: {listed(holding.lost, _FEW, _MORE)}.")
    if holding.why:
        lines.append("To search on all samples, give --held-out 0.")
    return lines


def _rule(rule: Tolerance) -> str:
    floor = _number(rule.rounding_floor)
    if not rule.default:
        origin = f"given; rounding floor {floor}"
    elif rule.below_floor:
        origin = f"default: the cap, below the rounding floor {floor}"
    else:
        origin = f"default: from the rounding floor {floor}, at most {_number(rule.cap)}"
    return f"{rule.metric}, tolerance {_number(rule.tolerance)} ({origin})"


def _number(value: float | None) -> str:
    return "not finite" if value is None else format(value, ".4g")


def _top_rows(name: str, rows: TopRows) -> str:
    if not rows.decided:
        return f"In no row of {name} does the largest value lead by enough to tell whether it stays there."
    undecided = rows.rows - rows.decided
    more = f"; {undecided} more lead by too little to tell" if undecided else ""
    counts = f"{rows.agree} of {rows.decided} decided rows of {name}"
    return f"The largest value of a row stays where it is in {counts}{more}."


def _constants(answer: PrecisionAnswer) -> list[str]:
    clamped = [f"  {each.name}: {each.clamped} of {each.values} values" for each in answer.constants if each.clamped]
    title = f"Constants beyond {answer.precision}, clamped in model.onnx where nodes in 16 bits read them:"
    folds = "  So the twin is of model.onnx; a build by flags may fold them into others in FP32, before it rounds."
    return [title, *head_lines(clamped, _SHOWN), folds] if clamped else []


def _evidence(answer: PrecisionAnswer, *, wants_builds: bool) -> list[str]:
    lines = [f"{answer.oracle_probes} mixtures judged on the CPU, {answer.builds} real builds."]
    proving = [probe for probe in answer.probes if probe.evidence and probe.built is not None]
    lines += [f"  {probe.folder}: {probe.purpose}: {probe.verdict} ({probe.reason})" for probe in proving]
    if wants_builds and answer.builder is None:
        lines.append("No TensorRT is installed here, so nothing was built.")
    unresolved = [probe.folder for probe in answer.probes if probe.verdict == Verdict.UNRESOLVED.value]
    if unresolved:
        lines.append(f"Unresolved: {', '.join(unresolved[:_SHOWN])}")
    kinds = (f"{kind} {'yes' if given else 'no'}" for kind, given in answer.evidence.items())
    lines.append(f"Evidence: {', '.join(kinds)}.")
    if answer.evidence["emulated"]:
        emulated = _EMULATED[answer.accumulate]
        lines.append(f"Emulated: {emulated}. No engine was run, and fused kernels may differ.")
    return lines
