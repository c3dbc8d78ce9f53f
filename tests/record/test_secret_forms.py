"""The forms of `secret_forms.json`: what is redacted, what is known to be missed, and what must stay readable."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from remit.record import secrets
from remit.record.secrets import without_secrets

FORMS: dict[str, Any] = json.loads((Path(__file__).parent / "secret_forms.json").read_text("utf-8"))
PASSWORDS = ("Tr0ub4dor", "w1nt3rIsC0ming")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"
CHANCE = Random(3)  # noqa: S311


def noise(length: int, letters: str = LETTERS) -> str:
    return "".join(CHANCE.choice(letters) for _ in range(length))


VENDORS = [
    *(prefix + noise(32, HEX) for prefix in ("SK", "key-", "dapi", "shpat_", "shpss_")),
    *(
        prefix + noise(40)
        for prefix in ("hf_", "lin_api_", "glsa_", "fo1_", "pscale_tkn_", "GOCSPX-", "ATATT3xFf", "EAAC")
    ),
    "NRAK-" + noise(27).upper(),
    "pul-" + noise(40, HEX),
    f"SG.{noise(22)}.{noise(43)}",
    "hvs." + noise(24),
    f"{noise(9, '0123456789')}:AA{noise(33)}",
    "sq0atp-" + noise(22),
    "LTAI" + noise(20),
    "AGE-SECRET-KEY-1" + noise(58).upper(),
    f"https://hooks.slack.com/services/T{noise(8)}/B{noise(8)}/{noise(24)}",
    f"https://discord.com/api/webhooks/{noise(18, '0123456789')}/{noise(68)}",
    f"https://x.webhook.office.com/webhookb2/{noise(32, HEX)}/IncomingWebhook/{noise(32, HEX)}",
    f"AccountName=a;AccountKey={noise(86)}==",
    f"https://a.blob.core.windows.net/c?sv=2022&sig={noise(43)}%3D",
    f"https://x.example/a?X-Amz-Signature={noise(64, HEX)}",
]


def stored(form: Any, password: str) -> str:
    return json.dumps(without_secrets("args.x", _filled(form, password)), ensure_ascii=False)


def _filled(form: Any, password: str) -> Any:
    return json.loads(json.dumps(form).replace("{PW}", password))


def test_there_are_enough_of_them():
    assert len(FORMS["redacted"]) > 500
    assert len(FORMS["plain"]) > 350


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_never_reaches_the_store(password: str):
    assert [form for form in FORMS["redacted"] if password in stored(form, password)] == []


@pytest.mark.parametrize("password", ["Sup3rS3cretPw99", "MyT0kenIsG00d", "db_P4ssword_x"])
@pytest.mark.parametrize("form", ["password={PW}", "PASSWORD: {PW}", "mysql --password={PW} -u root", "a=1&token={PW}"])
def test_a_password_that_looks_like_a_name(form: str, password: str):
    assert password not in stored(form, password)


@pytest.mark.parametrize("name", ["db_password", "oauth2_token", "s3SecretKey", "base64Password", "req.body.password"])
def test_a_name_is_no_password(name: str):
    assert stored("password={PW}", name) == f'"password={name}"'


def test_what_is_missed_is_known():
    """Whoever teaches `without_secrets` one of these moves it to `redacted`."""
    assert [form for form in FORMS["missed"] if not any(word in stored(form, word) for word in PASSWORDS)] == []
    assert len(FORMS["missed"]) < 30


def test_everyday_arguments_stay_readable():
    assert [form for form in FORMS["plain"] if without_secrets("args.x", form) != form] == []
    assert len(FORMS["mistaken"]) < 5


@pytest.mark.parametrize("text", VENDORS, ids=range(len(VENDORS)))
def test_keys_of_vendors(text: str):
    longest = max(text.replace("/", " ").replace("=", " ").replace(":", " ").split(), key=len)
    for value in (text, f"use {text} here", [text], {"x": {"y": text}}, json.dumps({"a": text})):
        assert longest not in json.dumps(without_secrets("args.x", value))


@pytest.mark.parametrize("password", PASSWORDS)
def test_the_first_look_changes_nothing(password: str, monkeypatch: pytest.MonkeyPatch):
    """Whether or not texts are looked through all at once first, the same is redacted."""
    forms = [_filled(form, password) for kind in ("redacted", "missed", "plain", "mistaken") for form in FORMS[kind]]
    monkeypatch.setattr(secrets, "_FEW", 0)
    with_it = [without_secrets("args.x", form) for form in [*forms, *VENDORS]]
    monkeypatch.setattr(secrets, "_FEW", 10**9)
    assert [without_secrets("args.x", form) for form in [*forms, *VENDORS]] == with_it


def test_a_secret_of_kubernetes():
    manifest = (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: Ym9i\n  db: VHIwdWI0\ntype: Opaque\n"
    )
    found = without_secrets("args.content", manifest)
    assert "VHIwdWI0" not in found
    assert "Ym9i" not in found
    assert "  name: db\n" in found
    assert "type: Opaque\n" in found
    other = manifest.replace("Secret", "ConfigMap")
    assert without_secrets("args.content", other) is other


def test_json_in_json_in_json():
    text = "hunter2 x"
    for _ in range(4):
        text = json.dumps({"a": ["b", {"password": text} if text == "hunter2 x" else text]})
    assert "hunter2" not in without_secrets("args.body", text)


def test_what_is_kept_says_what_it_was():
    assert without_secrets("x", "mysql --password=hunter22 -u root") == (
        "mysql --password=[secret: password option] -u root"
    )
    assert without_secrets("x", "postgres://app:hunter2@db/x") == "postgres://app:[secret: password in a url]db/x"
    assert without_secrets("x", ["mysql", "-phunter2", "shop"]) == ["mysql", "[secret: in a command]", "shop"]
