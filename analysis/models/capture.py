"""Watching a model without changing it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from analysis.errors import UnfitModel


@contextmanager
def record_outputs(modules: Mapping[str, nn.Module]) -> Iterator[dict[str, Tensor]]:
    """Yield a dict that fills with each named module's output during the forward pass."""
    seen: dict[str, Tensor] = {}

    def recorder(name: str):
        return lambda _module, _inputs, output: seen.__setitem__(name, output)

    handles = [module.register_forward_hook(recorder(name)) for name, module in modules.items()]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def attentions_of(output: Any, n_layers: int) -> tuple[Tensor, ...]:
    """The attention weights that a forward pass returned, one tensor per layer.

    Raises:
        UnfitModel: if there are none, as under every attention implementation but `eager`.
    """
    attentions = tuple(output.attentions or ())
    if len(attentions) != n_layers or any(each is None for each in attentions):
        raise UnfitModel(
            f"The model returned attention weights for {len(attentions)} of its {n_layers} layers. "
            "Load it with attn_implementation='eager': no other implementation keeps them."
        )
    return attentions
