"""Build routes and the knobs that TensorRT lists."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.levers.route import Knob, read_knobs, read_route
from trtforensics.errors import SourceError, UsageError
from trtforensics.trt.build_levers import RouteSetting

KNOBS = {"copy_ppg": Knob("copy_ppg", ("on", "off"), "on"), "tile": Knob("tile", (), "2")}


@pytest.mark.parametrize(
    "option",
    [
        {"option": "-copy_ppg", "allowed_values": "-copy_ppg=[on|off]", "default_value": "on", "help": ""},
        {"option": "-copy_ppg", "allowed_values": ["on", "off"], "default": "on"},
    ],
    ids=["bindings", "trtexec"],
)
def test_both_spellings_of_a_knob_are_read(option: dict[str, object]) -> None:
    assert read_knobs(json.dumps({"tuner_options": [option]})) == {"copy_ppg": KNOBS["copy_ppg"]}


@for_each("text", ["", "[]", "{}", '{"tuner_options": [{}]}', '{"tuner_options": 3}'])
def test_another_document_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="is not JSON as TensorRT"):
        read_knobs(text)


def test_a_route_is_read() -> None:
    assert read_route("-copy_ppg=off  -tile=7", KNOBS) == {"copy_ppg": "off", "tile": "7"}


@pytest.mark.parametrize(
    ("text", "said"),
    [("copy_ppg=off", "is no -name=value"), ("-other=on", "has no knob other"), ("-copy_ppg=1", "has no value 1")],
)
def test_a_route_that_cannot_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_route(text, KNOBS)


class _Config:
    """A builder's configuration that keeps only the first knob of a route."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._route = ""

    @property
    def build_route(self) -> str:
        return " ".join(self._route.split()[: self._most])

    @build_route.setter
    def build_route(self, route: str) -> None:
        self._route = route


@pytest.mark.parametrize(("most", "refused"), [(2, 0), (1, 1)])
def test_a_route_that_is_not_read_back_is_refused(most: int, refused: int) -> None:
    setting, config = RouteSetting("-copy_ppg=off  -tile=7"), cast("Any", _Config(most))
    setting.attach(cast("Any", None), config)
    assert len(setting.result.refused) == refused
    setting.look(config)
    assert len(setting.result.differs) == refused
