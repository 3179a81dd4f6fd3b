"""Models whose constants do not fit into one message: the same results as those that do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster, save
from trtforensics.bisection.precision.casting.storage import BF16, FP16, Storage
from trtforensics.bisection.precision.emulation.converted import raised_for
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.nodes import PrecisionLever
from trtforensics.errors import OutputError, SourceError
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import session_of
from trtforensics.onnx_models.streaming import apart, key_of, references_as_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[], Caster]

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

SAMPLE = {"x": np.random.default_rng(2).standard_normal((2, 16)).astype(np.float32)}


@pytest.fixture(params=[FP16, BF16], ids=["fp16", "bf16"])
def both(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Caster, Caster]:
    """Return casters of one model: read whole, and streamed because the limits are small."""
    storage: Storage = request.param
    net = Net(seed=3)
    hidden = net.linear("/in", "x", 16, 16)
    large = net.node("Mul", "/up", [hidden, net.tensor("factor", np.full(16, 1e5))])
    model = net.model(net.linear("/out", large, 16, 16), {"x": (2, 16)}, (2, 16))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="model.data", size_threshold=0)
    whole = Caster(prepare(str(path)), storage)
    package = "trtforensics.onnx_models"
    monkeypatch.setattr(f"{package}.reading._LARGEST", 1000)
    monkeypatch.setattr(f"{package}.streaming.LEAST", 200)
    streamed = Caster(prepare(str(path)), storage)
    assert set(streamed.prepared.streamed) == {"/in.w", "/out.w"}
    assert not whole.prepared.streamed
    return whole, streamed


def test_the_message_has_no_large_values(both: tuple[Caster, Caster]) -> None:
    whole, streamed = both
    for keep in ((), streamed.candidates):
        model = streamed.cast(keep)
        assert all(key_of(each) or len(each.raw_data) < 200 for each in model.graph.initializer)
        assert model.ByteSize() < whole.cast(keep).ByteSize()


def test_16_bit_copies_are_mapped_from_a_file(both: tuple[Caster, Caster], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trtforensics.bisection.precision.casting.storage._PART", 100)
    whole, streamed = both
    copies = streamed.constants.streamed
    assert len(copies) == 2
    for name, copy in copies.items():
        assert isinstance(copy, np.memmap)
        assert copy.tobytes() == next(each.raw_data for each in whole.constants.narrow.values() if each.name == name)


def test_a_full_disk_is_said(both: tuple[Caster, Caster], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", partial(Path("/dev/full").open, "w+b"))
    with pytest.raises(OutputError, match="no space left on device"):
        _ = both[1].constants


def test_scores_and_floors_are_the_same(both: tuple[Caster, Caster]) -> None:
    whole, streamed = (Oracle(caster, [SAMPLE]) for caster in both)
    for keep in ((), ("/in/MatMul",), tuple(both[0].candidates)):
        assert streamed.score_mixture(keep) == whole.score_mixture(keep)
    (score,), (floor,) = (each.floor.outputs["y"] for each in (streamed, whole))
    assert score == pytest.approx(floor)
    assert both[1].constants.altered == both[0].constants.altered


def test_a_saved_model_has_the_same_values(both: tuple[Caster, Caster], tmp_path: Path) -> None:
    saved = []
    for number, caster in enumerate(both):
        folder = tmp_path / str(number)
        folder.mkdir()
        save(caster, caster.cast(()), folder / "typed.onnx")
        saved.append(onnx.load(folder / "typed.onnx"))
        onnx.checker.check_model(str(folder / "typed.onnx"), full_check=True)
    values = [{each.name: numpy_helper.to_array(each) for each in model.graph.initializer} for model in saved]
    assert values[0].keys() == values[1].keys()
    assert all((values[0][name] == values[1][name]).all() for name in values[0])


def test_other_values_are_another_job(both: tuple[Caster, Caster], tmp_path: Path) -> None:
    before = PrecisionLever(both[1], Oracle(both[1], [SAMPLE]), {}, None, tmp_path).content()
    data = tmp_path / "model.data"
    data.write_bytes(data.read_bytes()[:-1] + b"\x01")
    again = Caster(prepare(str(tmp_path / "model.onnx")), both[1].storage)
    assert PrecisionLever(again, Oracle(again, [SAMPLE]), {}, None, tmp_path).content() != before


def test_what_cannot_be_streamed_is_refused(
    both: tuple[Caster, Caster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert both
    monkeypatch.setattr("trtforensics.onnx_models.streaming.LEAST", 10_000)
    with pytest.raises(SourceError, match="of constants that are small, sub-byte or in bodies"):
        prepare(str(tmp_path / "model.onnx"))


def test_a_data_file_that_is_too_short_is_said(both: tuple[Caster, Caster], tmp_path: Path) -> None:
    assert both
    data = tmp_path / "model.data"
    data.write_bytes(data.read_bytes()[:-100])
    with pytest.raises(SourceError, match="external data cannot be read"):
        prepare(str(tmp_path / "model.onnx"))


@pytest.mark.parametrize("limit", [500, 10**9])
def test_no_conversion_where_weights_are_streamed(limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net(seed=3, opset=11)
    model = net.model(net.linear("/in", "x", 16, 16), {"x": (2, 16)}, (2, 16))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    monkeypatch.setattr("trtforensics.onnx_models.reading._LARGEST", limit)
    monkeypatch.setattr("trtforensics.onnx_models.streaming.LEAST", 200)
    prepared = prepare(str(tmp_path / "m.onnx"))
    if not prepared.streamed:
        assert raised_for(prepared, "bf16") is not prepared
        return
    with pytest.raises(SourceError, match="does not convert models of more than 2 GB"):
        raised_for(prepared, "bf16")


def test_streamed_constants_become_inputs_with_their_sizes(both: tuple[Caster, Caster]) -> None:
    whole, streamed = (caster.prepared.proto for caster in both)
    inputs = {each.name: each.type.tensor_type for each in references_as_inputs(streamed).graph.input}
    assert set(inputs) == {"x", "/in.w", "/out.w"}
    assert [each.dim_value for each in inputs["/in.w"].shape.dim] == [16, 16]
    assert references_as_inputs(whole) is whole


@pytest.mark.parametrize("kind", [onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16])
def test_large_constants_are_no_part_of_the_message_that_a_session_reads(kind: int, tmp_path: Path) -> None:
    values = np.arange(1024 * 600).reshape(1024, 600) % 7
    weights = numpy_helper.from_array(values.astype(onnx.helper.tensor_dtype_to_np_dtype(kind)), "w")
    nodes = [
        onnx.helper.make_node("Cast", ["w"], ["wide"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("MatMul", ["x", "wide"], ["y"]),
    ]
    x, y = (onnx.helper.make_tensor_value_info(name, 1, [1, size]) for name, size in (("x", 1024), ("y", 600)))
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], [weights])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9, producer_name="its exporter"
    )
    light, large = apart(model)
    assert list(large) == ["w"]
    assert light.producer_name == "its exporter"
    assert len(light.SerializeToString()) < 1000
    onnx.save(model, tmp_path / "model.onnx")
    read = prepare(str(tmp_path / "model.onnx")).proto
    assert [value.name for value in read.graph.input] == ["x"]
    assert list(read.graph.initializer) == list(model.graph.initializer)
    feed = {"x": np.ones((1, 1024), np.float32)}
    session = session_of(model, {})
    assert list(session.weights) == ["w"]
    assert session.run(feed)["y"].reshape(-1).tolist() == values.sum(axis=0).tolist()


def test_a_constant_of_too_few_bytes_stays_for_those_who_check_it() -> None:
    short = onnx.TensorProto(name="w", data_type=1, dims=[1024, 1024], raw_data=bytes(1 << 20))
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [short]))
    assert apart(model) == (model, {})


def test_large_constants_are_references_until_a_model_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net(seed=3)
    path, written = tmp_path / "model.onnx", tmp_path / "written.onnx"
    onnx.save(net.model(net.linear("/in", "x", 16, 16), {"x": (2, 16)}, (2, 16)), path)
    whole = Caster(prepare(str(path)), FP16)
    monkeypatch.setattr("trtforensics.onnx_models.streaming.LEAST", 200)
    light = Caster(prepare(str(path)), FP16)
    assert set(light.streamed) == {"/in.w", "/in.w__fp16"}
    for keep in ((), light.candidates):
        model, wanted = light.cast(keep), session_of(whole.cast(keep), {}).run(SAMPLE)
        assert model.ByteSize() < whole.cast(keep).ByteSize() - 200
        assert np.array_equal(session_of(model, light.streamed).run(SAMPLE)["y"], wanted["y"])
        save(light, model, written)
        assert onnx.load(written, load_external_data=False) == whole.cast(keep)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.onnx", "written.onnx"]
