"""Whole layers of single sequences as sums over their tokens, each way of sharing out done once."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from analysis.measures.mixing.layer_mixing import LayerMixing, layer_mixing
from analysis.models.trace import LayerTrace
from analysis.scopes import BIAS_READINGS, GATE_RULES

Layers = tuple[LayerMixing, ...]


@dataclass(frozen=True)
class SharedOut:
    """The layers of every sequence of a batch, by its row; some passes need a few rows alone.

    `alone` gives the trace of a row without padding.
    """

    alone: Callable[[int], tuple[LayerTrace, ...]]
    budget: int
    dtype: torch.dtype | None
    gate_rule: str
    _known: dict[tuple[int, str, str], Layers] = field(default_factory=dict)

    def of(self, row: int, reading: str = BIAS_READINGS[0], rule: str = "") -> Layers:
        """A sequence's layers; by the batch's own rule of gates, if by no other."""
        rule = rule or self.gate_rule
        if (row, reading, rule) not in self._known:
            self._known[row, reading, rule] = tuple(
                layer_mixing(
                    layer,
                    budget=self.budget,
                    dtype=self.dtype,
                    bias_reading=reading,
                    gate_rule=rule,
                )
                for layer in self.alone(row)
            )
        return self._known[row, reading, rule]

    def by_reading(self, row: int) -> dict[str, Layers]:
        """The same under each reading of the bias."""
        return {reading: self.of(row, reading) for reading in BIAS_READINGS}

    def by_rule(self, row: int) -> tuple[Layers, ...]:
        """The same by each rule of gates."""
        return tuple(self.of(row, rule=rule) for rule in GATE_RULES)
