"""Scores that know distances: whatever tables a configuration has, they are the model's own."""

from typing import Any

import pytest
import torch
import transformers

from analysis.models.offset_terms import OffsetTerms
from analysis.models.reading import read_model
from analysis.models.trace import in_dtype
from tests.tiny_decoders import EAGER, make_exact
from tests.tracing import traced_layers

_DEBERTA: dict[str, Any] = {
    "vocab_size": 30,
    "hidden_size": 12,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
    "relative_attention": True,
    "position_buckets": 4,
    "pos_att_type": ["c2p", "p2c"],
    "share_att_key": True,
    **EAGER,
}
_T5: dict[str, Any] = {
    "vocab_size": 30,
    "d_model": 12,
    "d_kv": 5,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 3,
    **EAGER,
}
KINDS = {
    "tables of their own": ("DebertaV2", _DEBERTA | {"share_att_key": False}),
    "queries alone": ("DebertaV2", _DEBERTA | {"pos_att_type": ["c2p"], "share_att_key": False}),
    "keys alone": ("DebertaV2", _DEBERTA | {"pos_att_type": ["p2c"]}),
    "every distance": ("DebertaV2", _DEBERTA | {"position_buckets": -1}),
    "clipped distances": (
        "DebertaV2",
        _DEBERTA | {"position_buckets": -1, "max_relative_positions": 6},
    ),
    "a norm of steps": ("DebertaV2", _DEBERTA | {"norm_rel_ebd": "layer_norm"}),
    "a bias": ("T5", _T5),
    "a bias of few steps": ("T5", _T5 | {"relative_attention_num_buckets": 8}),
}


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


def _built(kind: str) -> Any:
    family, settings = KINDS[kind]
    config = getattr(transformers, f"{family}Config")(**settings)
    torch.manual_seed(0)
    model = getattr(transformers, "T5EncoderModel" if family == "T5" else f"{family}Model")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    model = model.eval().double().requires_grad_(False)
    make_exact(model)
    return model


def _inputs(n_tokens: int) -> dict[str, torch.Tensor]:
    ids = torch.arange(n_tokens)[None] % 30
    nothing = torch.zeros_like(ids)
    return {"input_ids": ids, "attention_mask": nothing + 1, "token_type_ids": nothing}


def test_the_attention_is_made_of_queries_keys_and_tables(kind):
    """Texts are as long as the distances with tables of their own, and longer."""
    model = _built(kind)
    layers = read_model(model).layers
    for n_tokens in (40,) if "Deberta" in type(model).__name__ else (40, 300):
        for layer in traced_layers(model, _inputs(n_tokens), layers):
            made = layer.weights.scores(layer.attention_input).softmax(dim=-1)
            torch.testing.assert_close(made, layer.attention, rtol=1e-6, atol=1e-7)
            bare = (
                layer.weights.queries(layer.attention_input)
                @ layer.weights.keys(layer.attention_input).mT
            )
            without = (bare * layer.weights.score_scale).softmax(dim=-1)
            assert (without - layer.attention).abs().max() > 1e-3


def test_relative_attention_without_tables_has_no_terms():
    config = transformers.DebertaV2Config.from_dict(_DEBERTA | {"pos_att_type": []})
    model = transformers.DebertaV2Model(config).eval()
    (first, *_) = read_model(model).layers
    assert first.offset_terms is None
    assert first.positions_by == "added"


def test_what_is_further_than_the_reach_is_as_far_as_that():
    terms = OffsetTerms(torch.tensor([4, 3, 0, 1, 2]), bias=torch.arange(15.0).view(3, 5))
    offsets = torch.tensor([-9, -2, -1, 0, 1, 2, 9])
    assert terms.bucket_of(offsets).tolist() == [4, 4, 3, 0, 1, 2, 2]
    assert terms.of_pairs(4).tolist() == [[0, 1, 2, 2], [3, 0, 1, 2], [4, 3, 0, 1], [4, 4, 3, 0]]


def test_another_number_format_leaves_buckets_whole_numbers():
    terms = OffsetTerms(torch.tensor([1, 0, 1]), bias=torch.zeros(2, 2, dtype=torch.bfloat16))
    wide = in_dtype(terms, torch.float32)
    assert wide.buckets.dtype is torch.int64
    assert wide.bias.dtype is torch.float32
