"""Error against what stays FP32, where rounding alone costs more than the cap and no few nodes stand out.

The nodes are cut into groups of about equal work, in the model's order. Each group alone in 16 bits shows its cost. The
groups then become FP32 one after the other, the highest cost for its work first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

import onnx

from trtforensics.bisection.precision.emulation.judging import METRICS, OutputJudge, Scores, scores_text
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.repair.smallest import Nodes
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.console.counting import listed
from trtforensics.onnx_models.shapes import Sizes, sizes_by_tensor

GROUPS = 12
"""Two probes for each, and one for none."""
_FLAT = 0.1
"""A knee lies below the straight line from the first to the last point by more than this share."""
_MOST = 0.9
"""Where more of the work stays FP32, little is gained: the knee is chosen instead."""
_PRODUCT_OPERANDS = 2


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """Nodes that become FP32 together, their share of the work, and the scores with only them in 16 bits."""

    nodes: tuple[str, ...]
    share: float
    alone: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The scores with the first ``groups`` in FP32, and the share of the work that is FP32 then."""

    groups: int
    share: float
    scores: Mapping[str, float | None]
    passes: bool


@dataclass(frozen=True, slots=True)
class RoundingCurve:
    """The groups in the order in which they become FP32, and the points from none to all of them.

    ``knee`` is the number of the point where more FP32 begins to bring little, None on a straight line. ``chosen`` is
    the point of ``fixed/``: the first that passes with up to 90 % of the work in FP32, else the knee, else the first.
    """

    groups: tuple[CurveGroup, ...]
    points: tuple[CurvePoint, ...]
    knee: int | None
    chosen: int

    @property
    def kept(self) -> Nodes:
        """The nodes in FP32 at the chosen point."""
        return frozenset(node for group in self.groups[: self.chosen] for node in group.nodes)

    def lines(self, samples_are: str) -> list[str]:
        """Return the error at each point of the curve, and the group of nodes that becomes FP32 there."""
        probes = len(self.groups) + len(self.points)
        lines = [f"Error on {samples_are} against the share of the work that stays FP32 ({probes} probes):"]
        for point in self.points:
            group = self.groups[point.groups - 1].nodes if point.groups else ()
            added = f", with {listed(group, 2, 'more in result.json')}" if group else ""
            marks = (" passes" if point.passes else "") + (" (the knee)" if point.groups == self.knee else "")
            lines.append(f"  {point.share:6.1%}  {scores_text(point.scores)}{marks}{added}")
        chosen = self.points[self.chosen]
        which = "the first that passes" if chosen.passes else "which does not pass"
        return [*lines, *lines_about("chosen point", share=chosen.share, which=which)]


def rounding_curve(  # noqa: PLR0913 - the last two are options
    oracle: Oracle,
    judge: OutputJudge,
    atoms: Mapping[str, Nodes],
    base: Nodes,
    *,
    score: Callable[[Nodes], Scores] | None = None,
    most: int = GROUPS,
) -> RoundingCurve:
    """Return the curve over nodes not in ``base``, in ``most`` groups; ``score`` is of what stays FP32."""
    caster = oracle.caster
    score = score or (lambda kept: oracle.score_mixture(caster.kept(kept)))
    sizes, nodes = sizes_by_tensor(caster.prepared.proto), frozenset(atoms)
    work = {name: _work(caster.survey.nodes[name], sizes) for name in atoms}
    total = sum(work.values()) or 1.0
    groups = []
    for members in _groups(list(dict.fromkeys(atom for atom in atoms.values() if not atom <= base)), work, most):
        scores = score(nodes - members)
        share = sum(work[name] for name in members) / total
        group = CurveGroup(tuple(name for name in atoms if name in members), share, judge.judge(scores).scores)
        groups.append((excess(judge, scores) / max(share, 1.0 / total), group))
    ordered = [group for _, group in sorted(groups, key=lambda each: -each[0])]
    kept, points, errors = base, [], []
    share = sum(work[name] for name in base) / total
    for count in range(len(ordered) + 1):
        scores = score(kept)
        judgement = judge.judge(scores)
        points.append(CurvePoint(count, share, judgement.scores, judgement.passes))
        errors.append(excess(judge, scores))
        if count < len(ordered):
            kept, share = kept.union(ordered[count].nodes), share + ordered[count].share
    knee = _knee([point.share for point in points], errors)
    passing = (point.groups for point in points if point.passes and (point.share <= _MOST or not point.groups))
    return RoundingCurve(tuple(ordered), tuple(points), knee, next(passing, knee or 0))


def excess(judge: OutputJudge, scores: Scores) -> float:
    """Return the worst error of all outputs as a multiple of its tolerance; infinite where it is not finite."""
    worst = 0.0
    for name, tolerances in judge.tolerances.items():
        for each in tolerances:
            metric = METRICS[each.metric]
            score, limit = scores.worst(name, metric), metric.error_of(each.tolerance)
            worst = max(worst, inf if score is None else metric.error_of(score) / (limit or 1.0))
    return worst


def _groups(atoms: Sequence[Nodes], work: Mapping[str, float], most: int) -> list[Nodes]:
    """Cut atoms into groups of about equal work, each of one at least."""
    left = sum(work[name] for atom in atoms for name in atom)
    groups: list[Nodes] = []
    held, weight = frozenset[str](), 0.0
    for place, atom in enumerate(atoms):
        held, weight = held | atom, weight + sum(work[name] for name in atom)
        free = most - len(groups)
        if len(atoms) - place <= free or (free > 1 and weight >= left / free):
            groups.append(held)
            held, weight, left = frozenset(), 0.0, left - weight
    return [*groups, held] if held else groups


def _knee(shares: Sequence[float], errors: Sequence[float]) -> int | None:
    """Return the point farthest below the line from the first to the last, both axes from 0 to 1."""
    finite = max((error for error in errors if error < inf), default=0.0)
    drops = [min(error, 2.0 * finite) for error in errors]
    height, width = drops[0] - drops[-1], shares[-1] - shares[0]
    if height <= 0.0 or width <= 0.0:
        return None
    points = zip(shares, drops, strict=True)
    below = [1.0 - (share - shares[0]) / width - (error - drops[-1]) / height for share, error in points]
    best = max(range(len(below)), key=below.__getitem__)
    return best if below[best] > _FLAT else None


def _work(node: onnx.NodeProto, sizes: Mapping[str, Sizes]) -> float:
    """Return the floating-point operations of a product, else the values that a node writes; unknown sizes are 1."""
    written = [prod(size or 1 for size in sizes.get(name, ())) for name in node.output]
    terms = 1
    if len(node.input) >= _PRODUCT_OPERANDS:
        left, right = (sizes.get(name, ()) for name in node.input[:2])
        if node.op_type in {"Conv", "ConvTranspose"}:
            terms = 2 * prod(size or 1 for size in right[1:])
        elif node.op_type in {"Gemm", "MatMul"} and left:
            terms = 2 * (left[-1] or 1)
    return float(terms * max(written, default=1))
