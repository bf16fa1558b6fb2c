"""How much of a layer is counted in, and what each module changes: names without arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

WEIGHTS_WITH_RESIDUAL = "attn_w_res"
"""Half attention weights, half the token itself: a ratio alone, and no scope, since no vectors
belong to it."""
WEIGHTS = "attn_w"
"""The scope of attention's weights, without any vector."""


@dataclass(frozen=True)
class LayerOrder:
    """A layer as two blocks of steps: attention's and the feed-forward network's.

    Steps are `ln`, a normalisation of whichever kind; the block's module, `attn` or `ff`; and
    `res`, which adds what entered the block. In a parallel layer the network reads what enters the
    layer, as attention does, and the network's `res` adds that.

    `scopes` go from the attention weights to the whole layer: what is counted in grows step by step
    from where attention ends, and each name lists what is counted in. `effects` name what happens
    between scopes, each by the scope before it and the scope after it: what stands between
    attention and the network as one, then the network, `ff`, then every step after it by itself.
    """

    name: str
    attention: tuple[str, ...]
    network_block: tuple[str, ...]
    is_parallel: bool = False

    @property
    def read(self) -> tuple[str, ...]:
        """The steps through which attention reads what enters the layer."""
        return self.attention[: self.attention.index("attn")]

    @property
    def after_attention(self) -> tuple[str, ...]:
        """The steps of attention's block after attention."""
        return self.attention[self.attention.index("attn") + 1 :]

    @property
    def to_network(self) -> tuple[str, ...]:
        """The steps of the network's block before the network."""
        return self.network_block[: self.network_block.index("ff")]

    @property
    def after_network(self) -> tuple[str, ...]:
        """The steps of the network's block after the network."""
        return self.network_block[self.network_block.index("ff") + 1 :]

    @property
    def between(self) -> tuple[str, ...]:
        """What happens to all that attention brings together before the network reads it."""
        return () if self.is_parallel else self.after_attention + self.to_network

    @property
    def stages(self) -> tuple[tuple[str, ...], ...]:
        """The steps before attention, after it in its block, before the network, and after it."""
        return self.read, self.after_attention, self.to_network, self.after_network

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        vectors = "_".join((*self.read, "attn"))
        steps = (vectors, *self.between, "ff", *self.after_network)
        return WEIGHTS, *accumulate(steps, "{}_{}".format)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The step by which every scope is reached; the first by the weights."""
        return "weights", "attn", *self.between, "ff", *self.after_network

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """What every scope counts in that the one before does not; the same wherever it occurs."""
        between = (
            *(f"{step}_after_attention" for step in self.after_attention),
            *(f"{step}_before_network" for step in self.to_network),
        )
        beside = "_beside" if self.is_parallel else ""
        after = (f"{step}_after_network{beside}" for step in self.after_network)
        vectors = "vectors_of_normed" if self.read else "vectors"
        shown = between[: len(self.between)]
        return dict(
            zip(self.scopes, ("weights", vectors, *shown, f"network{beside}", *after), strict=True)
        )

    @cached_property
    def effects(self) -> Mapping[str, tuple[str, str]]:
        group = {"_".join(self.between): (self.vectors, self.before_network)}
        after = pairwise(self.scopes[self.scopes.index(self.network) :])
        steps = zip(self.after_network, after, strict=True)
        return (
            (group if self.between else {})
            | {"ff": (self.before_network, self.network)}
            | {f"ff_{step}": places for step, places in steps}
        )

    @property
    def vectors(self) -> str:
        """The scope of attention's vectors, without anything that follows."""
        return self.scopes[1]

    @property
    def of_ratios(self) -> tuple[str, ...]:
        """What mixing ratios are of: the scopes, and after the weights those with the residual."""
        return self.scopes[0], WEIGHTS_WITH_RESIDUAL, *self.scopes[1:]

    @property
    def with_residual(self) -> str:
        """The first scope that the token itself is in, by way of a residual."""
        return self.scopes[self.steps.index("res")]

    @property
    def from_residual(self) -> tuple[str, ...]:
        """The scopes that the token itself is in, by way of a residual or of what follows it."""
        return self.scopes[self.scopes.index(self.with_residual) :]

    @property
    def attention_block(self) -> str:
        """The scope that ends with attention's block; in a parallel layer that of both blocks."""
        return self.whole if self.is_parallel else self.scopes[1 + len(self.after_attention)]

    @property
    def before_network(self) -> str:
        """The scope that ends where the feed-forward network begins."""
        return self.scopes[1 + len(self.between)]

    @property
    def network(self) -> str:
        """The scope that ends after the feed-forward network."""
        return self.scopes[2 + len(self.between)]

    @property
    def whole(self) -> str:
        return self.scopes[-1]

    @property
    def keeps_stream(self) -> bool:
        """Whether what enters the layer leaves it as it is, with something added to it."""
        return self.network_block[-1] == "res" and self.after_attention[-1:] != ("ln",)


