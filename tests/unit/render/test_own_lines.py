"""What programs print in words of their own, in few lines."""

import pytest

from trtforensics.model.log import Message
from trtforensics.model.span import SourceSpan
from trtforensics.render.own_lines import own_lines


def _told(text: str, level: str = "") -> list[str]:
    lines = enumerate(text.splitlines(), 1)
    return own_lines(Message(level, line, SourceSpan("run.log", number, 0)) for number, line in lines)


def test_lines_are_told_in_their_order_and_word_by_word() -> None:
    text = "Engine : pose.plan\nloaded in 1.3 s\n\n-----\n   Engine : pose.plan"
    assert _told(text) == ["1: Engine : pose.plan", "2: loaded in 1.3 s", "5: Engine : pose.plan"]


def test_many_lines_of_one_form_are_told_by_the_first_and_the_last() -> None:
    frames = "\n".join(f"10:00:{n:02} frame {n}: {n}.5 ms, out/{n}.png" for n in range(20))
    assert _told(f"start\n{frames}\nend") == [
        "1: start",
        "2: 10:00:00 frame 0: 0.5 ms, out/0.png … 20 such, the last 21: 10:00:19 frame 19: 19.5 ms, out/19.png",
        "22: end",
    ]


def test_lines_that_differ_in_names_are_one_form_only_where_room_is_short() -> None:
    set_up = [f"Set opt_{chr(97 + n)} to None_{n}" for n in range(10)]
    assert len(_told("\n".join(set_up))) == 10
    many = [f"Set opt_{chr(97 + n)} to value-{chr(97 + n)}{chr(97 + k)}x" for n in range(25) for k in range(3)]
    assert _told("\n".join(many)) == [
        "1: Set opt_a to value-aax … 75 such, the last 75: Set opt_y to value-ycx",
    ]


def test_of_very_many_forms_those_that_tell_most_and_the_last_are_shown() -> None:
    words = ["".join(chr(97 + (n * 7 + k * k) % 26) for k in range(9)) for n in range(26)]
    prose = [f"the {word} of {other}" for word in words for other in words[:4]]
    told = _told("\n".join([*prose, "Throughput: 81.2 fps", "bye"]))
    assert len(told) == 41
    assert told[-2] == "106: bye"
    assert "105: Throughput: 81.2 fps" in told
    assert told[-1] == "and 66 more forms"


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
        "=====================",
    ],
)
def test_progress_of_installs_compilers_and_downloads_is_no_news(noise: str) -> None:
    assert _told(f"{noise}\ndone") == ["2: done"]


def test_an_installed_package_of_tensorrt_is_news() -> None:
    assert _told("Setting up libnvinfer8 (8.2.4-1+cuda11.4) ...") != []
    assert _told("Collecting tensorrt==10.3") != []


def test_verbose_messages_are_left_out() -> None:
    assert _told("Registered plugin", "V") == []
    assert _told("Registered plugin", "I") == ["1: Registered plugin"]


def test_secrets_and_the_middle_of_long_lines_are_not_shown() -> None:
    (told,) = _told("token=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH " + "long " * 100)
    assert "abcdefghijklm" not in told
    assert len(told) < 170
