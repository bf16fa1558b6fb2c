"""Tiny hybrid models: layers without attention stand among, before and after those that attend."""

from pathlib import Path
from typing import Any

import pytest

from analysis.models.trace import Model
from precompute.jobs.plan import Plan
from precompute.run import Request
from tests.analysis.models.every_type import tiny_type
from tests.precompute.corpora.tiny import bert_like
from tests.shared_store import shared_run
from tests.small_store import request

_LINEAR, _FULL = "linear_attention", "full_attention"
SETTINGS: dict[str, dict[str, Any]] = {
    "lfm2": {"layer_types": ["conv", _FULL, _FULL, "conv", "conv", _FULL, "conv"]},
    "bamba": {
        "num_hidden_layers": 5,
        "attn_layer_indices": [1, 3],
        "time_step_limit": [0.0, 100.0],  # an infinite one is written as the library cannot read it
    },
    "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
    "olmo_hybrid": {"layer_types": [_FULL, _LINEAR, _LINEAR, _FULL]},
}
ATTENDING = {"lfm2": [2, 3, 6], "bamba": [2, 4], "recurrent_gemma": [2, 4], "olmo_hybrid": [1, 4]}
"""Layers that attend, counted from 1 among all of the model."""
N_LAYERS = {"lfm2": 7, "bamba": 5, "recurrent_gemma": 5, "olmo_hybrid": 4}
INSTEAD = {
    "lfm2": "Lfm2ShortConv",
    "bamba": "BambaMixer",
    "recurrent_gemma": "RecurrentGemmaRecurrentBlock",
    "olmo_hybrid": "OlmoHybridGatedDeltaNet",
}


def hybrid(family: str) -> Model:
    """The tiny model of a family."""
    sizes = {"num_hidden_layers": N_LAYERS[family], "vocab_size": len(bert_like())}
    return tiny_type(family, **sizes | SETTINGS[family])


def hybrid_run(
    factory: pytest.TempPathFactory, family: str, statistics: list[str] | None = None
) -> tuple[Request, Plan]:
    """A run of the tiny model over a few texts, to be read and never changed."""

    def ask(folder: Path) -> Request:
        hybrid(family).save_pretrained(folder / f"model-{family}")
        bert_like().save_pretrained(folder / f"model-{family}")
        return request(folder, family, statistics=statistics)

    return shared_run(factory, f"hybrid-{family}", ask)
