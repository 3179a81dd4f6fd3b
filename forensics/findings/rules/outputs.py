"""Outputs: marking them changes the engine, and their values differ from the reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, grouped, listed
from trtforensics.engines.requests import allows, command_span, precision_fact
from trtforensics.findings.finding import Confidence, Observation, Severity, Step
from trtforensics.findings.layers import is_quantised
from trtforensics.findings.observations import observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import CLOSE, REDUCED, polygraphy_run, trtexec, typed_step
from trtforensics.model.deferred import regex
from trtforensics.model.log import OnnxNode, Tool
from trtforensics.model.run import ComparedOutput, RunnerComparison, RunResult, furthest
from trtforensics.render.stated_rows import STATED, figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note
    from trtforensics.model.span import SourceSpan

Range = tuple[float, float]
_EXACT = 1e-4
"""A tolerance below this is finer than FP16 can be: it has eleven bits, about three digits."""


@explained("TF214")
def mark_all(case: Case) -> Iterator[Observation]:
    """Report the command that marks all tensors, or a large number of marked outputs."""
    marks, span, nodes = case.notes("marking_output"), command_span(case.build), len(case.build.onnx_nodes)
    many = [note for note in case.notes("poly_mark") if (note.number("count") or 0) > _MANY_OUTPUTS]
    if span is not None and "--trt-outputs mark all" in (case.build.command or ""):
        title = "All tensors are marked as outputs (mark all)"
        yield Observation(title, (span, *(note.span for note in many)), steps=_fewer(case), same_as="all")
    elif many or (nodes and len(marks) > max(_MANY_OUTPUTS, nodes / 2)):
        number = int(many[0].number("count") or 0) if many else len(marks)
        yield Observation(
            f"{number} tensors are marked as outputs" + ("" if many else f", of a network of {nodes} nodes"),
            [note.span for note in many or marks],
            confidence=Confidence.LIKELY if many else Confidence.POSSIBLE,
            settle="Whether the model has that many outputs of its own",
            severity=Severity.WARNING if many else Severity.NOTE,
            steps=_fewer(case),
            same_as="all",
        )


_MANY_OUTPUTS = 10


def _fewer(case: Case) -> tuple[Step, ...]:
    """Return the step for the tool: debug tensors leave fusions alone, but only trtexec 10.12 and later has them."""
    command = trtexec(case, "--markUnfusedTensorsAsDebugTensors", without=("--markDebug",))
    fewer = Step("Mark two or three tensors where fused layers end, not all")
    return typed_step("Mark tensors without breaking fusions", command) or (fewer,)


@explained("TF216")
def differs(case: Case) -> Iterator[Observation]:
    """Name the outputs; only a warning where reduced types cannot meet the tolerances."""
    notes = case.notes("output_differs")
    if not notes:  # Polygraphy's last line, in an excerpt that has nothing else, or its figures alone
        mismatched = case.notes("outputs_mismatched")
        yield from observe(mismatched, "An output differs from the reference", same_as="mismatch")
        yield from () if mismatched else _unjudged(case)
    lost = [note for note in case.notes("poly_stats") if "avg-magnitude=nan" in note.text("text")]
    nan = {
        note.text("runner").partition("-")[0]: note for note in lost if note.text("tensor") == lost[0].text("tensor")
    }
    others = {note.text("tensor") for note in case.notes("poly_stats") if note not in lost}
    if len(nan) > 1 or ("trt" in nan and lost[0].text("tensor") in others):
        cause, fix = differs.variants["nan" if len(nan) > 1 else "lost"]
        who = f"{' and '.join(nan)} alike: TensorRT is not the cause" if len(nan) > 1 else "TensorRT alone"
        spans = [*(note.span for note in nan.values()), *(note.span for note in notes)]
        yield Observation(f"{lost[0].text('tensor')} is NaN in {who}", spans, cause=cause, fix=fix)
        return
    lost_values = _lost(case, [note.span for note in notes])
    if lost_values is not None:
        yield lost_values
        return
    fine = [note for note in notes if min(note.number("relative") or 0, note.number("absolute") or 0) < _EXACT]
    outputs = _failed(case)
    narrow = "INT8" if is_quantised(case) else "FP16" if allows(case.build, "FP16", "BF16", "INT8") else ""
    gross = any((_part(output) or 0.0) >= _GROSS and not _is_of_few(output) for output in outputs)
    narrow = "" if gross and not any(output.holds_integers for output in outputs) else narrow
    unmet = f", by a tolerance that {narrow} cannot meet" if narrow and fine else ""
    how_large = _how_large(outputs, narrow or ("TF32" if _is_float(case) else ""))
    rounded = how_large.endswith("may leave")
    names = {note.text("tensor") for note in notes} - {""}
    (cause, fix), step = _way_on(case, outputs, how_large, narrow if unmet else "")
    yield from observe(
        notes,
        f"{'{names}' if names else 'An output'} differ{'s' * (len(names) < _SEVERAL)} from the reference{unmet}"
        f"{_how_far(case, outputs)}{how_large}{_recovered(case, outputs)}",
        names="tensor",
        severity=Severity.WARNING if (narrow or rounded) and len(fine) == len(notes) else None,
        steps=() if rounded else (step,),
        cause=cause,
        fix=fix,
    )


def _is_float(case: Case) -> bool:
    """Whether a build is of FP32 alone, as its options say or what they leave out."""
    precision, command = precision_fact(case.build), case.build.command or ""
    reduced = re.search(rf"(?:{'|'.join(REDUCED)}|--best|--(?:trt-)?config\S*)\b", command)
    float_command = not reduced and re.search(r"polygraphy\S* run .*--trt\b", command) is not None
    said = precision.value.strip() == "FP32" if precision is not None else float_command
    return said and not is_quantised(case)


def _way_on(
    case: Case, outputs: Sequence[ComparedOutput], how_large: str, too_fine_for: str
) -> tuple[tuple[str, str], Step]:
    """Return what is known of outputs that differ, and what to look at next."""
    by_polygraphy = case.build.tool is Tool.POLYGRAPHY
    if outputs and all(map(_is_of_few, outputs)):
        known = "few"
    elif too_fine_for == "FP16" and not how_large:
        known = "finer"
    else:
        known = "float" if _is_float(case) and not how_large.endswith("may leave") else ""
    if is_quantised(case):
        step = Step("Compare the model before its quantisation: Q/DQ nodes fix types that no flag makes FP32")
    elif known == "finer" and by_polygraphy:
        kept = polygraphy_run(case, "--atol", "1e-2", "--rtol", "1e-2")
        step = Step("Compare with a tolerance that FP16 can keep", kept)
    elif _is_float(case):
        step = Step("Find the first tensor that differs", polygraphy_run(case, *_MARK_ALL) if by_polygraphy else "")
    else:
        float_run = polygraphy_run(case, *([] if by_polygraphy else ["--onnxrt"]), *CLOSE, reduced=False)
        step = Step("Is FP32 right?", float_run)
    return differs.variants.get(known, ("", "")), step


def _unjudged(case: Case) -> Iterator[Observation]:
    """Weigh an output whose error is printed without a verdict: only a note where rounding may have left it."""
    outputs = [each for each in _outputs(case) if each.passed is None and each.max_abs]
    gross = [each for each in outputs if (_part(each) or 0.0) >= _GROSS]
    few = "few" if outputs and all(map(_is_of_few, outputs)) else "small"
    cause, fix = differs.variants["gross" if gross else few]
    if outputs and not any(each.holds_integers for each in outputs):
        names = listed([each.name for each in gross or outputs])
        title = f"{names} {'really ' * bool(gross)}differ{'s' * (len(gross or outputs) < _SEVERAL)}"
        title += f"{_how_far(case, gross or outputs)}{_how_large(gross, '')}"
        severity = None if gross else Severity.NOTE
        notes = case.notes("poly_difference")
        yield from observe(notes, title, severity=severity, same_as="unjudged", cause=cause, fix=fix)


@explained("TF250")
def not_finite(case: Case) -> Iterator[Observation]:
    """Name each output that Polygraphy's ``--validate`` finds values in that are no numbers, with its runner."""
    if not case.notes("poly_nonfinite"):
        notes = case.notes("output_invalid")
        named = "{names}" if any(note.text("tensor") for note in notes) else "An output"
        yield from observe(notes, f"{named} holds NaN or infinity", names="tensor")
    validated = case.notes("poly_validating")
    of_outputs = grouped(
        case.notes("poly_nonfinite"), lambda note: sum(each.span.line < note.span.line for each in validated)
    )
    for number, notes in of_outputs.items():
        output = validated[number - 1] if number else None
        name, runner = (output.text("tensor"), output.text("runner").partition("-")[0]) if output else ("", "")
        kinds = {note.text("what") for note in notes}
        what = "NaN" if "NaN" in kinds else "infinity"  # Polygraphy counts NaN among what is not finite
        whose = f" of {'ONNX Runtime' if runner == 'onnxrt' else 'TensorRT'}" if runner else ""
        title = f"{f'The output {name}' if name else 'An output'}{whose} holds {what}"
        settle = "Whether ONNX Runtime gives the same for the same inputs"
        yield from observe(notes, title, settle=settle, same_as=title)


