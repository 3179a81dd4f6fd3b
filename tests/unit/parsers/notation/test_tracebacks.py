"""Frames above an exception say where it was raised, of what, and from which of the user's lines."""

from __future__ import annotations

from trtforensics.parsers.notation.tracebacks import raised_at

TRACEBACK = """\
Traceback (most recent call last):
  File "proj/export.py", line 12, in <module>
    main()
  File "/usr/lib/python3.10/site-packages/torch2trt/converters/norm.py", line 11, in convert
    scale = module.weight.detach() / module.running_var.detach()
            ^^^^^^^^^^^^^^^^^^^^
AttributeError: 'NoneType' object has no attribute 'detach'
  File "C:\\\\venv\\\\Lib\\\\site-packages\\\\tensorrt_llm\\\\quantize.py", line 301, in quantize
    assert mode.is_fp8() == False, \\
AssertionError
  File "run.py", line 3, in allocate
    for binding in engine:
TypeError: 'NoneType' object is not iterable
"""
TEXTS = {number: [line] for number, line in enumerate(TRACEBACK.splitlines(), 1)}


def test_the_object_whose_attribute_is_asked_for_is_named_with_its_place() -> None:
    told = raised_at(TEXTS, 7, "detach")
    assert told["subject"] == "module.weight or module.running_var"
    assert (told["site"], told["function"]) == ("torch2trt/converters/norm.py, line 11", "convert")
    assert told["caller"] == "proj/export.py, line 12"


def test_the_condition_that_is_asserted_is_named() -> None:
    assert raised_at(TEXTS, 10, None)["condition"] == "mode.is_fp8() == False"


def test_what_a_loop_goes_over_is_named() -> None:
    told = raised_at(TEXTS, 13, None)
    assert (told["subject"], told["site"], told["caller"]) == ("engine", "run.py, line 3", None)


def test_without_frames_nothing_is_said() -> None:
    assert raised_at({4: ["AssertionError"], 3: ["no frame"]}, 4, None) == {}
