"""Colours of pictures."""

from __future__ import annotations

import re

from trtforensics.render import colours


def test_spellings_of_one_type_have_one_colour_and_unknown_ones_are_grey() -> None:
    assert colours.of_precision("BF16") == colours.of_precision("BFloat16")
    assert colours.of_precision("") == colours.of_precision("Q3") == colours.NEUTRAL
    assert colours.precision_word("Half") == "FP16"
    assert colours.precision_word("") == "unknown"


def test_names_have_the_same_colours_in_any_order_and_twelve_stay_apart() -> None:
    names = [f"t{n}" for n in range(12)]
    found = colours.of_names(names)
    assert found == colours.of_names(reversed(names))
    assert len(set(found.values())) == 12


def test_a_share_goes_from_pale_to_red() -> None:
    assert colours.of_share(0, 1) != colours.of_share(1, 1)
    assert colours.of_share(0.5, 0) == colours.of_share(0, 1)
    for colour in (colours.of_share(0.3, 0.5), colours.tint("#3b78b5")):
        assert re.fullmatch("#[0-9a-f]{6}", colour)
