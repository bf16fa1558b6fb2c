"""A real browser on a real server, for tests that need one."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[3]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
IDLE = "[data-test-script-state=notRunning]"
"""Selects the page once it is drawn to its end: an earlier click may be lost."""
needs_chromium = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium here: apt-get install chromium chromium-driver",
    ),
]


@contextmanager
def serving(folder: Path, prefix: str = "", **variables: str) -> Iterator[str]:
    """The address of a server of a folder's files that no page has been asked of yet.

    Args:
        prefix: the path below which it is served, as to several readers behind a proxy.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    if prefix:
        command[2:] = ["precompute", "serve", str(folder), f"--port={port}", f"--prefix={prefix}"]
    environment = os.environ | {"MIXSCOPE_STATISTICS": str(folder)} | variables
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(answers, 60)
        yield f"http://127.0.0.1:{port}{prefix}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            process.wait()


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[WebDriver]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def screens(browser: WebDriver) -> Iterator[Callable[[int, int], None]]:
    """Yield what sets the size of the screen, in pixels."""

    def show_on(width: int, height: int) -> None:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    try:
        yield show_on
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def waiting(browser: WebDriver) -> WebDriverWait:
    redrawn = [NoSuchElementException, StaleElementReferenceException]
    return WebDriverWait(browser, 60, ignored_exceptions=redrawn)


def title_of(browser: WebDriver) -> str:
    return waiting(browser).until(lambda d: d.find_element(By.TAG_NAME, "h1").text)


def settled(browser: WebDriver, selector: str) -> None:
    waiting(browser).until(lambda d: d.find_elements(By.CSS_SELECTOR, selector))


def parameters(browser: WebDriver) -> dict[str, list[str]]:
    return parse_qs(urlsplit(browser.current_url).query)
