"""Make the picture of the sandbox that the README shows.

    python -m tests.sandbox.screenshot [FILE]

Without a file it is docs/sandbox.png. It needs Chromium and its driver. The times in the picture are those of the run.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.sandbox.scenario import Scenario
from bot.web.sandbox import running_sandbox
from bot.web.settings import Settings
from tests.sandbox.chromium import BROWSER, DRIVER, chromium

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "sandbox.png"
WIDTH = 1180
MARGIN = 6
"""Pixels below the last comment that is shown."""

THREADS = 1
"""Comments on lines of the change that are shown."""

PATIENCE_SECONDS = 60.0

_END = "return document.querySelectorAll('.thread')[arguments[0] - 1].getBoundingClientRect().bottom"
_BARE = "document.documentElement.style.scrollbarWidth = 'none'"


async def picture(file: Path) -> None:
    """Write the picture of the pull request as it is after the first review."""
    async with running_sandbox(Settings(port=0), page_port=0) as (github, _):
        assert github.scenario is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not _reviewed(github.scenario):
                await asyncio.sleep(0.1)
        await asyncio.to_thread(_shoot, github.page_url, file)


def _reviewed(scenario: Scenario) -> bool:
    seen = scenario.pull.conversation()
    done = any(check.conclusion for check in seen.checks)
    return done and len(seen.threads) >= THREADS and bool(seen.comments)


def _resize(browser: Chrome, height: int) -> None:
    size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def _shoot(address: str, file: Path) -> None:
    with chromium() as browser:
        media = [{"name": "prefers-color-scheme", "value": "light"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        _resize(browser, 1000)
        browser.get(address)
        browser.execute_script(_BARE)
        end = browser.execute_script(_END, THREADS)
        _resize(browser, int(end) + MARGIN)
        if not browser.save_screenshot(str(file)):
            raise OSError(f"{file} can't be written")


def main() -> None:
    """Write the picture, or say what it lacks."""
    if not BROWSER.exists() or DRIVER is None:
        sys.exit("The picture needs Chromium and its driver: apt-get install chromium chromium-driver")
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    asyncio.run(picture(file))
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
