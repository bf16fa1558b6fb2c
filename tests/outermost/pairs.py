"""Pairs of tokens and the changes of their mixing: REFERENCE section 2."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of

EFFECTS = {"res_ln": (1, 3), "ff": (3, 4), "ff_res": (4, 5), "ff_ln": (5, 6)}
"""Steps as places in the order of scopes; a pre-norm layer has no seventh scope."""
PAIR = ["source", "target"]
QUANTITIES = ("pairs", "before", "change", "gain", "loss")
RELATIONS = ("special", "same_word", "word_pieces", "adjacent", "same_segment", "other_segment")


def _chosen(corpus: Corpus) -> list[np.ndarray]:
    """Pairs i ≠ j of every sequence that a query may see."""
    every = [~np.eye(len(reading), dtype=bool) for reading in corpus.readings]
    return [np.tril(pairs) if corpus.model.is_causal else pairs for pairs in every]


def _occurrences(corpus: Corpus) -> pd.DataFrame:
    """Every occurrence of every pair: ids of w_j and w_i, distance and relation."""
    frames = []
    for reading, which in zip(corpus.readings, _chosen(corpus), strict=True):
        i, j = np.nonzero(which)
        ids = np.array(reading.ids)
        columns = {"source": ids[j], "target": ids[i], "distance": abs(i - j)}
        relation = {"relation": _relations(corpus, reading)[i, j], "seq": reading.seq}
        frames.append(pd.DataFrame(columns | relation))
    return pd.concat(frames, ignore_index=True)


def _relations(corpus: Corpus, reading: Reading) -> np.ndarray:
    """The first of the relations that fits every two tokens.

    Letters side by side are of one word; a mask between letters stands for one.
    """
    tokens = corpus.model.tokenizer.convert_ids_to_tokens(reading.ids)
    is_masked = [corpus.is_masked(identity) for identity in reading.ids]
    text = ["a" if mask else token for token, mask in zip(tokens, is_masked, strict=True)]
    is_bert, words = corpus.model.family == "bert", [0]
    for before, token in pairwise(text):
        joins = (before[-1].isalpha() or before[-1] == "▁") and "Ċ" not in (token, before)
        is_piece = token[:2] == "##" if is_bert else joins and token.isalpha()
        words.append(words[-1] + (not is_piece or token[0] in "Ġ▁"))
    real = ~np.isin(reading.types, SPECIAL) & ~np.array(is_masked)
    places = np.arange(len(reading))
    ids, words, segments = (np.equal.outer(of, of) for of in (reading.ids, words, reading.segments))
    near = abs(np.subtract.outer(places, places)) == 1
    fits = [~np.logical_and.outer(real, real), ids, words, near, segments, ~segments]
    return np.array(RELATIONS)[np.argmax(fits, axis=0)]


def pair(corpus: Corpus) -> pd.DataFrame:
    """Counts, the most frequent relation (special if there is one), and PMI over words alone."""
    occurrences, rows = _occurrences(corpus), []
    pmi = _pmi(occurrences)
    for ids, of_pair in occurrences.groupby(PAIR):
        relations = of_pair["relation"].tolist()
        relation = max(RELATIONS, key=relations.count)
        row = dict(zip(PAIR, ids, strict=True)) | {"n": len(of_pair), "relation": relation}
        row |= {"n_sequences": of_pair["seq"].nunique(), "pmi": pmi.get(ids)}
        row["has_special"] = float("special" in relations)
        rows.append(row | {"relation_share": relations.count(relation) / len(of_pair)})
    return frame_of(rows)


def _pmi(occurrences: pd.DataFrame) -> dict[Any, float]:
    """church-1990: log2 p(w_j, w_i) / (p(w_j) p(w_i))."""
    words = occurrences[occurrences["relation"] != "special"]
    sides: dict[str, Any] = {side: words[side].value_counts() for side in PAIR}
    return {
        (source, target): np.log2(
            len(of_pair) * len(words) / (sides["source"][source] * sides["target"][target])
        )
        for (source, target), of_pair in words.groupby(PAIR)
    }


def relation_share(corpus: Corpus) -> pd.DataFrame:
    """Shares of the relations in pairs, mixing before, and changes: means over the sequences in
    which there is something to share; ratios to the mixing before in the same sequences."""
    occurrences, frames = _occurrences(corpus), []
    for layer, effect, values in _changes(corpus):
        groups = occurrences.assign(pairs=1.0, **values).groupby(["seq", "relation"])
        amounts: Any = groups[list(QUANTITIES)].sum().unstack(fill_value=0.0)
        shares: dict[str, Any] = {
            name: amounts[name].div(amounts[name].sum(axis=1).replace(0, np.nan), axis=0)
            for name in QUANTITIES
        }
        for name, share in shares.items():
            both = share.notna() & shares["before"].notna()
            below = shares["before"][both].sum().replace(0, np.nan)
            numbers = {"mean": share.mean(), "n_sequences": share.count()}
            numbers["ratio"] = share[both].sum() / below
            if name in ("pairs", "before"):
                numbers["ratio"] *= np.nan
            place = {"layer": layer, "effect": effect, "quantity": name}
            frames.append(pd.DataFrame(numbers).reset_index(names="relation").assign(**place))
    return pd.concat(frames).dropna(subset="mean")


def _changes(corpus: Corpus) -> Iterator[tuple[int, str, dict[str, np.ndarray]]]:
    """Yield layer, effect, and of every occurrence the share before, its change, gain and loss."""
    names = corpus.model.scopes
    for layer in range(len(corpus.model.layers)):
        for effect, (before, after) in EFFECTS.items():
            if after < len(names):
                held, then = (_shares(corpus, layer, names[step]) for step in (before, after))
                values = {"before": held, "delta": then - held, "change": abs(then - held)}
                signs = {"gain": (then - held).clip(min=0), "loss": (held - then).clip(min=0)}
                yield layer + 1, effect, values | signs


def _shares(corpus: Corpus, layer: int, scope: str) -> np.ndarray:
    """Mixing in every occurrence: rows of the map are made to sum to 1."""
    maps = (layers[layer].maps[scope] for layers in corpus.parts)
    rows = ((norms / norms.sum(dim=1, keepdim=True)).numpy() for norms in maps)
    return np.concatenate([of[which] for of, which in zip(rows, _chosen(corpus), strict=True)])


def pair_pmi_correlation(corpus: Corpus) -> pd.DataFrame:
    """ρ of PMI or word frequency and mean change, of pairs within a window that occur often; the
    partial one is that of what ranks of both frequencies leave."""
    counts = pd.Series([i for reading in corpus.readings for i in reading.ids]).value_counts()
    occurrences, rows = _occurrences(corpus), []
    for window in (1, 5, None):
        near = occurrences["distance"] <= (window or np.inf)
        pmi = _pmi(occurrences[near])
        for layer, effect, values in _changes(corpus):
            changes = occurrences.assign(delta=values["delta"])[near].groupby(PAIR)["delta"]
            pairs = changes.agg(["size", "mean"])
            for least in (2, 5, 10):
                kept = pairs[(pairs["size"] >= least) & pairs.index.isin([*pmi])]
                ids = kept.index.to_frame().to_numpy()
                place = {"layer": layer, "effect": effect, "window_size": window}
                place |= {"min_count": least, "n_pairs": len(kept), "n_words": len(np.unique(ids))}
                columns = [[pmi[of] for of in kept.index], *(counts[side] for side in ids.T)]
                for name, rho in _correlations(columns, kept["mean"].to_numpy(np.float32)):
                    rows.append(place | {"quantity": name, "spearman": rho})
    return frame_of(rows)


def _correlations(columns: list[np.ndarray], change: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield the correlations of PMI, frequencies and what PMI has beyond these with the change."""
    ranks = [stats.rankdata(column) - (len(change) + 1) / 2 for column in (*columns, change)]
    names = ("pmi", "source_frequency", "target_frequency")
    for name, column in zip(names, ranks[:3], strict=True):
        if len(change) >= 3 and min(np.ptp(column), np.ptp(ranks[3])) > 0:
            yield name, float(np.corrcoef(column, ranks[3])[0, 1])
    if len(change) >= 5:
        given = np.stack(ranks[1:3], axis=1)
        rest = [side - given @ np.linalg.lstsq(given, side)[0] for side in (ranks[0], ranks[3])]
        if min(abs(side).max() for side in rest) > 1e-6:
            yield "partial", float(np.corrcoef(rest)[0, 1])


