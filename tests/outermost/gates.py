"""Gated networks: how alike two rules share them out, and how many gates are closed."""

import numpy as np
import pandas as pd
import torch
from scipy import stats

from tests.outermost.bare_model import BareModel, Reading
from tests.outermost.corpus import Corpus, frame_of
from tests.outermost.layer_parts import before_network, network


def sequence_gate_rule(corpus: Corpus) -> pd.DataFrame:
    """Spearman's ρ of ‖F_i(x_j)‖ after the network by either rule, over the pairs there are, and
    the share of gates that let less than a tenth through; texts are few, so that all count."""
    model = corpus.model
    name = model.scopes[4]  # after the network, in either order
    rows = []
    for reading, parts in zip(corpus.readings, corpus.parts, strict=True):
        seen = np.tri(len(reading), dtype=bool) | (not model.is_causal)
        for layer, of_layer in enumerate(parts):
            halves, closed = _by_halves(model, reading, layer)
            integrated = of_layer.maps[name].numpy()
            agreement = {"spearman": stats.spearmanr(integrated[seen], halves[seen])[0]}
            rows.append({"seq": reading.seq, "layer": layer + 1, **agreement, "closed": closed})
    return frame_of(rows)


def _by_halves(model: BareModel, reading: Reading, index: int) -> tuple[np.ndarray, float]:
    """Norms of every token's part through the network, and the share of closed gates."""
    layer, maps, closed = model.layers[index], [], []
    assert layer.gate is not None
    for _, _, normed, bias in before_network(model, reading, index):
        entering = normed.sum(dim=0) + bias
        through = network(model, layer, normed, entering, 0, by_halves=True)
        maps.append(through.norm(dim=1).numpy())
        gate = layer.gate
        assert gate is not None
        let = torch.sigmoid(gate(entering))  # what SiLU lets through of its input
        closed.append((let < 0.1).double().mean().item())
    return np.stack(maps), float(np.mean(closed))


def gate_rule_agreement(corpus: Corpus) -> pd.DataFrame:
    """Means over texts, of each layer and of the mean over layers of each text."""
    rows = sequence_gate_rule(corpus).dropna(subset="spearman")
    names = ["spearman", "closed"]
    layers = rows.groupby("layer")[names].mean().reset_index()
    means = rows.groupby("seq")[names].mean().mean()
    n = rows.groupby("layer")["seq"].count()
    layers = layers.assign(n_sequences=layers["layer"].map(n))
    over_all = {"layer": None, **means, "n_sequences": rows["seq"].nunique()}
    return pd.concat([layers, frame_of([over_all])])
