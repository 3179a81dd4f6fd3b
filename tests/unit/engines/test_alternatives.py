"""What else was timed for a layer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.engine_builds import FORMATS, build_of, layer, tuned
from tests.support.for_each import for_each
from tests.support.sample_session import Scribe
from trtforensics.engines.alternatives import Alternatives, compared, tuned_type
from trtforensics.model.log import CachedResult


def test_other_types_are_the_fastest_of_each_type_fastest_first() -> None:
    scribe = Scribe()
    times: dict[str, tuple[float, ...]] = {"Float": (0.1, 0.11), "Half": (0.3, 0.2), "Int8": (0.15,)}
    choices = tuned(scribe, "conv", times, "Float")
    build = build_of(scribe, choices, layer(scribe, "conv", choice=0))
    found = Alternatives(build).other_types(choices[0])
    assert [(other.type, round(other.ratio, 3), other.result) for other in found] == [
        ("Int8", 1.5, choices[2]),
        ("Half", 2.0, choices[1]),
    ]
    assert [other.text for other in found] == ["INT8 50 % slower", "FP16 100 % slower"]


def test_a_cached_results_margin_is_of_the_choice_that_was_timed_before_it() -> None:
    scribe = Scribe()
    own = tuned(scribe, "twin", {"Half": (0.1, 0.104)}, "Half")
    span = scribe.say("conv got cached result")
    cached = CachedResult("conv", "Cask", 1, 0.1, (FORMATS["Half"],), (FORMATS["Half"],), span, 0)
    earlier = CachedResult("conv", "Cask", 1, 0.1, cached.inputs, cached.outputs, replace(span, line=1), 0)
    alternatives = Alternatives(replace(build_of(scribe, own), cached=(cached, earlier)))
    assert alternatives.timed(cached) is own[0]
    assert alternatives.margin(cached) == pytest.approx(1.04)
    assert alternatives.timed(earlier) is None
    assert alternatives.margin(earlier) is None


@for_each(
    ("inputs", "outputs", "kind"),
    [
        (("Int32(1)", "Half(4,1)"), ("Float(4,1)",), "Half"),
        (("Int32(1)",), ("Half(1)",), "Int32"),
        ((), ("Half(1)",), "Half"),
        ((), (), None),
        (("no format",), (), None),
    ],
)
def test_a_result_computes_in_the_type_of_its_first_floating_input(
    inputs: tuple[str, ...], outputs: tuple[str, ...], kind: str | None
) -> None:
    scribe = Scribe()
    (choice,) = tuned(scribe, "conv", {"Half": (0.1,)}, "Half")
    assert tuned_type(replace(choice, inputs=inputs, outputs=outputs)) == kind


@for_each(
    ("ratio", "text"),
    [
        (1.614, "61 % slower"),
        (0.98, "2.0 % faster"),
        (1.0, "as fast"),
        (1.004, "0.4 % slower"),
        (21.0, "2,000 % slower"),
    ],
)
def test_ratios_are_spelled(ratio: float, text: str) -> None:
    assert compared(ratio) == text
