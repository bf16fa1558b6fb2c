"""Waiting times of readers: comparing, reading a text, querying, reporting, alone and in a crowd.

    python -m tests.tools.benchmarks.page_times FOLDER [--sessions 20]

The benchmark requests pages from a real server, as a browser does, without the time that a browser
takes to draw. It opens the first file of the folder, by name. Every page was opened before.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from pages.ui.charts.standard import bars
from pages.ui.choices.links import VIEWS
from pages.ui.collection.collection import Collection
from pages.ui.collection.item import Item
from pages.ui.collection.paper import paper
from pages.ui.collection.web import web_page
from pages.ui.contents import PAGES
from pages.ui.export.files import with_data
from pages.ui.sql.asking import SECONDS, asked
from tests.pages.kit.chromium import serving
from tests.pages.kit.section_checks import stems
from tests.tools.benchmarks.cost import seconds

ROOT = Path(__file__).parents[3]
PATIENCE = 120  # seconds
RUNAWAY = (
    "select count(*) from range(1000000) a, range(1000000) b where (a.range + b.range) % 7 = 8"
)
TEXT = " ".join(["The river crosses the old town and its bridges carry the trams."] * 2)
OTHER = TEXT.replace("river", "road")
N_CHARTS = 20
READING = 10.0  # seconds
PROMPT = 0.3  # seconds


class Session:
    """A reader of a server, who receives what a browser would receive."""

    def __init__(self, server: str) -> None:
        address = f"{server.replace('http', 'ws')}/_stcore/stream"
        protocols = [Subprotocol("streamlit")]
        self._socket = connect(
            address, subprotocols=protocols, max_size=None, open_timeout=PATIENCE
        )
        self._socket.__enter__()
        self.received: list[bytes] = []
        """What was sent for the page that was opened last."""

    def close(self) -> None:
        self._socket.close()

    def open(self, page: str, **address: Any) -> float:
        """Seconds until the page is complete.

        Raises:
            RuntimeError: it ended in an exception, or another page came.
        """
        started = time.perf_counter()
        self.ask(page, **address)
        shown = ""
        while True:
            message = ForwardMsg()
            self.received.append(cast(bytes, self._socket.recv(timeout=PATIENCE)))
            message.ParseFromString(self.received[-1])
            if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self.received.clear()
                continue
            if message.delta.new_element.exception.message:
                raise RuntimeError(f"{page}: {message.delta.new_element.exception.message}")
            if message.WhichOneof("type") == "navigation":
                place = message.navigation
                paths = {entry.page_script_hash: entry.url_pathname for entry in place.app_pages}
                shown = paths[place.page_script_hash]
            if message.WhichOneof("type") == "script_finished":
                took = time.perf_counter() - started
                if shown != PAGES[page]:
                    raise RuntimeError(f"{shown} came in place of {page}")
                return took

    def ask(self, page: str, **address: Any) -> None:
        """Request a page without waiting for it."""
        asked_for = BackMsg()
        asked_for.rerun_script.query_string = urlencode({"lang": "en", **address})
        asked_for.rerun_script.page_name = PAGES[page]
        self.received.clear()
        self._socket.send(asked_for.SerializeToString())


def again(session: Session, page: str, **address: Any) -> float:
    """Seconds of a page that was opened before."""
    session.open(page, **address)
    return min(session.open(page, **address) for _ in range(3))


def sections_alone(session: Session, **address: Any) -> dict[str, float]:
    """Seconds of every section, and of every page without any, that was opened before."""
    alone = {page: again(session, page, **address) for page in PAGES.keys() - VIEWS.keys()}
    for page, view in VIEWS.items():
        for stem in stems(page):
            alone[f"{page}, {stem}"] = again(session, page, **address, **{view: stem})
    return alone


def crowd(server: str, n: int, *, turns: int, pause: float, **address: Any) -> list[float]:
    """Seconds of each page that so many sessions open, each one after the other.

    Args:
        turns: pages that each session opens.
        pause: seconds that each reads a page, on average; without one all ask at once.
    """
    pages = [page for page in PAGES if page != "report"]

    def visit(place: int) -> list[float]:
        session, random = Session(server), Random(place)
        times = []
        for turn in range(turns):
            time.sleep(random.uniform(0, 2 * pause))
            times.append(session.open(pages[(place + turn) % len(pages)], **address))
        session.close()
        return times

    with ThreadPoolExecutor(n) as pool:
        return [took for times in pool.map(visit, range(n)) for took in times]


def typed(folder: Path, file: str) -> tuple[float, float]:
    """Seconds until the map of a typed text is complete: for the first text, and for the next."""
    os.environ["MIXSCOPE_STATISTICS"] = str(folder)
    session = AppTest.from_file(ROOT / "pages" / "_main.py", default_timeout=PATIENCE).run()
    session.switch_page("sequences/page.py")
    for key, chosen in {"lang": "en", "file": file, "seq_whose": "own"}.items():
        session.query_params[key] = chosen
    session.run()
    first, then = (_typed(session, text) for text in (TEXT, OTHER))
    return first, then


def _typed(session: AppTest, text: str) -> float:
    session.text_area[0].set_value(text)
    [start] = [button for button in session.button if button.form_id]
    took = seconds(lambda: start.click().run())
    assert not session.exception, session.exception
    assert session.get("vega_lite_chart"), "no map came"
    return took


def report() -> dict[str, tuple[float, float]]:
    """Seconds and megabytes of a page and a document of twenty charts, as in a session."""

    def script() -> None:
        import pandas as pd
        import streamlit as st

        from tests.tools.benchmarks.page_times import made

        st.session_state["times"] = made(pd.DataFrame({"layer": range(1, 13), "mean": 0.5}))

    session = AppTest.from_function(script, default_timeout=PATIENCE).run()
    assert not session.exception, session.exception
    return session.session_state["times"]


def made(frame: Any) -> dict[str, tuple[float, float]]:
    """Seconds and megabytes of a report of as many charts."""
    chart = with_data(bars(frame, x="layer", y="mean"))
    items = [
        Item(f"Question {n}", "A finding.", "A caption.", "A source.", "", "1", chart=chart)
        for n in range(N_CHARTS)
    ]
    collection = Collection("Report", tuple(items))
    sizes: dict[str, int] = {}
    page = seconds(lambda: sizes.update(page=len(web_page(collection).encode())))
    document = seconds(lambda: sizes.update(document=len(paper(collection))))
    return {"page": (page, sizes["page"] / 1e6), "document": (document, sizes["document"] / 1e6)}


def measure(folder: Path, sessions: int = 20) -> None:
    """Print what readers of the first file of a folder wait for."""
    first_file = min(folder.glob("*.duckdb"), key=lambda path: path.stem)
    file = {"file": first_file.name}
    with serving(folder) as server:
        session = Session(server)
        for view in ("numbers", "layers", "heads", "pairs"):
            print(f"compare, {view}: {again(session, 'compare', cmp_view=view, **file):.2f} s")
        for view in ("map", "pairs"):
            print(f"sequence, {view}: {again(session, 'sequences', seq_view=view, **file):.2f} s")
        alone = sections_alone(session, **file)
        slowest = max(alone, key=alone.__getitem__)
        within = sum(took <= PROMPT for took in alone.values())
        print(f"slowest section alone, {slowest}: {alone[slowest]:.2f} s")
        print(f"sections alone: {within} of {len(alone)} within {PROMPT:g} s")
        for turns, pause in ((1, 0.0), (6, READING)):
            times = sorted(crowd(server, sessions, turns=turns, pause=pause, **file))
            how = f"after {pause:g} s of reading each" if pause else "in the same moment"
            print(
                f"{sessions} sessions, {len(times)} pages {how}: "
                f"median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.2f} s"
            )
    first, then = typed(folder, first_file.name)
    print(f"typed text of 30 tokens: {then:.2f} s; {first:.2f} s with the model to be loaded")
    stopped = seconds(lambda: asked(str(first_file), [RUNAWAY]))
    print(f"a question that never ends, stopped after {SECONDS:g} s: {stopped:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=20)
    given = parser.parse_args()
    measure(given.folder, given.sessions)
    for name, (took, size) in report().items():
        print(f"report of {N_CHARTS} charts, {name}: {took:.2f} s, {size:.2f} MB")


if __name__ == "__main__":
    main()
