"""Nothing that other programs print of people and machines survives redaction; what a diagnosis needs does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.other_programs import PROGRAMS, Secrets
from tests.support.property_settings import examples
from trtforensics.console.secrets import masked
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import vocabulary

DIGITS, HEX = "0123456789", "0123456789abcdef"
WORDS = st.text("qwfjkv", min_size=5, max_size=9)
"""Letters that no word of TensorRT's and no made-up word combines so."""
ACCOUNTS = st.builds("u{}".format, st.text(DIGITS, min_size=3, max_size=9)) | st.builds(
    "{}.{}{}".format, WORDS, WORDS, st.integers(100, 999)
)
SCRIPTS = st.sampled_from(
    ["斑", "斑马", "ゼブラ", "얼룩말", "ज़ेबरा", "зебра", "zébréß", "Ζέβρα", "ม้าลาย", "זברה", "q\u0301"]
)
NAMES = WORDS | SCRIPTS | SCRIPTS.map(lambda name: unicodedata.normalize("NFD", name))


def _digits(size: int) -> st.SearchStrategy[str]:
    return st.integers(10 ** (size - 1), 10**size - 1).filter(lambda n: n % 65536).map(str)


@st.composite
def _uuids(draw: st.DrawFn) -> str:
    digits = draw(st.text(HEX, min_size=32, max_size=32).filter(lambda text: len(set(text)) > 4))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@st.composite
def _macs(draw: st.DrawFn) -> str:
    digits = "5e" + draw(st.text(HEX, min_size=10, max_size=10))
    form = draw(st.sampled_from([(2, ":"), (2, "-"), (4, ".")]))
    return form[1].join(digits[at : at + form[0]] for at in range(0, 12, form[0]))


ADDRESSES = st.tuples(st.integers(11, 223), *[st.integers(10, 255)] * 3).map(lambda octets: ".".join(map(str, octets)))
HOSTS = st.builds("{}-{}.{}".format, WORDS, st.integers(100, 999), WORDS) | st.builds(
    "{}-{}.{}.internal".format,
    st.sampled_from(["ip", "ec2", "gpu"]),
    ADDRESSES.map(lambda a: a.replace(".", "-")),
    WORDS,
)
SECRETS = st.builds(
    Secrets,
    user=WORDS | ACCOUNTS | SCRIPTS,
    host=HOSTS,
    name=NAMES,
    serial=_digits(13),
    uuid=_uuids(),
    mac=_macs(),
    address=ADDRESSES,
    address6=st.builds("2001:db8:{:x}::{:x}".format, st.integers(4096, 65535), st.integers(4096, 65535)),
    account=_digits(12),
    token=_digits(24)
    | st.text("qwfjkv0123456789", min_size=20, max_size=30).filter(lambda t: t.isalnum() and not t.isdigit()),
)
JANE = Secrets(
    *("u482913", "ip-10-0-3-7.ec2.internal", "斑", "1322621031234", "0f9c1d2e-1111-2222-3333-444455556666"),
    *("aa-bb-cc-dd-ee-ff", "10.0.3.7", "2001:db8:85a3::8a2e", "123456789012", "847392017463920174639201"),
)


def _redacted(text: str) -> str:
    names = Pseudonyms(vocabulary())
    names.learn(text)
    return names.rewrite(masked(text))


@pytest.mark.parametrize("program", PROGRAMS)
@examples(25)
@given(secrets=SECRETS)
@example(secrets=JANE)
def test_no_secret_survives(program: str, secrets: Secrets) -> None:
    text = PROGRAMS[program][0](secrets)
    written = _redacted(text)
    dashed = secrets.address.replace(".", "-")
    bare = secrets.uuid.replace("-", "")
    left = [value for value in (*secrets, secrets.host.split(".")[0], dashed, bare[:12]) if value in written]
    assert left == [], [line for line in written.split("\n") if any(value in line for value in left)]


@pytest.mark.parametrize("program", PROGRAMS)
@examples(10)
@given(secrets=SECRETS)
@example(secrets=JANE)
def test_what_a_diagnosis_needs_survives(program: str, secrets: Secrets) -> None:
    print_, needed = PROGRAMS[program]
    written = _redacted(print_(secrets))
    assert [words for words in needed if words not in written] == []
    assert written.count("\n") == print_(secrets).count("\n")
