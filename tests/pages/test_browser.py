"""The dashboard in a real browser: deep links, exports, and nothing that leaves the machine."""

import json
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import streamlit
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.pages.kit.chromium import (
    chromium,
    needs_chromium,
    parameters,
    serving,
    settled,
    title_of,
    wait_until,
)

pytestmark = needs_chromium
DEEP_LINK = "/norms?lang=ja&file=tiny.duckdb&an_view=transformation"
HARMLESS = ("Executing inline script", "_stcore/host-config", "_stcore/health")


@pytest.fixture(scope="module")
def server(store_folder) -> Iterator[str]:
    """A server that no page has been asked of yet, which leaves the folder as it is."""
    before = {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")}
    with serving(store_folder, "/behind/mixscope") as address:
        yield address
    assert {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")} == before


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[WebDriver]:
    """A browser that has seen no page yet."""
    with chromium(tmp_path_factory.mktemp("downloads")) as driver:
        yield driver


@pytest.fixture(scope="module")
def first(server, browser) -> WebDriver:
    """The browser after the very first request to the server, which is a deep link."""
    browser.get(server + DEEP_LINK)
    title_of(browser)
    return browser


def test_a_deep_link_is_answered_by_a_server_that_has_just_started(first):
    assert title_of(first).startswith("注意重み")
    settled(first, '[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')
    links = first.find_elements(By.CSS_SELECTOR, '[data-testid="stPageLink-NavLink"]')
    assert {"概要", "測定方法"} <= {link.text for link in links}
    assert parameters(first)["an_view"] == ["transformation"]
    settled(first, '[data-testid="stVegaLiteChart"] svg, [data-testid="stVegaLiteChart"] canvas')
    assert not first.find_elements(By.CSS_SELECTOR, '[data-testid="stException"]')


def test_pages_of_other_sites_open_no_socket_and_the_server_calls_nobody(store_folder):
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as stalled:
        called = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        with serving(store_folder, http_proxy=called, https_proxy=called, no_proxy="") as server:
            address = f"{server.replace('http', 'ws')}/_stcore/stream"
            for site in ("https://elsewhere.example", "http://127.0.0.1.example", "null"):
                with pytest.raises(InvalidStatus) as refused:
                    connect(address, origin=Origin(site))
                assert refused.value.response.status_code == 403
            with connect(address, origin=Origin(server), subprotocols=[Subprotocol("streamlit")]):
                pass
            _ask_and_read_nothing(stalled, server)  # which does not keep the server from ending
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody came by
            proxy.accept()


def _ask_and_read_nothing(reader: socket.socket, server: str) -> None:
    """Ask for the largest file that there is, of which the system's buffers hold only a part."""
    static = Path(streamlit.__file__).parent / "static"
    largest = max(static.rglob("*.js"), key=lambda file: file.stat().st_size)
    assert largest.stat().st_size > 4 * 2**20
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", urlsplit(server).port))
    reader.sendall(f"GET /{largest.relative_to(static)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert reader.recv(12) == b"HTTP/1.1 200"


def test_links_between_pages_keep_the_language(server, first):
    first.get(f"{server}/?lang=ja")
    title_of(first)
    selector = '[data-testid="stMain"] [data-testid="stPageLink-NavLink"]'
    settled(first, selector)
    link = first.find_element(By.CSS_SELECTOR, selector)
    first.execute_script("arguments[0].click()", link)
    WebDriverWait(first, 30).until(lambda d: d.current_url.startswith(f"{server}/norms"))
    assert parameters(first)["lang"] == ["ja"]


def test_a_choice_goes_to_the_address_and_back(server, first):
    first.get(f"{server}/norms")
    english = title_of(first)
    settled(first, ".st-key-lang button")
    first.find_elements(By.CSS_SELECTOR, ".st-key-lang button")[1].click()
    WebDriverWait(first, 30).until(lambda d: parameters(d).get("lang") == ["ja"])
    WebDriverWait(first, 30).until(lambda d: title_of(d) != english)
    first.back()
    WebDriverWait(first, 30).until(lambda d: title_of(d) == english)


def test_exports_arrive(server, first, tmp_path):
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    first.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    first.get(f"{server}/norms?an_view=frequency&lang=en")
    settled(first, "[data-test-script-state=notRunning] [data-testid=stVegaLiteChart]")
    popover = first.find_element(By.XPATH, "//button[contains(., 'Export')]")
    first.execute_script("arguments[0].click()", popover)
    for button, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("CSV", b"\xef")):
        selector = f"[class*=st-key-an_][class*=-{button}] button"
        WebDriverWait(first, 30).until(
            lambda d, selector=selector: d.find_element(By.CSS_SELECTOR, selector).is_displayed()
        )
        first.find_element(By.CSS_SELECTOR, selector).click()
        ending = f"*_tiny*.{button.lower()}"
        wait_until(lambda ending=ending: list(tmp_path.glob(ending)), 30)
        [written] = tmp_path.glob(ending)
        assert written.read_bytes().startswith(start)


@pytest.mark.parametrize("entry", ["", "?me_page=relevance&me_entry=relevance_map"])
def test_methods_draws_its_formulas(entry, server, first):
    first.get(f"{server}/methods{entry}")
    title_of(first)
    settled(first, ".katex")
    assert not first.find_elements(By.CSS_SELECTOR, ".katex-error")


def test_nothing_was_asked_of_any_other_machine(server, first):
    entries = [json.loads(entry["message"])["message"] for entry in first.get_log("performance")]
    asked = [
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    ]
    web = [url for url in asked if urlsplit(url).scheme in ("http", "https")]
    assert len(web) > 10, "this test could not have failed"
    assert {urlsplit(url).netloc for url in web} == {urlsplit(server).netloc}


def test_the_console_holds_no_error(first):
    messages = [entry["message"] for entry in first.get_log("browser")]
    assert not [text for text in messages if not any(known in text for known in HARMLESS)]


def test_every_answer_carries_the_security_headers(server):
    with urllib.request.urlopen(server) as answer:
        headers = answer.headers
    content = headers["Content-Security-Policy"]
    assert "unsafe-eval" not in content
    assert "script-src 'self';" in content
    assert "frame-ancestors 'self'" in content
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
