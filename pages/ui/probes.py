"""What the server tells whoever starts and watches it, which no reader sees."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from pages.ui.store.chosen import first_readable, readable
from pages.ui.store.folder import files, folder
from pages.ui.store.open_file import Store


async def health(_: Request) -> Response:
    """Return that the process is alive, whatever its files and its readers do."""
    return PlainTextResponse("alive")


async def ready(_: Request) -> Response:
    """Return whether a reader would see numbers: 503, with the reason, if no file can be opened."""
    reason = await run_in_threadpool(_why_not_ready)
    return PlainTextResponse(reason or "ready", 503 if reason else 200)


def _why_not_ready() -> str:
    """Return why a reader would see no numbers; nothing if a file can be opened."""
    paths = files()
    file = first_readable(paths)
    if file is None:
        return "The folder holds no file of statistics (.duckdb). Put one there."
    if isinstance(readable(file), Store):
        return ""
    names = ", ".join(path.name for path in paths)
    return f"No file of the folder can be opened: {names}. `mixscope check FILE` says why."


@asynccontextmanager
async def say_where(_: st.App) -> AsyncIterator[None]:
    """Print which folder is served at which address, once it is."""
    address, port, prefix = (
        st.get_option(f"server.{name}") for name in ("address", "port", "baseUrlPath")
    )
    host = f"[{address}]" if ":" in address else address
    path = f"/{prefix}/" if prefix else "/"
    print(f"Mixscope serves the files of {folder()} at http://{host}:{port}{path}", flush=True)
    yield
