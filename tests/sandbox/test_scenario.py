"""The sandbox's story, and the page that shows it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest

from bot.cli.review import review_revisions
from bot.hazards import load_rules
from bot.sandbox.scenario import Sandbox, sandbox
from tests.sandbox.chromium import chromium, needs_chromium
from tests.sandbox.github.caller import Caller
from tests.sandbox.github.inbox import Inbox, open_inbox

R = "/repos/otter-club/serving"


@pytest.fixture
async def inbox() -> AsyncIterator[Inbox]:
    async with open_inbox() as opened:
        yield opened


@pytest.fixture
async def box(inbox: Inbox) -> AsyncIterator[Sandbox]:
    async with sandbox() as made:
        await made.begin(inbox.url)
        yield made


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def _review(box: Sandbox, body: str = "**Look** at this.") -> None:
    """What an App would write."""
    scenario = box.scenario
    assert scenario is not None
    async with Caller(box.hub, scenario.repository.installation) as app:
        comment = {"path": "compose/otter-single.yml", "line": 32, "body": body}
        review = {"event": "COMMENT", "body": "One hazard.", "comments": [comment]}
        (await app("POST", f"{R}/pulls/1/reviews", review)).ok()
        output = {"title": "One hazard", "summary": "| a | b |\n|---|---|\n| 1 | 2 |"}
        run = {"name": "Seamguard", "head_sha": scenario.pull.head, "conclusion": "failure", "output": output}
        (await app("POST", f"{R}/check-runs", run)).ok(201)


async def _mend(box: Sandbox) -> None:
    """What an App would do after the fix."""
    scenario = box.scenario
    assert scenario is not None
    async with Caller(box.hub, scenario.repository.installation) as app:
        scenario.pull.conversation().threads[0].comment.minimised = "RESOLVED"
        run = {"name": "Seamguard", "head_sha": scenario.pull.head, "conclusion": "success"}
        (await app("POST", f"{R}/check-runs", run)).ok(201)


async def test_the_app_is_told_of_the_pull_request(box: Sandbox, inbox: Inbox) -> None:
    await box.hub.settled()
    assert sorted(inbox.names) == ["installation.created", "pull_request.opened"]
    told = inbox.last("pull_request.opened")["pull_request"]
    assert (told["commits"], told["changed_files"]) == (2, 2)
    assert told["html_url"] + "/" == box.page_url


async def test_the_pull_request_brings_hazards_and_the_fix_takes_them_away(box: Sandbox) -> None:
    scenario = box.scenario
    assert scenario is not None
    pull, rules = scenario.pull, load_rules()
    folder = pull.repository.store.folder
    before = review_revisions(folder, pull.record.base_sha, pull.head, rules)
    assert before.conclusion == "failure"
    found = {(finding.path, finding.rule) for finding in before.introduced_or_worsened}
    assert found == {
        ("compose/otter-single.yml", "mtp-prefix-cache-hybrid"),
        ("compose/otter-dual.yml", "mtp-prefix-cache-hybrid"),
        ("compose/otter-dual.yml", "default-flip"),
        ("compose/otter-single.yml", "stale-claim"),
    }
    states = [scenario.fixed]
    scenario.push_fix()
    states.append(scenario.fixed)
    assert states == [False, True]
    head = pull.head
    scenario.push_fix()
    assert pull.head == head
    assert review_revisions(folder, pull.record.base_sha, pull.head, rules).conclusion == "success"


async def test_the_page_shows_the_conversation(box: Sandbox, browser: aiohttp.ClientSession) -> None:
    await _review(box, "**Look** at this. <!-- seamguard:finding --> <script>alert(1)</script>")
    async with browser.get(box.page_url) as answer:
        text = await answer.text()
        policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "<strong>Look</strong> at this." in text
    assert "seamguard:finding" not in text
    assert "<script>alert" not in text
    assert 'compose/otter-single.yml <span class="lines">line 32</span>' in text
    assert re.search(r'<tr class="add">.*--enable-prefix-caching', text)
    assert "A check failed" in text
    assert "<td>1</td>" in text
    assert "pull_request.opened" in text


async def test_without_scripts_everything_is_a_form(box: Sandbox, inbox: Inbox, browser: aiohttp.ClientSession) -> None:
    form = {"body": "/recheck\r\nplease", "author": "passer-by"}
    async with browser.post(f"{box.page_url}comment", data=form) as answer:
        assert "/recheck" in await answer.text()
    await box.hub.settled()
    told = inbox.last("issue_comment.created")
    assert (told["comment"]["body"], told["sender"]["login"]) == ("/recheck\nplease", "passer-by")
    async with browser.post(f"{box.page_url}fix") as answer:
        assert "The fix is pushed" in await answer.text()
    await _review_check(box)
    scenario = box.scenario
    assert scenario is not None
    (run,) = scenario.pull.conversation().checks
    async with browser.post(f"{box.page_url}rerequest", data={"run": str(run.id)}) as answer:
        assert answer.status == 200
    await box.hub.settled()
    assert inbox.last("check_run.rerequested")["check_run"]["id"] == run.id
    async with browser.get(box.page_url) as answer:
        assert 'http-equiv="refresh"' in await answer.text()
    async with browser.get(f"{box.page_url}?write") as answer:
        assert 'http-equiv="refresh"' not in await answer.text()


async def _review_check(box: Sandbox) -> None:
    scenario = box.scenario
    assert scenario is not None
    async with Caller(box.hub, scenario.repository.installation) as app:
        run = {"name": "Seamguard", "head_sha": scenario.pull.head, "conclusion": "success"}
        (await app("POST", f"{R}/check-runs", run)).ok(201)


@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("comment", {"body": "  "}),
        ("comment", {"body": "x", "author": "nobody"}),
        ("comment", {"body": "x" * 65_537}),
        ("rerequest", {"run": "1"}),
        ("rerequest", {"run": "x"}),
    ],
)
async def test_forms_that_are_refused(
    box: Sandbox, browser: aiohttp.ClientSession, action: str, form: dict[str, str]
) -> None:
    async with browser.post(box.page_url + action, data=form) as answer:
        assert answer.status in (400, 404)


async def test_other_websites_can_neither_read_nor_press_anything(box: Sandbox, browser: aiohttp.ClientSession) -> None:
    async with browser.get(box.page_url, headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403
    async with browser.post(f"{box.page_url}fix", headers={"Origin": "https://evil.example"}) as answer:
        assert answer.status == 403
    async with browser.post(f"{box.page_url}fix", headers={"Origin": "null"}) as answer:
        assert answer.status == 403
    assert box.scenario is not None
    assert not box.scenario.fixed


async def test_links_of_a_review_lead_to_files_and_commits(box: Sandbox, browser: aiohttp.ClientSession) -> None:
    assert box.scenario is not None
    head, root = box.scenario.pull.head, f"{box.hub.web_url}/{box.scenario.repository.full_name}"
    async with browser.get(f"{root}/blob/{head}/compose/otter-dual.yml") as answer:
        assert answer.status == 200
        assert re.search(r'id="L7">.*vllm/vllm-openai:v0\.28\.0', await answer.text())
    async with browser.get(f"{root}/commit/{head}") as answer:
        assert answer.status == 200
        assert "Move two cards to vLLM 0.28.0" in await answer.text()
    for gone in (f"blob/{head}/compose/none.yml", f"blob/{head}/compose%0Ax", f"commit/{'0' * 40}", "commit/main"):
        async with browser.get(f"{root}/{gone}") as answer:
            assert answer.status == 404


async def test_the_first_address_leads_to_the_page(box: Sandbox, browser: aiohttp.ClientSession) -> None:
    async with browser.get(box.hub.web_url) as answer:
        assert str(answer.url) == box.page_url
    async with browser.get(f"{box.hub.web_url}/assets/../view.py") as answer:
        assert answer.status == 404


async def test_changes_are_told_as_they_happen(box: Sandbox, browser: aiohttp.ClientSession) -> None:
    scenario = box.scenario
    assert scenario is not None

    async def next_version(stream: aiohttp.StreamReader) -> str:
        while True:
            line = (await asyncio.wait_for(stream.readline(), 5)).decode()
            if line.startswith("data: "):
                return line.removeprefix("data: ").strip()

    async with browser.get(f"{box.page_url}events") as answer:
        first = await next_version(answer.content)
        scenario.pull.comment("maintainer", "Hello")
        second = await next_version(answer.content)
    async with browser.get(f"{box.page_url}live") as answer:
        live: Any = await answer.json()
    assert first != second
    assert "Hello" in live["parts"]["conversation"]


def _wait(browser: Any, text: str) -> None:
    from selenium.common import StaleElementReferenceException
    from selenium.webdriver.support.wait import WebDriverWait

    wait = WebDriverWait(browser, 30, 0.1, [StaleElementReferenceException])
    wait.until(lambda it: text in it.find_element("tag name", "body").text)


@needs_chromium
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
async def test_in_a_browser(box: Sandbox, scripts: bool) -> None:
    await _review(box)
    loop = asyncio.get_running_loop()
    seen = await asyncio.to_thread(_visit, box, loop, scripts)
    assert seen == []


def _only(browser: Any, selector: str, do: Callable[[Any], Any]) -> Any:
    """What `do` says of the one such element, found anew when the page loads itself again in between."""
    from selenium.common import StaleElementReferenceException

    for _ in range(5):
        (element,) = browser.find_elements("xpath" if selector.startswith("//") else "css selector", selector)
        try:
            return do(element)
        except StaleElementReferenceException:
            continue
    raise AssertionError(f"{selector} never stays")


def _visit(box: Sandbox, loop: asyncio.AbstractEventLoop, scripts: bool) -> list[str]:
    """What a person does, in a thread of its own; the complaints of the browser."""
    with chromium(scripts=scripts) as browser:
        browser.get(box.page_url)
        _wait(browser, "Look at this.")
        _wait(browser, "A check failed")
        assert "--enable-prefix-caching" in _only(browser, "section.thread", lambda thread: thread.text)
        _only(browser, "//button[text()='/recheck']", lambda button: button.click())
        _wait(browser, "commented")
        _only(browser, "//button[text()='Push the prepared fix']", lambda button: button.click())
        _wait(browser, "The fix is pushed")
        asyncio.run_coroutine_threadsafe(_mend(box), loop).result(10)
        _wait(browser, "All checks have passed")
        assert "resolved" in _only(browser, "details.thread", lambda folded: folded.text)
        if not scripts:
            _only(browser, "//a[text()='Write a comment']", lambda link: link.click())
        browser.find_element("id", "body").send_keys("By hand")
        browser.find_element("xpath", "//form[@id='write']//button").click()
        _wait(browser, "By hand")
        return [str(entry["message"]) for entry in browser.get_log("browser")]  # type: ignore[no-untyped-call]
