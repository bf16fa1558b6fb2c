"""The file that the reader chose, and the only way to ask it something."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import streamlit as st

from analysis.foreign_file import MEMORY, BrokenContract, OtherSchema
from analysis.scopes import ORDERS, LayerOrder
from analysis.tables import SCHEMA_VERSION
from analysis.tables.question import TooLarge, recorded_queries
from analysis.time_limit import TooSlow
from pages.ui.choices.address import Choice, always_name, asked, draw, stop, write
from pages.ui.choices.otherwise import otherwise
from pages.ui.stage import stage
from pages.ui.store.build import offer_demo
from pages.ui.store.folder import files, folder, odd_names
from pages.ui.store.open_file import Replaced, Store, Version, cursor, looked_at
from pages.ui.words.say import ADDED, DISTANCE, IMAGES, PATCHES, TURNED, plain, say, speak_of

CONTENT = "content"
"""The parameter of the address that tells a file's content from others of its name."""
_SHOWN = "file that was shown last"
_UNREADABLE = (OtherSchema, BrokenContract, TooSlow, TooLarge, duckdb.Error)


def stores() -> list[Store]:
    """Every file of the folder that can be read, by name."""
    return [store for store in map(readable, files()) if isinstance(store, Store)]


def chosen_file() -> Path | None:
    """The file that the address names, else the first one that can be read."""
    paths = files()
    shown = st.session_state.get("file", st.query_params.get("file"))
    wanted = (otherwise() or {}).get("file", shown)
    named = next((path for path in paths if path.name == wanted), None)
    return named or first_readable(paths)


def other_stores() -> list[Store]:
    """The other files of the folder that can be read."""
    own = open_store().name
    return [store for store in stores() if store.name != own]


def first_readable(paths: list[Path]) -> Path | None:
    """The first file if none can be read."""
    good = (path for path in paths if isinstance(readable(path), Store))
    return next(good, next(iter(paths), None))


def file_picker() -> None:
    """The picker in the sidebar; the choice is part of the address."""
    paths = files()
    for name in odd_names():
        st.sidebar.warning(say("store.odd_name", name=plain(name)))
    default = first_readable(paths)
    if default is None:
        return
    names = [path.name for path in paths]
    wanted = st.query_params.get("file")
    with st.sidebar:
        if wanted and wanted not in names:
            st.warning(say("store.unknown_file", name=plain(wanted), shown=plain(default.name)))
        draw(
            Choice("file", names, default.name, named=True),
            lambda: st.selectbox(say("store.file"), names, key="file", help=say("store.file_help")),
        )
    store = readable(chosen_file() or default)
    if isinstance(store, Store):
        speak_of(*_subjects(store))
        _compare_content(store)
        if store.random_weights is not None:
            st.sidebar.warning(say("model.untrained_note", seed=store.random_weights))
        if store.is_for_show:
            st.sidebar.info(say("model.for_show_note"))


def _compare_content(store: Store) -> None:
    """Name the content of the file in the address; say so where a link was made of another."""
    shown, linked = st.session_state.get(_SHOWN), asked(CONTENT)
    st.session_state[_SHOWN] = store.name
    always_name(CONTENT, [store.content])
    if not linked or linked == [store.content]:
        return
    if shown in (None, store.name):
        st.sidebar.warning(say("store.other_content", name=plain(store.name)))
        always_name(CONTENT, linked)
    else:
        write(CONTENT, [store.content])


def open_store() -> Store:
    """The chosen file; stops the page with a remedy if there is none that can be read."""
    path = chosen_file()
    if path is None:
        offer_demo(folder())
        stop()
    outcome = readable(path)
    if isinstance(outcome, Store):
        speak_of(*_subjects(outcome))
        return outcome
    st.error(why_unreadable(path, outcome))
    if len(files()) > 1:
        st.info(say("store.choose_another"))
    stop()


def _subjects(store: Store) -> tuple[str, ...]:
    how = store.facts["positions_by"]
    by_offset = (TURNED, DISTANCE) if how == DISTANCE else (how,)  # most is said of both alike
    return store.facts["input"], *by_offset


def layer_order() -> LayerOrder:
    """The scopes and effects that the layers of the chosen file's model have."""
    return ORDERS[open_store().facts["layer_order"]]


