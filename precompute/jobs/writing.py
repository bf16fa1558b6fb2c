"""Shards written beside the computing of the next ones."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

Write = Callable[[Callable[[], object]], None]
"""Function that takes a piece of writing and performs it, at once or soon."""
MOST_WAITING = 1
"""Most pieces in memory: computing waits while as many are not written yet."""


def at_once(work: Callable[[], object]) -> None:
    """Write before anything else is done."""
    work()


@contextmanager
def beside() -> Iterator[Write]:
    """Write in a separate thread, one piece after the other in the given order.

    At the end everything is written. An error in a piece is raised when the next one is given, or
    at the end; later pieces are not begun, nor are any if computing fails. A piece that was begun
    is finished in either case.
    """
    waiting: deque[Future] = deque()

    def look(at_most: int) -> None:
        while waiting and (len(waiting) > at_most or waiting[0].done()):
            waiting.popleft().result()

    def write(work: Callable[[], object]) -> None:
        look(at_most=MOST_WAITING - 1)
        waiting.append(pool.submit(work))

    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writing")
    try:
        yield write
        look(at_most=0)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
