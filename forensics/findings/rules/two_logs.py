"""How two builds of one model differ: versions, flags, fusions, types, tactics, arithmetic."""

from collections.abc import Iterator

from trtforensics.console.counting import counted, listed
from trtforensics.findings.arithmetic import TunedSum, sums_of
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Step
from trtforensics.findings.rule import Rule, explained
from trtforensics.findings.steps.commands import trtforensics, unused_name


def _observed(case: Case, wanted: str, noun: str, title: str) -> Iterator[Observation]:
    """Give one observation of the differences from the baseline of one type (``fusion``, ``tactic`` …)."""
    differences = [difference for difference in case.differences if difference.type == wanted]
    spans = [
        span for difference in differences for entry in (*difference.good, *difference.bad) for span in entry.spans
    ]
    if differences and spans:
        logs = case.the_baseline.log.source.path, case.log.source.path
        yield Observation(
            f"{counted(len(differences), noun)} {title}: {listed([difference.layer for difference in differences])}",
            spans,
            layers=[difference.layer for difference in differences],
            steps=(Step("See all differences, most suspicious first", trtforensics("diff", *logs)),),
        )


def _differing(code: str, *words: str) -> Rule:
    return explained(code)(lambda case: _observed(case, *words))


fusions = _differing("TF901", "fusion", "group", "of layers fused differently")
types = _differing("TF902", "precision", "layer", "in different types")
tactics = _differing("TF903", "tactic", "layer", "with another tactic")


@explained("TF904")
def versions(case: Case) -> Iterator[Observation]:
    """Report different versions, or different selected devices."""
    builds = case.the_baseline.build, case.build
    spans = [build.notes[0].span for build in builds if build.notes]
    old, new = (build.tensorrt_version for build in builds)
    if old and new and old != new and spans:
        yield Observation(f"TensorRT {old} and {new} are compared", spans, same_as="versions")
    devices = [fact for build in builds for fact in build.options.get("device", ()) if fact.name == "Selected Device"]
    names = [fact.value.strip() for fact in devices]
    if len(set(names)) > 1:
        yield Observation(f"{' and '.join(names)} are compared", [fact.span for fact in devices], same_as="gpus")


@explained("TF905")
def batch(case: Case) -> Iterator[Observation]:
    """Report an input whose first dimension is -1 in one log and a number in the other."""
    before, now = (
        {note.text("tensor"): note for note in build.notes if note.kind == "adding_input"}
        for build in (case.the_baseline.build, case.build)
    )
    for name in before.keys() & now.keys():
        sizes = [inputs[name].text("dims").strip("()").partition(",")[0] for inputs in (before, now)]
        if ("-1" in sizes) and sizes[0] != sizes[1]:
            static = next(size for size in sizes if size != "-1")
            yield Observation(
                f"Input {name} has a dynamic batch in one build and {static} in the other",
                (before[name].span, now[name].span),
                layers=(name,),
                same_as="batch",
            )


_FACTS = {"accumulator": "accumulator", "split_k": "split-K", "tensor_core": "use of tensor cores"}


@explained("TF906")
def arithmetic(case: Case) -> Iterator[Observation]:
    """Name the layers whose chosen kernels differ in one of these, each fact with its own observation."""
    before = {product.name: product for product in sums_of(case.the_baseline.build, case.the_baseline.log)}
    pairs = [(before[product.name], product) for product in case.sums if product.name in before]
    first, second = case.the_baseline.log.source.path, case.log.source.path
    command = trtforensics("pin", second, "--same-as", first, "-o", unused_name(case, "pinned.json"))
    step = Step("Pin what the first build chose", command)
    for name, word in _FACTS.items():
        differing = [pair for pair in pairs if _differs(*_values(pair, name), name)]
        if differing:
            names = list(dict.fromkeys(product.name for product, _ in differing))
            how = " ({} and {})".format(*_values(differing[0], name)) if name == "accumulator" else ""
            yield Observation(
                f"{counted(len(names), 'layer')} with another {word}: {listed(names)}{how}",
                [product.chosen.span for pair in differing for product in pair],
                layers=names,
                steps=(step,),
                same_as=f"sums {name}",
            )


def _values(pair: tuple[TunedSum, TunedSum], fact: str) -> tuple[object, object]:
    """Return what the names of both chosen kernels tell of a fact; None where one does not tell it."""
    first, other = (getattr(product.chosen.facts, fact) for product in pair)
    return first, other


def _differs(first: object, other: object, fact: str) -> bool:
    """Whether both names tell a fact, and differently; of split-K, that one tells it and the other does not."""
    if fact == "split_k":
        return bool(first) != bool(other)
    return first != other and None not in (first, other)
