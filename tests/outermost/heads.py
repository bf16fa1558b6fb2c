"""Attention by habit (REFERENCE section 4), and differences between heads."""

from itertools import product

import numpy as np
import pandas as pd
import torch

from tests.outermost.corpus import Corpus, frame_of
from tests.outermost.norms import weighed

QUANTITIES = ("self", "previous", "next", "cls", "sep", "comma_period", "sep_to_sep")
QUANTITIES += ("other_to_sep", "entropy", "entropy_cls", "first", "uniform")
OF_TYPES = ("first", "cls", "sep", "comma_period")


def _habits(corpus: Corpus) -> pd.DataFrame:
    """Every habit of every head in every sequence, a column each, by weights and by norms."""
    rows = []
    for reading in corpus.readings:
        for layer in range(len(corpus.model.layers)):
            for weighing, maps in weighed(corpus.model, reading, layer).items():
                lost = 1 - maps.sum(axis=2) if loses(corpus, weighing) else None
                for head, alpha in enumerate(maps):
                    place = {"weighing": weighing, "layer": layer + 1, "head": head + 1}
                    given = reading.types, reading.seen(layer)
                    habits = habits_of(alpha, *given, None if lost is None else lost[head])
                    rows.append(place | {"seq": reading.seq} | habits)
    return frame_of(rows).astype(dict.fromkeys(QUANTITIES, float))


def loses(corpus: Corpus, weighing: str) -> bool:
    """Return True if rows lack the share of no token, which is one more outcome."""
    return corpus.model.has_sinks and weighing == "weight"


def _means(habits: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """Means over sequences: one without a token of a type counts as 0, one without a pair not."""
    long = habits.melt([*place, "seq"], list(QUANTITIES), "quantity")
    place = [*place, "quantity"]
    counted = long.groupby(place)["value"].count().rename("n_sequences")
    is_of_type = long["quantity"].isin(OF_TYPES)
    filled = long["value"].fillna(0).where(is_of_type, long["value"])
    means = long.assign(mean=filled).groupby(place)["mean"].mean()
    return pd.concat([means, counted], axis=1)[counted > 0].reset_index()


def head_pattern(corpus: Corpus) -> pd.DataFrame:
    """Of every head, and of the means over the heads of each layer."""
    habits = _habits(corpus)
    layers = habits.groupby(["weighing", "layer", "seq"])[list(QUANTITIES)].mean().reset_index()
    return pd.concat(
        [_means(habits, ["weighing", "layer", "head"]), _means(layers, ["weighing", "layer"])]
    )


def head_pattern_difference(corpus: Corpus) -> pd.DataFrame:
    """Means by norms less those by weights."""
    means = head_pattern(corpus).query("quantity != 'uniform'").drop(columns="n_sequences")
    place = ["layer", "head", "quantity"]
    sides = {name: of.set_index(place)["mean"] for name, of in means.groupby("weighing")}
    both = pd.DataFrame(sides).reset_index()
    return both.assign(difference=both["norm"] - both["weight"])


def habits_of(
    alpha: np.ndarray, types: list[str], seen: np.ndarray, lost: np.ndarray | None = None
) -> dict[str, float | None]:
    """Σ over the pairs of a kind by the number of tokens that attend; entropies of rows in nats.

    Args:
        lost: the share of each query that no token has, as one more outcome.
    """
    n = len(alpha)
    kind = np.array(types)

    def towards(names: tuple[str, ...], queries: np.ndarray) -> float | None:
        pairs = seen & queries[:, None] & np.isin(kind, names)
        return alpha[pairs].sum() / queries.sum() if pairs.any() else None

    def along(offset: int) -> float | None:
        return np.trace(alpha, offset) / n if np.trace(seen, offset) else None

    every = np.ones(n, dtype=bool)
    rows = [_entropy(alpha[i, seen[i]]) for i in range(n)]
    outcomes = seen.sum(axis=1)
    if lost is not None:
        rows = [row - 0.9999 * of * np.log(0.9999 * of) for row, of in zip(rows, lost, strict=True)]
        outcomes = outcomes + 1
    of_cls = [entropy for entropy, name in zip(rows, types, strict=True) if name == "cls"]
    return {
        "self": along(0),
        "previous": along(-1),
        "next": along(1),
        **{name: towards((name,), every) for name in ("cls", "sep", "comma_period")},
        "sep_to_sep": towards(("sep",), kind == "sep"),
        "other_to_sep": towards(("sep",), kind != "sep"),
        "entropy": float(np.mean(rows)),
        "entropy_cls": float(np.mean(of_cls)) if of_cls else None,
        "uniform": float(np.log(outcomes).mean()),
        "first": towards(("bos", "first"), every),
    }


def _entropy(row: np.ndarray) -> float:
    smoothed = 0.9999 * row + 0.0001 / len(row)
    return float(-(smoothed * np.log(smoothed)).sum())


def gradient_importance(corpus: Corpus) -> pd.DataFrame:
    """Sum of |∂L/∂α| by the type of j, divided by the number of tokens.

    L is the squared length of the mean of the last hidden states: the loss of a model without a
    head that predicts tokens.
    """
    rows = []
    for reading in corpus.readings:
        arguments = corpus.model.arguments(reading.ids, reading.segments)
        output = corpus.model.model(**arguments, output_attentions=True)
        loss = output.last_hidden_state[0].mean(dim=0).square().sum()
        for layer, slopes in enumerate(torch.autograd.grad(loss, output.attentions), start=1):
            size = slopes[0].abs().tril() if corpus.model.is_causal else slopes[0].abs()
            for name, (head, of_head) in product(set(reading.types), enumerate(size, start=1)):
                of_type = of_head[:, [kind == name for kind in reading.types]]
                place = {"layer": layer, "head": head, "token_type": name}
                rows.append(place | {"importance": of_type.sum().item() / len(reading)})
    means = frame_of(rows).groupby(["layer", "head", "token_type"])["importance"].mean()
    return means.reset_index()
