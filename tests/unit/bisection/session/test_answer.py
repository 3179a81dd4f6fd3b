"""The answer of a bisection as text."""

from pathlib import Path

from tests.support.answers import search_answer
from tests.support.for_each import for_each
from trtforensics.bisection.session.lever import DescribedItem


def answer(sets: list[int], items: int = 8, builds: int = 5, *, remedy: bool = False) -> str:
    names = iter(range(items))
    culprits = tuple(tuple(DescribedItem(f"item{next(names)}") for _ in range(members)) for members in sets)
    given = search_answer(remedy=remedy, culprits=culprits, items=items, builds=builds, minimal=(True,) * len(sets))
    return given.text(Path("out"), ())


@for_each(
    ("sets", "remedy", "sentence"),
    [
        ([1], False, "Certified: the set below is bad alone, and everything else together is good.\n"),
        ([1, 2], False, "Certified: each set below is bad alone, and everything else together is good.\n"),
        ([1], True, "Certified: with this one from good the build is good, and without it the build is bad.\n"),
        ([2], True, "Certified: with these from good the build is good, and without any one of them it is bad.\n"),
    ],
)
def test_a_certificate_speaks_of_as_many_as_there_are(sets: list[int], remedy: bool, sentence: str) -> None:  # noqa: FBT001 - a case
    assert answer(sets, remedy=remedy).startswith(sentence)


def test_a_list_of_a_side_is_written_as_its_words() -> None:
    side = {"tactic": "0x1", "inputs": ["Half", "Float"]}
    given = search_answer(culprits=((DescribedItem("item0", sides={"good": side}),),))
    assert "    good: tactic 0x1, inputs Half Float\n" in given.text(Path("out"), ())


def test_nouns_go_with_their_numbers() -> None:
    single = answer([1], items=1, builds=1)
    assert "Culprit set 1 (1 of 1 item):" in single
    assert "1 build, over 1 item;" in single
    assert "5 builds, over 8 items;" in answer([1])