_MARK_ALL = ("--onnx-outputs", "mark", "all", "--trt-outputs", "mark", "all")
_SEVERAL = 2
_GROSS = 0.05
"""The part of the values' range from which an error is none of rounding."""
_MOST_AGREE = 1e-4
"""Few elements differ where the mean error is at most this part of the largest one."""
_ROUNDED = {"FP16": 0.01, "INT8": 0.01, "TF32": 0.001}
"""The part of it up to which the rounding of a network's sums in a type explains an error."""


def _part(output: ComparedOutput) -> float | None:
    """Return the largest error as part of the range of an output's values; None where that is not known."""
    limits = output.left_range or output.right_range
    if limits is None or output.max_abs is None or limits[1] <= limits[0]:
        return None
    return output.max_abs / (limits[1] - limits[0])


def _is_of_few(output: ComparedOutput) -> bool:
    """Whether the largest error is one of few elements: the mean error is far below it."""
    return output.mean_abs is not None and output.mean_abs <= _MOST_AGREE * (output.max_abs or 0.0)


def _lost(case: Case, spans: Sequence[SourceSpan]) -> Observation | None:
    """Return what is wrong where one runner's values end at FP16's largest number, or are all the same."""
    saturated = _odd_one_out(case, lambda limits: _HALF_MOST if max(map(abs, limits)) == _HALF_MOST else None)
    lost = saturated or _odd_one_out(case, lambda limits: limits[0] if limits[0] == limits[1] else None)
    if lost is None:
        return None
    name, value, side = lost
    how = "ends at {:g}, the largest number of FP16" if saturated else "is {:g} everywhere"
    title = f"{name} of {side.partition('-')[0]} {how.format(value)}{_how_far(case, _failed(case))}"
    cause, fix = differs.variants["clamped" if saturated else "flat"]
    return Observation(title, spans, cause=cause, fix=fix)


