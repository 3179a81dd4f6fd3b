"""A detailed engine-layer line: its tactic is looked for apart from its other fields, and found where they have it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.model.timings import NO_TACTIC
from trtforensics.parsers.builds.engine import _detailed
from trtforensics.parsers.notation.tensors import details

PIECES = [
    "TacticValue: 0x12",
    "TacticValue:0x",
    "TacticValue: 0x",
    "TacticName: k",
    "Metadata: m",
    "Foo: {a",
    "b}",
    "[7",
    "x",
]


@examples(300)
@given(
    st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["x", "x, TacticValue: 0xab", "TacticValue: 0x1"])
)
def test_a_tactic_is_read_where_the_fields_of_a_layer_have_it(pieces: list[str], tensor: str) -> None:
    sides = f"[ {{ Name: {tensor}, Dimensions: [1], Format/Datatype: Half }}], Outputs: []"
    text = ", ".join([sides, *pieces])
    read, (tactic, printed) = details(text), _detailed(text)
    if read is None or printed is None:
        assert (read, tactic, printed) == (None, NO_TACTIC, None)
        return
    value = read.fields.pop("TacticValue", "")
    assert tactic == (int(value, 16) if value in {"0x12", "0xab", "0x1"} else NO_TACTIC)
    assert printed.tactic_name == read.fields.pop("TacticName", "")
    read.fields.pop("Metadata", None)
    assert (printed.fields, printed.inputs, printed.outputs) == (read.fields, read.inputs, read.outputs)
