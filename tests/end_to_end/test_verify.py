"""`/verify` in a comment: a log goes in with a signed webhook, and what a person then sees."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bot.sandbox.github import IssueComment
from bot.web.manifest import read_manifest
from tests.bootlog.test_reading import LOWERED, text
from tests.bootlog.test_verify import CACHED, COMPOSE
from tests.end_to_end.harness import CLEAN, World, ours, world

FILES = {"compose/next.yml": COMPOSE, "compose/one.yml": CLEAN, "README.md": "# Serving\n"}
TWIN = COMPOSE.replace("  vllm:", "  twin:")
SECRET = "sk-not-a-real-key"
LOG = text("0.25.1-mtp") + LOWERED
VERDICT = "The log contradicts what the files say:"


def pasted(log: str = LOG, command: str = "/verify", *, folded: bool = False) -> str:
    block = f"```\n{log}\n```"
    return f"{command}\n\n" + (f"<details><summary>log</summary>\n\n{block}\n\n</details>" if folded else block)


def reactions(comment: IssueComment) -> list[str]:
    return [reaction.content for reaction in comment.reactions]


def below(here: World, number: int) -> list[str]:
    """The App's comments below an issue."""
    return [one.body for one in here.repository.record.issues[number].comments if one.user.kind == "Bot"]


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("fork", [False, True])
async def test_a_log_is_held_against_the_head_of_a_pull_request(tmp_path: Path, fork: bool, folded: bool) -> None:
    async with world(tmp_path, FILES) as here:
        # The head alone has the variable with which the log is explained.
        here.repository.commit({"compose/next.yml": COMPOSE.replace("$${PREFIX_CACHE_ARG:-}", "")}, quiet=True)
        pull = here.repository.open_pull({"compose/next.yml": COMPOSE}, fork=fork, quiet=True)
        asked = pull.comment("contributor", pasted(folded=folded))
        await here.settle()
        assert reactions(asked) == ["eyes", "+1"]
        (answer,) = ours(pull)
        assert f"/blob/{pull.head}/compose/next.yml#L3" in answer
        assert VERDICT in answer
        assert f"It fits with `{CACHED}` set on the host." in answer
        assert "CUDA graph mode PIECEWISE (line 21: the worker lowered the configured mode)" in answer