_HALF_MOST = 65504.0


def _comparisons(case: Case) -> Sequence[RunnerComparison]:
    run = case.log.run_of(case.build)
    return run.comparisons if run is not None else ()


def _odd_one_out(case: Case, value_of: Callable[[Range], float | None]) -> tuple[str, float, str] | None:
    """Return the first output that differs whose range has such a value with one runner only, it, and the runner."""
    for each in _comparisons(case):
        for output in each.outputs:
            ranges = ((output.left_range, each.left), (output.right_range, each.right))
            known = [(value_of(limits), side) for limits, side in ranges if limits]
            odd = [(value, side) for value, side in known if value is not None]
            if output.passed is False and len(known) == len(ranges) and len(odd) == 1:
                return output.name, *odd[0]
    return None


def _how_large(outputs: Sequence[ComparedOutput], narrow: str) -> str:
    """Weigh the errors by their outputs' ranges: rounding, or more than that; nothing in between, or of integers."""
    known = [part for each in outputs if not each.holds_integers and (part := _part(each)) is not None]
    if not known or len(known) < len(outputs):
        return ""
    part = max(known)
    if part <= _ROUNDED.get(narrow, 0.0):
        return f"; at most {100 * part:.2g}% of an output's range, as rounding in {narrow} may leave"
    if all(map(_is_of_few, outputs)):
        return f"; in few elements: the mean error is {max(each.mean_abs or 0.0 for each in outputs):.3g}"
    return f"; {part:.0%} of an output's range, more than rounding leaves" if part >= _GROSS else ""


