"""The whole of a page is reached by keys alone, and the reader sees where they are."""

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import is_idle, needs_chromium, parameters, title_of

pytestmark = needs_chromium
MOST = 90  # stops on a page
HERE = """
const here = document.activeElement, style = getComputedStyle(here);
const name = here.getAttribute("aria-label") || here.innerText || here.placeholder || "";
const marked = [style, ...[...document.querySelectorAll(":focus-within")].map(getComputedStyle)]
    .some(each => each.boxShadow !== "none" || each.outlineStyle !== "none");
const typed = here.matches("input, textarea");  // has a caret, and a frame in another colour
return [here.tagName, name.split("\\n")[0], marked || typed];
"""


@pytest.fixture
def page(browser, server) -> WebDriver:
    browser.get(f"{server}/token-pairs?lang=en")
    title_of(browser)
    WebDriverWait(browser, 60).until(is_idle)
    return browser


def press(browser: WebDriver, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def stops(browser: WebDriver, until: str = "") -> list[tuple[str, str, bool]]:
    """What the tabulator comes to, as tag, name and whether it is marked; up to a name if given."""
    found = []
    for _ in range(MOST):
        press(browser, Keys.TAB)
        tag, name, is_marked = browser.execute_script(HERE)
        found.append((tag, name, is_marked))
        if tag == "BODY" or (until and name.startswith(until)):
            break
    return found


def test_every_stop_is_marked(page):
    wanted = ("Find anything", "Head habits", "English", "Pairs and sentences", "Export", "Collect")
    found, names = [], []
    for _ in range(3):  # a part that is drawn anew takes the focus with it
        found = [each for each in stops(page) if each[0] not in ("BODY", "MAIN", "HTML")]
        names = [name for _, name, _ in found]
        if set(wanted) <= set(names):
            break
    assert set(wanted) <= set(names)
    assert [name for _, name, is_marked in found if not is_marked] == []


def test_keys_change_section_and_page(page):
    wait = WebDriverWait(page, 60)
    stops(page, until="Pairs and sentences")
    press(page, Keys.ARROW_RIGHT)
    wait.until(lambda d: d.execute_script(HERE)[1] == "All layers")
    press(page, Keys.ENTER)
    wait.until(lambda d: parameters(d).get("tp_view") == ["tables"])
    page.refresh()
    title_of(page)
    wait.until(is_idle)
    stops(page, until="Head habits")
    press(page, Keys.ENTER)
    wait.until(lambda d: "/head-habits" in d.current_url)
