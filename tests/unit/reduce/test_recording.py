"""Values that ONNX Runtime records."""

from collections.abc import Callable

import numpy as np

from trtforensics.reduce.deriving import Deriver


def test_every_tensor_of_the_model_has_a_value(apart: Callable[..., Deriver]) -> None:
    deriver = apart("loop")
    assert not deriver.recording.why
    assert deriver.original.makers.keys() <= deriver.recording.values.keys()


def test_a_body_gets_the_values_of_its_first_iteration(apart: Callable[..., Deriver]) -> None:
    values = apart("loop").recording.values
    assert (int(values["count"]), bool(values["go_on"])) == (0, True)
    added = values["kept"] + values["loop_det"][:, :, None, None]
    assert np.allclose(added, values["kept_next"])


def test_both_branches_have_values(apart: Callable[..., Deriver]) -> None:
    values = apart("branch").recording.values
    assert values["then_det"].shape == values["else_sum"].shape == (1, 4)
