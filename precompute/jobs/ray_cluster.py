"""The Ray cluster that a run joins, or one of this machine."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from analysis.errors import UserError

RAY = "ray==2.60.0"
_SECONDS = 5.0  # for an address to be reached, and again to answer
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = b"\4"  # the kind of the first frame of an answer, its fourth byte


def ray_module() -> ModuleType:
    """Return Ray, imported.

    Raises:
        UserError: it is not installed.
    """
    if "RAY_ADDRESS" not in os.environ:  # read as Ray is imported: all it opens is on loopback then
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        return import_module("ray")
    except ImportError as error:
        raise UserError(
            f"Ray is not installed. Install it: python -m pip install {RAY}, "
            "or take --runner local."
        ) from error


@contextmanager
def joined_cluster(ray: ModuleType) -> Iterator[None]:
    """Join the cluster that RAY_ADDRESS names, or one of this machine that ends with the run.

    Raises:
        UserError: no cluster answers there.
    """
    try:
        _join(ray, os.environ.get("RAY_ADDRESS"))
        yield
    finally:
        ray.shutdown()


def _join(ray: ModuleType, address: str | None) -> None:
    signals: Any = import_module("ray._private.utils")
    set_theirs = signals.set_sigterm_handler
    signals.set_sigterm_handler = lambda _: None  # a run that is stopped ends in its own way
    options = {} if address else {"include_dashboard": False}
    try:
        if address:
            check_answer(address)
        ray.init(
            address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **options
        )
    except (ConnectionError, ValueError) as error:
        raise UserError(
            f"No Ray cluster answers at RAY_ADDRESS={address} ({str(error).splitlines()[0]}). "
            "Start one (ray start --head), or unset RAY_ADDRESS to use this machine alone."
        ) from error
    finally:
        signals.set_sigterm_handler = set_theirs


def check_answer(address: str) -> None:
    """Raise ConnectionError unless a Ray server, which speaks HTTP/2, answers at an address.

    Ray itself waits minutes for an answer.

    Args:
        address: as in RAY_ADDRESS: host:port, ray://host:port, or `auto`.

    Raises:
        ConnectionError: with the reason.
    """
    if address == "auto":
        services = import_module("ray._private.services")
        address = services.canonicalize_bootstrap_address(address) or address
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return  # Ray reports the fault itself
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") != "0":
                return
            connection.sendall(_GREETING)
            answer = connection.recv(4)
    except OSError as error:
        raise ConnectionError(error.strerror or str(error)) from error
    if answer[3:] != _SETTINGS:
        raise ConnectionError("what is there is no server of Ray")
