"""What the child process that builds an engine asks of TensorRT, and what it reports, in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from trtforensics.trt import build as building
from trtforensics.trt.build import BuildJob

if TYPE_CHECKING:
    from pathlib import Path


class _Layer:
    """A layer with two outputs. Its second output is None."""

    num_outputs = 2
    precision = None

    def __init__(self, name: str, dtype: str) -> None:
        self.name = name
        self.output = SimpleNamespace(name=f"{name}_out", dtype=f"DataType.{dtype}", is_network_output=False)
        self.types: dict[int, object] = {}

    def get_output(self, number: int) -> object:
        return None if number else self.output

    def set_output_type(self, number: int, dtype: object) -> None:
        self.types[number] = dtype


class _Config:
    """A configuration that keeps what is set; TensorRT-RTX reads back an empty route."""

    def __init__(self, route: str | None) -> None:
        self.flags: list[str] = []
        self.profiles: list[object] = []
        self.capabilities: list[object] = []
        self._route = route

    set_flag = property(lambda self: self.flags.append)
    add_optimization_profile = property(lambda self: self.profiles.append)

    def set_compute_capability(self, capability: object, index: int) -> None:
        self.capabilities.append((capability, index))

    def __setattr__(self, name: str, value: object) -> None:
        dropped = name == "build_route" and self._route is not None
        object.__setattr__(self, name, self._route if dropped else value)


class _Trt:
    """The part of TensorRT that a build uses: two layers, and a parser, a builder and a route that may refuse."""

    __version__ = "10.9.0"
    float32 = "float32"
    Logger = SimpleNamespace(VERBOSE="verbose")
    ProfilingVerbosity = SimpleNamespace(DETAILED="detailed")
    BuilderFlag = SimpleNamespace(
        __members__={name: name for name in ("FP16", "BF16", "TF32")}, OBEY_PRECISION_CONSTRAINTS="obey"
    )
    ComputeCapability = SimpleNamespace(__members__={"SM89": "8.9"})

    def __init__(
        self, *, parses: bool = True, builds: bool = True, batch: bool = True, route: str | None = None
    ) -> None:
        self.parses, self.builds, self.route = parses, builds, route
        self.layers = [_Layer("a", "FLOAT"), _Layer("b", "HALF")]
        self.outputs: list[Any] = []
        self.configs: list[_Config] = []
        self.flags: list[int] = []
        self.NetworkDefinitionCreationFlag = SimpleNamespace(
            STRONGLY_TYPED=1, **({"EXPLICIT_BATCH": 0} if batch else {})
        )
        self.Logger = lambda level: level  # type: ignore[assignment]
        self.Logger.VERBOSE = "verbose"

    def Builder(self, _: object) -> Any:  # noqa: N802 - TensorRT's name
        profile = SimpleNamespace(shapes={})
        profile.set_shape = lambda name, *sizes: profile.shapes.update({name: sizes})
        return SimpleNamespace(
            create_network=self._network,
            create_builder_config=self._config,
            create_optimization_profile=lambda: profile,
            build_serialized_network=lambda *_: _Plan(b"plan") if self.builds else None,
        )

    def OnnxParser(self, *_: object) -> Any:  # noqa: N802 - TensorRT's name
        errors = [] if self.parses else ["no such operator", "at node 3"]
        return SimpleNamespace(
            parse_from_file=lambda _: self.parses, num_errors=len(errors), get_error=errors.__getitem__
        )

    def _network(self, flags: int) -> Any:
        self.flags.append(flags)
        return SimpleNamespace(
            num_layers=len(self.layers),
            get_layer=self.layers.__getitem__,
            num_outputs=1,
            get_output=lambda index: self.layers[index - 1].output,
            mark_output=self.outputs.append,
            mark_debug=lambda tensor: tensor.name != "b_out",
        )

    def _config(self) -> _Config:
        self.configs.append(_Config(self.route))
        return self.configs[-1]


class _Plan(bytes):
    """A plan as TensorRT hands it out: bytes that know their number."""

    nbytes = 4


@pytest.fixture
def job(tmp_path: Path) -> BuildJob:
    return BuildJob("tensorrt", "m.onnx", str(tmp_path / "report.json"), engine=str(tmp_path / "m.plan"))


def _ran(trt: _Trt, job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, dict[str, Any]]:
    """Run a job as the child process does; return its status and its report."""
    monkeypatch.setattr(building, "load", lambda _: trt)
    path = tmp_path / "job.json"
    members = {name: getattr(job, name) for name in job.__dataclass_fields__}
    path.write_text(json.dumps(members))
    status = building.main([str(path)])
    return status, json.loads((tmp_path / "report.json").read_text())


def test_a_build_is_reported_with_its_layers_and_its_plan(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trt = _Trt()
    status, report = _ran(trt, job, tmp_path, monkeypatch)
    assert (status, report["version"], report["parsed"], report["built"]) == (0, "10.9.0", True, True)
    assert report["layers"] == {"a": "FLOAT", "b": "HALF"}
    assert report["engine_bytes"] == 4
    assert report["errors"] == report["lever"]["refused"] == []
    assert 0 <= report["seconds"] < 60
    assert (tmp_path / "m.plan").read_bytes() == b"plan"
    assert vars(trt.configs[-1])["profiling_verbosity"] == "detailed"
    assert (trt.configs[-1].flags, trt.configs[-1].profiles, trt.flags) == ([], [], [2])
    assert _ran(_Trt(), replace(job, engine=None), tmp_path, monkeypatch)[0] == 0


def test_what_tensorrt_refuses_is_status_3_with_its_errors(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, report = _ran(_Trt(parses=False), job, tmp_path, monkeypatch)
    assert (status, report["parsed"], report["built"]) == (3, False, False)
    assert report["errors"] == ["no such operator", "at node 3"]
    for outputs in (None, ["a_out"]):
        status, report = _ran(_Trt(builds=False), replace(job, outputs=outputs), tmp_path, monkeypatch)
        assert (status, report["parsed"], report["built"], report["engine_bytes"]) == (3, True, False, 0)
    assert not (tmp_path / "m.plan").exists()


@for_each(
    ("lever", "message"),
    [
        ({"route": "-a=1 -b=2"}, "TensorRT does not take the build route '-a=1 -b=2'\n"),
        ({"outputs": ["b_out"], "debug": True}, "TensorRT does not mark b_out as a debug tensor\n"),
    ],
)
def test_a_lever_that_cannot_be_applied_is_status_125_and_builds_nothing(
    lever: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        job = BuildJob("tensorrt", "m.onnx", str(tmp_path / "report.json"), **lever)
        status, report = _ran(_Trt(route=""), job, tmp_path, patch)
    assert (status, report["built"], report["layers"]) == (125, False, {})
    assert capsys.readouterr().err == message


def test_marked_outputs_are_those_of_the_network(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trt = _Trt()
    trt.layers[1].output.is_network_output = True
    wanted = replace(job, outputs=["a_out", "b_out", "folded"])
    status, report = _ran(trt, wanted, tmp_path, monkeypatch)
    assert (status, [tensor.name for tensor in trt.outputs]) == (0, ["a_out"])
    assert report["lever"]["details"] == {"absent": ["folded"], "outputs": ["b_out"]}


def test_a_route_that_was_changed_by_the_build_differs(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trt = _Trt()
    assert _ran(trt, replace(job, route="-a=1  -b=2"), tmp_path, monkeypatch)[1]["lever"]["differs"] == []
    builder = trt.Builder

    def changing(logger: object) -> Any:
        made = builder(logger)

        def build(_: object, config: Any) -> _Plan:
            config.build_route = "-a=2"
            return _Plan(b"plan")

        made.build_serialized_network = build
        return made

    monkeypatch.setattr(trt, "Builder", changing)
    (differs,) = _ran(trt, replace(job, route="-a=1"), tmp_path, monkeypatch)[1]["lever"]["differs"]
    assert differs == "the build route is '-a=2' instead of '-a=1'"


@for_each(
    ("options", "batch", "network", "flags"),
    [
        ({}, True, 2, []),
        ({"typed": False}, True, 1, []),
        ({"typed": False}, False, 0, []),
        ({"flags": ["TF32", "BF16"]}, True, 2, ["TF32", "BF16"]),
        ({"fp32_layers": []}, True, 1, ["FP16", "obey"]),
        ({"fp32_layers": ["b"], "precision": "BF16"}, True, 1, ["BF16", "obey"]),
    ],
)
def test_types_are_asked_for_by_the_network_and_by_flags(
    options: dict[str, Any],
    *,
    batch: bool,
    network: int,
    flags: list[str],
    tmp_path: Path,
) -> None:
    trt = _Trt(batch=batch)
    with pytest.MonkeyPatch.context() as patch:
        job = BuildJob("tensorrt", "m.onnx", str(tmp_path / "report.json"), **options)
        assert _ran(trt, job, tmp_path, patch)[0] == 0
    assert (trt.flags, trt.configs[-1].flags) == ([network], flags)
    constrained = {layer.name: (layer.precision, layer.types) for layer in trt.layers}
    kept = ("float32", {0: "float32", 1: "float32"})
    assert constrained == {"a": (None, {}), "b": kept if "b" in (options.get("fp32_layers") or ()) else (None, {})}


def test_level_shapes_and_target_reach_the_configuration(
    job: BuildJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trt = _Trt()
    wanted = replace(job, level=0, shapes={"x": [1, 3]}, compute_capability="SM89")
    assert _ran(trt, wanted, tmp_path, monkeypatch)[0] == 0
    config: Any = trt.configs[-1]
    assert (config.builder_optimization_level, config.num_compute_capabilities) == (0, 1)
    assert config.capabilities == [("8.9", 0)]
    assert [profile.shapes for profile in config.profiles] == [{"x": ([1, 3], [1, 3], [1, 3])}]
