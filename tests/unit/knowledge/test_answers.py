"""A few facts of each table, and what is said where nothing is known."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.knowledge.operators import (
    import_of,
    operator_support,
    releases_that_differ,
    remedy_of,
    restrictions_of,
)
from trtforensics.knowledge.periods import beyond, spans
from trtforensics.knowledge.platforms import releases_for, sm_of, stack_of, supported
from trtforensics.knowledge.table import NEWEST, rows
from trtforensics.knowledge.terms import error_code


@for_each(
    ("operator", "first"),
    [
        ("Attention", (10, 14)),
        ("Conv", None),
        ("DeformConv", (10, 1)),
        ("Einsum", (8, 2)),
        ("NonMaxSuppression", (8, 0)),
        ("NonZero", (8, 5)),
        ("STFT", (10, 5)),
        ("Swish", (11, 0)),
        ("Unique", None),
    ],
)
def test_first_release_of_an_operator(operator: str, first: tuple[int, int] | None) -> None:
    assert operator in {row["operator"] for row in rows("operators")}
    period = import_of(operator)
    assert (period.first if period and period.words else None) == first


@for_each(
    ("operator", "version", "imported"),
    [
        ("NonZero", (8, 4, 3), False),
        ("NonZero", (8, 5, 1, 7), True),
        ("Sin", (6, 0), None),  # the release's documents and its importers contradict each other
        ("Swish", (10, 16), False),
        ("Swish", (11, 4), True),
        ("Unique", (11, 1), False),
        ("Unique", (11, 2), None),
        ("Unheard", (10, 0), None),
    ],
)
def test_an_operator_is_imported_or_not_or_nothing_is_known(
    operator: str,
    version: tuple[int, ...],
    imported: bool | None,  # noqa: FBT001 - a row's value
) -> None:
    support = operator_support(operator, version)
    assert (support.imported if support else None) is imported


def test_restrictions_hold_for_their_releases() -> None:
    def musts(version: tuple[int, ...]) -> set[tuple[str, ...]]:
        rules = restrictions_of("TopK", version)
        return {(rule.names[0], rule.must, *rule.value.split()) for rule in rules if rule.must != "not-type"}

    assert musts((8, 5)) == {("K", "constant")}
    assert musts((8, 6)) == set()
    assert musts((10, 14)) == {("K", "below", "3840"), ("sorted", "equal", "1")}


def test_a_restriction_in_words_is_one_sentence() -> None:
    (rule,) = (rule for rule in restrictions_of("Einsum", (8, 4)) if rule.must == "plain-equation")
    assert rule.value == "an equation has at most two inputs, no ellipsis and no diagonal"


def test_experimental_operators_say_so() -> None:
    old, new = (operator_support("NonMaxSuppression", version) for version in ((8, 4), (8, 5)))
    assert old
    assert new
    assert (old.state, new.state) == ("experimental", "yes")


@for_each(
    ("sm", "version", "known"),
    [
        ((6, 1), (8, 6), True),
        ((6, 1), (9, 2), None),
        ((6, 1), (10, 0, 1), False),
        ((7, 0), (10, 4), True),
        ((7, 0), (10, 5), False),
        ((8, 6), (7, 1, 3), False),
        ((8, 6), (7, 2), True),
        ((8, 9), (8, 4), False),
        ((8, 9), (11, 1), True),
        ((8, 9), (11, 4), True),
        ((10, 3), (10, 13, 3), False),
        ((12, 0), (10, 7), False),
        ((12, 0), (10, 8), True),
    ],
)
def test_releases_of_a_compute_capability(
    sm: tuple[int, int],
    version: tuple[int, ...],
    known: bool | None,  # noqa: FBT001 - a row's value
) -> None:
    assert supported(releases_for(sm), version) is known


def test_platforms_differ() -> None:
    assert supported(releases_for((8, 7), "JetPack"), (10, 3)) is True
    assert releases_for((8, 7)) == ()


@for_each(
    ("version", "known"),
    [((10, 7, 0), True), ((10, 13, 3), False), ((10, 16, 1), True), ((11, 0), None), ((11, 4, 0), False)],
)
def test_support_that_goes_and_returns_has_a_period_each_time(
    version: tuple[int, ...],
    known: bool | None,  # noqa: FBT001 - a row's value
) -> None:
    assert supported(releases_for((8, 7), "JetPack"), version) is known
    assert supported(releases_for((8, 7), "JetPack"), (11, 4, 1)) is True


def test_the_way_to_a_period_names_the_nearest_on_both_sides() -> None:
    periods = [entry for entry in releases_for((8, 7), "JetPack") if entry.state == "yes"]
    assert spans(periods) == "from 8.4 to 10.7, in 10.16 and from 11.4.1 on"
    cause, way = beyond("It is there", periods, (11, 2, 1))
    assert cause == f"It is there {spans(periods)}, and this is TensorRT 11.2.1."
    assert way == "Go back to TensorRT 10.16, or on to TensorRT 11.4.1 or later."
    assert beyond("", periods, (10, 8))[1] == "Go back to TensorRT 10.7 or earlier, or on to TensorRT 10.16."
    assert beyond("", periods, (8, 2))[1] == "Go on to TensorRT 8.4 or later."


@for_each(
    ("name", "sm"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", (6, 1)),
        ("Tesla V100-SXM2-16GB", (7, 0)),
        ("Quadro RTX 6000", (7, 5)),
        ("NVIDIA RTX 6000 Ada Generation", (8, 9)),
        ("NVIDIA A10", (8, 6)),
        ("Orin", (8, 7)),
        ("NVIDIA H100 PCIe", (9, 0)),
        ("GeForce 9", None),
    ],
)
def test_compute_capability_of_a_device(name: str, sm: tuple[int, int] | None) -> None:
    assert sm_of(name) == sm


def test_stacks() -> None:
    (minor,), (patch,) = stack_of((10, 13, 0, 35)), stack_of((10, 13, 2))
    assert (minor.cuda, patch.cuda) == (("12.9", "11.8"), ("13.0", "12.9"))
    assert patch.driver == {"13": "580", "12": "525"}
    assert [(stack.cuda, stack.cudnn) for stack in stack_of((8, 5))] == [(("11.8", "10.2"), ("8.6", "8.4"))]
    assert [stack.opset for version in ((8, 6), (10, 1), (10, 5)) for stack in stack_of(version)] == [
        (0, 17),
        (9, 20),
        (),
    ]
    assert [stack.jetpack for stack in stack_of((8, 2), "JetPack")] == ["4.6.1", "4.6.2", "4.6.3"]
    assert stack_of((4, 0)) == ()
    (made,) = stack_of((8, 5, 3))
    assert made.words == "CUDA 11.8 with cuDNN 8.6 (driver 450 or later) or CUDA 10.2 with cuDNN 8.4"


def test_codes() -> None:
    unsupported, image = error_code("builder", 10), error_code("cuda", 209)
    assert unsupported
    assert unsupported.name == "kUNSUPPORTED_STATE"
    assert image
    assert "GPU" in image.meaning
    assert error_code("parser", 99) is None


def test_releases_that_differ_are_described_ones() -> None:
    releases = releases_that_differ((8, 5))
    assert releases[:2] == ((8, 5), (8, 6))
    assert releases == tuple(sorted({*releases}))
    assert releases[-1] <= NEWEST


@for_each(
    ("operator", "refusal", "version", "says"),
    [
        ("Resize", "only support round_prefer_floor nearest mode", None, "nearest_mode"),
        ("Resize", "Resize scales must be an initializer!", (8, 2), "constant scales"),
        ("Resize", "only supports asymmetric resize!", (7, 1), "Or use TensorRT 8.0 or later."),
        ("Resize", "only supports linear resizing on the outermost 3 dimensions", (10, 0), "last three"),
        ("Gather", "BOOL data are not supported", (8, 0), "Or use TensorRT 8.5 or later."),
        ("Einsum", "an ellipsis", (8, 6, 1), "ellipsis, diagonals"),
        ("Einsum", "a diagonal", (10, 0, 1), "Or use TensorRT 10.12 or later."),
        ("ArgMin", "invalid type of INT32", None, "TensorRT from 7.2 to 8.5: Cast"),
    ],
)
def test_a_remedy_is_of_the_operator_the_refusal_and_the_release(
    operator: str, refusal: str, version: tuple[int, ...] | None, says: str
) -> None:
    assert says in remedy_of(operator, refusal, version)


@for_each(
    ("operator", "refusal", "version"),
    [
        ("Warp", "is refused", (10, 0)),
        ("MatMul", "INT32 inputs are not supported", (10, 0)),
        ("ArgMin", "invalid type of INT32", (8, 6)),
        ("Einsum", "odd", (10, 12)),
        ("Resize", "Resize at node 7: a check fails: input Rank must be more than 0", (8, 0)),
        ("Slice", "Slice at /slice: No duplicated axes are allowed.", (10, 0)),
    ],
)
def test_where_nothing_mends_it_nothing_is_said(operator: str, refusal: str, version: tuple[int, ...]) -> None:
    assert remedy_of(operator, refusal, version) == ""


def test_a_refusal_without_a_reason_may_have_any_remedy_of_its_release() -> None:
    assert "outermost" not in (said := remedy_of("Resize", "no layer was made", (8, 0)))
    assert "coordinate" in said
