"""What programs print in words of their own, in few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.render.own_lines import own_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Told = Callable[[str], list[str]]

END = "&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx\n"
LONG = "-----\n" * 20 + END
"""Lines without words, for a text that is not read at once."""


@pytest.fixture
def told(read: Callable[[str], BuildLog]) -> Told:
    return lambda text: [*own_lines(read(f"{text}\n{LONG}"), set())]


def test_lines_are_told_in_their_order_and_word_by_word(told: Told) -> None:
    text = "Engine : pose.plan\nloaded in 1.3 s\n\n-----\n   Engine : pose.plan"
    assert told(text) == ["1: Engine : pose.plan", "2: loaded in 1.3 s", "5: Engine : pose.plan"]


def test_warnings_that_no_finding_cites_are_told_with_their_level(read: Callable[[str], BuildLog]) -> None:
    log = read(f"[W] [TRT] Something odd 1\n[I] [TRT] Something else\n[E] [TRT] Something bad\n{LONG}")
    assert own_lines(log, {3}) == ("1: [W] Something odd 1", "2: Something else")


def test_many_lines_of_one_form_are_told_by_the_first_and_the_last(told: Told) -> None:
    frames = "\n".join(f"10:00:{n:02} frame {n}: {n}.5 ms, out/{n}.png" for n in range(20))
    assert told(f"start\n{frames}\nend") == [
        "1: start",
        "2: 10:00:00 frame 0: 0.5 ms, out/0.png … 20 such, the last 21: 10:00:19 frame 19: 19.5 ms, out/19.png",
        "22: end",
    ]


def test_lines_that_differ_in_names_are_one_form_only_where_room_is_short(told: Told) -> None:
    set_up = [f"Set opt_{chr(97 + n)} to None_{n}" for n in range(10)]
    assert len(told("\n".join(set_up))) == 10
    many = [f"Set opt_{chr(97 + n)} to value-{chr(97 + n)}{chr(97 + k)}x" for n in range(25) for k in range(3)]
    assert told("\n".join(many)) == [
        "1: Set opt_a to value-aax … 75 such, the last 75: Set opt_y to value-ycx",
    ]


def test_of_very_many_forms_those_that_tell_most_and_the_last_are_shown(told: Told) -> None:
    words = ["".join(chr(97 + (n * 7 + k * k) % 26) for k in range(9)) for n in range(26)]
    prose = [f"the {word} of {other}" for word in words for other in words[:4]]
    *shown, more = told("\n".join([*prose, "Throughput: 81.2 fps", "bye"]))
    assert len(shown) == 60
    assert shown[-2:] == ["105: Throughput: 81.2 fps", "106: bye"]
    assert more == "and 46 more forms"


@pytest.mark.parametrize(
    "noise",
    [
        "Collecting numpy==1.26.4",
        "Unpacking libfoo (1.2) ...",
        "3f4ad7: Pulling fs layer",
        "a.cpp:3:4: warning: unused variable",
        "-- Looking for pthread.h",
        " 43%|####      | 43/100 [00:02<00:03, 15.1it/s]",
        '  File "run.py", line 4, in main',
        "|  No running processes found     |",
        "   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 61.0/61.0 kB 2.0 MB/s eta 0:00:00",
        "    (q_proj): Linear(in_features=25, out_features=25, bias=True)",
        "-> 1498     outs = Module(",
        "   1752             result = None",
        "=====================",
    ],
)
def test_progress_of_installs_compilers_and_downloads_is_no_news(told: Told, noise: str) -> None:
    assert told(f"{noise}\ndone") == ["2: done"]


def test_an_installed_package_of_tensorrt_is_news(told: Told) -> None:
    assert told("Setting up libnvinfer8 (8.2.4-1+cuda11.4) ...") != []
    assert told("Collecting tensorrt==10.3") != []


def test_verbose_messages_are_left_out(told: Told) -> None:
    assert told("[V] Plugin of ours is there\n[I] Plugin of ours runs") == ["2: Plugin of ours runs"]


def test_secrets_and_the_middle_of_long_lines_are_not_shown(told: Told) -> None:
    (shown,) = told("token=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH " + "long " * 100)
    assert "abcdefghijklm" not in shown
    assert len(shown) < 170


def test_what_is_read_at_once_or_cited_is_not_told_again(read: Callable[[str], BuildLog]) -> None:
    assert own_lines(read(f"Engine : pose.plan\nloaded\n{END}"), set()) == ()
    assert own_lines(read(f"Engine : pose.plan\nloaded\n{LONG}"), {2}) == ("1: Engine : pose.plan",)
