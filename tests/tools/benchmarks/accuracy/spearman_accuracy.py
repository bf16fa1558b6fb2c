"""Error of the histogram's Spearman correlation, on real attention of the demo model.

    python -m tests.tools.benchmarks.accuracy.spearman_accuracy [--sequences 12]

The exact value ranks every pair of α and ‖f(x)‖ by scipy, with mid-ranks for ties.
"""

import argparse

import numpy as np
import pandas as pd
import torch
from scipy.stats import rankdata

from analysis.measures.norms.histogram_correlation import can_be_ranked, histogram_spearman
from analysis.measures.norms.joint_histogram import (
    ATTENTION_BINS_PER_OCTAVE,
    NORM_BINS_PER_OCTAVE,
    bins,
)
from analysis.token_types import TOKEN_TYPES
from precompute.models.load_models import load_model
from tests.precompute.corpora.whole import whole_for
from tests.tracing import layers_of


def real_pairs(n_sequences: int) -> pd.DataFrame:
    """layer, head, token type, α and ‖f(x)‖ of every pair of the demo's first sequences."""
    model = load_model("demo", device="cpu")
    corpus = whole_for(model, limit=n_sequences)
    parts = []
    for sequence in corpus.sequences:
        for layer in layers_of(model, [sequence]):
            _, heads, n, _ = layer.attention.shape
            parts.append(
                pd.DataFrame(
                    {
                        "layer": np.int8(layer.index),
                        "head": np.repeat(np.arange(heads, dtype=np.int8), n * n),
                        "type": np.tile(sequence.token_types, heads * n),
                        "attention": layer.attention.numpy().ravel(),
                        "norm": np.repeat(layer.value_norms.numpy(), n, axis=1).ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def exact(pairs: pd.DataFrame) -> float:
    first, second = (rankdata(pairs[name].to_numpy()) for name in ("attention", "norm"))
    return float(np.corrcoef(first, second)[0, 1])


def binned(pairs: pd.DataFrame) -> float | None:
    """ρ as the precompute would store it; None if the norms hardly vary."""
    first, second = (
        bins(torch.tensor(pairs[name].to_numpy()), per_octave=per_octave).numpy()
        for name, per_octave in (
            ("attention", ATTENTION_BINS_PER_OCTAVE),
            ("norm", NORM_BINS_PER_OCTAVE),
        )
    )
    cells, counts = np.unique(first.astype(np.int64) << 32 | second, return_counts=True)
    first, second = cells >> 32, cells & 0xFFFFFFFF
    return histogram_spearman(first, second, counts) if can_be_ranked(second, counts) else None


def report(name: str, groups: list[pd.DataFrame]) -> None:
    rhos = [(binned(group), group) for group in groups]
    errors = np.abs([rho - exact(group) for rho, group in rhos if rho is not None])
    print(
        f"{name:<20} {len(groups):>4} groups, {len(groups) - len(errors):>3} not ranked: error "
        f"{np.median(errors):.1e} in the middle, {np.quantile(errors, 0.95):.1e} at 95 %, "
        f"{errors.max():.1e} at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=12)
    pairs = real_pairs(parser.parse_args().sequences)
    print(f"{len(pairs):,} pairs")
    by_type = {name: pairs[pairs["type"] == code] for code, name in enumerate(TOKEN_TYPES)}
    for name, group in by_type.items():
        print(
            f"{name:<20} {len(group):>12,}  exact {exact(group):+.5f}  binned {binned(group):+.5f}"
        )
    report("type", list(by_type.values()))
    report("layer x type", [group for _, group in pairs.groupby(["layer", "type"])])
    for name, of_type in by_type.items():
        report(f"head x {name}", [group for _, group in of_type.groupby(["layer", "head"])])


if __name__ == "__main__":
    main()
