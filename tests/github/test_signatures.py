"""Signatures of webhooks."""

from __future__ import annotations

import pytest

from bot.github.signatures import sign, signed

SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"


def test_the_vector_of_the_documentation() -> None:
    assert sign(SECRET, BODY) == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert signed(SECRET, BODY, sign(SECRET, BODY))


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        "sha1=ffff",
        sign(SECRET, BODY).upper(),
        sign("other", BODY),
        sign(SECRET, b"Hello"),
        sign(SECRET, BODY).removeprefix("sha256="),
        sign(SECRET, BODY) + "0",
        "sha256=é",
    ],
)
def test_everything_else_is_refused(signature: str | None) -> None:
    assert not signed(SECRET, BODY, signature)


def test_an_empty_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="empty secret"):
        sign("", BODY)
