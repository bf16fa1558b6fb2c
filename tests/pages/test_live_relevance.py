"""An image that is uploaded and a text that is typed have the maps of the file, or a remedy."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest
from starlette.formparsers import MultiPartParser
from streamlit.testing.v1 import AppTest

from analysis.upload_bounds import UPLOAD_BYTES
from pages.services import live_model as live
from precompute.live.one_sequence import MAX_CHARACTERS
from tests.pages.conftest import assert_sound
from tests.small_images import SIZES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HOSTILE = "a*b* <script>alert(1)</script>.png"
IMAGE = """
from dataclasses import dataclass
from pathlib import Path
import streamlit as st
from pages.kit.frame import Frame
from pages.services import live_model as live
from pages.services.chosen import open_store
from pages.kit.view import View

@dataclass
class Upload:
    name: str
    data: bytes
    size: int

    def getvalue(self):
        return self.data

data = Path(st.query_params["path"]).read_bytes()
size = int(st.query_params.get("size", len(data)))
view = View("te", "test", open_store())
if live.reachable(view):
    upload = Upload(st.query_params["name"], data, size)
    st.session_state["found"] = live.on_own(view, "relevance_of_image", upload)
Frame(lambda of: None).draw(view.items)
"""
TEXT = """
import streamlit as st
from pages.kit.frame import Frame
from pages.services import live_model as live
from pages.services.chosen import open_store
from pages.kit.view import View
from pages.words.scope import words_of

view = View("re", "text", open_store())
with words_of("relevance", "text"):
    text = live.text_box(view)
if text and live.reachable(view):
    live.on_own(view, "relevance_of_text", text)
Frame(lambda of: None).draw(view.items)
"""


@pytest.fixture
def uploaded(in_session, images_folder) -> Callable[..., AppTest]:
    def upload(path: Path, *, lang: str = "en", **address: str) -> AppTest:
        session = in_session(IMAGE, images_folder, path=str(path), lang=lang, **address)
        assert_sound(session)
        return session

    return upload


def test_an_uploaded_image_has_the_numbers_of_the_file(uploaded, images_folder):
    seq = 1
    name = sorted(SIZES)[seq]
    reading = uploaded(images_folder / "images" / name, name=name).session_state["found"]
    with duckdb.connect(str(images_folder / "tiny.duckdb"), read_only=True) as store:
        classes = "select label, probability from class_prediction where seq = ? order by rank"
        predictions = store.execute(classes, [seq]).df()
        picture = store.execute("select picture from image where seq = ?", [seq]).fetchall()[0][0]
    assert [label for label, _ in reading.prediction] == predictions["label"].tolist()
    np.testing.assert_allclose(
        [p for _, p in reading.prediction], predictions["probability"], rtol=1e-5
    )
    assert reading.picture == picture


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_what_is_too_large_is_refused_before_it_is_read(uploaded, images_folder, lang):
    path = images_folder / "images" / "bar.png"
    session = uploaded(path, lang=lang, name=HOSTILE, size=str(UPLOAD_BYTES + 1))
    (warning,) = session.warning
    assert "20 MiB" in warning.value
    assert "<script>" not in warning.value
    assert r"a\*b\*" in warning.value
    assert session.session_state["found"] is None
    assert not uploaded(path, name=HOSTILE, size=str(UPLOAD_BYTES)).warning


def test_a_text_of_which_the_model_sees_nothing_is_refused_in_words(in_session, store_folder):
    session = in_session(TEXT, store_folder)
    session.text_area(key="re_own_text").input("\u200b")
    session.button[0].click().run()
    assert_sound(session)
    (warning,) = session.warning
    assert "no token" in warning.value


def test_the_server_the_field_and_the_model_take_equally_much():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] == live.MAX_UPLOAD == UPLOAD_BYTES / 2**20
    assert live.MAX_CHARACTERS == MAX_CHARACTERS


def test_an_upload_stays_in_memory(monkeypatch):
    """Starlette would write what is larger than this to a file."""
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 0)
    program = compile((ROOT / "app.py").read_text(encoding="utf-8"), "app.py", "exec")
    exec(program, {"__name__": "app"})
    assert MultiPartParser.spool_max_size > UPLOAD_BYTES
