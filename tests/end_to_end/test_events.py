"""Each event of the table: what comes in, and what a person then sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox.github import IssueComment
from tests.end_to_end.harness import CLEAN, REFUSED, World, open_threads, ours, the_check, world


async def test_an_opened_pull_request_is_reviewed_and_its_fix_noticed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        assert (the_check(pull).status, the_check(pull).conclusion) == ("completed", "failure")
        assert len(the_check(pull).annotations) == 1
        (thread,) = pull.conversation().threads
        assert (thread.comment.path, thread.comment.line) == ("compose/one.yml", 4)
        assert "no flag" in thread.comment.body
        assert len(ours(pull)) == 1
        pull.push({"compose/one.yml": CLEAN + "# fixed\n"})
        await here.settle()
        assert the_check(pull).conclusion == "success"
        assert open_threads(pull) == []
        (thread,) = pull.conversation().threads
        assert thread.comment.minimised == "RESOLVED"
        assert "Fixed" in thread.comment.body
        assert len(ours(pull)) == 1


async def test_a_change_that_touches_nothing_costs_one_check(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "# Serving well\n"})
        await here.settle()
        assert here.calls() == ["GET /repos/acme/serving/pulls/1/files", "POST /repos/acme/serving/check-runs"]
        assert the_check(pull).conclusion == "success"
        assert ours(pull) == []
        assert pull.conversation().reviews == ()


async def test_a_change_that_reaches_no_compose_is_quiet(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"tools/build.py": "print()\n"})
        await here.settle()
        assert the_check(pull).conclusion == "success"
        assert ours(pull) == []


async def test_a_clean_change_has_the_check_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": CLEAN.replace("8192", "4096")})
        await here.settle()
        assert the_check(pull).conclusion == "success"
        assert (ours(pull), pull.conversation().threads) == ([], ())


async def test_a_draft_has_the_check_alone_until_it_is_ready(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED}, draft=True)
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert (ours(pull), pull.conversation().threads) == ([], ())
        pull.ready()
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert len(open_threads(pull)) == 1


async def test_a_change_of_the_base_is_a_new_review(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.repository.commit({"compose/one.yml": REFUSED}, branch="next")
        pull = here.repository.open_pull({"compose/two.yml": REFUSED}, base="main")
        await here.settle()
        before = len(here.hub.requests)
        pull.retitle("Another title")
        await here.settle()
        assert here.calls(before) == []
        pull.rebase_onto("next")
        await here.settle()
        assert here.calls(before) != []


@pytest.mark.parametrize("delete", [False, True])
async def test_a_pull_request_from_a_fork(tmp_path: Path, delete: bool) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED}, fork=True, quiet=delete)
        if delete:
            fork = pull.record.head_repository
            assert fork is not None
            here.hub.delete(fork)
            here.hub.events.pull(here.repository.record, pull.record, "reopened", pull.record.issue.user)
        await here.settle()
        assert the_check(pull).conclusion == "failure"
        assert len(open_threads(pull)) == 1


@pytest.mark.parametrize("whole_suite", [False, True])
@pytest.mark.parametrize("fork", [False, True])
async def test_a_check_that_is_asked_for_again(tmp_path: Path, fork: bool, whole_suite: bool) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED}, fork=fork)
        await here.settle()
        first = the_check(pull)
        (pull.rerequest_all if whole_suite else pull.rerequest)(first)
        await here.settle()
        again = the_check(pull)
        assert again.id != first.id
        assert (again.status, again.conclusion) == ("completed", "failure")
        assert len(ours(pull)) == 1
        assert len(pull.conversation().threads) == 1


async def test_the_merge_queue_is_not_kept_waiting(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": CLEAN.replace("8192", "4096")})
        await here.settle()
        sha = here.repository.add_to_merge_queue(pull)
        await here.settle()
        (run,) = [run for run in here.repository.record.runs.values() if run.suite.head_sha == sha]
        assert (run.status, run.conclusion) == ("completed", "success")


async def test_a_push_to_the_default_branch_warms_the_cache(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.repository.commit({"compose/two.yml": CLEAN + "# more\n"})
        await here.settle()
        assert here.calls() == [f"GET /repos/acme/serving/git/trees/{here.repository.tip}"]
        here.repository.open_pull({"compose/one.yml": CLEAN.replace("8192", "4096")})
        await here.settle()
        assert sum("git/trees" in call for call in here.calls()) == 1


async def test_an_installation_is_noted(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.repository("acme/other", {"a": "b"}, installed=True)
        here.hub.suspend(here.repository.installation)
        await here.settle()
        assert here.calls() == []


async def test_other_events_are_answered(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        here.hub.events.issue(
            here.repository.record, here.repository.open_issue("A question"), "opened", here.hub.user("ann")
        )
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        pull.close()
        await here.settle()
        assert here.calls() == []
        assert {delivery.status_code for delivery in here.hub.hooks.deliveries} <= {200}


def reactions(comment: IssueComment) -> list[str]:
    return [reaction.content for reaction in comment.reactions]


async def review(here: World) -> None:
    await here.settle()


async def test_recheck(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": REFUSED})
        await here.settle()
        first = the_check(pull)
        asked = pull.comment("maintainer", "/recheck")
        await here.settle()
        assert reactions(asked) == ["eyes", "+1"]
        assert the_check(pull).id != first.id
        assert len(ours(pull)) == 1
        assert len(pull.conversation().threads) == 1


async def test_help_and_explain(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": CLEAN.replace("8192", "4096")})
        await here.settle()
        asked = pull.comment("maintainer", "/help")
        why = pull.comment("contributor", "Hm.\n\n/explain compose/one.yml max_model_len")
        await here.settle()
        assert reactions(asked) == reactions(why) == ["eyes", "+1"]
        helped, explained = ours(pull)
        assert "/recheck" in helped
        assert "4096" in explained


async def test_a_hazard_is_explained_without_a_look_at_the_repository(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        asked = pull.comment("maintainer", "/explain unknown-flag")
        await here.settle()
        assert reactions(asked) == ["eyes", "+1"]
        (answer,) = ours(pull)
        assert "The pinned release has no such flag" in answer
        assert not any("/files" in call or "git/trees" in call for call in here.calls())


async def test_a_person_without_write_access_is_refused_once(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"compose/one.yml": CLEAN.replace("8192", "4096")})
        await here.settle()
        before = len(here.hub.requests)
        asked = pull.comment("passer-by", "/recheck")
        await here.settle()
        assert reactions(asked) == ["eyes", "confused"]
        (answer,) = ours(pull)
        assert "write access" in answer
        assert not any("check-runs" in call for call in here.calls(before))


async def test_a_command_that_is_none_gets_a_hint(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"})
        asked = pull.comment("maintainer", "/rechek")
        await here.settle()
        assert reactions(asked) == ["eyes", "confused"]
        assert "/recheck" in ours(pull)[0]


@pytest.mark.parametrize("body", ["> /recheck", "```\n/recheck\n```", "Nice work.", "/lgtm", "<!-- /recheck -->"])
async def test_what_is_no_command_is_left_alone(tmp_path: Path, body: str) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        asked = pull.comment("maintainer", body)
        await here.settle()
        assert (reactions(asked), ours(pull), here.calls()) == ([], [], [])


async def test_bots_and_edits_command_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        here.hub.user("other[bot]", "Bot")
        pull.comment("other[bot]", "/recheck")
        innocent = pull.comment("maintainer", "Looks fine.")
        pull.edit_comment(innocent, "/recheck")
        await here.settle()
        assert here.calls() == []


async def test_a_flood_of_commands_is_dammed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        pull = here.repository.open_pull({"README.md": "x"}, quiet=True)
        asked = [pull.comment("maintainer", "/help") for _ in range(8)]
        await here.settle()
        assert [reactions(comment)[-1] for comment in asked].count("confused") == 3


async def test_a_link_that_is_added_is_followed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        record = here.repository.record
        files = {"compose/linked.yml": "../more/real.yml", "more/real.yml": REFUSED}
        modes = {"compose/linked.yml": "120000"}
        when = here.hub.clock.now()
        record.branches["change"] = record.store.commit(files, [here.repository.tip], "Link", "ann", when, modes)
        pull = here.repository.open_pull(branch="change")
        await here.settle()
        told = "".join([the_check(pull).summary or "", the_check(pull).text or "", *ours(pull)])
        assert "Docker Compose refuses" not in told
        assert the_check(pull).conclusion == "failure"
        assert "compose/linked.yml" in told
