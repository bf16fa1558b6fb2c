"""The process that runs models answers as the model does, one reader after the other."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from analysis.messages import Messages
from pages.services import model_process
from pages.services.model_process import ModelProcess, Refused
from precompute.live import process
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model
from tests.tiny import save_tiny

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


def maps(asked: ModelProcess, model: dict[str, Any], layer: int = 1) -> Any:
    """The maps of a text that a file keeps."""
    return asked.ask(model, "layer_maps", (TEXT,), {"layer": layer})


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


def test_it_ends_when_it_is_not_asked_for_a_while_or_its_server_is_gone(monkeypatch):
    silent, released = os.pipe()
    with os.fdopen(silent, "rb") as waiting, os.fdopen(released, "wb"):
        for idle, incoming in ((0.0, waiting), (60.0, BytesIO())):
            monkeypatch.setattr(process, "IDLE", idle)
            process.answer_questions(Messages(incoming, BytesIO()))
