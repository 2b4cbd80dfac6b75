"""A headless Chromium, where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BROWSER, DRIVER = Path("/usr/bin/chromium"), shutil.which("chromedriver")

needs_chromium = pytest.mark.skipif(
    not BROWSER.exists() or DRIVER is None,
    reason="Chromium is not installed: `apt-get install chromium chromium-driver` lets the pages be tested in it",
)

_FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1280,1000
"""


@contextmanager
def chromium(*, scripts: bool = True) -> Iterator[Chrome]:
    """A browser with a new profile, with or without JavaScript."""
    from selenium import webdriver

    with TemporaryDirectory(prefix="seamguard-chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(BROWSER)
        for flag in (*_FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not scripts:
            allowed = {"profile.managed_default_content_settings.javascript": 2}
            options.add_experimental_option("prefs", allowed)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        try:
            yield browser
        finally:
            browser.quit()
