"""The answer of a reduction as text."""

from pathlib import Path
from typing import Any

import pytest

from trtforensics.reduce.report import reduction_text


def answer(left: int, nodes: int = 40, **more: Any) -> str:
    reduction: dict[str, Any] = {
        "nodes": nodes,
        "left": [{"item": f"n{number}", "op": "Add"} for number in range(left)],
        "as_they_were": [],
        "not_judged_without": [],
        "failure": {"stage": "build", "ended": "failed", "code": "TF108", "title": "No", "form": "", "lines": []},
        "otherwise": [],
        "recorded": {"whole": True, "why": ""},
    }
    document: dict[str, Any] = {"status": "certified", "why": "", "builds": 5, "reused": 0}
    document |= {name: value for name, value in more.items() if name in document}
    reduction |= {name: value for name, value in more.items() if name in reduction}
    return reduction_text({**document, "reduction": reduction}, Path("out"), ())


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (1, "Certified: the single node below fails as the original does; this was seen twice.\n"),
        (2, "Certified: the model below fails as the original does, and without either of its nodes it does not.\n"),
        (3, "Certified: the model below fails as the original does, and without any one of its nodes it does not.\n"),
    ],
)
def test_a_certificate_says_what_was_left_out(left: int, sentence: str) -> None:
    assert answer(left).startswith(sentence)


def test_nouns_go_with_their_numbers() -> None:
    text = answer(1, nodes=1, builds=1)
    assert "\n1 of 1 node left:\n" in text
    assert "\n1 probe.\n" in text
    assert "\n1 of 40 nodes left:\n" in answer(1)
    assert "\n5 probes, 2 of them by an earlier run.\n" in answer(1, reused=2)


def test_other_failures_are_counted() -> None:
    others = [{"failure": "a", "probes": 3}, {"failure": "b", "probes": 2}, {"failure": "c", "probes": 1}]
    text = answer(2, otherwise=others)
    assert "6 probes failed with another error:\n  3 times: a\n  twice: b\n  once: c\n" in text
    assert "1 probe failed with another error:\n  once: c\n" in answer(2, otherwise=others[2:])
