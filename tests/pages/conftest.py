"""Folders of files as a dashboard may find them, and pages opened on them."""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

from pages.export.shown import Shown
from pages.kit import folds, frame
from pages.kit.links import VIEWS
from tests.pages.kit.chromium import browser  # noqa: F401
from tests.pages.kit.openings import open_page
from tests.pages.kit.stores import after, changed, folder_of, scratch  # noqa: F401

os.environ["STREAMLIT_CLIENT_SHOW_ERROR_DETAILS"] = "full"
_UNNEEDED = "streamlit.runtime.scriptrunner_utils.script_run_context"
logging.getLogger(_UNNEEDED).disabled = True  # warns of every word that is said without a session
OTHER_SCHEMA = 99
_MAIN = sys.modules["__main__"]


store_folder = folder_of()
images_folder = folder_of("vit")
"""Of a ViT that tells three classes apart, on a few images, two of them with masks."""
treebank_folder = folder_of(annotated=True)
"""Of sentences with trees and documents with coreference."""
gpt2_folder = folder_of("gpt2")
"""Of a causal model with byte-level tokens, without [CLS], [SEP] and segments."""
turned_folder = folder_of("llama")
"""Of a model that turns its queries and keys and has gated networks."""
sink_logits_folder = folder_of("gpt_oss", statistics=["no_token", "sink", "sink_rate"])
"""Of a model whose heads have sink logits."""


@pytest.fixture(scope="session")
def other_schema_folder(store_folder, tmp_path_factory) -> Path:
    """A folder whose only file has another schema version."""
    path = tmp_path_factory.mktemp("other") / "other.duckdb"
    copyfile(store_folder / "tiny.duckdb", path)
    with duckdb.connect(str(path)) as store:
        store.execute(f"update stored.run set schema_version = {OTHER_SCHEMA}")
    return path.parent


@pytest.fixture(scope="session")
def damaged_folder(store_folder, tmp_path_factory) -> Path:
    """A folder whose only file is truncated."""
    path = tmp_path_factory.mktemp("damaged") / "damaged.duckdb"
    content = (store_folder / "tiny.duckdb").read_bytes()
    path.write_bytes(content[: len(content) // 3])
    return path.parent


@pytest.fixture(scope="session", autouse=True)
def _no_search_for_components():
    """Switch off the search for components, which every session would repeat; we use none."""
    with pytest.MonkeyPatch.context() as patch:
        search = "discover_and_register_components"
        patch.setattr(BidiComponentManager, search, lambda self, **_: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _all_is_seen():
    """Draw all folds as open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "is_open", lambda place: True)
        yield


@pytest.fixture(autouse=True)
def _main_stays():
    """Bring `__main__` back, which a session replaces by its script: workers would run that.

    A fixture of a module may have replaced it before this one begins.
    """
    yield
    sys.modules["__main__"] = _MAIN


@pytest.fixture
def fresh() -> None:
    """Open files and ask questions anew, whatever an earlier test asked."""
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def exported(monkeypatch) -> dict[str, Shown]:
    """Exports offered by the pages that a test opens, by the key of the figure."""
    figures: dict[str, Shown] = {}
    offer = frame.export_buttons

    def note(shown: Shown) -> None:
        figures[shown.key] = shown
        offer(shown)

    monkeypatch.setattr(frame, "export_buttons", note)
    return figures


@pytest.fixture
def opened(request, monkeypatch) -> Callable[..., AppTest]:
    """Opener of pages; if a test patches the program, no answer is taken from the cache."""
    if "monkeypatch" in signature(request.function).parameters:
        st.cache_resource.clear()
    return partial(open_page, monkeypatch)


@pytest.fixture
def section(request, opened, store_folder: Path) -> Callable[..., AppTest]:
    """Opener of a section of the page `OF_PAGE` of a module, by default on the store."""
    page = request.module.OF_PAGE

    def open_section(
        view: str, folder: Path | None = None, lang: str = "en", **address: str
    ) -> AppTest:
        place = {VIEWS[page]: view, **address}
        session = opened(page, folder or store_folder, lang=lang, alone=False, **place)
        assert_sound(session)
        return session

    return open_section


@pytest.fixture
def in_session(monkeypatch, tmp_path) -> Callable[..., AppTest]:
    """Runner of a few lines as a page of their own."""

    def run(script: str, folder: Path | None = None, **address: str) -> AppTest:
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder or tmp_path))
        session = AppTest.from_string(script, default_timeout=60)
        for key, value in address.items():
            session.query_params[key] = value
        return session.run()

    return run


def assert_sound(session: AppTest) -> None:
    """Check that the page ran to its end, or to a remedy, without an exception."""
    assert not session.exception, [error.value for error in session.exception]


@pytest.fixture
def store(store_folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connection to the file of the section's tests."""
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection


def charts(session: AppTest) -> list[dict[str, Any]]:
    """Specifications of all charts on the page, in order."""
    return [json.loads(chart.proto.spec) for chart in session.get("vega_lite_chart")]


def bodies(session: AppTest) -> str:
    """All markup that the page writes itself."""
    return "\n".join(block.proto.body for block in session.get("html"))


def captions(session: AppTest) -> str:
    return "\n".join(caption.value for caption in session.caption)


def sentences(session: AppTest) -> str:
    return "\n".join(text.value for text in session.markdown)


def frames(session: AppTest) -> list[Any]:
    return [table.value for table in session.dataframe]


def in_address(session: AppTest, key: str) -> list[str]:
    """Values of a parameter of the address."""
    values = session.query_params.get(key, [])
    return [values] if isinstance(values, str) else list(values)
