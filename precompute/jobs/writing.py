"""Shards written beside the computing of the next ones."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

Write = Callable[[Callable[[], object]], None]
"""Who is given a piece of writing and sees that it is done, at once or soon."""
MOST_WAITING = 1
"""Of pieces that are held in memory: computing waits while as many are not written yet."""


def at_once(work: Callable[[], object]) -> None:
    """Write before anything else is done."""
    work()


@contextmanager
def beside() -> Iterator[Write]:
    """Write in a thread of its own, one piece after the other in the order they were given.

    At the end everything is written. What goes wrong with a piece is raised as soon as the next one
    is given, or at the end; pieces after it are not begun, nor are any if computing fails. A piece
    that was begun is finished in either case.
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
