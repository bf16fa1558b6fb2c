"""Walk through a whole page by the Tab key."""

from dataclasses import dataclass

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

_MORE = 3  # times as many keys as there are controls: tables take some for their cells
_BEGIN = """
const still = document.createElement("style");
still.textContent = "*, *::before, *::after {transition: none !important}";
document.head.append(still);
const around = each => {
    const found = [];
    for (let at = each; at && found.length < 5; at = at.parentElement) found.push(at);
    return [...found, ...each.parentElement.children];  // a switch is drawn beside its input
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
const [first] = window.controls();
first.focus();
window.stops = [{target: first, focused: ""}];
return window.controls().length;
"""
_STEP = """
const [told] = arguments;
requestAnimationFrame(() => requestAnimationFrame(() => {  // a mark may be drawn a frame later
    const target = document.activeElement;
    const passed = [document.body, window.stops.at(-1).target];  // the same: a cell of a table
    if (!passed.includes(target)) window.stops.push({target, focused: window.looks(target)});
    told(window.stops.length > 1 && target === window.stops[0].target);
}));
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
    unmarked: there.filter((each, place) => place  // to which no key led
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
    """Stops of the Tab key from the top of a page until it starts again.

    Attributes:
        names: of the stops, in their order.
        again: True if Tab reached the end and the first stop again.
        unmarked: stops that look the same with and without the focus.
        back: stops that precede the stop before them in the document.
        missed: controls that Tab did not reach.
        unreachable: clickable elements that cannot have the focus.
    """

    names: list[str]
    again: bool
    unmarked: list[str]
    back: list[str]
    missed: list[str]
    unreachable: list[str]

    @property
    def faults(self) -> list[str]:
        """Faults for readers without a mouse."""
        lists = ("unmarked", "back", "missed", "unreachable")
        listed = [f"{name}: {control}" for name in lists for control in getattr(self, name)]
        return listed if self.again else [*listed, "no end"]


def walk(browser: WebDriver) -> Walk:
    """Press Tab through the open page, and from its end to its top again."""
    for _ in range(_MORE * browser.execute_script(_BEGIN)):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        if browser.execute_async_script(_STEP):
            break
    return Walk(**browser.execute_script(_END))
