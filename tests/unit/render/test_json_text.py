"""The table of documents: every row leads to a form, and every record is written somewhere."""

from __future__ import annotations

import re

from tests.support.repository import ROOT
from trtforensics.render import json_text

SOURCES = "\n".join(path.read_text() for path in sorted((ROOT / "forensics").rglob("*.py")))


def test_every_form_of_a_row_is_a_record_or_a_form_that_a_module_declares() -> None:
    declared = set(re.findall(r'^    "(\w+)":', SOURCES, re.MULTILINE)) | set(re.findall(r'\{"(\w+)": ', SOURCES))
    forms = {form.rstrip("*?") for members in json_text._MEMBERS.values() for _, _, form in members}
    assert forms - json_text._MEMBERS.keys() - json_text.FORMS.keys() <= declared


def test_every_record_is_a_document_or_part_of_one() -> None:
    parts = {form.rstrip("*?") for members in json_text._MEMBERS.values() for _, _, form in members}
    assert {record for record in json_text._MEMBERS if record not in parts and f'"{record}"' not in SOURCES} == set()


def test_what_is_not_known_is_null_and_lists_keep_their_order() -> None:
    class Layer:
        name, mode, dtype, dims = "x", "", "Half", (1, "N")

    assert json_text.document_of("io", Layer()) == {"name": "x", "mode": None, "dtype": "Half", "dims": [1, "N"]}
