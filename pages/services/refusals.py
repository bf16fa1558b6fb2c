"""Requests that the server refuses: foreign sockets, metrics, and uploads without a bound."""

import logging
import re
from collections import Counter
from typing import cast

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from analysis.upload_bounds import SERVER_UPLOADS, SESSION_UPLOADS, UPLOAD_BYTES
from pages.services.probes import root

_MOST_LOGGED = 20
"""Limit of logged reasons: strangers choose their text."""
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")


class NoMetrics:
    """Answers 404 to requests for Streamlit's metrics, which show sessions and memory use."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self._metrics = f"{root()}_stcore/metrics"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_metrics = scope.get("path", "").startswith(self._metrics)
        answer = PlainTextResponse("Not Found", 404) if is_metrics else self.app
        await answer(scope, receive, send)


class OwnOrigin:
    """Refuses the websockets that pages of other sites open in a reader's browser.

    For each of them Streamlit would ask an outside service for this machine's address, and every
    other request would wait for the answer. A proxy that hides from which address the reader's page
    comes looks the same, so the log names the remedy.
    """

    def __init__(self, app: ASGIApp):
        self.app = app
        self._logged: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = _refusal(Headers(scope=scope)) if scope["type"] == "websocket" else None
        if reason is None:
            await self.app(scope, receive, send)
            return
        if reason not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(reason)
            logging.getLogger("mixscope").warning(reason)
        await WebSocketClose(code=1008)(scope, receive, send)


def _refusal(headers: Headers) -> str | None:
    """Return the reason why a websocket is refused, or None; clients without an origin pass."""
    host, origin = headers.get("host", ""), headers.get("origin")
    if not is_host_allowed(host):
        return (
            f"Refused a page of the unknown host {host[:99]!r}. If readers type that name, start "
            "the dashboard with `mixscope serve --name` and the name, without a port."
        )
    if origin is not None and origin.partition("://")[2] != host:
        return (
            f"Refused a page of {origin[:99]!r} that asked for the host {host[:99]!r}. If readers "
            "type the former, have the proxy pass the header Host on as it came, port included."
        )
    return None


class BoundedUploads:
    """Refuses an upload by which a session or the server would hold too many bytes.

    Streamlit bounds each upload alone, and holds uploads until their session ends.
    """

    def __init__(self, app: ASGIApp):
        self.app = app
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _UPLOAD.search(scope["path"]) if scope.get("method") == "PUT" else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        session = upload[1]
        size = int(Headers(scope=scope).get("content-length", UPLOAD_BYTES))
        held = _uploads_held() + self._arriving
        if held[session] + size > SESSION_UPLOADS or held.total() + size > SERVER_UPLOADS:
            await Response(status_code=413)(scope, receive, send)
            return
        self._arriving[session] += size
        try:
            await self.app(scope, receive, send)
        finally:
            self._arriving[session] -= size


def _uploads_held() -> Counter[str]:
    """Bytes of the uploads of each session."""
    manager = cast(MemoryUploadedFileManager, get_instance().uploaded_file_mgr)
    sessions = list(manager.file_storage.items())
    return Counter(
        {key: sum(len(file.data) for file in [*files.values()]) for key, files in sessions}
    )
