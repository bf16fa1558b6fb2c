"""A text that is typed and an image that is uploaded have the maps of the file, or a remedy."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from starlette.formparsers import MultiPartParser
from streamlit.testing.v1 import AppTest

from analysis.upload_bounds import UPLOAD_BYTES
from pages.services import live_model as live
from precompute.live.one_sequence import MAX_CHARACTERS
from tests.pages.conftest import assert_sound, charts
from tests.pages.kit.openings import frame_of
from tests.pages.kit.stores import answers_of
from tests.small_images import SIZES
from tests.tiny import HEADS as TEXT_HEADS
from tests.tiny import LAYERS as TEXT_LAYERS
from tests.tiny_vision import HEADS, LAYERS

assert TEXT_HEADS != HEADS  # a page that took the number from elsewhere would be found out
pytestmark = pytest.mark.slow
OF_PAGE = "relevance"
image_answers = answers_of("images_folder")
NAME = "disc.png"  # half of several patches is inside its mask
MASK = sorted(SIZES).index(NAME)


def stored(answers, seq: int, rule: str, layer: int, head: int | None) -> np.ndarray:
    number = "is null" if head is None else f"= {head}"
    [(relevance,)] = answers(
        "select relevance from relevance_map "
        f"where seq = {seq} and rule = '{rule}' and layer = {layer} and head {number}"
    )
    return np.array(relevance)


def test_ones_own_text_has_the_maps_that_a_run_would_keep(section, exported, answers):
    ((text, n_tokens),) = answers("select text, n_tokens from sequence where seq = 1")
    session = section("text", re_seq="own", re_rule="iv")
    assert not charts(session)
    session.text_area[0].set_value(text)
    exported.clear()
    session.button[0].click().run()
    frame = frame_of(exported, "re_text_heads")
    assert len(frame) == n_tokens
    for head in range(1, TEXT_HEADS + 1):
        expected = stored(answers, 1, "iv", TEXT_LAYERS, head)
        assert frame[f"head_{head}"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    session.text_area[0].set_value("the cat sat " * 200)
    session.button[0].click().run()
    assert any("first 36 tokens" in caption.value for caption in session.caption)


def test_ones_own_image_has_the_maps_that_a_run_would_keep_and_what_is_none_is_refused(
    section, images_folder, exported, image_answers
):
    session = section("map", images_folder, re_image="own")
    assert any("Choose an image" in note.value for note in session.info)
    session.file_uploader[0].upload("text.png", b"no image at all", "image/png").run()
    assert "text" in session.warning[0].value
    content = (images_folder / "images" / NAME).read_bytes()
    session.file_uploader[0].upload(NAME, content, "image/png").run()
    for rule in ("iv", "gradient_attention"):
        exported.clear()
        session.selectbox(key="re_rule").select(rule).run()
        expected = stored(image_answers, MASK, rule, LAYERS, None)[1:]
        frame = frame_of(exported, "re_map_one")
        assert frame["relevance"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


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


@pytest.fixture
def uploaded(in_session, images_folder) -> Callable[..., AppTest]:
    def upload(path: Path, **address: str) -> AppTest:
        session = in_session(IMAGE, images_folder, path=str(path), **address)
        assert_sound(session)
        return session

    return upload


def test_what_is_too_large_is_refused_before_it_is_read(uploaded, images_folder):
    path = images_folder / "images" / "bar.png"
    session = uploaded(path, name=HOSTILE, size=str(UPLOAD_BYTES + 1))
    (warning,) = session.warning
    assert "20 MiB" in warning.value
    assert "<script>" not in warning.value
    assert r"a\*b\*" in warning.value
    assert session.session_state["found"] is None
    assert not uploaded(path, name=HOSTILE, size=str(UPLOAD_BYTES)).warning


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
