"""Made-up secrets in the forms in which they stand in logs; none was ever valid."""

from __future__ import annotations

_LETTERS = "Zq7Wm2Xk9Vb4Tn6Rj8Lp3Hd5Fs1Gc0"


def _long(size: int) -> str:
    return (_LETTERS * 4)[:size]


SECRETS = {
    "url": ("fetching https://bob:hunter-two@models.example/net.onnx", "hunter-two"),
    "url-token": ("git clone https://t0psecretword@git.example/net", "t0psecretword"),
    "query": ("GET https://s3.example/net.onnx?X-Amz-Signature=5ba0d4e1&part=2", "5ba0d4e1"),
    "password": ("db password: correcthorse", "correcthorse"),
    "quoted": ("'passwd': 'two words'", "two words"),
    "api-key": ("apiKey=abc", "abc"),
    "aws": (f"using AKIA{'ABCDEFGH23456777'} now", "AKIAABCDEFGH23456777"),
    "aws-key": (f"AWS_SECRET_ACCESS_KEY={_long(40)}", _long(40)),
    "gcp": (f'"private_key": "-----BEGIN PRIVATE KEY-----{_long(64)}"', _long(64)),
    "google": (f"key AIza{_long(35)}", f"AIza{_long(35)}"),
    "azure": (f"AccountName=me;AccountKey={_long(64)}==;x=y", _long(64)),
    "hugging-face": (f"login with hf_{_long(34)}", _long(34)),
    "github": (f"remote: ghp_{_long(36)}", _long(36)),
    "gitlab": (f"glpat-{_long(20)}", _long(20)),
    "nvidia": (f"NGC nvapi-{_long(60)}", _long(60)),
    "openai": (f"sk-proj-{_long(40)}", _long(40)),
    "slack": (f"xoxb-{_long(24)}", _long(24)),
    "npm": (f"npm_{_long(36)}", _long(36)),
    "token": (f"session token = {_long(24)}", _long(24)),
    "environment": ("export CI_JOB_TOKEN=abcdefgh", "abcdefgh"),
    "option": ("docker login --password swordfish9", "swordfish9"),
    "netrc": ("machine h login me password swordfish9", "swordfish9"),
    "curl": ("curl -sSL -u me:swordfish9 h", "swordfish9"),
    "sshpass": ("sshpass -p swordfish9 ssh h", "swordfish9"),
    "basic": ("Authorization: Basic Ym9iOmh1bnRlcg==", "Ym9iOmh1bnRlcg"),
    "bearer": ("curl -H 'Authorization: Bearer abc.def-ghi'", "abc.def-ghi"),
    "lone-bearer": ("sent Bearer abcdefghijk", "abcdefghijk"),
    "cookie": ("Set-Cookie: sid=38afes7a8; Path=/", "38afes7a8"),
    "jwt": ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"),
    "certificate": (f"-----BEGIN CERTIFICATE-----\\n{_long(40)}\\n-----END CERTIFICATE-----", _long(40)),
    "ssh-key": (f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{_long(40)} me", _long(40)),
    "fingerprint": (f"RSA SHA256:{_long(43)}", _long(43)),
    "line-of-key": (_long(64), _long(64)),
}
"""A line with each, and what of it is secret."""
