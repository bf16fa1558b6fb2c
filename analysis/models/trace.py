"""Trace of a forward pass, in which all model families look the same to measures."""

from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.measures.positions.query_key_form import (
    HeadRotation,
    QueryKeyFactors,
    query_key_factors,
    query_key_rotation,
)
from analysis.models.attended import weights_of
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.head_norm import HeadNormWeights
from analysis.models.norm import Norm
from analysis.models.offset_terms import OffsetTerms
from analysis.models.projections.latent import Latent, latent_of
from analysis.models.projections.query_gate import QueryGate
from analysis.models.rotary import PatchRotary, Rotary
from analysis.scopes import LayerOrder

Model = Any  # a torch module, whose submodules no type checker knows by name


@dataclass(frozen=True)
class LayerWeights:
    """Weights of one layer, its attention cut into heads; equal for every input.

    `number` is the layer's number in the model, counted from 1, layers without attention included.

    f(x) = (x @ value_weight + value_bias) @ output_weight, per head; the output bias belongs to the
    block and to no token. `norms` are the normalisations in the order of the layer's steps. If
    `is_causal`, a query sees no later key, and with a `window` none that is more than `window`
    tokens away.

    A score s is (rotated query) · (rotated key) · score_scale, of the queries and keys after their
    norms, if they have any; `offset_terms` are added to the product before scaling. With a
    `score_cap`, the score is score_cap · tanh(s / score_cap). Heads that share keys and values form
    a group, and each of them gets a copy. Without groups each head has its own.

    A `sink_logit` of a head enters the sum of its softmax and brings no vector, so that the weights
    of a query sum to 1 less the share that goes to no token; None without.

    Queries, keys or values may be made of a latent of what attention reads: see `Latent`. Keys of a
    latent may begin with coordinates that `direct_key_weight` makes of what attention reads. With a
    `gate`, f(x) is of a pair: the values times the factors of the query, before the output.
    """

    number: int
    query_weight: Float[Tensor, "head query_input head_width"]
    query_bias: Float[Tensor, "head head_width"]
    key_weight: Float[Tensor, "head key_input key_width"]
    key_bias: Float[Tensor, "head head_width"]
    value_weight: Float[Tensor, "head value_input value_width"]
    value_bias: Float[Tensor, "head value_width"]
    output_weight: Float[Tensor, "head value_width width"]
    output_bias: Float[Tensor, " width"]
    feed_forward: FeedForwardWeights
    order: LayerOrder
    norms: tuple[Norm, ...]
    is_causal: bool
    score_scale: float
    score_cap: float | None = None
    rotary: Rotary | PatchRotary | None = None
    query_norm: HeadNormWeights | None = None
    key_norm: HeadNormWeights | None = None
    window: int | None = None
    groups: tuple[int, ...] | None = None
    offset_terms: OffsetTerms | None = None
    sink_logit: Float[Tensor, " head"] | None = None
    query_latent: Latent | None = None
    key_latent: Latent | None = None
    value_latent: Latent | None = None
    direct_key_weight: Float[Tensor, "head width direct_width"] | None = None
    gate: QueryGate | None = None

    @cached_property
    def norms_by_stage(self) -> tuple[tuple[Norm, ...], ...]:
        """The normalisations of each of the order's stages."""
        norms = iter(self.norms)
        stages = self.order.stages
        return tuple(tuple(next(norms) for step in stage if step == "ln") for stage in stages)

    def pairs(self, n_tokens: int) -> Bool[Tensor, "query key"]:
        """Mask of the keys that each query sees: of the sequence, the past, the window.

        Pairs outside of the mask have neither weight nor vector; their zeros are no measurements.
        """
        seen = torch.ones(n_tokens, n_tokens, dtype=torch.bool)
        if self.is_causal:
            seen = seen.tril()
        return seen if self.window is None else seen.triu(-self.window).tril(self.window)

    def queries(
        self, read: Float[Tensor, "*batch token width"]
    ) -> Float[Tensor, "*batch head token head_width"]:
        """Queries from the input of attention, normalised but not rotated."""
        given = latent_of(self.query_latent, read)
        made = given.unsqueeze(-3) @ self.query_weight + self.query_bias.unsqueeze(-2)
        return made if self.query_norm is None else self.query_norm.normed(made)

    def keys(
        self, read: Float[Tensor, "*batch token width"]
    ) -> Float[Tensor, "*batch head token head_width"]:
        """Keys of every query head from the input of attention, normalised but not rotated."""
        made = latent_of(self.key_latent, read).unsqueeze(-3) @ self.key_weight
        if self.direct_key_weight is not None:
            made = torch.cat([read.unsqueeze(-3) @ self.direct_key_weight, made], dim=-1)
        made = made + self.key_bias.unsqueeze(-2)
        return made if self.key_norm is None else self.key_norm.normed(made)

    def values(
        self, read: Float[Tensor, "*batch token width"]
    ) -> Float[Tensor, "*batch head token value_width"]:
        """Values of every query head from the input of attention."""
        given = latent_of(self.value_latent, read)
        return given.unsqueeze(-3) @ self.value_weight + self.value_bias.unsqueeze(-2)

    @property
    def positions_by(self) -> str:
        """Return the source of positions in the scores: one of `analysis.needs.KNOWS_PLACES_BY`."""
        if self.rotary is None:
            return "added" if self.offset_terms is None else "distance"
        return "turned" if isinstance(self.rotary, Rotary) else "patches"

    @property
    def compares_directions(self) -> bool:
        """Return True without query/key norms, latents, rotation or offset terms.

        Then scores are a bilinear form of the input of attention, and its singular directions are
        those that a head compares.
        """
        norms = self.query_norm, self.key_norm, self.query_latent, self.key_latent
        return self.rotary is None and self.offset_terms is None and not any(norms)

    @property
    def transforms_linearly(self) -> bool:
        """Return True if f is an affine map of the input of attention, so has singular values."""
        return self.value_latent is None and self.gate is None

    def compared(
        self, read: Float[Tensor, "*batch token width"]
    ) -> tuple[
        Float[Tensor, "*batch head token head_width"], Float[Tensor, "*batch head token head_width"]
    ]:
        """Queries and keys after their norms and rotation."""
        queries, keys = self.queries(read), self.keys(read)
        if self.rotary is None:
            return queries, keys
        return self.rotary.turned(queries), self.rotary.turned(keys)

    def capped(self, scores: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Scores as they enter the softmax."""
        cap = self.score_cap
        return scores if cap is None else cap * (scores / cap).tanh()

    def scores(
        self, read: Float[Tensor, "*batch token width"]
    ) -> Float[Tensor, "*batch head query key"]:
        """Scores as they enter the softmax, also of pairs that a query does not see."""
        return self.capped(self.products(read) * self.score_scale)

    def weights_of(
        self, scores: Float[Tensor, "*batch head query key"]
    ) -> Float[Tensor, "*batch head query key"]:
        """Attention weights from scores as they enter the softmax; −∞ for pairs not seen."""
        return weights_of(scores, self.sink_logit)

    def products(
        self, read: Float[Tensor, "*batch token width"]
    ) -> Float[Tensor, "*batch head query key"]:
        """Scores before scaling and capping: (query) · (key) plus offset terms."""
        return self.products_of(*self.compared(read))

    def products_of(
        self,
        queries: Float[Tensor, "*batch head token head_width"],
        keys: Float[Tensor, "*batch head token head_width"],
        rows: slice = slice(None),
        span: slice = slice(None),
    ) -> Float[Tensor, "*batch head query key"]:
        """`products` of some queries with some keys, or with all if there are offset terms."""
        product = queries[..., rows, :] @ keys[..., span, :].mT
        terms = self.offset_terms
        return product if terms is None else product + terms.added(queries, keys, rows)

    @cached_property
    def output_factor(self) -> Float[Tensor, "head value_width value_width"]:
        """A small square matrix per head that changes norms as the output projection does.

        With W_Oᵀ = QR, ‖v W_O‖ = ‖v Rᵀ‖ for every v. Computed in float64, once per model.
        """
        _, triangular = torch.linalg.qr(self.output_weight.double().mT, mode="r")
        return triangular.mT.to(self.output_weight.dtype)

    @cached_property
    def query_key(self) -> QueryKeyFactors:
        """The directions in which each head compares queries with keys. Once per model."""
        return query_key_factors(self.query_weight, self.query_bias, self.key_weight, self.key_bias)

    @cached_property
    def query_key_rotation(self) -> tuple[HeadRotation, ...]:
        """Rotation of each head's query directions into its key directions. Once per model."""
        return query_key_rotation(self.query_key)

    @cached_property
    def hidden_weights(self) -> tuple[Float[Tensor, "head value_width hidden"], ...]:
        """Product of every head's output weights and the network's input weights.

        One entry for each of the network's paths; deviations of normalisations are left out. Short
        values times this product cost a fraction of f(x) times the network's input weight.
        """
        sent = self.output_weight
        _, after_attention, to_network, _ = self.norms_by_stage
        for norm in (*after_attention, *to_network):
            sent = norm.linear(sent)
        return tuple(sent @ weight for weight, _ in self.feed_forward.paths)


@dataclass(frozen=True)
class LayerTrace:
    """One layer of one forward pass, in the shapes that all measures share.

    `attention_input` is the input of queries, keys and values: the layer's input, normalised if the
    layer's order begins with that. `attention_output` is the output of attention before any
    normalisation or residual.
    """

    weights: LayerWeights
    input: Float[Tensor, "batch token width"]
    attention_input: Float[Tensor, "batch token width"]
    attention: Float[Tensor, "batch head query key"]
    values: Float[Tensor, "batch head key value_width"]
    attention_output: Float[Tensor, "batch query width"]
    output: Float[Tensor, "batch query width"]

    @property
    def gate(self) -> Float[Tensor, "batch head query gate_width"] | None:
        """Factors by which each query scales what its heads mix; None without a gate."""
        gate = self.weights.gate
        return None if gate is None else gate.factors(self.attention_input)

    @property
    def mixed(self) -> Float[Tensor, "batch head query value_width"]:
        """Values that each head mixes, as the output projection is given them."""
        mixed, gate = self.attention @ self.values, self.gate
        return mixed if gate is None else mixed * gate

    def of_sequence(self, row: int, n_tokens: int) -> "LayerTrace":
        """Return one sequence of the batch, without padding."""
        sequence, real = slice(row, row + 1), slice(n_tokens)
        return LayerTrace(
            weights=self.weights,
            input=self.input[sequence, real],
            attention_input=self.attention_input[sequence, real],
            attention=self.attention[sequence, :, real, real],
            values=self.values[sequence, :, real],
            attention_output=self.attention_output[sequence, real],
            output=self.output[sequence, real],
        )


@dataclass(frozen=True)
class ModelWeights:
    """Weights that are equal for every input: the layers, and the learned position embedding.

    `position_embedding` is None if the model has no learned position vectors.
    """

    layers: tuple[LayerWeights, ...]
    position_embedding: Float[Tensor, "position width"] | None


def in_dtype(weights: Any, dtype: torch.dtype) -> Any:
    """Weights, or a part of them, with every tensor of reals in another number format."""
    if isinstance(weights, Tensor):
        return weights.to(dtype) if weights.is_floating_point() else weights
    if isinstance(weights, tuple):
        return tuple(in_dtype(part, dtype) for part in weights)
    if is_dataclass(weights):
        parts = {field.name: getattr(weights, field.name) for field in fields(weights)}
        return type(weights)(**{name: in_dtype(part, dtype) for name, part in parts.items()})
    return weights
