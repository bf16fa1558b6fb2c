"""Results of running a model on one sequence; importable without torch."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32


@dataclass(frozen=True)
class HeadMaps:
    """α and ‖αf(x)‖ of every head, as shares of the row: of one layer, or of all that attend."""

    weights: Float[np.ndarray, "head query key"] | Float[np.ndarray, "layer head query key"]
    norms: Float[np.ndarray, "head query key"] | Float[np.ndarray, "layer head query key"]


@dataclass(frozen=True)
class LayerMaps(HeadMaps):
    """Maps of a layer, and shares of every key in each query's mixture at the layer's scopes."""

    scopes: Float[np.ndarray, "scope query key"]


@dataclass(frozen=True)
class WithoutHead:
    """Run of one sequence in which a head brings nothing, and another without all of its layer.

    `changes` are ‖h′ − h‖ / ‖h‖ of every token after the last layer. The model's prediction at some
    `places` (None: of the whole sequence) without the head: `before` and `after` are what it finds
    likeliest, with the probabilities of `before` with and without it; empty for models that predict
    nothing.
    """

    changes: Float[np.ndarray, "part token"]
    places: tuple[int | None, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    probabilities: Float[np.ndarray, "state token"]


@dataclass(frozen=True)
class HeadVectors:
    """Sum that one head makes for one query: α and f(x) of every key, whose α f(x) it adds up."""

    weights: Float[np.ndarray, " key"]
    vectors: Float[np.ndarray, "key width"]


@dataclass(frozen=True)
class LiveRelevance:
    """Every relevance map of one input, and the model's predicted classes.

    `maps` has an entry for each rule and method. Its layers are those that relevance starts after,
    with the last layer at the end. Its last head is the mean of all heads; rules and methods
    without single heads have that alone. `picture` is a PNG file of the model's input; for a text
    it is None, and the grid 0. `prediction` holds the likeliest classes with their probabilities,
    empty for models without classes. `is_cut` is True if the end of a text was left out.
    """

    tokens: tuple[str, ...]
    is_content: Bool[np.ndarray, " token"]
    maps: dict[str, Float32[np.ndarray, "start head token"]]
    prediction: tuple[tuple[str, float], ...]
    picture: bytes | None = None
    rows: int = 0
    columns: int = 0
    first_patch: int = 0
    is_cut: bool = False