def layers() -> range:
    """The layers of the chosen file's model, counted from 1."""
    return range(1, int(open_store().run["n_layers"]) + 1)


def is_causal() -> bool:
    """Whether a token of the chosen file's model sees none behind itself."""
    return open_store().facts["attention"] == "causal"


def turns_positions() -> bool:
    """Whether the chosen file's model turns its queries and keys by their positions."""
    return open_store().facts["positions_by"] == TURNED


def knows_offsets() -> bool:
    """Whether scores of its model know offsets, so that position alone has a kernel."""
    return open_store().facts["positions_by"] in (TURNED, DISTANCE)


def has_offsets() -> bool:
    """Whether its scores know places along the order of tokens, not rows and columns instead."""
    return open_store().facts["positions_by"] != PATCHES


def adds_positions() -> bool:
    """Whether it adds positions to its input instead, as vectors."""
    return open_store().facts["positions_by"] == ADDED


def shows_images() -> bool:
    """Whether the sequences of the chosen file are images."""
    return open_store().facts["input"] == IMAGES


def readable(path: Path) -> Store | Exception:
    """A file of the folder, or why it cannot be read."""
    try:
        return looked_at(path)
    except Replaced as error:
        st.rerun()  # the next run finds what took its place
        return error
    except (*_UNREADABLE, OSError) as error:
        return error


def why_unreadable(path: Path, error: Exception) -> str:
    """What is wrong with a file and what to do, in the reader's language."""
    name = plain(path.name)
    if isinstance(error, OtherSchema):
        return say("store.other_schema", name=name, has=error.has, reads=SCHEMA_VERSION)
    if isinstance(error, BrokenContract):
        values = {key: plain(value) for key, value in error.values.items()}
        return say("store.not_ours", name=name, fault=say(f"store.{error.fault}", **values))
    if isinstance(error, TooSlow):
        return say("store.too_slow", name=name, seconds=f"{error.seconds:g}")
    if isinstance(error, (TooLarge, duckdb.OutOfMemoryException)):
        memory = error.size if isinstance(error, TooLarge) else MEMORY
        return say("store.too_large", name=name, memory=memory)
    message = str(error).replace(str(path.resolve()), path.name) or type(error).__name__
    reason = plain(message.splitlines()[0])
    if "lock" in str(error).lower():
        return say("store.locked", name=name, reason=reason)
    return say("store.damaged", name=name, reason=reason)


def ask(question: Callable[..., Any], **choices: Any) -> Any:
    """The answer of a query of `analysis.tables` about the chosen file, yours to change.

    Enumerations arrive as text and whole numbers in 64 bits (as floats where some are missing), so
    that charts and arithmetic see nothing narrower.
    """
    return ask_store(open_store(), question, **choices)


def ask_store(store: Store, question: Callable[..., Any], **choices: Any) -> Any:
    """The answer of a query about a file as it was when it was found."""
    try:
        answer, queries = _answer(
            store.version, f"{question.__module__}.{question.__qualname__}", choices, question
        )
        stage().record(queries, store)
        return answer
    except Replaced:
        st.rerun()
    except _UNREADABLE as error:
        st.error(why_unreadable(Path(store.version.path), error))
        stop()


@st.cache_data(max_entries=256, max_size="256MB", show_spinner=False)
def _answer(
    version: Version, name: str, choices: dict[str, Any], _question: Callable[..., Any]
) -> tuple[Any, list[str]]:
    """The answer, and the queries that it took."""
    with cursor(version) as store, recorded_queries() as queries:
        answer = _question(store, **choices)
    return _widened(answer) if isinstance(answer, pd.DataFrame) else answer, queries


def _widened(frame: pd.DataFrame) -> pd.DataFrame:
    for name, kind in frame.dtypes.items():
        if isinstance(kind, pd.CategoricalDtype):
            frame[name] = frame[name].astype(str)
        elif kind.kind in "iu":
            frame[name] = frame[name].astype("float64" if frame[name].isna().any() else "int64")
    return frame


def has_gates() -> bool:
    """Whether the networks of the chosen file's model multiply two hidden layers."""
    return open_store().facts.get("gate_rule", "none") != "none"
