"""One tiny model for each family of encoders of texts."""

from functools import partial
from types import NoneType
from typing import Any

import transformers

from tests.precompute.corpora.tiny import bert_like, roberta_like
from tests.tiny_decoders import EAGER, HEADS, LAYERS, POSITIONS, TURNED, WIDTH, Tiny

_SIZES: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
    **EAGER,
}


def _encoder(
    name: str, *, tokenizer: Any = bert_like, segment_types: int = 0, **changed: Any
) -> Tiny:
    config, head = (getattr(transformers, f"{name}{kind}") for kind in ("Config", "ForMaskedLM"))
    return Tiny(partial(config, **_SIZES | changed), tokenizer, segment_types, head)


class _TinyT5(Tiny):
    """Encoder alone of a model with a decoder, which `AutoModel` would build."""

    def model(self, vocabulary: int) -> transformers.PreTrainedModel:
        config = self.config(vocab_size=vocabulary)
        return transformers.AutoModelForTextEncoding.from_config(config)


def _t5(name: str, network: str) -> Tiny:
    """Heads wider in all than the model; distances in six steps, beyond five all alike."""
    sizes: dict[str, Any] = {
        "d_model": WIDTH,
        "d_kv": 6,
        "d_ff": 24,
        "num_layers": LAYERS,
        "num_heads": HEADS,
        "feed_forward_proj": network,
        "relative_attention_num_buckets": 12,
        "relative_attention_max_distance": 5,
        "n_positions": POSITIONS,
        **EAGER,
    }
    return _TinyT5(partial(getattr(transformers, f"{name}Config"), **sizes), bert_like, 0, NoneType)


ENCODERS = {
    "bert": _encoder("Bert", segment_types=2),
    "roberta": _encoder(
        "Roberta",
        tokenizer=roberta_like,
        segment_types=1,
        type_vocab_size=1,
        max_position_embeddings=POSITIONS + 2,
        pad_token_id=1,
        hidden_act="relu",
    ),
    "electra": _encoder("Electra", segment_types=2, embedding_size=8),  # words narrower than layers
    # like DeBERTa 3: distances in a few steps, tables shared with queries and keys
    "deberta-v2": _encoder(
        "DebertaV2",
        type_vocab_size=0,
        relative_attention=True,
        position_buckets=4,
        pos_att_type=["c2p", "p2c"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        pad_token_id=0,
    ),
    # the second layer looks two tokens to either side
    "modernbert": _encoder(
        "ModernBert",
        pad_token_id=0,
        local_attention=4,
        attention_bias=True,
        layer_types=["full_attention", "sliding_attention"],
        rope_parameters={
            "full_attention": TURNED,
            "sliding_attention": TURNED | {"rope_theta": 20.0},
        },
    ),
    "t5": _t5("T5", "gated-gelu"),
    "mt5": _t5("MT5", "relu"),
}
