"""Uploads are bounded for each session, and for all of them together."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.services import refusals

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
