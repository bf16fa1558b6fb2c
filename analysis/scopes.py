"""How much of a layer is counted in, and what each module changes: names without arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass

WEIGHTS_WITH_RESIDUAL = "attn_w_res"
"""Half attention weights, half the token itself: a ratio alone, and no scope, since no vectors
belong to it."""


@dataclass(frozen=True)
class LayerOrder:
    """Where a layer has its normalisations, by what there is to look at on the way through it.

    `scopes` go from the attention weights to the whole layer; each ends where its name ends.
    `effects` names the steps between scopes: each as the scope before it and the scope after it.
    """

    name: str
    scopes: tuple[str, ...]
    effects: Mapping[str, tuple[str, str]]

    @property
    def vectors(self) -> str:
        """The scope of attention's vectors, without anything that follows."""
        return self.scopes[1]

    @property
    def of_ratios(self) -> tuple[str, ...]:
        """What mixing ratios are of: the scopes, and after the weights those with the residual."""
        return self.scopes[0], WEIGHTS_WITH_RESIDUAL, *self.scopes[1:]

    @property
    def before_network(self) -> str:
        """The scope that ends where the feed-forward network begins."""
        return self.effects["ff"][0]

    @property
    def network(self) -> str:
        """The scope that ends after the feed-forward network."""
        return self.effects["ff"][1]

    @property
    def whole(self) -> str:
        return self.scopes[-1]


POST_NORM = LayerOrder(
    "post_norm",
    scopes=(
        "attn_w",
        "attn",
        "attn_res",
        "attn_res_ln",
        "attn_res_ln_ff",
        "attn_res_ln_ff_res",
        "attn_res_ln_ff_res_ln",
    ),
    effects={
        "res_ln": ("attn", "attn_res_ln"),
        "ff": ("attn_res_ln", "attn_res_ln_ff"),
        "ff_res": ("attn_res_ln_ff", "attn_res_ln_ff_res"),
        "ff_ln": ("attn_res_ln_ff_res", "attn_res_ln_ff_res_ln"),
    },
)
"""Each block is normalised after its residual, as in BERT."""
PRE_NORM = LayerOrder(
    "pre_norm",
    scopes=(
        "attn_w",
        "ln_attn",
        "ln_attn_res",
        "ln_attn_res_ln",
        "ln_attn_res_ln_ff",
        "ln_attn_res_ln_ff_res",
    ),
    effects={
        "res_ln": ("ln_attn", "ln_attn_res_ln"),
        "ff": ("ln_attn_res_ln", "ln_attn_res_ln_ff"),
        "ff_res": ("ln_attn_res_ln_ff", "ln_attn_res_ln_ff_res"),
    },
)
"""Each block reads a normalised copy of the residual stream, which goes around it as it is, as in
GPT-2. So the last residual adds what `ln_attn_res` holds, and no normalisation ends the layer."""
ORDERS = {each.name: each for each in (POST_NORM, PRE_NORM)}
SCOPES = tuple(dict.fromkeys(scope for order in ORDERS.values() for scope in order.scopes))
"""Every scope there is; a layer has those of its order."""
OF_RATIOS = tuple(dict.fromkeys(name for order in ORDERS.values() for name in order.of_ratios))
"""Whatever a mixing ratio is of."""
EFFECTS = tuple(POST_NORM.effects)
"""Every effect there is; a layer has those of its order."""
SHARED_EFFECTS = tuple(e for e in EFFECTS if all(e in order.effects for order in ORDERS.values()))
"""Those that layers of every order have."""
BIAS_READINGS = ("player", "constant", "left_out")
"""What the bias is where an activation is shared out: one more summand on the way from 0 to the
whole, as everywhere but where readings are compared; there all along; or not there."""
RELATIONS = ("special", "same_word", "word_pieces", "adjacent", "same_segment", "other_segment")
"""How two tokens of a sequence relate; the first name that fits is the pair's relation."""
