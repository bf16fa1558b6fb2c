"""Share of closed gates in a gated network, where attribution rules differ most."""

from analysis.measures.mixing.activation_gate import activation_gate
from analysis.measures.mixing.linear_layer import linear_layer
from analysis.models.trace import LayerTrace

CLOSED = 0.1
"""A gate is closed if it passes less than this share of its input."""


def closed_share(layer: LayerTrace) -> float:
    """Share of a gated network's gates, over all tokens, that are closed: gate(g) < 0.1.

    With SiLU, whose gate is σ(g), these are the gates with g < −2.2. There the rules differ: the
    share that Integrated Gradients gives to the gated factor falls with 1/g², half of the gate
    itself with eᵍ.

    Args:
        layer: a trace of a single sequence without padding.

    Returns:
        0 to 1.

    Source:
        achtibat-2024, section 3.3: the rule of halves; what is counted here is ours.
    """
    network = linear_layer(layer).network
    gates = activation_gate(network.hidden[0], network.weights.activation)
    of_asked = gates[network.factors[1] != 0]  # experts that a token is not sent to have factor 0
    return (of_asked < CLOSED).double().mean().item()
