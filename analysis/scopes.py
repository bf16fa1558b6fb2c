"""Names of the scopes of a layer and of the effects between them; no arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

WEIGHTS_WITH_RESIDUAL = "attn_w_res"
"""Half attention weights, half the token itself. It is a ratio but no scope, since no vectors
belong to it."""
WEIGHTS = "attn_w"
"""The scope of attention weights alone, without vectors."""


@dataclass(frozen=True)
class LayerOrder:
    """A layer as two blocks of steps: attention's and the feed-forward network's.

    Steps are `ln`, any normalisation; the block's module, `attn` or `ff`; and `res`, which adds the
    block's input. In a parallel layer the network reads the layer's input, as attention does, and
    the network's `res` adds that.

    `scopes` go from the attention weights to the whole layer: each adds a step to the one before,
    and its name lists its steps. `effects` name the changes between scopes, each by the scope
    before it and the scope after it: all steps between attention and the network as one, then the
    network, `ff`, then every step after it.
    """

    name: str
    attention: tuple[str, ...]
    network_block: tuple[str, ...]
    is_parallel: bool = False

    @property
    def read(self) -> tuple[str, ...]:
        """Return the steps between the layer's input and attention."""
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
        """Return the steps between attention's mixed output and the network's input."""
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
        """Return the step that leads to every scope; attention weights lead to the first."""
        return "weights", "attn", *self.between, "ff", *self.after_network

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Map every scope to its addition to the scope before; a role keeps its name everywhere."""
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
        """Return the names that have mixing ratios: all scopes and the weights with residual."""
        return self.scopes[0], WEIGHTS_WITH_RESIDUAL, *self.scopes[1:]

    @property
    def with_residual(self) -> str:
        """Return the first scope that includes the token itself through a residual."""
        return self.scopes[self.steps.index("res")]

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
        """Return True if the layer adds to its input and changes it in no other way."""
        return self.network_block[-1] == "res" and self.after_attention[-1:] != ("ln",)


POST_NORM = LayerOrder("post_norm", ("attn", "res", "ln"), ("ff", "res", "ln"))
"""Each block is normalised after its residual, as in BERT."""
PRE_NORM = LayerOrder("pre_norm", ("ln", "attn", "res"), ("ln", "ff", "res"))
"""Each block reads a normalised copy of the residual stream, which itself stays as it is, as in
GPT-2 or Llama. So the last residual adds the scope `ln_attn_res`, and no normalisation ends the
layer."""
SANDWICH_NORM = LayerOrder("sandwich_norm", ("ln", "attn", "ln", "res"), ("ln", "ff", "ln", "res"))
"""Like pre-norm, with each block's output normalised before the residual, as in Gemma 2 and 3."""
OUTPUT_NORM = LayerOrder("output_norm", ("attn", "ln", "res"), ("ff", "ln", "res"))
"""Each block reads the residual stream as it is, and its output is normalised before the residual,
as in OLMo 2."""
PARALLEL = LayerOrder("parallel", ("ln", "attn"), ("ln", "ff", "res"), is_parallel=True)
"""Attention and network both read the layer's input, each through a normalisation of its own, as in
GPT-NeoX. The network reads its own token alone and cannot mix."""
ORDERS = {
    order.name: order for order in (POST_NORM, PRE_NORM, SANDWICH_NORM, OUTPUT_NORM, PARALLEL)
}
SCOPES = tuple(dict.fromkeys(scope for order in ORDERS.values() for scope in order.scopes))
"""Every scope of every order; a layer has those of its own order."""
ROLES = {scope: role for order in ORDERS.values() for scope, role in order.roles.items()}
"""The addition of every scope to the scope before it."""
WHOLE = frozenset(order.whole for order in ORDERS.values())
"""The scopes that are whole layers."""
OF_RATIOS = tuple(dict.fromkeys(name for order in ORDERS.values() for name in order.of_ratios))
"""Every name that a mixing ratio is defined for."""
BETWEEN = tuple(
    dict.fromkeys("_".join(order.between) for order in ORDERS.values() if order.between)
)
"""Effects of the steps between attention and network; a layer has at most one of them."""
EFFECTS = (*BETWEEN, *(e for e in POST_NORM.effects if e not in BETWEEN))
"""Every effect of every order; a layer has those of its own order."""
SHARED_EFFECTS = tuple(e for e in EFFECTS if all(e in order.effects for order in ORDERS.values()))
"""Effects that layers of every order have."""
BUDGET = 8 * 2**20
"""Bytes for the hidden vectors of pairs at a time, on each path of the network."""
RELATIONS = ("special", "same_word", "word_pieces", "adjacent", "same_segment", "other_segment")
"""Relations of two tokens of a sequence; the first name that fits is the pair's relation."""
