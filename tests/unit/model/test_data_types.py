"""The accumulators that a user can ask for."""

from __future__ import annotations

from trtforensics.model.data_types import Accumulator


def test_an_accumulator_has_the_name_that_a_user_types_and_the_type_that_tensorrt_prints() -> None:
    assert {str(one): one.type for one in Accumulator} == {"fp16": "Half", "fp32": "Float"}
