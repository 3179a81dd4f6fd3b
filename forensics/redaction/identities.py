r"""Finds where programs print who somebody is and which machine it is: users, hosts, serial numbers, accounts, ids.

What stands at such a place is replaced as a whole, with its digits and with words that stay elsewhere: a person may be
called ``max`` or ``u482913``. The places are those of shells, SSH, mails, home folders, ``nvidia-smi -q``, and of
fields in environments, JSON, YAML, TOML and XML.
"""

import re
from collections.abc import Iterator

_HINTS = (
    *("@", "~", "home/", "home\\", "user", "serial", "hostname", "host name", "host_name", "host-name", "host:"),
    *("host=", 'host"', "host'", "host :", "host =", "host\\", "login", "logname", "owner", "author", "board"),
    *("asset", "guid", "account", "tenant", "subscription", "project", "customer", "employee", "client", "machine"),
    *("boot", "token", "otp", "pin:", "pin=", 'pin"', "imei", "chassis", "sn:", "sn=", "sn ", "s/n", 'sn"', "phone"),
    *("badge", "org", "ssh", "nodename", "node_name", "node name", "node-name", "computer", "instance", "passcode"),
)
"""One of these stands, in small letters, in every line with such a place."""

_BETWEEN = r"""\\?["']?[ \t]{0,60}(?:[:=]{1,2}|>)[ \t]{0,60}\\?["']?"""
"""What stands between a field's key and its value."""
_VALUE = r"""[^\s"'<>,;|()\[\]{}\\]{1,200}"""
_NUMBERED = (
    r"serial(?:[ _-]?(?:number|num|no|nr)\.?)?|s/?n|board[ _-]?id|asset[ _-]?(?:tag|id)|\w{0,9}guid|imei"
    r"|(?:account|tenant|subscription|project|customer|employee|client|machine|boot|badge|chassis|org(?:anization)?)"
    r"[ _-]?(?:id|number|num|no|serial)|(?:phone|pin|otp|passcode)(?:[ _-]?(?:code|number))?"
)
_NAMED = (
    r"user(?:[ _-]?name|[ _-]?id)?|login(?:[ _-]?name)?|logname|owner|author|host(?:[ _-]?name)?|node[ _-]?name"
    r"|computer[ _-]?name|instance[ _-]?id"
)
_PLACES = re.compile(
    rf"""(?ix)
    (?<![a-z0-9])(?:
        (?:{_NUMBERED}){_BETWEEN}(?=[^\s,;]{{0,99}}?\d)({_VALUE})
      | (?:token|account){_BETWEEN}(?=[a-z_-]{{0,9}}\d{{6}})({_VALUE})
      | (?:{_NAMED}){_BETWEEN}(?=[^\W\d])({_VALUE})
      | (?:user|login|for|-l)[ ]{{1,4}}(?=[a-z._-]{{1,40}}\d)([\w.-]+)
      | hostname[ ]to[ ]<([^<>\s]+)
      | (?:home|users)(?:/|\\{{1,2}})([^\s/\\"'<>:,;|()\[\]{{}}]+)
    )
    | (?<![\w/])~(?=[^\W\d])([\w.-]+)(?=[/:\s])
    | (?<![\w.+-])(?=[\w.+-]{{0,63}}[^\W\d])([\w.+-]{{1,64}})
      @(?:(?=\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![.\w]))|(?!sha\d|v?\d|0x)([\w-]+(?:\.[\w-]+)*))
    """
)


def identities(text: str) -> Iterator[tuple[int, int]]:
    """Yield where in a text somebody or a machine is named: first and last character, in order."""
    small = text.lower()
    hints = [hint for hint in _HINTS if hint in small]
    start = 0
    for line, lower in zip(text.split("\n"), small.split("\n"), strict=True) if hints else ():
        for match in _PLACES.finditer(line) if any(hint in lower for hint in hints) else ():
            spans = (match.span(group) for group in range(1, _PLACES.groups + 1))
            yield from ((start + first, start + end) for first, end in spans if first >= 0)
        start += len(line) + 1
