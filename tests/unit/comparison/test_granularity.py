"""Layers that a kind of source never shows are not compared."""

from __future__ import annotations

from tests.support.build_views import build, compared, layer, rows
from trtforensics.sources.kinds import Kind


def test_what_a_replay_by_its_nature_lacks_is_not_missing() -> None:
    foreign = "{ForeignNode[a...d]}"
    reformat = f"Reformatting CopyNode for Input Tensor 0 to {foreign}"
    kernels = (layer("a_myl0_1", onnx_nodes=("a",)), layer("__myl_Add_myl0_2", onnx_nodes=("d",)))
    log = build(layer("conv", tactic=1), layer(reformat, tactic=0), *kernels)
    replay = build(layer("conv", tactic=1), layer(foreign, tactic=0), kind=Kind.REPLAY)
    found = compared([log], [replay])
    assert found.differences == ()
    assert [note.split(":")[0] for note in found.notes] == [
        "reformats are not compared",
        "ForeignNodes are not compared",
    ]
    # between two logs both are differences
    assert rows(compared([log], [build(layer("conv", tactic=1))])) == [
        ("missing", reformat),
        ("missing", "a_myl0_1"),
        ("missing", "__myl_Add_myl0_2"),
    ]


def test_layers_without_kernel_that_a_version_does_not_print_are_not_missing() -> None:
    constant = layer("gemm.bias", runner="Constant", tactic=0)
    found = compared([build(layer("a", tactic=1), constant)], [build(layer("a", tactic=1))])
    assert found.differences == ()
    assert any("run no kernel" in note for note in found.notes)
    # where both sides print such layers, one that is lacking is a difference
    noop = layer("n", runner="NoOp", tactic=0)
    assert rows(compared([build(noop, constant)], [build(noop)])) == [("missing", "gemm.bias")]
