"""One tiny model for each family of encoders that are not BERT and not RoBERTa."""

from types import NoneType
from typing import Any

import transformers

from tests.precompute.corpora.tiny import bert_like
from tests.tiny_decoders import EAGER, HEADS, LAYERS, POSITIONS, WIDTH, Tiny

_SIZES: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
    **EAGER,
}


def _electra(vocabulary: int) -> transformers.PreTrainedModel:
    """Its words are narrower than its layers."""
    config = transformers.ElectraConfig(vocab_size=vocabulary, embedding_size=8, **_SIZES)
    return transformers.ElectraModel(config)


def _modernbert(vocabulary: int) -> transformers.PreTrainedModel:
    """Its second layer looks two tokens to either side."""
    turned = {"rope_type": "default", "rope_theta": 50.0}
    config = transformers.ModernBertConfig(
        vocab_size=vocabulary,
        pad_token_id=0,
        local_attention=4,
        attention_bias=True,
        layer_types=["full_attention", "sliding_attention"],
        rope_parameters={
            "full_attention": turned,
            "sliding_attention": turned | {"rope_theta": 20.0},
        },
        **_SIZES,
    )
    return transformers.ModernBertModel(config)


def _deberta(vocabulary: int) -> transformers.PreTrainedModel:
    """Model like DeBERTa 3: distances in a few steps, tables shared with queries and keys."""
    options: dict[str, Any] = {
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 4,
        "pos_att_type": ["c2p", "p2c"],
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "pad_token_id": 0,
    }
    config = transformers.DebertaV2Config(vocab_size=vocabulary, **options, **_SIZES)
    return transformers.DebertaV2Model(config)


def _t5(name: str, network: str) -> Any:
    """Heads wider in all than the model; distances in six steps, beyond five all alike."""
    model, config = (getattr(transformers, f"{name}{kind}") for kind in ("EncoderModel", "Config"))

    def built(vocabulary: int) -> transformers.PreTrainedModel:
        return model(
            config(
                vocab_size=vocabulary,
                d_model=WIDTH,
                d_kv=6,
                d_ff=24,
                num_layers=LAYERS,
                num_heads=HEADS,
                feed_forward_proj=network,
                relative_attention_num_buckets=12,
                relative_attention_max_distance=5,
                n_positions=POSITIONS,
                **EAGER,
            )
        )

    return built


ENCODERS = {
    "electra": Tiny(_electra, bert_like, 2, transformers.ElectraForMaskedLM),
    "deberta-v2": Tiny(_deberta, bert_like, 0, transformers.DebertaV2ForMaskedLM),
    "modernbert": Tiny(_modernbert, bert_like, 0, transformers.ModernBertForMaskedLM),
    "t5": Tiny(_t5("T5", "gated-gelu"), bert_like, 0, NoneType),
    "mt5": Tiny(_t5("MT5", "relu"), bert_like, 0, NoneType),
}