def pair_delta_wide(corpus: Corpus) -> pd.DataFrame:
    """The same by token ids, with the standard errors of sequences as clusters."""
    place = ["layer", "source", "target", "n", "n_sequences", "degrees"]
    rows = _averages(corpus)
    wide = rows[place].drop_duplicates(place[:3]).set_index(place[:3])
    for effect, of_effect in rows.groupby("effect"):
        numbers = of_effect.set_index(place[:3])[["mean_delta", "std_delta", "error"]]
        wide[[f"{name}_{effect}" for name in ("mean", "std", "error")]] = numbers
    relations = pair(corpus).set_index(PAIR)["relation"].map(RELATIONS.index)
    return wide.reset_index().join(relations, on=PAIR)


def _averages(corpus: Corpus) -> pd.DataFrame:
    """Means of changes over occurrences i ≠ j."""
    occurrences = _occurrences(corpus)
    sequence, groups = occurrences["seq"].to_numpy(), occurrences.groupby(PAIR).indices
    shared = pd.DataFrame([*groups], columns=PAIR)
    shared["n"] = [len(of) for of in groups.values()]
    shared["n_sequences"] = [len(set(sequence[of])) for of in groups.values()]
    frames = []
    for layer, effect, values in _changes(corpus):
        of_pairs = [_average(values["delta"][of], sequence[of]) for of in groups.values()]
        numbers = pd.DataFrame(of_pairs).assign(layer=layer, effect=effect)
        frames.append(pd.concat([shared, numbers], axis=1))
    return pd.concat(frames)


def _average(values: np.ndarray, sequence: np.ndarray) -> dict[str, float | None]:
    """Mean and deviation; with three sequences, CR2's error and degrees of freedom (bell-2002).

    The residual maker is I − H with H = 11ᵀ/n. Each cluster's residuals are multiplied by
    (I − H_gg)^(−1/2); the variance is then a quadratic form of independent errors of one variance,
    and Satterthwaite matches its first two moments.
    """
    n, groups = len(values), np.unique(sequence)
    deviation = np.std(values, ddof=1) if n > 1 else None
    row = {"mean_delta": values.mean(), "std_delta": deviation}
    if len(groups) < 3:
        return row | {"error": None, "degrees": None}
    maker = np.eye(n) - 1 / n
    form = []  # variance = Σ_g (form_g · values)²
    for group in groups:
        members = sequence == group
        sizes, vectors = np.linalg.eigh(maker[np.ix_(members, members)])
        root = vectors @ np.diag(sizes**-0.5) @ vectors.T
        form.append(np.ones(members.sum()) / n @ root @ maker[members])
    moments = np.array(form) @ np.array(form).T
    degrees = np.trace(moments) ** 2 / np.sum(moments**2)
    return row | {"error": np.linalg.norm(np.array(form) @ values), "degrees": degrees}
