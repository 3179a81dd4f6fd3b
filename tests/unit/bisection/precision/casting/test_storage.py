"""Values get into 16 bits as hardware puts them there; what that changes beyond rounding is counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto, numpy_helper

from trtforensics.bisection.precision.casting.storage import BF16, FP16, STORAGES, Storage, rounded, store

FLOATS = arrays(np.float32, st.integers(1, 20), elements=st.floats(width=32))


def read_back(bits: np.ndarray, storage: Storage) -> np.ndarray:
    tensor = TensorProto(data_type=storage.elem_type, dims=[bits.size], raw_data=bits.tobytes())
    return np.asarray(numpy_helper.to_array(tensor)).astype(np.float32)


@given(FLOATS)
def test_fp16_rounds_as_numpy_does(values: np.ndarray) -> None:
    within = np.where(np.abs(values) < FP16.largest, values, np.float32(0))
    assert np.array_equal(read_back(store(within, FP16)[0], FP16), within.astype(np.float16).astype(np.float32))


@given(FLOATS)
def test_bf16_rounds_to_the_nearest_even(values: np.ndarray) -> None:
    within = np.where(np.isfinite(values) & (np.abs(values) < BF16.largest), values, np.float32(0))
    stored = read_back(store(within, BF16)[0], BF16)
    normal = np.abs(within) > 2.0**-126
    assert np.array_equal(stored[normal], rounded(within, BF16)[normal])


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_finite_overflow_is_clamped_and_infinity_and_nan_stay(storage: Storage) -> None:
    values = np.array([3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 1.0, -0.0], np.float32)
    raw, *changed = store(values, storage)
    back = read_back(raw, storage)
    assert list(back[:2]) == [storage.largest, -storage.largest]
    assert list(back[2:4]) == [np.inf, -np.inf]
    assert np.isnan(back[4])
    assert changed == [2, 0]


def test_what_becomes_zero_is_counted() -> None:
    raw, *changed = store(np.array([1e-12, -1e-12, 0.0, 6e-8, 1.0], np.float32), FP16)
    assert changed == [0, 2]
    assert list(read_back(raw, FP16)[:4]) == [0.0, 0.0, 0.0, FP16.smallest]


def test_a_scalar_is_stored() -> None:
    assert read_back(store(np.asarray(1e5, np.float32), FP16)[0], FP16).tolist() == [65504.0]


def test_rounding_without_limits_keeps_large_and_small_values() -> None:
    values = np.array([1e30, 1e-30, 1 + 2.0**-11 + 2.0**-12, 0.0, -np.inf], np.float32)
    assert rounded(values, FP16).tolist() == pytest.approx(
        [1e30, 1e-30, 1 + 2.0**-10, 0.0, -np.inf], rel=FP16.half_unit
    )
    assert rounded(values, FP16)[2] == 1 + 2.0**-10
