"""Attention of models with code of their own, seen in the functions that they call."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from analysis.models.attended import Attended

_PRODUCTS = {
    *(torch.matmul, torch.bmm, torch.baddbmm),
    *(Tensor.matmul, Tensor.bmm, Tensor.baddbmm, Tensor.__matmul__),
}
_SOFTMAX = {torch.softmax, Tensor.softmax, functional.softmax}


class AttentionFunctions(TorchFunctionMode):
    """Hands over attention where it is softmax(queries · keys + terms) times values.

    The last product before a softmax over pairs of tokens is of queries and keys, the first one
    after it of weights and values.
    """

    def __init__(self, n_texts: int, receive: Callable[[Attended], object]):
        super().__init__()
        self._n_texts, self._receive = n_texts, receive
        self._compared: tuple[Tensor, Tensor] | None = None
        self._weights: Tensor | None = None
        self._scores: Tensor | None = None

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = dict(kwargs or {})
        if function is torch.full and args and isinstance(args[-1], float):  # masks of float64
            named.setdefault("dtype", torch.float64)
        if function in _PRODUCTS and self._weights is not None:
            left, right = _factors(args, named)
            if left.numel() == self._weights.numel() and left.shape[-1] == right.shape[-2]:
                return self._mixed(function, self._by_text(left), left, right)
        made = function(*args, **named)
        if function in _PRODUCTS and _is_of_pairs(made):
            left, right = _factors(args, named)
            self._compared = left, right.mT
        elif function in _SOFTMAX and _is_of_pairs(made):
            self._weights, self._scores = made, args[0] if args else named["input"]
        return made

    def _mixed(self, product: Any, weights: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """Multiply weights with values, and hand over both.

        The product is of the weights that are handed over, so that it has gradients by them.
        """
        made = product(weights.reshape(left.shape), right)
        query, key = self._compared or (left, right)
        seen = Attended(
            query=self._by_text(query),
            key=self._by_text(key),
            value=self._by_text(right),
            weights=weights,
            mixed=self._by_text(made).transpose(1, 2),
            scale=1.0,
            cap=None,
            bias=(),
            sink=None,
            scores=None if self._scores is None else self._by_text(self._scores),
        )
        self._compared = self._weights = self._scores = None
        self._receive(seen)
        return made

    def _by_text(self, tensor: Tensor) -> Tensor:
        """Return a tensor of texts and heads with an axis for each."""
        return tensor.reshape(self._n_texts, -1, *tensor.shape[-2:])


class SoftmaxesOfPairs(TorchFunctionMode):
    """Reports every softmax over pairs of tokens, and every attention of the library's own."""

    def __init__(self, report: Callable[[], object]):
        super().__init__()
        self._report = report

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        made = function(*args, **(kwargs or {}))
        is_softmax = function in _SOFTMAX and _is_of_pairs(made)
        if is_softmax or function is functional.scaled_dot_product_attention:
            self._report()
        return made


def _is_of_pairs(made: Tensor) -> bool:
    """Return True for a tensor with a number for each pair of tokens."""
    return made.dim() > 2 and made.shape[-1] == made.shape[-2]


def _factors(args: tuple, named: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Return the two factors of a product; a sum that it is added to may come first."""
    left, right = [part for part in (*args, *named.values()) if isinstance(part, Tensor)][-2:]
    return left, right
