"""Vector rollout: every input token's own vector, propagated through all layers."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.layer_mixing import range_of
from analysis.measures.mixing.linear_layer import LinearLayer, LinearNorm, linear_layer, through
from analysis.models.attended import of_every_head
from analysis.models.trace import LayerTrace, LayerWeights
from analysis.scopes import BUDGET

_COPIES = 4
"""Tensors as large as the vectors that attention makes of some of them."""


@dataclass(frozen=True)
class TokenVectors:
    """Norms of every input token's vector in every token after one layer.

    `map` holds ‖V_ij‖, 0 where j cannot have reached i. `bias` is the norm of the summand due to
    biases. `error` is the largest distance of any token's Σ_j V_ij + bias_i from the model's own
    x_i, over the norm of x_i.
    """

    map: Float[Tensor, "query key"]
    bias: Float[Tensor, " query"]
    error: float

    @property
    def bias_share(self) -> float:
        """‖bias_i‖ / (Σ_j ‖V_ij‖ + ‖bias_i‖), mean over the tokens i."""
        return (self.bias / (self.map.sum(dim=1) + self.bias)).mean().item()


class VectorRollout:
    """The vectors V_ij that make up every token, one per token of the input, layer after layer.

    V⁰_ij is x_j where i = j, else 0. Given the query, every module is linear, as in `layer_mixing`:
    attention by its weights, a normalisation by the deviation of the whole vector, the network by
    its gates. So each input token is propagated through all layers separately. Vectors can cancel
    each other; products of norms cannot.

    All biases of the model are one more summand, given to no token: b_V too, and the shift of every
    normalisation. Where rows of attention add up to 1, b_V is the same for every mixture.

    Attention is applied a few input tokens at a time, the network one query at a time, whose
    gates make one matrix of the weights of all paths. Between layers it keeps the vectors
    themselves, n² · width numbers (within a parallel layer twice): see `vector_bytes`.

    Args:
        inputs: of the first layer, for a single sequence without padding.
        budget: bytes for what attention makes of vectors, a few input tokens at a time.

    Source:
        modarressi-2023, section 3.

    Differs:
        The paper shares the biases out among the tokens by absolute dot products, and goes on to
        the classifier; here they have a summand of their own, and each layer is measured by norms.
    """

    def __init__(self, inputs: Float[Tensor, "token width"], *, budget: int = BUDGET):
        self.budget = budget
        self.bias = torch.zeros_like(inputs)
        self.parts = inputs.new_zeros(len(inputs), *inputs.shape)
        self.parts.diagonal().copy_(inputs.T)
        self.reached = torch.eye(len(inputs), dtype=torch.bool)

    def pass_layer(self, layer: LayerTrace) -> TokenVectors:
        """Propagate all vectors through the next layer.

        Args:
            layer: a trace of a single sequence without padding.
        """
        step, n_tokens = _Step.of_layer(layer), len(self.parts)
        n_keys = min(n_tokens, max(1, self.budget // (_COPIES * self.parts[0].nbytes)))
        self.reached = layer.weights.pairs(n_tokens).float() @ self.reached.float() > 0
        streams = torch.zeros_like(self.parts) if layer.weights.order.is_parallel else self.parts
        for start in range(0, n_tokens, n_keys):
            keys = slice(start, start + n_keys)
            queries = range_of(self.reached[:, keys].any(dim=1))
            streams[keys, queries] = step.of(queries).attended(self.parts[keys, queries])
        map, sums = self.bias.new_zeros(n_tokens, n_tokens), torch.zeros_like(self.bias)
        for query in range(n_tokens):
            here, keys = slice(query, query + 1), range_of(self.reached[query])
            parts = step.of(here).followed(streams[keys, here], self.parts[keys, here])
            map[here, keys] = parts.norm(dim=-1).T
            sums[here] = parts.sum(dim=0)
            self.parts[keys, here] = parts
        bias = self.bias[None]
        stream = step.attended(bias, is_bias=True)
        self.bias = step.followed(stream, bias, is_bias=True)[0]
        output = layer.output[0]
        missed = (sums + self.bias - output).norm(dim=-1) / output.norm(dim=-1)
        return TokenVectors(map.cpu(), self.bias.norm(dim=-1).cpu(), missed.max().item())


def vector_bytes(n_tokens: int, width: int) -> int:
    """Memory that the vectors of one sequence take in float32.

    Source:
        modarressi-2023, section 3.
    """
    return n_tokens**2 * width * torch.float32.itemsize


@dataclass(frozen=True)
class _Step:
    """One layer as a linear map of any summand of its input at some queries, given the forward
    pass."""

    weights: LayerWeights
    attention: Float[Tensor, "head query key"]
    given: LinearLayer
    latent_norm: LinearNorm | None
    gate: Float[Tensor, "head query value_width"] | None

    @classmethod
    def of_layer(cls, layer: LayerTrace) -> "_Step":
        given, norm = linear_layer(layer), None
        latent = layer.weights.value_latent
        if latent is not None:
            whole = latent.before_norm(layer.attention_input[0])
            norm = LinearNorm(latent.norm, latent.norm.deviation(whole))
        gate = None if layer.gate is None else layer.gate[0]
        return cls(layer.weights, layer.attention[0], given, norm, gate)

    def of(self, queries: slice) -> "_Step":
        """Return the layer of summands that are 0 at all other queries and stay so."""
        return _Step(
            self.weights,
            self.attention[:, queries, queries],
            self.given.of(queries),
            self.latent_norm and self.latent_norm.of(queries),
            None if self.gate is None else self.gate[:, queries],
        )

    def attended(
        self, parts: Float[Tensor, "key query width"], *, is_bias: bool = False
    ) -> Float[Tensor, "key query width"]:
        """Apply attention and the steps after it to summands of the layer's input.

        Args:
            is_bias: True if the summand is the bias, to which the layer adds its own.
        """
        given = self.given
        read = through(given.read, parts, parts, is_bias=is_bias)
        sent = self._attended(read, is_bias=is_bias)
        return through(given.after_attention, sent, parts, is_bias=is_bias)

    def followed(
        self,
        stream: Float[Tensor, "key query width"],
        parts: Float[Tensor, "key query width"],
        *,
        is_bias: bool = False,
    ) -> Float[Tensor, "key query width"]:
        """Apply the network, and the steps around it, to what `attended` made of summands.

        Args:
            parts: the same summands of the layer's input.
        """
        given, is_parallel = self.given, self.weights.order.is_parallel
        beside = parts if is_parallel else stream
        normed = through(given.to_network, beside, beside, is_bias=is_bias)
        # products of parts of a larger tensor take twice as long
        passed = given.network.linear(normed.contiguous(), is_bias=is_bias)
        if is_parallel:
            passed = passed + stream
        return through(given.after_network, passed, beside, is_bias=is_bias)

    def _attended(
        self, read: Float[Tensor, "key query width"], *, is_bias: bool
    ) -> Float[Tensor, "key query width"]:
        """Apply attention with the weights of the forward pass.

        Values are mixed before they are projected back; heads of a group share theirs.
        """
        weights, latent = self.weights, self.weights.value_latent
        if latent is not None and self.latent_norm is not None:
            made = read @ latent.weight
            read = self.latent_norm.linear(made + latent.bias if is_bias else made, is_bias=is_bias)
        heads = len(weights.value_weight)
        step = heads // len({*(weights.groups or range(heads))})
        values = torch.einsum("jkd,hde->hkje", read, weights.value_weight[::step])
        if is_bias:
            values = values + weights.value_bias[::step, None, None]
        of_heads = of_every_head(values, heads, axis=0).flatten(2)
        mixed = (self.attention @ of_heads).unflatten(2, values.shape[2:])
        if self.gate is not None:
            mixed = mixed * self.gate.unsqueeze(2)
        sent = torch.einsum("hije,hed->jid", mixed, weights.output_weight)
        return sent + weights.output_bias if is_bias else sent
