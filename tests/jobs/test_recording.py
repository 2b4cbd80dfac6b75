"""What is recorded of an upstream, what it costs, and what follows from it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.github.errors import RateLimited
from bot.references import UPSTREAM
from tests.jobs.upstream import Here, upstream

N = 48375


def fix(here: Here, number: int = N, title: str = "Honour the flag") -> str:
    pull = here.upstream.open_pull({f"vllm/{number}.py": "fixed\n"}, branch=f"fix-{number}", title=title, number=number)
    return pull.merge(squash=True)


async def test_from_open_to_pinned(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.upstream.tag("v0.27.0")
        pull = here.upstream.open_pull({"vllm/manager.py": "new\n"}, title="Honour the flag", number=N)
        assert (await here.poll([N])).changed
        found = here.clock(N, "v0.27.0")
        assert (found.state, found.pins["v0.27.0"].state) == ("open", "not-pinned")
        pull.merge(squash=True)
        await here.poll([N])
        assert (here.clock(N, "v0.27.0").state, here.clock(N).first_release) == ("merged", None)
        here.upstream.tag("v0.28.0", message="The release")
        await here.poll([N])
        found = here.clock(N, "v0.27.0", "v0.28.0")
        assert (found.state, found.first_release) == ("released", "v0.28.0")
        assert [found.pins[pin].state for pin in ("v0.27.0", "v0.28.0")] == ["not-pinned", "pinned"]
        assert here.clock(N, "v0.28.0").state == "pinned"
        here.upstream.revert(here.upstream.tip, number=N + 1)
        here.upstream.tag("v0.29.0")
        await here.poll([N])
        assert here.clock(N, "v0.29.0").state == "reverted"


async def test_a_pick_to_a_release_branch_and_a_revert_there(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.upstream.branch("releases/v0.28.0")
        here.upstream.tag("v0.28.0", here.upstream.record.branches["releases/v0.28.0"])
        sha = fix(here)
        picked = here.upstream.cherry_pick(sha, "releases/v0.28.0", traced=True)
        here.upstream.tag("v0.28.1", picked)
        here.upstream.tag("v0.28.2", here.upstream.revert(picked, "releases/v0.28.0", number=N + 5))
        await here.poll([N])
        found = here.clock(N, "v0.28.0", "v0.28.1", "v0.28.2")
        assert [answer.state for answer in found.pins.values()] == ["not-pinned", "pinned", "not-pinned"]
        assert found.first_release == "v0.28.1"


async def test_a_tag_on_a_branch_that_is_gone(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.upstream.branch("hotfix")
        sha = fix(here)
        here.upstream.tag("v0.28.1", here.upstream.cherry_pick(sha, "hotfix"))
        here.upstream.tag("v0.28.1rc1", here.upstream.tip)
        del here.upstream.record.branches["hotfix"]
        await here.poll([N], ["v0.28.1rc1"])
        found = here.clock(N, "v0.28.1", "v0.28.1rc1")
        assert [answer.state for answer in found.pins.values()] == ["pinned", "pinned"]


async def test_a_nightly_is_found_by_its_commit(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        before = here.upstream.tip
        pins = (before, fix(here)[:12])
        await here.poll([N], pins)
        assert [answer.state for answer in here.clock(N, *pins).pins.values()] == ["not-pinned", "pinned"]
        unknown = "0123456789abcdef"
        assert (await here.poll([N], [unknown])).problems
        assert not (await here.poll([N], [unknown])).problems  # it is left alone for a while
        here.time[0] += 3600.0
        assert (await here.poll([N], [unknown])).problems
        assert here.clock(N, unknown).pins[unknown].state == "unknown"


async def test_what_takes_the_place_of_a_closed_one(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        pull = here.upstream.open_pull({"a.py": "1"}, title="Honour it", author="someone", number=N)
        pull.comment("stranger", "Closing in favor of #77777.")
        pull.comment("someone", "Superseded by #48400.")
        pull.close()
        here.upstream.open_pull({"b.py": "1"}, branch="b", title='Revert "Honour it"', body=f"See #{N}", number=N + 9)
        await here.poll([N])
        found = here.clock(N, "v0.28.0")
        assert (found.state, found.superseded_by) == ("superseded", f"{UPSTREAM}#48400")


async def test_an_issue_that_is_closed_is_not_fixed(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.upstream.open_issue("It breaks", number=43559)
        here.upstream.close_issue(43559)
        here.upstream.tag("v0.28.0")
        await here.poll([43559])
        found = here.clock(43559, "v0.28.0")
        assert (found.state, found.pins["v0.28.0"].state) == ("closed-unmerged", "unknown")


async def test_a_quiet_poll_is_one_request_for_each_reference_and_three_more(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        numbers = [N, N + 1, N + 2, 50000, 50001]
        for number in numbers[:3]:
            fix(here, number)
        here.upstream.open_issue("It breaks", number=50000)
        closed = here.upstream.open_pull({"x.py": "1"}, branch="x", title="No", number=50001)
        closed.close()
        for minor in (27, 28):
            here.upstream.branch(f"releases/v0.{minor}.0")
            here.upstream.tag(f"v0.{minor}.0", message="A release")
        here.upstream.tag("nightly-build")
        await here.poll(numbers, ["v0.28.0"])
        # Who has looked at it today knows that it is public.
        asked, used = here.asked(), here.hub.limits.budgets
        before = {caller: budget.used for caller, budget in used.items()}
        assert await here.poll(numbers, ["v0.28.0"]) == (await here.poll(numbers, ["v0.28.0"]))
        answers = asked()
        assert len(answers) == 2 * (len(numbers) + 3)
        assert {status for _, status in answers} == {304}
        assert {caller: budget.used for caller, budget in used.items()} == before


async def test_another_token_of_an_hour_costs_the_branches_alone(tmp_path: Path) -> None:
    """An entity tag is of one token; the date of a reference is not."""
    async with upstream(tmp_path) as here:
        numbers = [N, N + 1, N + 2]
        pulls = [
            here.upstream.open_pull({f"vllm/{n}.py": "new\n"}, branch=f"b{n}", title="Fix", number=n) for n in numbers
        ]
        here.hub.clock.advance(120)
        await here.poll(numbers)
        await here.renew()
        asked = here.asked()
        await here.poll(numbers)
        assert [status for path, status in asked() if "/issues/" in path] == [304, 304, 304]
        assert [status for path, status in asked() if "/git/" in path] == [200, 200, 200]
        pulls[0].merge(squash=True)
        pulls[1].retitle("Fix it")
        await here.renew()
        asked = here.asked()
        await here.poll(numbers)
        assert [status for path, status in asked() if "/issues/" in path] == [200, 200, 304]
        assert here.clock(N).state == "merged"


async def test_a_change_in_the_second_of_the_last_answer_is_seen(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        pull = here.upstream.open_pull({"vllm/manager.py": "new\n"}, title="Fix", number=N)
        await here.poll([N])
        pull.close()
        await here.poll([N])
        assert here.clock(N).state == "closed-unmerged"


async def test_once_a_day_a_reference_is_asked_for_by_its_content(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        pull = here.upstream.open_pull({"vllm/manager.py": "new\n"}, title="Fix", number=N)
        here.hub.clock.advance(120)
        await here.poll([N])
        pull.record.issue.title = "Another"  # and no date says so
        for later, status in ((3600, 304), (24 * 3600, 200), (3600, 304)):
            here.time[0] += later
            asked = here.asked()
            await here.poll([N])
            assert [code for path, code in asked() if "/issues/" in path] == [status]


async def test_what_a_process_recorded_that_died_is_news_for_the_next_one(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        pull = here.upstream.open_pull({"vllm/manager.py": "new\n"}, title="Honour the flag", number=N)
        await here.poll([N])
        reference = [f"{UPSTREAM}#{N}"]
        before = here.recording().revision(reference)
        state = here.facts.recall("upstream", UPSTREAM)
        assert state is not None
        pull.close()
        await here.poll([N])
        here.facts.remember("upstream", UPSTREAM, state)  # it died before it wrote that there is something new
        await here.poll([N])
        assert here.recording().revision(reference) != before
        now = here.recording().revision(reference)
        await here.poll([N])
        assert here.recording().revision(reference) == now


async def test_only_what_moved_is_asked_for(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        fix(here)
        await here.poll([N])
        asked = here.asked()
        here.upstream.commit({"vllm/other.py": "x\n"}, "Something else (#50100)")
        polled = await here.poll([N])
        assert polled.changed
        new = [path for path, status in asked() if status == 200]
        assert [path.rpartition("/")[2] for path in new] == ["main", "commits"]


async def test_a_history_that_is_long_is_read_in_pages(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.upstream.tag("v0.26.0")
        for number in range(3):
            here.upstream.commit({"a.py": f"{number}"}, f"Change {number} (#{47000 + number})")
        fix(here)
        for number in range(130):
            here.upstream.commit({"a.py": f"later {number}"}, f"Later {number} (#{49000 + number})", quiet=True)
        here.upstream.tag("v0.28.0")
        asked = here.asked()
        await here.poll([N])
        assert len([path for path, _ in asked() if path.endswith("/commits")]) == 2
        found = here.clock(N, "v0.26.0", "v0.28.0")
        assert [answer.state for answer in found.pins.values()] == ["not-pinned", "pinned"]


async def test_a_history_that_is_not_complete_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last word against a fix could lie in what is missing; the next poll goes on."""
    async with upstream(tmp_path) as here:
        fix(here)
        for number in range(230):
            here.upstream.commit({"a.py": f"later {number}"}, f"Later {number} (#{49000 + number})", quiet=True)
        here.upstream.tag("v0.28.0")
        monkeypatch.setattr("bot.jobs.recording.MAX_REQUESTS", 2)
        assert (await here.poll([N])).problems
        assert here.clock(N, "v0.28.0").pins["v0.28.0"].state == "unknown"
        for _ in range(3):
            await here.poll([N])
        assert here.clock(N, "v0.28.0").pins["v0.28.0"].state == "pinned"


