"""Kinds of attention by relative position: cluster centres of profiles, and their names."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import threadpool_limits

STARTS = 10
FITTED = 100_000
"""Most profiles that centres are fitted to."""
LEANING = 2
"""Ratio of attention between the two sides above which a centre has a direction."""
STRONG, MODERATE = 0.4, 0.1


class Clustering(NamedTuple):
    """Centres, the number of fitted profiles nearest to each, and the explained variance."""

    centres: Float[np.ndarray, "cluster offset"]
    sizes: Int[np.ndarray, " cluster"]
    explained: float


def profile_centres(
    profiles: Float[np.ndarray, "row offset"], n_clusters: int, *, seed: int
) -> Clustering | None:
    """k-means of profiles, best of several starts, all texts, layers and heads alike.

    Args:
        profiles: of more than `FITTED` a random sample is used.

    Returns:
        The centre with the largest peak first; None if fewer profiles than clusters differ.

    Source:
        yamamoto-2023, section 3.1.

    Differs:
        The paper's texts are all 512 tokens long, and it clusters sums; ours are divided by the
        number of tokens, so that a text's length does not decide where its heads belong.
    """
    from sklearn.cluster import KMeans  # which takes a second to load

    chosen = _sample(profiles, seed)
    if len(np.unique(chosen, axis=0)) < n_clusters:
        return None
    settings: dict[str, Any] = {"n_init": STARTS, "random_state": seed}
    means = KMeans(n_clusters, **settings)
    with threadpool_limits(limits=1):  # several threads add up in an order of their own
        labels = means.fit_predict(chosen)
    total = np.square(chosen - chosen.mean(axis=0)).sum()
    order = np.argsort(-means.cluster_centers_.max(axis=1), kind="stable")
    sizes = np.bincount(labels, minlength=n_clusters)
    return Clustering(
        means.cluster_centers_[order], sizes[order], float(1 - means.inertia_ / total)
    )


def _sample(profiles: np.ndarray, seed: int) -> np.ndarray:
    if len(profiles) <= FITTED:
        return profiles
    draw = np.random.default_rng(seed)
    return profiles[np.sort(draw.choice(len(profiles), FITTED, replace=False))]


def centre_names(
    centres: Float[np.ndarray, "cluster offset"], offsets: Int[np.ndarray, " offset"]
) -> list[str]:
    """Name every centre by direction and strength, as `previous_strong` or `both_weak`.

    `self` if offset 0 has the most attention and more than half of all in the window; else
    `previous` or `next` if one side has more than twice as much as the other, and `both` if none
    has. `strong` from 0.4 of a token's attention at one offset, `moderate` from 0.1, else `weak`.

    Args:
        centres: mean attention per token, the centre with the largest peak first.

    Returns:
        No name twice: a second one gets `_2`, in the order of the centres.

    Source:
        yamamoto-2023, section 3.1, which distinguishes clusters by strength and direction.
    """
    names: list[str] = []
    for centre in centres:
        name = f"{_direction(centre, offsets)}_{_strength(centre.max())}"
        same = sum(known == name or known.startswith(f"{name}_") for known in names)
        names.append(f"{name}_{same + 1}" if same else name)
    return names


def _direction(centre: np.ndarray, offsets: np.ndarray) -> str:
    middle = centre[offsets == 0].sum()
    if middle == centre.max() and middle > centre.sum() / 2:
        return "self"
    left, right = centre[offsets < 0].sum(), centre[offsets > 0].sum()
    if right > LEANING * left:
        return "next"
    return "previous" if left > LEANING * right else "both"


def _strength(peak: float) -> str:
    return "strong" if peak >= STRONG else "moderate" if peak >= MODERATE else "weak"


def nearest_centres(
    profiles: Float[np.ndarray, "row offset"], centres: Float[np.ndarray, "cluster offset"]
) -> Int[np.ndarray, " row"]:
    """Place of the centre at the smallest Euclidean distance; the first of several.

    Source:
        yamamoto-2023, section 3.1.
    """
    nearness = profiles @ centres.T - np.square(centres).sum(axis=1) / 2
    return nearness.argmax(axis=1)