async def test_a_log_below_an_issue_is_held_against_the_default_branch(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        issue = here.repository.open_issue("It is slow", author="passer-by")
        asked = here.repository.comment_on_issue(issue.number, "passer-by", pasted())
        await here.settle()
        assert reactions(asked) == ["eyes", "+1"]
        (answer,) = below(here, issue.number)
        assert VERDICT in answer
        assert f"/blob/{here.repository.tip}/compose/next.yml#L3" in answer
        assert not any("/pulls/" in call for call in here.calls())


async def test_other_commands_below_an_issue(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        number = here.repository.open_issue("A question").number
        asked = [
            here.repository.comment_on_issue(number, "maintainer", body)
            for body in ("/help", "/recheck", "/explain compose/one.yml max_model_len", "Thanks!", "> /help")
        ]
        await here.settle()
        assert [reactions(one)[-1:] for one in asked] == [["+1"], ["confused"], ["+1"], [], []]
        helped, rechecked, explained = below(here, number)
        assert "/verify" in helped
        assert "`/recheck` is for pull requests, and this is an issue." in rechecked
        assert "8192" in explained
        assert not any("check-runs" in call for call in here.calls())


async def test_an_empty_repository_has_nothing_to_verify(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        empty = here.hub.repository("acme/empty", {}, installed=True)
        issue = empty.open_issue("It is slow")
        asked = empty.comment_on_issue(issue.number, "maintainer", pasted())
        await here.settle()
        assert reactions(asked)[-1] == "confused"


async def test_who_may_not_verify_is_refused_once(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        pull = here.repository.open_pull({"README.md": "x"}, author="contributor", quiet=True)
        asked = pull.comment("passer-by", pasted())
        number = here.repository.open_issue("A question", author="contributor").number
        other = here.repository.comment_on_issue(number, "passer-by", pasted())
        await here.settle()
        assert reactions(asked) == reactions(other) == ["eyes", "confused"]
        assert [("write access" in answer) for answer in (*ours(pull), *below(here, number))] == [True, True]
        assert not any("git/trees" in call for call in here.calls())


async def test_a_redelivery_answers_nothing_twice(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        number = here.repository.open_issue("It is slow").number
        here.hub.hooks.deliveries.clear()
        here.repository.comment_on_issue(number, "maintainer", pasted())
        await here.settle()
        (guid,) = {
            delivery.guid
            for delivery in here.hub.hooks.deliveries
            if delivery.payload["action"] == "created" and delivery.payload["sender"]["type"] == "User"
        }
        here.hub.redeliver(guid)
        await here.settle()
        assert len(below(here, number)) == 1


async def test_issues_have_to_be_granted_for_commands_to_be_heard(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        installation = here.repository.installation
        less = {name: level for name, level in installation.permissions.items() if name != "issues"}
        here.hub.set_permissions(installation, less)
        await here.settle()
        before = len(here.hub.hooks.deliveries)
        here.repository.comment_on_issue(here.repository.open_issue("It is slow").number, "maintainer", pasted())
        await here.settle()
        assert len(here.hub.hooks.deliveries) == before
        assert read_manifest().missing_permissions(less) == ["issues: write"]


async def test_an_edited_comment_is_left_alone(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        asked = pull.comment("maintainer", "It is slow.")
        pull.edit_comment(asked, pasted())
        await here.settle()
        assert (reactions(asked), ours(pull), here.calls()) == ([], [], [])


async def test_a_log_that_fills_the_comment(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        noise = "INFO 12-01 00:29:30 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s @everyone\n"
        log = LOG + noise * ((60_000 - len(LOG)) // len(noise))
        asked = pull.comment("maintainer", pasted(log))
        await here.settle()
        assert reactions(asked) == ["eyes", "+1"]
        (answer,) = ours(pull)
        assert VERDICT in answer
        assert len(answer) < 4_000
        assert "@everyone" not in answer


async def test_a_log_without_a_block_is_asked_for(tmp_path: Path) -> None:
    async with world(tmp_path, FILES) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        asked = pull.comment("maintainer", f"/verify\n\n{LOG}")
        other = pull.comment("maintainer", pasted("It does not start.\n"))
        await here.settle()
        assert reactions(asked) == reactions(other) == ["eyes", "confused"]
        how, which = ours(pull)
        assert "three backquotes" in how
        assert "no line of a vLLM engine" in which
        assert not any("git/trees" in call for call in here.calls())


async def test_two_that_fit_are_named(tmp_path: Path) -> None:
    async with world(tmp_path, {**FILES, "compose/twin.yml": TWIN}) as here:
        number = here.repository.open_issue("It is slow").number
        asked = here.repository.comment_on_issue(number, "maintainer", pasted())
        await here.settle()
        again = here.repository.comment_on_issue(number, "maintainer", pasted(command="/verify compose/twin.yml:twin"))
        await here.settle()
        assert (reactions(asked)[-1], reactions(again)[-1]) == ("confused", "+1")
        question, answer = below(here, number)
        assert "`/verify compose/next.yml:vllm`" in question
        assert "`/verify compose/twin.yml:twin`" in question
        assert VERDICT in answer


async def test_nothing_of_a_log_is_kept_or_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="seamguard")
    hidden = [SECRET, "hf_another_secret", "Tell me about my diagnosis"]
    log = LOG + f"ERROR 12-01 00:31:00 [core.py:99] {hidden[1]}\nINFO 12-01 00:32:00 [logger.py:40] {hidden[2]}\n"
    async with world(tmp_path, FILES) as here:
        number = here.repository.open_issue("It is slow").number
        for body in (pasted(log), f"/verify\n{log}", pasted(hidden[1]), pasted(log, command="/verify nowhere.yml")):
            here.repository.comment_on_issue(number, "maintainer", body)
        await here.settle()
        told = "".join(below(here, number))
        assert len(below(here, number)) == 4
    stored = sqlite3.connect(tmp_path / "store.sqlite")
    kept = "\n".join(stored.iterdump())
    stored.close()
    assert "seamguard:answer" in told
    assert "cudagraph_mode_effective" in kept
    for secret in hidden:
        assert secret not in told
        assert secret not in kept
        assert secret not in caplog.text