POST_NORM = LayerOrder("post_norm", ("attn", "res", "ln"), ("ff", "res", "ln"))
"""Each block is normalised after its residual, as in BERT."""
PRE_NORM = LayerOrder("pre_norm", ("ln", "attn", "res"), ("ln", "ff", "res"))
"""Each block reads a normalised copy of the residual stream, which goes around it as it is, as in
GPT-2 or Llama. So the last residual adds what `ln_attn_res` holds, and no normalisation ends the
layer."""
SANDWICH_NORM = LayerOrder("sandwich_norm", ("ln", "attn", "ln", "res"), ("ln", "ff", "ln", "res"))
"""As pre-norm, and what a block puts out is normalised before the residual, as in Gemma 2 and 3."""
OUTPUT_NORM = LayerOrder("output_norm", ("attn", "ln", "res"), ("ff", "ln", "res"))
"""Each block reads the residual stream as it is, and its output is normalised before the residual,
as in OLMo 2."""
PARALLEL = LayerOrder("parallel", ("ln", "attn"), ("ln", "ff", "res"), is_parallel=True)
"""Attention and network both read what enters the layer, each through a normalisation of its own,
as in GPT-NeoX. The network sees its own token alone and cannot mix."""
ORDERS = {
    order.name: order for order in (POST_NORM, PRE_NORM, SANDWICH_NORM, OUTPUT_NORM, PARALLEL)
}
SCOPES = tuple(dict.fromkeys(scope for order in ORDERS.values() for scope in order.scopes))
"""Every scope there is; a layer has those of its order."""
ROLES = {scope: role for order in ORDERS.values() for scope, role in order.roles.items()}
"""What every scope counts in that the one before does not."""
WHOLE = frozenset(order.whole for order in ORDERS.values())
"""The scopes that are whole layers."""
OF_RATIOS = tuple(dict.fromkeys(name for order in ORDERS.values() for name in order.of_ratios))
"""Whatever a mixing ratio is of."""
BETWEEN = tuple(
    dict.fromkeys("_".join(order.between) for order in ORDERS.values() if order.between)
)
"""The effects of what stands between attention and network; a layer has one of them at most."""
EFFECTS = (*BETWEEN, *(e for e in POST_NORM.effects if e not in BETWEEN))
"""Every effect there is; a layer has those of its order."""
SHARED_EFFECTS = tuple(e for e in EFFECTS if all(e in order.effects for order in ORDERS.values()))
"""Those that layers of every order have."""
BIAS_READINGS = ("player", "constant", "left_out")
"""What the bias is where an activation is shared out: one more summand on the way from 0 to the
whole, as everywhere but where readings are compared; there all along; or not there."""
BUDGET = 8 * 2**20
"""Bytes that the hidden vectors of pairs may take at a time, on each path of the network."""
GATE_RULES = ("ig", "half")
"""How the product of two hidden layers is shared out: by Integrated Gradients, or half to each."""
RELATIONS = ("special", "same_word", "word_pieces", "adjacent", "same_segment", "other_segment")
"""How two tokens of a sequence relate; the first name that fits is the pair's relation."""
