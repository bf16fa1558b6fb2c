"""Path, health probes and shutdown of the dashboard's server."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Timer, current_thread, main_thread
from types import FrameType
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from pages.services.chosen import first_readable, readable
from pages.services.folder import files, folder
from pages.services.open_file import Store

_GRACE = 3
"""Seconds left for downloads after the server is told to end."""


def root() -> str:
    """Return the path of the first page, below which all others are."""
    prefix = st.get_option("server.baseUrlPath").strip("/")
    return f"/{prefix}/" if prefix else "/"


async def health(_: Request) -> Response:
    """Return status 200: the process is alive, whatever its files and readers do."""
    return PlainTextResponse("alive")


async def ready(_: Request) -> Response:
    """Return status 200 if a file can be opened; 503, with the reason, if none can."""
    reason = await run_in_threadpool(_why_not_ready)
    return PlainTextResponse(reason or "ready", 503 if reason else 200)


def _why_not_ready() -> str:
    """Return the reason why no file can be opened; empty if one can."""
    paths = files()
    file = first_readable(paths)
    if file is None:
        return "The folder holds no file of statistics (.duckdb). Put one there."
    if isinstance(readable(file), Store):
        return ""
    names = ", ".join(path.name for path in paths)
    return f"No file of the folder can be opened: {names}. `mixscope check FILE` says why."


@asynccontextmanager
async def running(_: object) -> AsyncIterator[None]:
    """Print folder and address once the server runs, and end it in time."""
    address, port = st.get_option("server.address"), st.get_option("server.port")
    host = f"[{address}]" if ":" in address else address
    print(f"Mixscope serves the files of {folder()} at http://{host}:{port}{root()}", flush=True)
    if current_thread() is main_thread():  # nobody else hears signals
        for number in (signal.SIGINT, signal.SIGTERM):
            _end_in_time(number, signal.getsignal(number))
    yield


def _end_in_time(number: int, end: Any) -> None:
    """Make a signal end the process after some seconds: a stalled reader would keep it alive."""

    def end_soon(number: int, frame: FrameType | None) -> None:
        late = Timer(_GRACE, os._exit, [128 + number])
        late.daemon = True
        late.start()
        end(number, frame)

    signal.signal(number, end_soon)
