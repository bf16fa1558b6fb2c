"""The dashboard as a server: `streamlit run app.py`.

The pages are started from `pages/_main.py` and not from here: a script that lies beside a folder
`pages` would not be run when the first visitor comes by a link to a page.
"""

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Tells browsers to take nothing from elsewhere and to send nothing there."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


# What a reader uploads stays in memory; beyond this many bytes it would go through a file on disk.
MultiPartParser.spool_max_size = 2 * st.get_option("server.maxUploadSize") * 2**20

app = st.App("pages/_main.py", middleware=[Middleware(SecurityHeaders)])
