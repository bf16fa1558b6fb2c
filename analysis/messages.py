"""Messages between two processes over pipes, which every system has."""

import pickle
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

_HEAD = 8  # bytes for the length of a message


class Messages:
    """The messages that one process sends and receives; both ends are programs of this project."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._outgoing = outgoing
        self._received: SimpleQueue[bytes] = SimpleQueue()
        self._first: bytes | None = None
        Thread(target=self._listen, args=[incoming], daemon=True).start()

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            EOFError: the other process has ended.
        """
        body = pickle.dumps(message)
        try:
            self._outgoing.write(len(body).to_bytes(_HEAD) + body)
            self._outgoing.flush()
        except OSError as error:  # Windows has another kind of it than a broken pipe
            raise EOFError from error

    def poll(self, seconds: float = 0.0) -> bool:
        """Return True once a message, or the end of the other process, can be received."""
        if self._first is None:
            with suppress(Empty):
                self._first = self._received.get(timeout=seconds)
        return self._first is not None

    def receive(self) -> Any:
        """Return the next message.

        Raises:
            EOFError: the other process has ended.
        """
        body = self._received.get() if self._first is None else self._first
        self._first = None
        if not body:
            self._first = body
            raise EOFError
        return pickle.loads(body)  # noqa: S301 – of our own program

    def _listen(self, incoming: IO[bytes]) -> None:
        """Queue every whole message, and an empty one at the end."""
        try:
            while len(head := incoming.read(_HEAD)) == _HEAD:
                body = incoming.read(int.from_bytes(head))
                if len(body) == int.from_bytes(head):
                    self._received.put(body)
        finally:
            self._received.put(b"")