def _recovered(case: Case, outputs: Sequence[ComparedOutput]) -> str:
    """Name the compared outputs that pass behind the last one that does not, in the order of the network."""
    for every in (each.outputs for each in _comparisons(case)):
        last = max((place for place, each in enumerate(every) if each in outputs), default=len(every))
        later = [each.name for each in every[last + 1 :] if each.passed]
        if later:
            return f"; {listed(later)} behind {'them' if len(outputs) > 1 else 'it'} pass{'es' * (len(later) == 1)}"
    return ""


def _failed(case: Case) -> list[ComparedOutput]:
    """Return the outputs of this build that differ."""
    return [output for output in _outputs(case) if output.passed is False]


def _outputs(case: Case) -> list[ComparedOutput]:
    here = range(case.build.first_line, case.build.last_line + 1)
    return [output for each in _comparisons(case) for output in each.outputs if output.span.line in here]


def _how_far(case: Case, outputs: Sequence[ComparedOutput]) -> str:
    """Say how far the worst output is off, in which range its values lie on both sides, and which hold integers."""
    words = []
    worst = furthest(outputs)
    sides = next(((each.left, each.right) for each in _comparisons(case) if worst in each.outputs), ())
    if worst is not None:
        limits = zip(sides, (worst.left_range, worst.right_range), strict=False)
        values = [
            f"{pair[0]:.6g} to {pair[1]:.6g}" + (f" ({runner})" if (runner := side.partition("-")[0]) else "")
            for side, pair in limits
            if pair
        ]
        words.append(f"; {f'{worst.name} ' if len(outputs) > 1 else ''}by up to {worst.max_abs:.5g}")
        words.append(f" where its values are {' and '.join(values)}" if values else "")
    integers = list(dict.fromkeys(output.name for output in outputs if output.holds_integers))
    others = ", which moves the rows of sorted outputs too" if worst is not None else ""
    if integers:
        words.append(f"; {listed(integers)} of integers may only be in another order{others}")
    return "".join(words)


@explained("TF217")
def broadcast(case: Case) -> Iterator[Observation]:
    """Report inputs with a static leading 1 together with operations that are broadcast along a leading 1.

    Each operand has its line: the network's input, the node that makes it, or the import of the weight. Where the
    parser's lines are missing, an operand may be a weight, which is broadcast in every network; two operands that are
    both broadcast are no weights.
    """
    if not case.build.onnx_nodes:
        yield from _both_stretched(case)
        return
    inputs = {note.text("tensor"): note for note in case.notes("adding_input")}
    static = [note for note in inputs.values() if note.text("dims").startswith("(1,")]
    nodes = {node.name: node for node in case.build.onnx_nodes}
    computed = _computed(nodes.values(), inputs)
    wide = [note for note in case.notes("broadcasting") if _stretches(note, nodes.get(note.text("layer")), computed)]
    if static and wide:
        made = {tensor: node.span for node in nodes.values() for tensor in node.outputs}
        named = {note.text("tensor"): note.span for note in case.notes("importing_initializer")}
        named |= made | {tensor: note.span for tensor, note in inputs.items()}
        operands = [tensor for note in wide for tensor in nodes[note.text("layer")].inputs]
        spans = [note.span for note in (*static, *wide)] + [named[tensor] for tensor in operands if tensor in named]
        yield Observation(
            f"A leading dimension of 1 is broadcast {counted(len(wide), 'time')}, and the batch is fixed to 1",
            list(dict.fromkeys(spans)),
            layers=list(dict.fromkeys(note.text("layer") for note in wide)),
            confidence=Confidence.POSSIBLE,
            settle="The same model built with a dynamic batch, run at batch 1",
            same_as="broadcast",
        )


