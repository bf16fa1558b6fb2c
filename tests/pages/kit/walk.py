"""A walk with the tabulator through all of a page, and what was come by."""

from dataclasses import dataclass

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

_ROUNDS, _MORE = 2, 15
_PAUSE = 0.03  # seconds at each stop
_BEGIN = """
const still = document.createElement("style");
still.textContent = "*, *::before, *::after {transition: none !important}";
document.head.append(still);
const around = each => {
    const found = [...each.parentElement.children];  // a switch is drawn beside its input
    for (let at = each.parentElement; at; at = at.parentElement) found.push(at);
    return found.slice(0, 12);
};
const look = each => {
    const {outline, boxShadow, borderColor, backgroundColor} = getComputedStyle(each);
    return [outline, boxShadow, borderColor, backgroundColor].join();
};
window.looks = each => around(each).map(look).join(" ");
window.controls = () => [...document.querySelectorAll("*")].filter(each =>
    each.tabIndex >= 0 && !each.disabled && each.checkVisibility({visibilityProperty: true})
    && !each.closest("[inert], canvas, iframe")
);
window.named = each => [each.tagName, each.ariaLabel || each.innerText || each.placeholder
    || each.closest("[data-testid]")?.dataset.testid || ""].join(" ").split("\\n")[0];
window.stops = [];
window.controls()[0].focus();
const here = () => {  // as the next key is pressed: what a group passed on is no stop
    const target = document.activeElement;  // the same again in the cells of a table
    const passed = [document.body, window.stops.at(-1)?.target];
    if (!passed.includes(target)) window.stops.push({target, focused: window.looks(target)});
};
if (!window.isWalked) addEventListener("keydown", here, true);
window.isWalked = true;
return window.controls().length;
"""
_END = """
document.activeElement.blur();
const there = window.stops.filter(each => each.target.isConnected);
const reached = new Set(there.map(each => each.target));
const turn = there.findIndex((each, place) => place && each.target === there[0].target);
const once = turn > 0 ? there.slice(0, turn) : there;
const comes = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
return {
    names: once.map(each => window.named(each.target)),
    again: turn > 0,
    unmarked: there.filter((each, place) => place  // there no key had been pressed
        && each.target.tagName !== "CANVAS"  // which frames a cell itself
        && each.focused === window.looks(each.target)).map(each => window.named(each.target)),
    back: once.filter((each, place) => place && !comes(once[place - 1].target, each.target))
        .map(each => window.named(each.target)),
    missed: window.controls().filter(each => !reached.has(each) && ![...reached].some(other =>
        each.role === "radio" && other.closest("[role=radiogroup]")?.contains(each)
    )).map(window.named),
    unreachable: [...document.querySelectorAll("button, a[href], input, textarea, [role=button]")]
        .filter(each => each.tabIndex < 0 && !each.disabled && each.checkVisibility()
            && !each.closest("[role=radiogroup], [data-testid=stNumberInputContainer], canvas")
            && !each.closest("[data-testid=stSelectbox], [data-testid=stMultiSelect]"))
        .map(window.named),
};
"""


@dataclass(frozen=True)
class Walk:
    """What the tabulator came by from the top of a page to where it began again.

    Attributes:
        names: of the stops, in their order.
        again: whether it came to the end and began again at the first stop.
        unmarked: the stops that look no otherwise while they have the focus.
        back: the stops that stand before the one that came before them.
        missed: the controls that were not come by.
        unreachable: what can be clicked and is no stop.
    """

    names: list[str]
    again: bool
    unmarked: list[str]
    back: list[str]
    missed: list[str]
    unreachable: list[str]

    @property
    def faults(self) -> list[str]:
        """What a reader without a mouse would miss or be lost at."""
        lists = ("unmarked", "back", "missed", "unreachable")
        found = [f"{name}: {each}" for name in lists for each in getattr(self, name)]
        return found if self.again else [*found, "no end"]


def walk(browser: WebDriver) -> Walk:
    """Through the page that is open, and from its end to its top again."""
    n_controls = browser.execute_script(_BEGIN)
    found = _went_on(browser, n_controls)
    for _ in range(_ROUNDS):
        if found.again:
            break
        found = _went_on(browser, n_controls)
    return found


def _went_on(browser: WebDriver, n_controls: int) -> Walk:
    steps = ActionChains(browser)
    for _ in range(n_controls + _MORE):
        steps.send_keys(Keys.TAB).pause(_PAUSE)
    steps.perform()
    return Walk(**browser.execute_script(_END))
