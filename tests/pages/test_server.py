"""Responses of the server itself, with and without a prefix, and bounds on uploads."""

import asyncio
from collections.abc import Callable, Iterator
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
def options() -> Iterator[Callable[..., None]]:
    """Set options of the server for a test."""
    before = {name: st.get_option(name) for name in ("server.baseUrlPath", "server.allowedHosts")}

    def set_options(prefix: str = "", names: list[str] | None = None) -> None:
        config.set_option("server.baseUrlPath", prefix)
        config.set_option("server.allowedHosts", ["127.0.0.1", "localhost", *(names or [])])

    yield set_options
    for name, value in before.items():
        config.set_option(name, value)


@pytest.fixture
def client(options, monkeypatch) -> Callable[..., TestClient]:
    """Client of the layers and routes of `app.py` for a folder."""

    def ask(folder: Path, prefix: str = "", **given: list[str]) -> TestClient:
        options(prefix, **given)
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        program: dict[str, Any] = {"__name__": "app"}
        exec(compile((ROOT / "app.py").read_text(encoding="utf-8"), "app.py", "exec"), program)
        app = Starlette(
            routes=[
                *(Route(path, answer) for path, answer in program["_ROUTES"].items()),
                WebSocketRoute("/{path:path}", _accept),
                Route("/{path:path}", _page),
            ],
            middleware=[Middleware(layer) for layer in program["_LAYERS"]],
        )
        return TestClient(app, base_url="http://localhost:8501", follow_redirects=False)

    return ask


async def _page(_) -> HTMLResponse:
    return HTMLResponse(PAGE)


