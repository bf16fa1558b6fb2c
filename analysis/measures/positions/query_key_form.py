"""Bilinear form of a head's queries and keys, and the rotation between its directions."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Complex, Float
from scipy.linalg import schur
from threadpoolctl import threadpool_limits
from torch import Tensor

NEGLIGIBLE = 1e-6  # relative to values of at most 1; the factors are exact to about 1e-7


@dataclass(frozen=True)
class QueryKeyFactors:
    """W_A = query · diag(values) · keyᵀ on [x 1]: the thin singular value decomposition of a head.

    The columns of `query` and `key` are orthonormal; `values` descend. Signs are shared: turning a
    column of both round changes nothing.
    """

    query: Float[Tensor, "head affine direction"]
    values: Float[Tensor, "head direction"]
    key: Float[Tensor, "head affine direction"]


def query_key_factors(
    query_weight: Float[Tensor, "head width head_width"],
    query_bias: Float[Tensor, "head head_width"],
    key_weight: Float[Tensor, "head width head_width"],
    key_bias: Float[Tensor, "head head_width"],
) -> QueryKeyFactors:
    """W_A = [W_Q; b_Q] [W_K; b_K]ᵀ per head, (d+1)×(d+1) of rank at most d', by thin factors.

    With [W_Q; b_Q] = P A and [W_K; b_K] = R B, both thin, A Bᵀ is d'×d' and has the singular values
    of W_A; its singular vectors times P and R are those of W_A. Computed in float64.

    Returns:
        The d' directions that the head can use, in the number format of the weights. Their
        orthogonal complement has singular value 0 and no directions of its own.

    Source:
        yamamoto-2023, section 3.3.

    Differs:
        The paper writes W_Q and W_K without biases; here they are a last row for the constant 1.
    """
    queries, keys = (
        torch.linalg.qr(torch.cat([weight, bias.unsqueeze(1)], dim=1).double())
        for weight, bias in ((query_weight, query_bias), (key_weight, key_bias))
    )
    left, values, right = torch.linalg.svd(queries.R @ keys.R.mT)
    dtype = query_weight.dtype
    return QueryKeyFactors(
        query=(queries.Q @ left).to(dtype),
        values=values.to(dtype),
        key=(keys.Q @ right.mT).to(dtype),
    )


@dataclass(frozen=True)
class HeadRotation:
    """T = basis · vectors · diag(e^(i phase)) · vectorsᴴ · basisᵀ, and the identity beside `basis`.

    The columns of `basis` are orthonormal and span the directions of the head's queries and keys;
    `vectors` is unitary. Phases ascend in (−π, π]; with each θ there is −θ, but for 0 and π.
    """

    basis: Float[Tensor, "affine span"]
    phases: Float[Tensor, " plane"]
    vectors: Complex[Tensor, "span plane"]


def query_key_rotation(factors: QueryKeyFactors) -> tuple[HeadRotation, ...]:
    """Every head's T with T · query_j = key_j for all j: the orthogonal one nearest the identity.

    The complement of the queries' directions is mapped to that of the keys': in their common span
    by the orthogonal factor of one complement's projection on the other, elsewhere by the identity.
    Where that projection is 0, every choice is equally near; then key_j goes to −query_j as far as
    possible, a quarter turn.

    T does not depend on the choice of singular vectors: it is invariant to joint signs, rotations
    within equal values and the null spaces. Directions with a value below 1e-6 of the first count
    as null space. T may reflect: a single query more than a right angle from its key is flipped.

    Returns:
        Bases and vectors in the number format of the factors, phases in float64; computed in
        float64, on the CPU.

    Source:
        yamamoto-2023, section 3.4, eqs. 9 and 10.

    Differs:
        The paper takes R = U_Qᵀ U_K with full square factors, whose null spaces, most of the 769
        dimensions, depend on the decomposition's routine, and R with them.
    """
    heads = zip(factors.query, factors.values, factors.key, strict=True)
    with threadpool_limits(1, user_api="blas"):  # threads only wait for each other here
        return tuple(_head_rotation(*head) for head in heads)


def _head_rotation(
    query: Float[Tensor, "affine direction"],
    values: Float[Tensor, " direction"],
    key: Float[Tensor, "affine direction"],
) -> HeadRotation:
    is_used = values > NEGLIGIBLE * values[0]
    queries, keys = (_orthonormal(side[:, is_used].double().cpu().numpy()) for side in (query, key))
    basis = _span(queries, keys)
    phases, vectors = _eigenvectors(_completed(basis.T @ keys))
    order = np.argsort(phases, kind="stable")
    complex_type = torch.complex128 if query.dtype == torch.float64 else torch.complex64
    return HeadRotation(
        basis=torch.from_numpy(basis).to(query),
        phases=torch.from_numpy(phases[order]).to(query.device),
        vectors=torch.from_numpy(vectors[:, order]).to(query.device, complex_type),
    )


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Columns that are orthonormal in float32, so in float64: one step of Newton's iteration."""
    return columns @ (1.5 * np.eye(columns.shape[1]) - 0.5 * columns.T @ columns)


def _span(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """An orthonormal basis of both; its first vectors are the queries."""
    beside = keys - queries @ (queries.T @ keys)
    left, sines, _ = np.linalg.svd(beside, full_matrices=False)
    return np.hstack([queries, left[:, sines > NEGLIGIBLE]])


def _completed(keys: np.ndarray) -> np.ndarray:
    """The orthogonal matrix whose first columns are the keys, as near to the identity as can be.

    Args:
        keys: in coordinates whose first ones are the queries'.
    """
    rank = keys.shape[1]
    complement = np.linalg.qr(keys, mode="complete")[0][:, rank:]
    left, cosines, right = np.linalg.svd(complement[rank:].T)
    is_free = cosines <= NEGLIGIBLE
    if is_free.any():  # how these are paired changes no distance: key_j goes to −query_j
        towards = complement[:rank].T @ keys[rank:].T  # the complement's products with query · keyᵀ
        free = left[:, is_free].T @ -towards @ right[is_free].T
        turned, _, back = np.linalg.svd(free)
        left[:, is_free] = left[:, is_free] @ turned @ back
    return np.hstack([keys, complement @ (left @ right)])


def _eigenvectors(orthogonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Phases and unitary eigenvectors, by the real Schur form: a fourth of the complex one's work.

    That of an orthogonal matrix has 1, −1 and the blocks (cos θ, −sin θ; sin θ, cos θ) on its
    diagonal and nothing beside them; (1, ∓i) / √2 are the eigenvectors of a block.
    """
    blocks, real, *_ = schur(orthogonal)
    phases = np.where(np.diagonal(blocks) < 0, np.pi, 0.0)
    vectors = real.astype(np.complex128)
    for first in np.flatnonzero(np.diagonal(blocks, -1)):
        sine, cosine = blocks[first + 1, first], blocks[first, first]
        phases[first] = np.arctan2(sine, cosine)
        phases[first + 1] = -phases[first]
        vectors[:, first] = (real[:, first] - 1j * real[:, first + 1]) / np.sqrt(2)
        vectors[:, first + 1] = vectors[:, first].conj()
    phases[phases <= NEGLIGIBLE - np.pi] = np.pi
    return phases, vectors
