"""The zoo's expected sets hold in an emulation of its own, so that the product is held against something else."""

from __future__ import annotations

from functools import partial

import pytest

from tests.support.zoo import ZooModel, models
from tests.support.zoo.emulation import digits_only, errors, safe_nodes, tolerance

ZOO = {model.name: model for model in models()}
SMALL = [name for name, model in ZOO.items() if not model.large]


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] if number % 6 else []) for number, name in enumerate(SMALL)]
)
def zoo(request: pytest.FixtureRequest) -> ZooModel:
    return ZOO[request.param]


def test_there_are_enough_models_with_names_of_their_own() -> None:
    assert len(ZOO) == len(models()) >= 25


def test_the_minimal_set_repairs_and_none_of_it_can_be_spared(zoo: ZooModel) -> None:
    model = zoo.build()
    limit = tolerance(model, zoo)
    assert errors(model, zoo, ()).exceed(limit) is bool(zoo.expected_minimal)
    assert errors(model, zoo, (), partial(digits_only, zoo.precision)).exceed(limit) is zoo.rounding
    assert not errors(model, zoo, zoo.expected_minimal).exceed(limit)
    for node in zoo.expected_minimal:
        assert errors(model, zoo, zoo.expected_minimal - {node}).exceed(limit), node


def test_the_safe_set_has_what_touches_a_lost_tensor(zoo: ZooModel) -> None:
    model = zoo.build()
    assert safe_nodes(model, zoo, zoo.expected_minimal) == zoo.expected_safe
    assert not errors(model, zoo, zoo.expected_safe).exceed(tolerance(model, zoo))
