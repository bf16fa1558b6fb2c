"""Many readers at once, for minutes, while the files that they read are replaced.

    python -m tests.benchmarks.crowd FIRST.duckdb SECOND.duckdb [--sessions 50] [--minutes 10]

The server shows one file that is the first or the second, one in the other's place again and
again. Readers go through all pages, as a browser would ask for them, and some leave in the midst of
one. It prints the slowest page and the memory of the server, and ends with status 1 after an error
or a page of two files at once.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread

import duckdb

from pages.ui.contents import PAGES
from tests.benchmarks.page_times import Session
from tests.pages.kit.chromium import serving

FILE = "crowd.duckdb"
MARKS = ("crowd-one", "crowd-two")
"""What stands for the name of the corpus in each file, so that pages say which they show."""
READING = 5.0  # seconds, on average
_PAGES = [page for page in PAGES if page != "report"]


class Mixture(Exception):
    """A page that shows two files as one."""


def marked(source: Path, mark: str, target: Path) -> Path:
    """A copy of a file whose corpus goes by another name."""
    shutil.copyfile(source, target)
    with duckdb.connect(str(target)) as store:
        store.execute("update stored.run set corpus = ?", [mark])
    return target


@contextmanager
def replacing(copies: list[Path], shown: Path, seconds: float) -> Iterator[list[int]]:
    """One copy in the place of the other, again and again; how often."""
    done, times = Event(), [0]

    def replace() -> None:
        while not done.wait(seconds):
            times[0] += 1
            beside = shown.with_name(".next")
            shutil.copyfile(copies[times[0] % len(copies)], beside)
            os.replace(beside, shown)

    thread = Thread(target=replace)
    thread.start()
    try:
        yield times
    finally:
        done.set()
        thread.join()


def read(server: str, number: int, until: float) -> list[tuple[float, str]]:
    """Seconds and name of every page that one reader opens until then.

    Raises:
        Mixture: a page shows both files.
        RuntimeError: a page ended in an exception.
    """
    random, found = Random(number), []
    session = Session(server)
    for turn in range(number, sys.maxsize):
        time.sleep(random.uniform(0, 2 * READING))
        if time.monotonic() > until:
            break
        page = _PAGES[turn % len(_PAGES)]
        if random.random() < 0.1:  # leaves in the midst of a page, and comes again
            session.ask(page, file=FILE)
            session.close()
            session = Session(server)
        found.append((session.open(page, file=FILE), page))
        assert_one_file(b"".join(session.received), page)
    session.close()
    return found


def assert_one_file(received: bytes, page: str) -> None:
    """Raises if what a page was sent is of both files.

    Raises:
        Mixture: naming the page.
    """
    if all(mark.encode() in received for mark in MARKS):
        raise Mixture(page)


def memory(process: int) -> int:
    """MiB that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def newest_child() -> int:
    """The process that this one started last."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return max(map(int, children))


def measure(files: list[Path], sessions: int, seconds: float, pause: float) -> list[str]:
    """Print what a crowd sees; what was wrong."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "shown").mkdir()
        named = zip(files, MARKS, strict=True)
        copies = [marked(file, mark, folder / mark) for file, mark in named]
        shown = Path(shutil.copyfile(copies[0], folder / "shown" / FILE))
        with serving(shown.parent) as server:
            process = newest_child()
            _open_all(server)
            held = [memory(process)]
            with replacing(copies, shown, pause) as times:
                opened, wrong = _crowd(server, sessions, seconds, partial(_hold, process, held))
            print(f"{len(opened)} pages, {times[0]} files replaced, {len(wrong)} error(s)")
            (median, _), (slowest, page) = opened[len(opened) // 2], opened[-1]
            print(f"slowest page: {page}, {slowest:.2f} s; median {median:.2f} s")
            print(f"memory in MiB: {held[0]} before, {max(held)} at most, {held[-1]} at the end")
    return wrong


def _open_all(server: str) -> None:
    """Have the server load what it loads once."""
    session = Session(server)
    for page in _PAGES:
        session.open(page, file=FILE)
    session.close()


def _crowd(
    server: str, sessions: int, seconds: float, meanwhile: Callable[[], None]
) -> tuple[list[tuple[float, str]], list[str]]:
    """The pages that so many readers opened, the slowest last, and the errors they met."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(sessions) as pool:
        readers = [pool.submit(read, server, number, until) for number in range(sessions)]
        while not all(each.done() for each in readers):
            time.sleep(1)
            meanwhile()
    wrong = [repr(each.exception()) for each in readers if each.exception()]
    content = [each for each in readers if not each.exception()]
    return sorted(page for each in content for page in each.result()), wrong


def _hold(process: int, held: list[int]) -> None:
    held.append(memory(process))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs=2)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--replace-every", type=float, default=30, help="seconds")
    asked = parser.parse_args()
    wrong = measure(asked.files, asked.sessions, 60 * asked.minutes, asked.replace_every)
    print(*wrong, sep="\n", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