async def test_one_reference_that_fails_stops_no_other(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        fix(here)
        polled = await here.poll([404, N])
        assert len(polled.problems) == 1
        assert here.clock(N).state == "merged"
        assert here.clock(404).state == "unknown"
        asked = here.asked()
        await here.poll([404, N])
        assert not [path for path, _ in asked() if path.endswith("/404")]  # it is left alone for a while
        here.time[0] += 3600.0
        await here.poll([404, N])
        assert [path for path, _ in asked() if path.endswith("/404")]


async def test_github_away_is_asked_less_and_less(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        here.hub.faults.add("GET /repos/*", status=502, times=1000)
        pauses = []
        for _ in range(4):
            polled = await here.poll([N])
            assert polled.problems
            until = dict(here.facts.recall("upstream", UPSTREAM) or {})["until"]
            pauses.append(until - here.hub.clock.now().timestamp() - here.time[0])
            asked = here.asked()
            await here.poll([N])
            assert asked() == []
            here.time[0] += pauses[-1] + 1
        assert [round(pause / 1800) for pause in pauses] == [1, 2, 4, 8]
        here.hub.faults.clear()
        here.upstream.open_issue("It breaks", number=N)
        assert (await here.poll([N])).problems == ()


async def test_a_rate_limit_ends_a_poll_and_what_was_told_is_kept(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        fix(here)
        fix(here, N + 1)
        here.hub.faults.secondary_limit(f"GET /repos/*/issues/{N + 1}")
        with pytest.raises(RateLimited):
            await here.poll([N, N + 1])
        assert here.clock(N).state == "merged"
        asked = here.asked()
        await here.poll([N, N + 1])
        assert asked() == []


async def test_what_is_not_public_is_not_told(tmp_path: Path) -> None:
    """The token may be of an installation that reads it; those who would be told here may not."""
    async with upstream(tmp_path) as here:
        secret = here.hub.repository("acme/secret", {"a": "b"}, private=True, installed=True)
        secret.open_issue("Hidden", number=5)
        polled = await here.poll([5], repository="acme/secret")
        assert polled.problems
        assert here.recording().read("acme/secret").references == {}


async def test_of_another_project_only_the_references_are_asked_for(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        other = here.hub.repository("acme/kernels", {"a": "b"})
        other.open_pull({"a": "c"}, number=12, title="Faster").merge(squash=True)
        await here.poll([12], repository="acme/kernels")
        asked = here.asked()
        await here.poll([12], repository="acme/kernels")
        assert asked() == [("/repos/acme/kernels/issues/12", 304)]
        facts = here.recording().clock_facts(["acme/kernels#12"], [])("acme/kernels#12")
        assert [pull.state for pull in facts.pulls] == ["merged"]


async def test_nobody_in_particular_may_ask_too(tmp_path: Path) -> None:
    async with upstream(tmp_path, anonymous=True) as here:
        fix(here)
        here.upstream.tag("v0.28.0")
        await here.poll([N])
        assert here.clock(N, "v0.28.0").state == "pinned"


async def test_only_what_is_recorded_is_told_of_it(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        fix(here)
        await here.poll([N, N + 1])
        assert list(await here.recording().facts_of([f"{UPSTREAM}#{N}", f"{UPSTREAM}#{N + 1}", "a/b#3"])) == [
            f"{UPSTREAM}#{N}"
        ]


async def test_while_a_history_is_completed_the_one_before_answers(tmp_path: Path) -> None:
    async with upstream(tmp_path) as here:
        fix(here)
        here.upstream.tag("v0.28.0")
        await here.poll([N])
        assert here.clock(N, "v0.28.0").state == "pinned"
        here.upstream.commit({"a.py": "1"}, "Something else (#49000)")
        here.hub.faults.add("GET /repos/*/commits", 502, times=2)
        assert (await here.poll([N])).problems
        assert here.clock(N, "v0.28.0").state == "pinned"
        here.upstream.open_issue("An older one", number=47000)
        here.upstream.record.issues[47000].created_at -= timedelta(days=30)
        here.time[0] += 3600.0
        here.hub.faults.add("GET /repos/*/commits", 502, times=2)
        await here.poll([47000, N])
        assert here.clock(N, "v0.28.0").state == "pinned"
