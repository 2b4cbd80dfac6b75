"""What a newcomer sees: a review without any credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp

from bot.sandbox.scenario import Scenario
from bot.web.sandbox import running_sandbox
from bot.web.settings import Settings


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Until it holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.05)


def conclusions(scenario: Scenario) -> list[str | None]:
    return [check.conclusion for check in scenario.pull.conversation().checks]


async def test_the_sandbox_shows_a_review_a_recheck_and_a_fix() -> None:
    async with running_sandbox(Settings(port=0), page_port=0) as (github, parts), aiohttp.ClientSession() as browser:
        scenario = github.scenario
        assert scenario is not None
        await until(lambda: conclusions(scenario) == ["failure"])
        await until(lambda: len(scenario.pull.conversation().comments) == 1)
        async with browser.get(github.page_url) as answer:
            assert "Prefix caching with a drafter" in await answer.text()
        async with browser.get(f"{parts.url}/readyz") as answer:
            assert answer.status == 200
        async with browser.get(f"{parts.url}/") as answer:
            assert "sandbox" in await answer.text()
        asked = scenario.pull.comment("maintainer", "/recheck")
        await until(lambda: [reaction.content for reaction in asked.reactions] == ["eyes", "+1"])
        scenario.push_fix()
        await until(lambda: conclusions(scenario) == ["success"])
        threads = scenario.pull.conversation().threads
        told = ("**Fixed** as of", "**No longer due to this change** as of")
        await until(lambda: all(any(words in thread.comment.body for words in told) for thread in threads))
        assert {thread.comment.minimised for thread in threads} == {"RESOLVED"}
