"""The search of ``explain``."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.findings.explaining import search
from trtforensics.findings.registry import rules


@for_each(
    ("query", "code"),
    [
        ("nan layernorm", "TF202"),
        ("could not find any implementation", "TF301"),
        ("kOPT", "TF422"),
        ("out of memory", "TF314"),
        ("Version tag does not match", "TF601"),
        ("num_bindings", "TF659"),
        ("libnvinfer cannot open shared object file", "TF410"),
    ],
)
def test_the_rule_that_is_about_it_comes_first(query: str, code: str) -> None:
    hits = [hit.rule.code for hit in search(rules(), query)]
    assert code in hits[:3]


def test_a_phrase_of_a_message_is_shown() -> None:
    assert "tag does not match" in search(rules(), "tag does not match")[0].text


def test_words_begin_where_a_word_of_the_text_begins() -> None:
    assert search(rules(), "layernorm")
    assert not search(rules(), "ayernorm")


def test_where_no_rule_holds_all_words_those_with_most_are_found() -> None:
    assert search(rules(), "layernorm zzzz") == search(rules(), "layernorm")


def test_nothing_is_found_by_words_that_nobody_says() -> None:
    assert search(rules(), "zzzz yyyy") == []
    assert search(rules(), "") == []
