"""The file that the reader chose."""

from pathlib import Path

import duckdb
import streamlit as st

from analysis.foreign_file import MEMORY, BrokenContract, Locked, OtherSchema
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.question import TooLarge
from analysis.time_limit import TooSlow
from pages.kit.address import LONGEST_TEXT, Choice, always_name, asked, draw, named, stop, write
from pages.kit.links import link_to_file
from pages.services.build import offer_demo
from pages.services.folder import files, folder, odd_names
from pages.services.open_file import Replaced, Store, looked_at
from pages.words.say import DISTANCE, TURNED, plain, say, speak_of

CONTENT = "content"
"""Parameter of the address for a file's content."""
_SHOWN = "file that was shown last"
UNREADABLE = (OtherSchema, BrokenContract, Locked, TooSlow, TooLarge, duckdb.Error)


def stores() -> list[Store]:
    """Readable files of the folder, by name."""
    return [store for store in map(readable, files()) if isinstance(store, Store)]


def chosen_file() -> Path | None:
    """File named by the address, None if it is missing; the first readable one by default."""
    paths = files()
    if wanted := _wanted():
        return next((path for path in paths if path.name == wanted), None)
    return first_readable(paths)


def _wanted() -> str:
    return st.session_state.get("file") or st.query_params.get("file") or ""


def shown_file() -> Store | None:
    """Chosen file; None if it is missing or cannot be read."""
    path = chosen_file()
    store = readable(path) if path else None
    return store if isinstance(store, Store) else None


def other_stores(own: Store) -> list[Store]:
    """Readable files of the folder other than this one."""
    return [store for store in stores() if store.name != own.name]


def first_readable(paths: list[Path]) -> Path | None:
    """First readable file; the first file if none can be read."""
    good = (path for path in paths if isinstance(readable(path), Store))
    return next(good, next(iter(paths), None))


def file_picker() -> None:
    """Draw the file picker in the sidebar; the choice is part of the address."""
    paths = files()
    for name in odd_names():
        st.sidebar.warning(say("store.odd_name", name=plain(name)))
    default = first_readable(paths)
    if default is None:
        return
    names = dict.fromkeys([*(path.name for path in paths), *asked("file")[:1]])
    with st.sidebar:
        draw(
            Choice("file", [*names], default.name, named=True),
            lambda: st.selectbox(say("store.file"), names, key="file", help=say("store.file_help")),
        )
    if store := shown_file():
        speak_of_file(store)
        _compare_content(store)


def file_notes() -> None:
    """Write into the sidebar what is unusual about the model of the chosen file."""
    if store := shown_file():
        if store.random_weights is not None:
            st.sidebar.warning(say("model.untrained_note", seed=store.random_weights))
        if store.part:
            st.sidebar.info(say(f"model.part_{store.part}_note"))
        if bits := store.weight_bits:
            st.sidebar.info(say("model.quantised_note", bits=bits))
        if gaps := without_attention(store):
            st.sidebar.info(say("model.gaps_note", layers=gaps))
        if store.is_for_show:
            st.sidebar.info(say("model.for_show_note"))


def _compare_content(store: Store) -> None:
    """Write the file's content into the address, unless a link was made of other content."""
    shown, linked = st.session_state.get(_SHOWN), asked(CONTENT)
    st.session_state[_SHOWN] = store.name
    always_name(CONTENT, [store.content])
    if not linked or linked == [store.content]:
        return
    if shown in (None, store.name):
        always_name(CONTENT, linked)
    else:
        write(CONTENT, [store.content])


def open_store() -> Store:
    """Return the chosen file; stop the page with a remedy if it is missing or cannot be read.

    If a link was made of other content, a line says so: below the title, where pages open files.
    """
    path = chosen_file()
    if path is None and not files():
        offer_demo(folder())
        stop()
    outcome = readable(path) if path else None
    if isinstance(outcome, Store):
        speak_of_file(outcome)
        note_content(outcome, *named(CONTENT))
        return outcome
    if path and outcome:
        st.error(why_unreadable(path, outcome))
    else:
        st.error(say("store.unknown_file", name=plain(_wanted())))
    link_files("store.others", [other.name for other in files() if other != path])
    stop()


def note_content(store: Store, *linked: str) -> None:
    """Show which content a link was made of, if the file has another one now."""
    if linked and linked != (store.content,):
        values = {"name": plain(store.name), "linked": plain(linked[0][:LONGEST_TEXT])}
        st.caption(say("store.other_content", content=store.content, **values))


def link_files(word: str, names: list[str]) -> None:
    """Link to what the address shows in other files, below a word; nothing if there are none."""
    if names:
        st.markdown(say(word))
    for name in names:
        link_to_file(name)


def speak_of_file(store: Store) -> None:
    """Choose the words for the kind of a file."""
    how = store.facts["positions_by"]
    by_offset = (TURNED, DISTANCE) if how == DISTANCE else (how,)  # both share most words
    speak_of(store.facts["input"], *by_offset)


def without_attention(store: Store) -> str:
    """Name the layers of a file's model without attention by what they have instead."""
    by_name: dict[str, list[str]] = {}
    for layer, name in store.without_attention.items():
        by_name.setdefault(name, []).append(str(layer))
    comma = say("list.comma")
    return comma.join(
        say("model.gaps", layers=comma.join(numbers), name=plain(name))
        for name, numbers in by_name.items()
    )


def readable(path: Path) -> Store | Exception:
    """File of the folder, or the error on opening it."""
    try:
        return looked_at(path)
    except Replaced as error:
        st.rerun()  # the next run finds the replacement
        return error
    except (*UNREADABLE, OSError) as error:
        return error


def why_unreadable(path: Path, error: Exception) -> str:
    """Explain in the reader's language why a file cannot be read, with a remedy."""
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
    locked = isinstance(error, Locked)
    message = (error.reason if locked else str(error)).replace(
        str(path.resolve()), path.name
    ) or type(error).__name__
    reason = plain(message.splitlines()[0])
    return say("store.locked" if locked else "store.damaged", name=name, reason=reason)
