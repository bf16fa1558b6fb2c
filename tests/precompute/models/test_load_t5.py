"""The encoder of a T5 is read, whether a checkpoint holds it alone or the whole."""

from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from analysis.errors import UnfitModel
from precompute.models.load_models import load_model
from tests.precompute.models.changed_files import drop_tensors
from tests.refusals import refused
from tests.tiny import save_tiny, tiny_model, tiny_sequences
from tests.tracing import trace_of

FAMILIES = {
    "t5": transformers.T5ForConditionalGeneration,
    "mt5": transformers.MT5ForConditionalGeneration,
}


@pytest.fixture(params=FAMILIES)
def kind(request) -> str:
    return request.param


@pytest.fixture
def folder(kind, tmp_path) -> Path:
    return save_tiny(kind, tmp_path / kind)


def test_a_saved_encoder_is_the_one_that_was_built(kind, folder):
    loaded = load_model(str(folder), device="cpu")
    expected = tiny_model(kind, dtype=torch.float32)
    (text, *_) = tiny_sequences(kind)
    for one, other in zip(
        trace_of(loaded, [text]).layers, trace_of(expected, [text]).layers, strict=True
    ):
        torch.testing.assert_close(one.attention, other.attention)
        torch.testing.assert_close(one.output, other.output)
    assert loaded.positions_by == "distance"
    assert loaded.objective == "pooled_length"


def test_the_encoder_of_a_whole_model_is_read(kind, folder):
    encoder = tiny_model(kind, dtype=torch.float32).model
    whole = FAMILIES[kind](encoder.config).eval()
    held = whole.state_dict()
    whole.load_state_dict(
        held | {name: encoder.state_dict()[name] for name in encoder.state_dict()}
    )
    whole.save_pretrained(folder)
    assert any(name.startswith("decoder.") for name in load_file(folder / "model.safetensors"))
    loaded = load_model(str(folder), device="cpu")
    assert type(loaded.model).__name__.endswith("EncoderModel")
    (text, *_) = tiny_sequences(kind)
    expected = encoder(**{k: v for k, v in loaded.inputs([text]).items() if k != "token_type_ids"})
    found = trace_of(loaded, [text]).layers[-1].output
    torch.testing.assert_close(encoder.encoder.final_layer_norm(found), expected.last_hidden_state)


def test_an_encoder_that_lacks_a_tensor_is_refused(kind, folder):
    missing = drop_tensors(folder, "encoder.block.1.layer.0.layer_norm.weight")
    message = refused(UnfitModel, load_model, str(folder), device="cpu")
    assert f"lack 1 tensor(s), such as {missing}" in message


def test_an_untrained_encoder_is_drawn(kind, folder):
    drawn = load_model(str(folder), device="cpu", random_weights=3)
    assert type(drawn.model).__name__.endswith("EncoderModel")
    assert len(trace_of(drawn, tiny_sequences(kind)[:1]).layers) == 2
