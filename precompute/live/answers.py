"""What the model gives of one sequence; it can be read where no model can be run."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32


@dataclass(frozen=True)
class LayerMaps:
    """Shares of every key in what each query takes; every row sums to 1.

    `scopes` stand in the order of the layer's scopes, `weights` are α of every head, and `norms`
    ‖αf(x)‖ of every head as shares of the row.
    """

    scopes: Float[np.ndarray, "scope query key"]
    weights: Float[np.ndarray, "head query key"]
    norms: Float[np.ndarray, "head query key"]


@dataclass(frozen=True)
class LiveRelevance:
    """Every map of relevance of one input, and what the model takes it for.

    `maps` has an entry for each rule and method there is. Its layers are those that relevance
    starts after, the last one of all at the end; of its heads the last is their mean, and rules
    and methods of no single head have that alone. `picture` is a PNG file of what the model sees;
    of a text it is None, and the grid 0. `prediction` holds the likeliest classes with their
    probabilities, none where the model predicts no classes. `is_cut` says that the end of a text
    was left out.
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
