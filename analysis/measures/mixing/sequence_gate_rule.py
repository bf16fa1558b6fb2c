"""How far two ways of sharing out a gated network part, and how many of its gates are closed."""

from analysis.measures.mixing.activation_gate import activation_gate
from analysis.measures.mixing.linear_layer import linear_layer
from analysis.models.trace import LayerTrace

CLOSED = 0.1
"""A gate that lets less than this share of its input through is closed."""


def closed_share(layer: LayerTrace) -> float:
    """Which share of a gated network's gates, over all tokens, is closed: gate(g) < 0.1.

    With SiLU, whose gate is σ(g), these are the gates with g < −2.2. There the rules part: the
    share that Integrated Gradients gives to what the gate lets through falls with 1/g², half of
    the gate itself with eᵍ.

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
