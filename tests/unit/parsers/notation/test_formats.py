"""Formats are read as printed, symbols replaced by what they stand for."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.parsers.notation.formats import Format, format_texts, parse_formats


@for_each(
    ("text", "expected"),
    [
        ("Float(784,28,1)", (Format("Float", (784, 28, 1)),)),
        ("Half(100352,50176:2,224,1)", (Format("Half", (100352, 50176, 224, 1), 1, 2),)),
        ("Int8(784,1:4,28,1), Int32(1)", (Format("Int8", (784, 1, 28, 1), 1, 4), Format("Int32", (1,)))),
        ("Int32()", (Format("Int32", ()),)),
        ("Float(-1,1)", (Format("Float", (-1, 1)),)),
        ("Float((* 192 time_axis),1)", (Format("Float", ("(* 192 time_axis)", 1)),)),
        (
            "Float((# 1 (SHAPE tensor-0)):32,1)",
            (Format("Float", ("(# 1 (SHAPE tensor-0))", 1), 0, 32),),
        ),
        ("Int8(1792,28:4,1) long-strided", (Format("Int8", (1792, 28, 1), 1, 4, long_strided=True),)),
        ("BF16(1)", (Format("BF16", (1,)),)),
        ("", ()),
    ],
)
def test_a_list_of_formats_is_types_and_strides(text: str, expected: tuple[Format, ...]) -> None:
    assert parse_formats(text) == expected


@for_each("text", ["Float(", "Float(1,)", "(1)", "Float(1) -> Half(1)", "float(1)", "Float(1),Half(1)"])
def test_what_is_no_list_of_formats_is_refused(text: str) -> None:
    assert parse_formats(text) is None


@for_each(
    "text",
    [
        "Float(784,28,1)",
        "Half(100352,50176:2,224,1)",
        "Int32()",
        "Int8(1792,28:4,1) long-strided",
        "Float((# 1 (SHAPE t)):32,1)",
    ],
)
def test_a_format_prints_as_tensorrt_printed_it(text: str) -> None:
    assert [f.text for f in parse_formats(text) or ()] == [text]


def test_a_symbol_stands_for_its_definition_on_its_own_side() -> None:
    assert format_texts("Float(E0,1), Half(E1,1) where E0=(* 64 seq), E1=(+ E0 1)") == (
        "Float((* 64 seq),1)",
        "Half((+ (* 64 seq) 1),1)",
    )


def test_a_symbol_stands_for_its_definition_on_the_other_side() -> None:
    assert format_texts("Float(E0,1)", "Half(E0,1) where E0=(* 64 seq)") == ("Float((* 64 seq),1)",)


def test_a_symbol_that_nothing_defines_stays() -> None:
    assert format_texts("Float(E0,1)", "Half(1)") == ("Float(E0,1)",)


def test_texts_are_one_a_format_and_an_unreadable_list_stays_one_text() -> None:
    assert format_texts("Float(1), Half(2,1)") == ("Float(1)", "Half(2,1)")
    assert format_texts("Float(1), ???") == ("Float(1), ???",)
    assert format_texts(None) == format_texts("") == ()
