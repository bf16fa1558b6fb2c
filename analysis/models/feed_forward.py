"""The feed-forward network of a layer: plain, gated, or a mixture of experts."""

from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from analysis.measures.mixing.activation_gate import Activation
from analysis.models.router import Router


@dataclass(frozen=True)
class FeedForwardWeights:
    """The feed-forward network: activation(z @ input_weight + input_bias) @ output_weight + bias.

    Where there are gates it is (activation(g) ⊙ u) @ output_weight + bias, with
    g = z @ gate_weight + gate_bias and u = z @ input_weight + input_bias.

    A mixture of experts is one such network: the hidden layers of all experts beside each other,
    each times the share that the `router` gives its expert, and with them each `expert_bias`.

    Of activations with a limit (`analysis.measures.mixing.activation_gate.LIMITS`) u is clamped too
    before the product.
    """

    input_weight: Float[Tensor, "width hidden"]
    input_bias: Float[Tensor, " hidden"]
    output_weight: Float[Tensor, "hidden width"]
    output_bias: Float[Tensor, " width"]
    activation: Activation
    gate_weight: Float[Tensor, "width hidden"] | None = None
    gate_bias: Float[Tensor, " hidden"] | None = None
    router: Router | None = None
    expert_bias: Float[Tensor, "expert width"] | None = None

    def routed(
        self, hidden: Float[Tensor, "*any hidden"], read: Float[Tensor, "*any width"]
    ) -> Float[Tensor, "*any hidden"]:
        """The hidden layer scaled by the shares of experts, which depend on the network's input."""
        if self.router is None:
            return hidden
        return hidden * self.router.of_units(read, hidden.shape[-1])

    def bias_of(
        self, read: Float[Tensor, "*any width"]
    ) -> Float[Tensor, " width"] | Float[Tensor, "*any width"]:
        """The output bias, and those of experts by their shares, of the network's input."""
        if self.router is None or self.expert_bias is None:
            return self.output_bias
        return self.output_bias + self.router.shares(read) @ self.expert_bias

    @cached_property
    def paths(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Weight and bias of every way into the hidden layer: of gates, if any, and of inputs."""
        inputs = self.input_weight, self.input_bias
        if self.gate_weight is None or self.gate_bias is None:
            return (inputs,)
        return (self.gate_weight, self.gate_bias), inputs
