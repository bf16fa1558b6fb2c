"""A typed text and an uploaded image have the maps of the file; the process that runs models."""

import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from starlette.formparsers import MultiPartParser

from analysis.upload_bounds import UPLOAD_BYTES
from pages.kit.items import Text
from pages.kit.view import View
from pages.services import live_model as live
from pages.services import model_process
from pages.services.chosen import open_store
from pages.services.model_process import ModelProcess, Refused
from precompute.live.one_sequence import MAX_CHARACTERS, rerun
from precompute.models.load_models import load_model
from tests.pages.kit.openings import frame_of
from tests.small_images import SIZES
from tests.small_store import fetched
from tests.tiny import HEADS as TEXT_HEADS
from tests.tiny import LAYERS as TEXT_LAYERS
from tests.tiny import save_tiny
from tests.tiny_vision import LAYERS

pytestmark = pytest.mark.slow
OF_PAGE = "relevance"


def test_ones_own_text_has_the_maps_that_a_run_would_keep(section, exported, store_folder):
    [(text, n_tokens)] = fetched(
        store_folder / "tiny.duckdb", "select text, n_tokens from sequence where seq = 1"
    )
    session = section("text", re_seq="own", re_rule="iv")
    session.text_area[0].set_value(text)
    exported.clear()
    session.button[0].click().run()
    frame = frame_of(exported, "re_text_heads")
    assert len(frame) == n_tokens
    maps = fetched(
        store_folder / "tiny.duckdb",
        "select head, relevance from relevance_map "
        f"where seq = 1 and rule = 'iv' and layer = {TEXT_LAYERS} and head is not null",
    )
    assert len(maps) == TEXT_HEADS
    for head, expected in maps:
        assert frame[f"head_{head}"].tolist() == pytest.approx(expected, abs=1e-5)
    session.text_area[0].set_value("the cat sat " * 200)
    session.button[0].click().run()
    assert any("first 36 tokens" in caption.value for caption in session.caption)


def test_ones_own_image_has_the_maps_that_a_run_would_keep_and_what_is_none_is_refused(
    section, images_folder, exported
):
    session = section("map", images_folder, re_image="own", re_rule="gradient_attention")
    assert any("Choose an image" in note.value for note in session.info)
    session.file_uploader[0].upload("text.png", b"no image at all", "image/png").run()
    assert "text" in session.warning[0].value
    content = (images_folder / "images" / "disc.png").read_bytes()
    session.file_uploader[0].upload("disc.png", content, "image/png").run()
    [((_, *expected),)] = fetched(
        images_folder / "tiny.duckdb",
        f"select relevance from relevance_map where seq = {sorted(SIZES).index('disc.png')} "
        f"and rule = 'gradient_attention' and layer = {LAYERS} and head is null",
    )
    frame = frame_of(exported, "re_map_one")
    assert frame["relevance"].tolist() == pytest.approx(expected, abs=1e-5)


def test_what_is_too_large_is_refused_before_it_is_read(images_folder, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(images_folder))
    upload = Mock(size=UPLOAD_BYTES + 1)
    upload.name = "a*b* <script>.png"
    view = View("te", "test", open_store())
    assert live.on_own(view, "relevance_of_image", upload) is None
    [warning] = [item.body for item in view.items if isinstance(item, Text)]
    assert r"a\*b\* \<script\>" in warning
    assert "20 MiB" in warning
    upload.getvalue.assert_not_called()


def test_uploads_stay_in_memory_and_everyone_takes_equally_much(monkeypatch):
    """Starlette would write what is larger than this to a file."""
    root = Path(__file__).parents[2]
    config = tomllib.loads((root / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] == live.MAX_UPLOAD == UPLOAD_BYTES / 2**20
    assert live.MAX_CHARACTERS == MAX_CHARACTERS
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 0)
    program = compile((root / "app.py").read_text(encoding="utf-8"), "app.py", "exec")
    exec(program, {"__name__": "app"})
    assert MultiPartParser.spool_max_size > UPLOAD_BYTES


TEXT = ((1, 5, 6, 7, 2), (0, 0, 0, 0, 0))
"""Ids and segments, as a file keeps them."""


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> dict[str, Any]:
    """Identity of a small model."""
    folder = save_tiny("bert", tmp_path_factory.mktemp("model") / "model")
    identity = load_model(str(folder), device="cpu").identity
    named = {"name": str(folder), "revision": "", "dtype": "float32"}
    return named | {"identity": identity}


@pytest.fixture(scope="module")
def asked() -> Iterator[ModelProcess]:
    made = ModelProcess()
    yield made
    made.close()


def test_it_answers_as_the_model_does_before_and_after_it_is_killed(asked, model):
    expected = rerun(**model).layer_maps(TEXT, layer=1).scopes
    np.testing.assert_allclose(maps(asked, model).scopes, expected, atol=1e-6)
    asked._running.process.kill()
    np.testing.assert_allclose(maps(asked, model).scopes, expected, atol=1e-6)


def test_readers_who_come_together_get_what_they_get_alone(asked, model):
    alone = [maps(asked, model, layer).scopes for layer in (1, 2)]
    assert asked.state == "running"
    with ThreadPoolExecutor(6) as pool:
        together = [pool.submit(maps, asked, model, layer) for layer in (1, 2) * 3]
    for expected, found in zip(alone * 3, together, strict=True):
        np.testing.assert_array_equal(found.result().scopes, expected)
    assert not np.array_equal(*alone), "this test could not have failed"


def test_a_process_that_ends_again_and_again_is_told(monkeypatch, model):
    monkeypatch.setattr(model_process, "_PROGRAM", "no_such_module")
    with pytest.raises(Refused, match="memory") as refused:
        maps(ModelProcess(), model)
    assert refused.value.kind == "ended"


def maps(asked: ModelProcess, model: dict[str, Any], layer: int = 1) -> Any:
    """The maps of a text that a file keeps."""
    return asked.ask(model, "layer_maps", (TEXT,), {"layer": layer})
