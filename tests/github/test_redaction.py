"""No credential survives in a log, whatever is around it."""

from __future__ import annotations

import json
import logging
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.github.redaction import HIDDEN, RedactingFilter, Redactor
from tests.github.scripted import PEM

WORD = string.ascii_letters + string.digits
base64url = st.text(WORD + "-_", min_size=12, max_size=200)
tokens = st.one_of(
    st.tuples(st.sampled_from(["ghs_", "ghp_", "gho_", "ghu_", "ghr_"]), st.text(WORD, min_size=36, max_size=36)),
    st.tuples(
        st.just("ghs_"),
        st.text(string.digits, min_size=3, max_size=8),
        st.just("_eyJ"),
        base64url,
        st.just("."),
        base64url,
    ),
    st.tuples(st.just("github_pat_"), st.text(WORD + "_", min_size=20, max_size=90)),
    st.tuples(st.just("eyJ"), base64url, st.just(".eyJ"), base64url, st.just("."), base64url),
    st.tuples(st.just("v1."), st.text("0123456789abcdef", min_size=40, max_size=40)),
).map("".join)
around = st.text(st.characters(codec="utf-8", exclude_characters="-_." + WORD), max_size=20)


@given(around, tokens, around)
@settings(max_examples=60, deadline=None)
def test_a_token_of_any_shape_is_hidden(before: str, token: str, after: str) -> None:
    shown = Redactor()(f"{before} {token} {after}")
    assert token not in shown
    assert token[6:] not in shown
    assert HIDDEN in shown


@given(
    st.text(WORD + string.punctuation.replace("[", "").replace("]", "") + " \n\"'\\é", min_size=8, max_size=80), around
)
@settings(max_examples=150, deadline=None)
def test_a_configured_secret_is_hidden_in_every_spelling(secret: str, around: str) -> None:
    redact = Redactor([secret])
    for spelling in (secret, json.dumps(secret), repr(secret)):
        shown = redact(f"{around}\x00{spelling}\x00{around}")
        assert f"\x00{spelling}\x00" not in shown


@pytest.mark.parametrize(
    "text",
    [
        f"key: {PEM}",
        f"key: {PEM!r}",
        json.dumps({"PRIVATE_KEY": PEM}),
        PEM[:200],
        "postgresql://user:hunter2secret@host/db",
        "postgresql://user:hunter2secret@[::1]:5432/db?x=1",
        "postgres://u:p:hunter2secret@host/db",
        "Authorization: token hunter2secret",
        "{'authorization': 'Bearer hunter2secret'}",
        '"Authorization": "Basic hunter2secret=="',
        "authorization=hunter2secret",
        "Proxy-Authorization: Basic hunter2secret",
        "https://codeload.github.com/x/y/tar.gz/main?token=hunter2secret",
        "password='hunter2secret' host=x",
        "client_secret: hunter2secret",
        "sent bearer hunter2secrethunter2secret",
    ],
)
def test_known_places_of_credentials(text: str) -> None:
    shown = Redactor()(text)
    assert "hunter2" not in shown
    assert PEM.splitlines()[1] not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "text",
    [
        "review of acme/serving#7 at 0123456789abcdef0123456789abcdef01234567",
        "GET https://api.github.com/repos/acme/serving/pulls/7/files?per_page=100",
        "x-hub-signature-256 is missing or wrong",
        "seamguard:finding v1 0a1b2c",
        "postgresql://host/db",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert Redactor(["a-webhook-secret"])(text) == text


@given(st.text(max_size=3000))
@settings(max_examples=50, deadline=None)
def test_any_text_ends_soon(text: str) -> None:
    Redactor(["secret value"])(text)


@pytest.mark.parametrize(
    "text",
    [
        "://" * 5000,
        "a" * 50_000 + ":",
        "token=" * 8000,
        "-----BEGIN PRIVATE KEY-----" * 300,
        "eyJ" * 15_000,
        "eyJ." * 12_000,
        "://a:" * 10_000,
        "gh" * 20_000,
        "a.b" * 15_000,
        "authorization" * 4_000,
    ],
)
def test_hostile_text_ends_soon(text: str) -> None:
    Redactor()(text)


def test_a_filter_covers_arguments_tracebacks_and_fields() -> None:
    record = logging.makeLogRecord(
        {"msg": "sent %s to %s", "args": ("ghs_abcdefghijkl", "x"), "url": "https://u:hunter2@host", "count": 3}
    )
    try:
        raise ValueError("ghp_abcdefghijkl")
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    assert RedactingFilter(Redactor()).filter(record)
    line = logging.Formatter("%(message)s %(url)s %(count)s").format(record)
    assert "abcdefghijkl" not in line
    assert "hunter2" not in line
    assert "Traceback" in line
    wrong = logging.makeLogRecord({"msg": "%d", "args": ("ghs_abcdefghijkl",)})
    RedactingFilter(Redactor()).filter(wrong)
    assert "abcdefghijkl" not in logging.Formatter().format(wrong)