def _computed(nodes: Iterable[OnnxNode], inputs: Iterable[str]) -> set[str]:
    """Return the tensors that depend on the network's inputs; all others are weights, or follow from weights."""
    computed = set(inputs)
    for node in nodes:  # the parser meets a node after those that make its inputs
        if not computed.isdisjoint(node.inputs):
            computed.update(node.outputs)
    return computed


def _both_stretched(case: Case) -> Iterator[Observation]:
    """Report operations whose operands are both broadcast, at least one of them along a leading 1."""
    both = [note for note in case.notes("broadcasting") if note.text("second")]
    notes = [note for note in both if any(_is_leading_one(note, at) for at in (0, 1))]
    yield from observe(
        notes,
        f"Both operands of {{names}} are broadcast, along a leading dimension of 1 ({counted(len(notes), 'line')})",
        names="layer",
        confidence=Confidence.POSSIBLE,
        settle="The same model built with a dynamic batch, run at batch 1",
        same_as="broadcast",
    )


def _is_leading_one(note: Note, at: int) -> bool:
    return f"dims(input{at})=[1," in note.text("text")


def _stretches(note: Note, node: OnnxNode | None, computed: set[str]) -> bool:
    """Whether a tensor that is no weight is broadcast along its leading 1; for weights that is usual."""
    at = int(note.number("count") or 0)
    known = node is not None and at < len(node.inputs) and node.inputs[at] in computed
    return known and _is_leading_one(note, at)


@explained("TF246")
def integers_compared(case: Case) -> Iterator[Observation]:
    """Report a comparison in which every output holds integers, or one value only, and the same on both sides."""
    notes, outputs = case.notes("poly_compared"), _outputs(case)
    if all(note.text("dtype").startswith(("int", "uint", "bool")) for note in notes):
        yield from observe(notes, "Only integers were compared: {names}", names="tensor", same_as="integers")
        return
    ranges = {each.left_range if each.left_range == each.right_range else None for each in outputs}
    constants = [least for least, most in filter(None, ranges) if least == most]
    if constants and len(constants) == len(ranges):
        title = f"{{names}} {'is' if len(outputs) == 1 else 'are'} {listed([f'{each:g}' for each in constants])}"
        title += " everywhere, with both runners"
        cause, fix = integers_compared.variants["constant"]
        yield from observe(notes, title, names="tensor", same_as="constant", cause=cause, fix=fix)


_MEASURE, _OURS, _REFERENCE = (regex(STATED[what]) for what in ("accuracy", "optimized", "reference"))
"""A measure of accuracy, better where it is higher, or an error rate; what names TensorRT's side, and the other."""
_KEPT, _GROWN, _SOMETHING = 0.9, 1.25, 0.01
"""Parts of the reference's measure: below it, above it of an error rate, more is lost than by rounding; a reference
that finds less than that finds nothing, so that nothing can be lost."""


@explained("TF259")
def worse_measures(case: Case) -> Iterator[Observation]:
    """Compare the measures of accuracy that a program states of an engine with those of what it was made of."""
    run = case.log.run_of(case.build)
    reference: dict[str, tuple[RunResult, str]] = {}
    for result in () if run is None else run.results:
        name, number = result.stated, result.number
        if name is None or number is None or not (measure := _MEASURE.search(name.name)):
            continue
        sides = re.sub(rf"{re.escape(measure[0])}\W+(?:of|with|for)\W+(?:the )?", "", name.name), name.group
        side = next((each for each in (name.row, *sides) if _OURS.search(each) or _REFERENCE.search(each)), "")
        of_table = f"{name.name} {name.group}" if side == name.row else ""  # with columns alike, or another model
        key = f"{measure[0].lower()} {name.unit} {of_table}".rstrip()
        before, label = reference.get(key, (result, ""))
        part = number / (before.number or 1)
        is_worse = part < _KEPT and (before.number or 0) > _SOMETHING if measure["higher"] else part > _GROWN
        if side and not _OURS.search(side):
            reference[key] = result, side
        elif side and label and is_worse:
            ours, other = (f"{figure(each.number or 0)} {name.unit}".rstrip() for each in (result, before))
            title = f"{measure[0]} is {ours} with {side}, {other} with {label}"
            yield Observation(title, (result.span, before.span), same_as=key)