async def _accept(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


@pytest.mark.parametrize("prefix", ["", "mixscope", "a/b"])
def test_addresses_redirects_and_the_script_are_below_the_prefix(client, store_folder, prefix):
    root = f"/{prefix}/" if prefix else "/"
    asked = client(store_folder, prefix)
    for page in ("", "methods"):
        sent_on = asked.get(f"{root}{page}?an_view=heads")
        assert sent_on.headers["location"] == (
            f"{root}{page}?file=tiny.duckdb&lang=en&an_view=heads"
        )
    shown = asked.get(f"{root}methods?file=tiny.duckdb&lang=ja").text
    assert '<html lang="ja">' in shown
    assert f'<script src="{root}own.js" defer>' in shown
    script = asked.get(f"{root}own.js")
    assert (script.status_code, script.headers["content-type"]) == (
        200,
        "text/javascript; charset=utf-8",
    )
    beside = asked.get("/beside/methods")  # of another program behind the same proxy
    assert (beside.status_code, beside.text) == (200, PAGE)


@pytest.mark.parametrize("prefix", ["", "mixscope"])
def test_strangers_are_told_no_metrics(client, store_folder, prefix):
    root = f"/{prefix}/" if prefix else "/"
    asked = client(store_folder, prefix)
    for ending in ("", "/", "%0A", "?families=session_events"):
        refused = asked.get(f"{root}_stcore/metrics{ending}")
        assert (refused.status_code, refused.text) == (404, "Not Found")
        assert refused.headers["x-content-type-options"] == "nosniff"
    assert asked.get(f"{root}_stcore/health").status_code == 200


def test_the_process_is_alive_whatever_its_folder_holds(client, tmp_path):
    answer = client(tmp_path / "gone", "mixscope").get("/mixscope/health")
    assert (answer.status_code, answer.text) == (200, "alive")


def test_it_is_ready_while_one_file_can_be_opened(
    client, store_folder, damaged_folder, other_schema_folder, tmp_path
):
    for folder, name in ((damaged_folder, "damaged.duckdb"), (other_schema_folder, "other.duckdb")):
        answer = client(folder, "mixscope").get("/mixscope/ready")
        assert answer.status_code == 503
        assert answer.text == (
            f"No file of the folder can be opened: {name}. `mixscope check FILE` says why."
        )
    for folder in (tmp_path, tmp_path / "gone"):
        answer = client(folder).get("/ready")
        assert answer.status_code == 503
        assert answer.text == "The folder holds no file of statistics (.duckdb). Put one there."
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


def test_pages_open_sockets_under_the_names_of_the_dashboard(client, store_folder, caplog):
    asked = client(store_folder, names=[NAME])
    for host, origin in (
        ("127.0.0.1:8501", "http://127.0.0.1:8501"),
        (NAME, f"https://{NAME}"),
        (f"{NAME}:8443", f"https://{NAME}:8443"),
        (NAME, None),
    ):
        assert _opens(asked, host, origin), (host, origin)
    assert not caplog.messages
    for origin in ("http://127.0.0.1.example:8501", "null"):
        assert not _opens(asked, "127.0.0.1:8501", origin)


@pytest.mark.parametrize(
    ("host", "origin", "logged"),
    [
        (
            "other.example",
            "https://other.example",
            "Refused a page of the unknown host 'other.example'. If readers type that name, start "
            "the dashboard with `mixscope serve --name` and the name, without a port.",
        ),
        (
            "127.0.0.1:8501",
            f"https://{NAME}",
            f"Refused a page of 'https://{NAME}' that asked for the host '127.0.0.1:8501'. If "
            "readers type the former, have the proxy pass the header Host on as it came, port "
            "included.",
        ),
    ],
)
def test_a_page_that_is_refused_is_logged_once_with_the_remedy(
    client, store_folder, caplog, host, origin, logged
):
    asked = client(store_folder, names=[NAME])
    assert not any(_opens(asked, host, origin) for _ in range(2))
    assert caplog.messages == [logged]


def test_strangers_do_not_fill_the_log(client, store_folder, caplog):
    asked = client(store_folder)
    for number in range(40):
        assert not _opens(asked, "localhost", f"https://{number}.example{'x' * 5000}")
    assert len(caplog.messages) == 20
    assert max(map(len, caplog.messages)) < 400


TAKEN, REFUSED = 204, 413


class Server:
    """The layer that bounds uploads, over one that does not return; limits of 3 and 6 bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.manager = MemoryUploadedFileManager("/_stcore/upload_file")
        runtime = SimpleNamespace(uploaded_file_mgr=self.manager)
        for name, value in (("UPLOAD_BYTES", 2), ("SESSION_UPLOADS", 3), ("SERVER_UPLOADS", 6)):
            monkeypatch.setattr(refusals, name, value)
        monkeypatch.setattr(refusals, "get_instance", lambda: runtime)
        self.layer = refusals.BoundedUploads(self._hold)
        self.n_uploads = 0

    async def _hold(self, scope: Any, receive: Any, send: Any) -> None:
        data = await receive()
        *_, session, name = scope["path"].split("/")
        self.manager.add_file(session, UploadedFileRec(name, name, "", data))
        await send({"status": TAKEN})

    async def put(self, session: str, data: bytes, *, tells_size: bool = True) -> int:
        """Return the status of an upload's answer, while others are in progress."""
        self.n_uploads += 1
        path = f"/below/_stcore/upload_file/{session}/{self.n_uploads}"
        sizes = [(b"content-length", b"%d" % len(data))] if tells_size else []
        statuses = []

        async def receive() -> Any:
            await asyncio.sleep(0)
            return data

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        scope = {"type": "http", "method": "PUT", "path": path, "headers": sizes}
        await self.layer(scope, receive, send)
        return statuses[0]


@pytest.fixture
def server(monkeypatch) -> Server:
    return Server(monkeypatch)


def test_a_session_holds_so_much_and_no_more(server):
    taken = [asyncio.run(server.put("one", data)) for data in (b"12", b"34", b"5", b"6")]
    assert taken == [TAKEN, REFUSED, TAKEN, REFUSED]
    server.manager.remove_session_files("one")
    assert asyncio.run(server.put("one", b"12")) == TAKEN


def test_all_sessions_hold_so_much_and_no_more(server):
    assert [asyncio.run(server.put(session, b"123")) for session in "abc"] == [
        TAKEN,
        TAKEN,
        REFUSED,
    ]
    server.manager.remove_session_files("a")
    assert asyncio.run(server.put("c", b"123")) == TAKEN


def test_what_still_arrives_counts_and_without_a_size_as_the_most(server):
    async def together() -> list[int]:
        puts = (server.put("one", b"1", tells_size=False) for _ in range(3))
        return await asyncio.gather(*puts)

    assert asyncio.run(together()) == [TAKEN, REFUSED, REFUSED]
    assert asyncio.run(server.put("one", b"1")) == TAKEN  # the place of the refused is free
