"""What a job keeps of a comment: commands, and of a log nothing but what it says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bootlog import BootLog
from bot.commands import Explain, Help, Mistake, Recheck, Verify
from bot.jobs.asking import Asked, as_json, asked_in, from_json
from tests.bootlog.test_reading import LOGS, LOWERED, NAMES, text

COMMANDS = "/recheck\n/explain a.yml:b max_num_seqs\n/help\n/verify c.yml\n/rechek\n"
EVERYTHING = f"{COMMANDS}```\n{text('0.25.1-mtp')}{LOWERED}```"


def stored(body: str) -> str:
    return json.dumps(as_json(asked_in(body)), ensure_ascii=False)


def test_what_is_asked_comes_back_from_where_it_was_stored() -> None:
    asked = asked_in(EVERYTHING)
    assert from_json(json.loads(stored(EVERYTHING))) == asked
    *requests, mistake = asked
    assert [item.request for item in requests if isinstance(item, Asked)] == [
        Recheck(),
        Explain("a.yml", "b", "max_num_seqs"),
        Help(),
        Verify("c.yml"),
    ]
    assert isinstance(mistake, Mistake)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_is_read_at_once(name: str) -> None:
    (asked,) = asked_in(f"/verify\n```\n{text(name)}\n```")
    assert isinstance(asked, Asked)
    (log,) = asked.logs
    assert log.said["release"].value == name.partition("-")[0]


def test_one_block_is_read_once_for_all_that_ask_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(block: str) -> tuple[BootLog, ...]:
        read.append(block)
        return ()

    monkeypatch.setattr("bot.jobs.asking.read", reading)
    asked_in("/verify a.yml\n/verify b.yml\n```\nx\n```")
    assert read == ["x\n"]


def test_a_secret_in_a_log_is_not_kept() -> None:
    kept = stored(EVERYTHING)
    assert "cudagraph_mode_effective" in kept
    assert "sk-not-a-real-key" not in kept
    assert "FlashInferBackend" not in kept


SECRET = "correct horse battery"
PLACES = (
    "'api_key': '{}'",
    "'model': '{}'",
    "'hf_token': '{}', 'max_num_seqs': '{}'",
    "'port': '{}', 'served_model_name': ['{}']",
    "'model': 'https://user:correct.horse@host/m'",
)


@pytest.mark.parametrize("place", PLACES)
def test_nor_is_one_in_the_place_of_a_value(place: str) -> None:
    secret = SECRET.split()[0] + "." + SECRET.split()[1] if "user:" in place else SECRET
    line = f"INFO 12-01 00:29:25 [api_utils.py:273] non-default args: {{{place.format(SECRET, SECRET)}}}"
    assert secret not in stored(f"/verify\n```\n{line}\n```")


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 6_200), st.text(alphabet="ab =,'\"([{}])<>:\n", max_size=4))
def test_a_prompt_anywhere_in_a_log_is_not_kept(name: str, at: int, around: str) -> None:
    log = (LOGS / f"{name}.log").read_text(encoding="utf-8")
    assert SECRET not in stored(f"/verify\n```\n{log[:at]}{around}{SECRET}{around}{log[at:]}\n```")


@settings(deadline=None)
@given(st.text() | st.text(alphabet="(){}[]'\",=\\<>|%:\r\n INFO[core.py:1]`~/verify"))
def test_anything_may_be_asked(body: str) -> None:
    asked = asked_in(f"/verify\n```\n{body}")
    assert from_json(json.loads(json.dumps(as_json(asked)))) == asked
    asked_in(body)
