"""Websockets of other sites are refused, while those of the own pages are opened."""

from collections.abc import Callable
from functools import partial
from random import Random
from string import printable
from urllib.parse import urlsplit

from websockets.exceptions import InvalidMessage, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.pages.kit.chromium import serving
from tests.tools.faults.hostile.opened import Pages
from tests.tools.faults.process import Wrong

Kind = Callable[[Random], str]
_AT_ONCE = 25
_WRITABLE = printable.strip()


def kinds(pages: Pages) -> dict[str, Kind]:
    """Sockets of 25 other sites, each time on a server that has just started."""
    return {"sockets of other sites": partial(_opened, pages)}


def _opened(pages: Pages, chance: Random) -> str:
    with serving(pages.statistics) as server:
        for _ in range(_AT_ONCE):
            origin = _other_site(server, chance)
            if not _is_refused(server, origin):
                raise Wrong(f"a page of {origin!r} opened a socket to {server}")
            if _is_refused(server, server):
                raise Wrong(f"after a page of {origin!r} the own pages open no socket to {server}")
    return f"refused {_AT_ONCE} sites each, own pages answered"


def _other_site(server: str, chance: Random) -> str:
    """Return an origin that is near to the server's, or any letters."""
    own = urlsplit(server)
    near = (
        f"http://{own.hostname}",
        f"http://{own.hostname}:{chance.randrange(1, 65536)}/",
        f"http://{own.netloc}.{chance.choice(('example', 'com', '1'))}",
        f"http://{chance.choice(('localhost', '[::1]', '0.0.0.0', '127.1'))}:{own.port}",
        f"https://example.org/{own.netloc}",
        f"http://{own.netloc}@example.org",
        f"null {own.netloc}",
        "null",
        "".join(chance.choices(_WRITABLE, k=chance.randrange(1, 2000))),
    )
    return chance.choice(near)


def _is_refused(server: str, origin: str) -> bool:
    address = f"{server.replace('http', 'ws')}/_stcore/stream"
    try:
        with connect(address, origin=Origin(origin), subprotocols=[Subprotocol("streamlit")]):
            return False
    except (InvalidStatus, InvalidMessage):
        return True
