"""Effect of single heads, and of what tokens send, on what a model makes of a text."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.models.attended import Attended
from analysis.models.trace import LayerTrace, LayerWeights
from analysis.token_types import TOKEN_TYPES


@dataclass(frozen=True)
class Replacement:
    """Values put in place of a head's mixed values and of tokens' values, in one layer.

    Means over a corpus, `mixed` for each query by its own type, `values` for each key; or zeros.
    """

    mixed: Float[Tensor, "head query value_width"]
    values: Float[Tensor, "head key value_width"]

    def zero(self) -> "Replacement":
        return Replacement(torch.zeros_like(self.mixed), torch.zeros_like(self.values))


class TypeMeans:
    """Means over texts of what each head of a layer mixes and of its values, by the token's type.

    Differs:
        The source's means are over a corpus of its own, and by place instead of by type.

    Source:
        wang-2023, on knockouts: the mean in place of what is knocked out.
    """

    def __init__(self) -> None:
        self._counts = torch.zeros(len(TOKEN_TYPES), dtype=torch.float64)
        self._sums: dict[str, Tensor] = {}

    def add(self, layer: LayerTrace, types: Int[Tensor, " token"]) -> None:
        """Add one text without padding.

        Args:
            types: index in `TOKEN_TYPES` of every token.
        """
        is_type = (types == torch.arange(len(TOKEN_TYPES)).to(types)[:, None]).double()
        for name, of_tokens in (("mixed", layer.mixed), ("values", layer.values)):
            summed = is_type @ of_tokens[0].double()
            self._sums[name] = self._sums.get(name, 0) + summed
        self._counts += is_type.sum(dim=1).cpu()

    def of(self, types: Int[Tensor, " token"]) -> Replacement:
        """Return the means of the types of a text's tokens; NaN for a type without any token."""
        counts = self._counts[types][:, None]
        return Replacement(
            **{name: summed[:, types] / counts.to(summed) for name, summed in self._sums.items()}
        )


def replaced_heads(
    weights: LayerWeights,
    attended: Attended,
    read: Float[Tensor, "variant query width"],
    mixed: Float[Tensor, "variant query output"],
    instead: Replacement,
    *,
    heads: Bool[Tensor, "variant head"],
    keys: Bool[Tensor, "variant key"],
) -> Float[Tensor, "variant query output"]:
    """Mixed values of all heads, side by side, with heads or what keys send replaced.

    Of a replaced head they are the mean in its place. Where keys J are replaced, every head adds
    gate ⊙ Σ_{j∈J} α_j (v̄_j − v_j) to its own; the weights α stay.

    Args:
        read: what attention reads, which gates of queries are made of.
        mixed: what the output projection is given: gate ⊙ Σ_j α_j v_j of every head.

    Source:
        michel-2019, section 2.3: a head without its output; the mean in its place is ours.
    """
    made = mixed.unflatten(-1, (heads.shape[1], -1)).transpose(1, 2)
    if keys.any():
        lacking = (instead.values.to(attended.values) - attended.values) * keys[:, None, :, None]
        sent = attended.weights @ lacking.to(attended.weights)
        if weights.gate is not None:
            sent = sent * weights.gate.factors(read.to(weights.query_weight)).to(sent)
        made = made + sent.to(made)
    made = torch.where(heads[:, :, None, None], instead.mixed.to(made), made)
    return made.transpose(1, 2).flatten(2)


def state_changes(
    before: Float[Tensor, "token width"], after: Float[Tensor, "variant token width"]
) -> tuple[Float[Tensor, " variant"], Float[Tensor, " variant"]]:
    """Change of the last hidden states, mean over tokens: cosine, and length of the difference.

    Returns:
        1 − cos(h, h′) from 0 to 2, and ‖h′ − h‖ / ‖h‖; both are 0 without a change.

    Source:
        michel-2019, section 3.2, for the change by a head that is left out; the two measures of
        it are ours.
    """
    before, after = before.double(), after.double()
    cosine = torch.cosine_similarity(after, before.expand_as(after), dim=-1)
    lengths = (after - before).norm(dim=-1) / before.norm(dim=-1)
    return 1 - cosine.mean(dim=-1), lengths.mean(dim=-1)


def prediction_changes(
    before: Float[Tensor, "token value"],
    after: Float[Tensor, "variant token value"],
    targets: Int[Tensor, " token"] | None,
) -> tuple[Float[Tensor, " variant"], Float[Tensor, " variant"]]:
    """Change of what a model predicts, mean over places: KL(p‖p′), and the rise of the loss.

    Args:
        before: logits of the model as it is.
        targets: what stands at each place; None where that is not known.

    Returns:
        Nats; the divergence is never below 0 but by rounding; NaN for a loss without targets.

    Source:
        michel-2019, section 3.2: the change of a model's quality without a head.

    Differs:
        Only the change Δ of the logits is raised to a power, less its mean m under p: the
        divergence is log Σ p e^(Δ − m), exact in single precision where the change is small.
    """
    known = before.double().softmax(-1).float()
    divergences, rises = [], []
    for one in after:  # which fits the cache
        change = one.float() - before.float()
        change -= (known * change).sum(dim=-1, keepdim=True)
        divergence = (known * (change.expm1() - change)).sum(dim=-1).log1p()
        at_target = torch.nan if targets is None else change.gather(-1, targets[:, None])[:, 0]
        divergences.append(divergence.mean())
        rises.append((divergence - at_target).mean())
    return torch.stack(divergences), torch.stack(rises)
