"""A real browser on a real server, for tests that need one."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
needs_chromium = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium here: apt-get install chromium chromium-driver",
    ),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(folder: Path, prefix: str = "", **variables: str) -> Iterator[str]:
    """The address of a server of a folder's files that no page has been asked of yet.

    Args:
        prefix: the path below which it is served, as to several readers behind a proxy.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    if prefix:
        command[2:] = ["precompute", "serve", str(folder), f"--port={port}", f"--prefix={prefix}"]
    environment = os.environ | {"MIXSCOPE_STATISTICS": str(folder)} | variables
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: answers(port), 60)
        yield f"http://127.0.0.1:{port}{prefix}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.1)


@contextmanager
def chromium(downloads: Path) -> Iterator[WebDriver]:
    """Browser that downloads into a folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior",
        {"behavior": "allow", "downloadPath": str(downloads)},
    )
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[WebDriver]:
    """One browser for all clicks of a worker."""
    with chromium(tmp_path_factory.mktemp("downloads")) as driver:
        yield driver


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[Path], str]]:
    """Address of a folder's server, started on first use."""
    with ExitStack() as stack:
        addresses: dict[Path, str] = {}

        def address(folder: Path) -> str:
            if folder not in addresses:
                addresses[folder] = stack.enter_context(serving(folder))
            return addresses[folder]

        yield address


@pytest.fixture
def server(servers, store_folder) -> str:
    return servers(store_folder)


def show_on(browser: WebDriver, width: int, height: int) -> None:
    """The size of the screen, in pixels."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def title_of(browser: WebDriver) -> str:
    wait = WebDriverWait(
        browser, 30, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException]
    )
    return wait.until(lambda d: d.find_element(By.TAG_NAME, "h1").text)


def settled(browser: WebDriver, selector: str) -> None:
    WebDriverWait(browser, 30).until(lambda d: d.find_elements(By.CSS_SELECTOR, selector))


def parameters(browser: WebDriver) -> dict[str, list[str]]:
    return parse_qs(urlsplit(browser.current_url).query)


class Patient:
    """A click that is repeated while nothing comes of it, but not before it could have had effect.

    A mark that is clicked twice is chosen and left again.
    """

    def __init__(self, click: Callable[[WebDriver], None]) -> None:
        self._click, self._not_before = click, 0.0

    def __call__(self, browser: WebDriver) -> None:
        if time.monotonic() >= self._not_before and is_idle(browser):
            self._click(browser)
            self._not_before = time.monotonic() + 5


def is_idle(browser: WebDriver) -> bool:
    """Return True if the page is drawn to its end: an earlier click would start it again."""
    state = browser.find_element(By.CSS_SELECTOR, "[data-testid=stApp]")
    return state.get_attribute("data-test-script-state") == "notRunning"
