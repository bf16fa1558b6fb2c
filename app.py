"""The dashboard as a server: `streamlit run app.py`; for several readers `mixscope serve FOLDER`.

The pages are started from `pages/_main.py` and not from here: Streamlit does not run a script next
to a folder `pages` if the first visitor comes by a link to a page.
"""

from urllib.parse import urlencode

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.kit.contents import PAGES
from pages.kit.links import RENAMED, current_place
from pages.services.chosen import first_readable
from pages.services.folder import files
from pages.services.probes import health, ready, root, running
from pages.services.refusals import BoundedUploads, NoMetrics, OwnOrigin

_ROOT = root()

# Vega draws with its interpreter and the frontend styles its elements in place, so that styles are
# allowed inline and scripts are not.
_CONTENT = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "media-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-src": "'none'",
    "frame-ancestors": "'self'",
}
_HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _CONTENT.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds headers that forbid browsers to load from other sites or to send anything there."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


_PLACES = {f"{_ROOT}{path}": page for page, path in PAGES.items()}
_PLACES |= {f"{_ROOT}{path}": path for path in RENAMED}


class CitableAddress:
    """Redirects a request without file and language to the address that names both.

    A link copied from there opens the same file even if another one sorts first. Addresses of
    pages and sections that moved lead to where they are now.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.app
        if _is_page(scope):
            request = Request(scope)
            named = await run_in_threadpool(_named, request)
            asked = request.query_params
            missing = [(key, value) for key, value in named.items() if key not in asked]
            page = _PLACES[scope["path"]]
            current, kept = current_place(page, asked.multi_items())
            if missing or current != page:
                query = urlencode([*missing, *kept])
                answer = RedirectResponse(f"{_ROOT}{PAGES[current]}?{query}")
        await answer(scope, receive, send)


def _is_page(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in _PLACES


_SCRIPT = f"{_ROOT}own.js"
_OWN_SCRIPT = b"""
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, [contenteditable]");
  const box = document.querySelector(".st-key-search input");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing || !box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// Vega fills ramps of colours by the whole address of the page, which the next choice changes.
const keepRamps = () => {
  for (const ramp of document.querySelectorAll("svg [fill^='url(']")) {
    ramp.setAttribute("fill", ramp.getAttribute("fill").replace(/^url\\([^#]*#/, "url(#"));
  }
};
for (const name of ["pushState", "replaceState"]) {
  const change = history[name];
  history[name] = function (...given) {
    change.apply(this, given);
    keepRamps();
  };
}
addEventListener("popstate", keepRamps);

// What a reader collects is kept here, for all tabs: addresses and notes.
const KEPT = "mixscope-collection";
let said;
const tell = (text) => {
  const input = document.querySelector(".st-key-kept input");
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  set.call(input, `${Date.now()} ${text}`);
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
new MutationObserver(() => {
  const place = document.querySelector(".st-key-kept:has(input) [data-kept]");
  if (!place || place.dataset.kept === said) return;
  said = place.dataset.kept;
  const stored = localStorage.getItem(KEPT);
  if (said) localStorage.setItem(KEPT, said);
  else if (stored) tell(stored);
}).observe(document.documentElement, { subtree: true, childList: true, attributes: true });
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEPT && newValue && said !== undefined) tell(newValue);
});
"""


class OwnMarkup:
    """Sets the language of a page's markup, and adds a script.

    With the script, the key / leads to the search box, colour ramps survive a change of address,
    and the browser keeps what its reader collects.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_page(scope):
            await self.app(scope, receive, send)
            return
        language = Request(scope).query_params.get("lang", "en")

        async def send_changed(message: Message) -> None:
            if message["type"] == "http.response.body":
                message["body"] = _markup(message["body"], language)
            if message["type"] == "http.response.start":
                del MutableHeaders(scope=message)["content-length"]
            await send(message)

        written = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
        await self.app({**scope, "headers": written}, receive, send_changed)


def _markup(body: bytes, language: str) -> bytes:
    if language == "ja":
        body = body.replace(b'<html lang="en"', b'<html lang="ja"', 1)
    return body.replace(b"</head>", f'<script src="{_SCRIPT}" defer></script></head>'.encode(), 1)


def _named(request: Request) -> dict[str, str]:
    """File and language of a page by default; empty if there is no file."""
    file = first_readable(files())
    japanese = request.headers.get("accept-language", "").lower().startswith("ja")
    return {"file": file.name, "lang": "ja" if japanese else "en"} if file else {}


async def _own_script(_: Request) -> Response:
    return Response(_OWN_SCRIPT, media_type="text/javascript")


# What a reader uploads stays in memory; beyond this many bytes it would go through a file on disk.
# Starlette has no other setting of it, and Streamlit calls its parser.
MultiPartParser.spool_max_size = 2 * st.get_option("server.maxUploadSize") * 2**20

_LAYERS = (SecurityHeaders, NoMetrics, OwnOrigin, BoundedUploads, CitableAddress, OwnMarkup)
_ROUTES = {_SCRIPT: _own_script, f"{_ROOT}health": health, f"{_ROOT}ready": ready}
app = st.App(
    "pages/_main.py",
    lifespan=running,
    routes=[Route(path, answer) for path, answer in _ROUTES.items()],
    middleware=[Middleware(layer) for layer in _LAYERS],
)
