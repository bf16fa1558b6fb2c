"""Responses of the server itself, with and without a prefix, and bounds on uploads."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.services import refusals

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PAGE = '<html lang="en"><head></head></html>'
NAME = "stats.example.org"


@pytest.fixture
def client(monkeypatch) -> Iterator[Callable[..., TestClient]]:
    """Client of the layers and routes of `app.py` for a folder."""
    before = {name: st.get_option(name) for name in ("server.baseUrlPath", "server.allowedHosts")}

    async def page(_) -> HTMLResponse:
        return HTMLResponse(PAGE)

    async def accept(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    def ask(folder: Path, prefix: str = "", names: tuple[str, ...] = ()) -> TestClient:
        config.set_option("server.baseUrlPath", prefix)
        config.set_option("server.allowedHosts", ["127.0.0.1", "localhost", *names])
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        program: dict[str, Any] = {"__name__": "app"}
        exec(compile((ROOT / "app.py").read_text(encoding="utf-8"), "app.py", "exec"), program)
        own = [Route(path, answer) for path, answer in program["_ROUTES"].items()]
        every = "/{path:path}"
        app = Starlette(
            routes=[*own, WebSocketRoute(every, accept), Route(every, page)],
            middleware=[Middleware(layer) for layer in program["_LAYERS"]],
        )
        return TestClient(app, base_url="http://localhost:8501", follow_redirects=False)

    yield ask
    for name, value in before.items():
        config.set_option(name, value)


@pytest.mark.parametrize("prefix", ["", "a/b"])
def test_addresses_redirects_and_the_script_are_below_the_prefix(client, store_folder, prefix):
    root = f"/{prefix}/" if prefix else "/"
    asked = client(store_folder, prefix)
    for page in ("", "methods"):
        location = asked.get(f"{root}{page}?an_view=heads").headers["location"]
        assert location == f"{root}{page}?file=tiny.duckdb&lang=en&an_view=heads"
    shown = asked.get(f"{root}methods?file=tiny.duckdb&lang=ja").text
    assert '<html lang="ja">' in shown
    assert f'<script src="{root}own.js" defer>' in shown
    assert asked.get(f"{root}own.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert asked.get("/beside/methods").text == PAGE, "another program behind the same proxy"
    for ending in ("", "/", "%0A", "?families=session_events"):
        refused = asked.get(f"{root}_stcore/metrics{ending}")  # nothing for strangers
        assert (refused.status_code, refused.text) == (404, "Not Found")
    assert asked.get(f"{root}_stcore/health").status_code == 200


def test_it_is_ready_while_one_file_can_be_opened_and_alive_whatever_there_is(
    client, store_folder, damaged_folder, tmp_path
):
    assert client(tmp_path / "gone", "mixscope").get("/mixscope/health").text == "alive"
    none = "The folder holds no file of statistics (.duckdb). Put one there."
    damaged = "No file of the folder can be opened: damaged.duckdb. `mixscope check FILE` says why."
    for folder, reason in ((damaged_folder, damaged), (tmp_path, none), (tmp_path / "gone", none)):
        answer = client(folder).get("/ready")
        assert (answer.status_code, answer.text) == (503, reason)
    for folder in (damaged_folder, store_folder):
        for file in folder.glob("*.duckdb"):
            (tmp_path / file.name).symlink_to(file)
    answer = client(tmp_path).get("/ready")
    assert (answer.status_code, answer.text) == (200, "ready")


def _opens(asked: TestClient, host: str, origin: str | None) -> bool:
    headers = {"host": host} | ({"origin": origin} if origin else {})
    try:
        with asked.websocket_connect("/_stcore/stream", headers=headers):
            return True
    except WebSocketDisconnect:
        return False


UNKNOWN = (
    "Refused a page of the unknown host 'other.example'. If readers type that name, start "
    "the dashboard with `mixscope serve --name` and the name, without a port."
)
REWRITTEN = (
    f"Refused a page of 'https://{NAME}' that asked for the host '127.0.0.1:8501'. If readers type "
    "the former, have the proxy pass the header Host on as it came, port included."
)


@pytest.mark.parametrize(
    ("host", "origin", "logged"),
    [
        ("127.0.0.1:8501", "http://127.0.0.1:8501", None),
        (f"{NAME}:8443", f"https://{NAME}:8443", None),
        (NAME, None, None),
        ("other.example", "https://other.example", UNKNOWN),
        ("127.0.0.1:8501", f"https://{NAME}", REWRITTEN),
    ],
)
def test_pages_open_sockets_under_the_names_of_the_dashboard_and_refusals_are_logged_once(
    host, origin, logged, client, store_folder, caplog
):
    asked = client(store_folder, names=(NAME,))
    assert [_opens(asked, host, origin) for _ in range(2)] == [logged is None] * 2
    assert caplog.messages == [logged] * (logged is not None)


TAKEN, REFUSED = 204, 413


@pytest.fixture
def uploads(monkeypatch) -> tuple[MemoryUploadedFileManager, Callable[..., list[int]]]:
    """Store of uploads, and the statuses of uploads that arrive together.

    Of the layer that bounds them, over one that keeps them, with limits of 3 bytes a session and 6
    in all. Without their size uploads count as 2 bytes.
    """
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    for name, value in (("UPLOAD_BYTES", 2), ("SESSION_UPLOADS", 3), ("SERVER_UPLOADS", 6)):
        monkeypatch.setattr(refusals, name, value)
    runtime = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(refusals, "get_instance", lambda: runtime)

    async def keep(scope: Any, receive: Any, send: Any) -> None:
        data = await receive()
        *_, session, name = scope["path"].split("/")
        manager.add_file(session, UploadedFileRec(name, name, "", data))
        await send({"status": TAKEN})

    layer, names = refusals.BoundedUploads(keep), count()

    async def put(session: str, data: bytes, tells_size: bool) -> int:
        statuses = []

        async def receive() -> Any:
            await asyncio.sleep(0)
            return data

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        path = f"/below/_stcore/upload_file/{session}/{next(names)}"
        sizes = [(b"content-length", b"%d" % len(data))] if tells_size else []
        await layer(
            {"type": "http", "method": "PUT", "path": path, "headers": sizes}, receive, send
        )
        return statuses[0]

    def together(*given: tuple[str, bytes], tells_size: bool = True) -> list[int]:
        async def every() -> list[int]:
            return await asyncio.gather(*(put(*one, tells_size) for one in given))

        return asyncio.run(every())

    return manager, together


def test_sessions_hold_so_much_and_no_more(uploads):
    manager, together = uploads
    taken = [together(("one", data)) for data in (b"12", b"34", b"5", b"6")]
    assert taken == [[TAKEN], [REFUSED], [TAKEN], [REFUSED]]
    assert together(("two", b"123")) == [TAKEN]
    assert together(("three", b"1")) == [REFUSED], "all of them together"
    manager.remove_session_files("one")
    assert together(("three", b"12")) == [TAKEN]


def test_what_still_arrives_counts_and_without_a_size_as_the_most(uploads):
    _, together = uploads
    assert together(*[("one", b"1")] * 3, tells_size=False) == [TAKEN, REFUSED, REFUSED]
    assert together(("one", b"1")) == [TAKEN]  # the place of the refused is free
