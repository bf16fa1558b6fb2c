"""Many readers at once, for minutes, while the files that they read are replaced.

    python -m tests.tools.benchmarks.crowd FIRST.duckdb SECOND.duckdb [--sessions 50] [--minutes 10]

The server shows one file that is the first or the second, one in the other's place again and
again. Readers go through all pages, as a browser would ask for them, and some leave in the midst of
one. One reader in five has the model run on a text of the file at every other page, so that models
run in turn. It prints the slowest page and the memory of the server, and ends with status 1 after
an error, a page of two files at once, a page that took too long, or memory that is not given back.
The model of both files has to be on this machine.
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
from tests.pages.kit.chromium import serving
from tests.tools.benchmarks.page_times import Session

FILE = "crowd.duckdb"
MARKS = ("crowd-one", "crowd-two")
"""What stands for the name of the corpus in each file, so that pages say which they show."""
LIVE_EVERY = 5
LIVE = "a text run live"
AFTERWARDS = 30.0  # seconds in which a server gives back what its readers held
MORE_MEMORY = 1024
"""In MiB, that a server may hold afterwards beyond what it held when each page was opened once."""
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


def read(server: str, number: int, *, until: float, reading: float) -> list[tuple[float, str]]:
    """Seconds and name of every page that one reader opens until then.

    Args:
        reading: seconds between two pages, on average.

    Raises:
        Mixture: a page shows both files.
        RuntimeError: a page ended in an exception.
    """
    random, pages = Random(number), []
    session = Session(server)
    for turn in range(number, sys.maxsize):
        time.sleep(random.uniform(0, 2 * reading))
        if time.monotonic() > until:
            break
        page = _PAGES[turn % len(_PAGES)]
        if random.random() < 0.1:  # leaves in the midst of a page, and comes again
            session.ask(page, file=FILE)
            session.close()
            session = Session(server)
        is_live = number % LIVE_EVERY == 0 and turn % 2 == 0
        shown, address = ("sequences", _of_a_text(random)) if is_live else (page, {})
        took = session.open(shown, file=FILE, **address)
        pages.append((took, LIVE if is_live else page))
        assert_one_file(b"".join(session.received), page)
    session.close()
    return pages


def _of_a_text(random: Random) -> dict[str, str]:
    """The address of a map that no file keeps: of some text and layer."""
    text, layer = str(random.randrange(50)), str(random.randrange(1, 5))
    return {"seq_view": "map", "seq_seq": text, "seq_layer": layer}


def assert_one_file(received: bytes, page: str) -> None:
    """Raises if what a page was sent is of both files.

    Raises:
        Mixture: naming the page.
    """
    if all(mark.encode() in received for mark in MARKS):
        raise Mixture(page)


def memory(process: int) -> int:
    """MiB that a process holds; 0 once it is over."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def children_of(process: int) -> list[int]:
    """Processes that any thread of a process has started and that still run."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


def measure(
    files: list[Path],
    sessions: int,
    seconds: float,
    *,
    pause: float,
    longest: float,
    reading: float,
) -> list[str]:
    """Print what a crowd sees; what was wrong.

    Args:
        pause: seconds after which the file is replaced.
        longest: seconds that a page may take, but for those that wait for the model.
        reading: seconds that a reader stays on a page, on average.
    """
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "shown").mkdir()
        named = zip(files, MARKS, strict=True)
        copies = [marked(file, mark, folder / mark) for file, mark in named]
        shown = Path(shutil.copyfile(copies[0], folder / "shown" / FILE))
        with serving(shown.parent) as server:
            process = max(children_of(os.getpid()))
            _open_all(server)
            held, beside = [memory(process)], [0]
            with replacing(copies, shown, pause) as times:
                until = time.monotonic() + seconds
                readers = partial(read, server, until=until, reading=reading)
                opened, wrong = _crowd(readers, sessions, partial(_hold, process, held, beside))
                middle = held[len(held) // 2]
            time.sleep(AFTERWARDS)
            _hold(process, held, beside)
    print(f"{len(opened)} pages, {times[0]} files replaced, {len(wrong)} error(s)")
    for kind, pages in _by_kind(opened).items():
        median, most = (pages[len(pages) * percent // 100][0] for percent in (50, 95))
        slowest, page = pages[-1]
        print(
            f"{kind}: {len(pages)}, slowest {page} {slowest:.2f} s, median {median:.2f} s, "
            f"95% within {most:.2f} s"
        )
        if kind != LIVE and slowest > longest:
            wrong.append(f"{page} took {slowest:.2f} s")
    print(
        f"memory of the server in MiB: {held[0]} before, {middle} at half time, {max(held)} at "
        f"most, {held[-1]} afterwards; of its other processes together {max(beside)} at most"
    )
    if held[-1] > held[0] + MORE_MEMORY:
        wrong.append(f"{held[-1] - held[0]} MiB are not given back")
    return wrong


def _by_kind(opened: list[tuple[float, str]]) -> dict[str, list[tuple[float, str]]]:
    """Pages that show what is stored, and those that a model is run for; the slowest last."""
    live = [page for page in opened if page[1] == LIVE]
    stored = [page for page in opened if page[1] != LIVE]
    return {kind: pages for kind, pages in (("pages", stored), (LIVE, live)) if pages}


def _open_all(server: str) -> None:
    """Have the server load what it loads once."""
    session = Session(server)
    for page in _PAGES:
        session.open(page, file=FILE)
    session.open("sequences", file=FILE, **_of_a_text(Random(0)))
    session.close()


def _crowd(
    reader: Callable[[int], list[tuple[float, str]]], sessions: int, meanwhile: Callable[[], None]
) -> tuple[list[tuple[float, str]], list[str]]:
    """The pages that so many readers opened, the slowest last, and the errors they met."""
    with ThreadPoolExecutor(sessions) as pool:
        readers = [pool.submit(reader, number) for number in range(sessions)]
        while not all(future.done() for future in readers):
            time.sleep(1)
            meanwhile()
    wrong = [repr(future.exception()) for future in readers if future.exception()]
    content = [future for future in readers if not future.exception()]
    return sorted(page for future in content for page in future.result()), wrong


def _hold(process: int, held: list[int], beside: list[int]) -> None:
    """Note the memory of a server, and of the processes that it has started."""
    held.append(memory(process))
    beside.append(sum(map(memory, children_of(process))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs=2)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--replace-every", type=float, default=30, help="seconds")
    parser.add_argument("--longest", type=float, default=5, help="seconds that a page may take")
    parser.add_argument("--reading", type=float, default=5, help="seconds on a page, on average")
    asked = parser.parse_args()
    wrong = measure(
        asked.files,
        asked.sessions,
        60 * asked.minutes,
        pause=asked.replace_every,
        longest=asked.longest,
        reading=asked.reading,
    )
    print(*wrong, sep="\n", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
