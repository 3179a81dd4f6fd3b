"""The conditions under which a set of culprits is in an engine."""

from __future__ import annotations

import pytest

from tests.emulator.engine.files import BadFile, present


def test_conditions_on_keys_nodes_and_fusions() -> None:
    document = {
        "layers": [
            {"name": "a + b", "algorithm": "x", "precision": "Half", "nodes": ["a", "b"]},
            {"name": "c", "algorithm": "y", "precision": "Float", "nodes": ["c"]},
        ],
        "keys": {"0x1": "0x2"},
    }
    for condition, holds in (
        ({"key": "0x1", "tactic": "0x2"}, True),
        ({"key": "0x1", "tactic": "0x3"}, False),
        ({"key": "0x9", "tactic": "0x2"}, False),
        ({"node": "b", "precision": "Half"}, True),
        ({"node": "c", "precision": "Half"}, False),
        ({"fused": ["a", "b"]}, True),
        ({"fused": ["a", "c"]}, False),
    ):
        assert present(document, [[condition]]) is holds
        assert present(document, [[condition], [{"fused": ["a", "b"]}]])
    with pytest.raises(BadFile, match="unknown condition"):
        present(document, [[{"what": "else"}]])
