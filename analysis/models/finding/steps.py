"""Steps by which attention and network join a layer's stream: its order, norms and factors."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, permutations

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.copied import parameter_like
from analysis.models.finding.probe import Probe
from analysis.models.norm import NoNorm, Norm
from analysis.models.trace import Model
from analysis.scopes import ORDERS, PRE_NORM, LayerOrder

Vectors = Float[Tensor, "batch token width"]


@dataclass(frozen=True)
class NormCall:
    """A normalisation as it was called."""

    module: Model
    norm: Norm
    given: Vectors
    returned: Vectors


@dataclass(frozen=True)
class Steps:
    """The steps of a layer that were found.

    `before` returns what attention reads, if that is normalised. A factor multiplies what a block
    adds to the stream, channel by channel; None for 1. A shift is a bias that the layer itself adds
    to the output of attention. `network` is the call that returns the network's output, `beside`
    that of a second network whose output is added to it, and `read` what they are given.
    """

    order: LayerOrder
    norms: tuple[Norm, ...]
    before: Model | None
    attention_factor: Tensor | None
    attention_shift: Tensor | None
    network_factor: Tensor | None
    network: Call
    beside: Call | None
    read: Vectors


@dataclass(frozen=True)
class _Block:
    """Steps from what a block's module returns to the stream: names, norms and factor."""

    steps: tuple[str, ...]
    norms: tuple[Norm, ...] = ()
    factor: Tensor | None = None
    shift: Tensor | None = None


@dataclass(frozen=True)
class _Joined:
    """Both blocks as they join the stream, and the vectors that the network may read."""

    attention: _Block
    network: _Block
    call: Call
    stream: Vectors
    beside: Call | None = None


class Layer:
    """One layer's calls, and the search for its steps."""

    def __init__(self, layer: Call, calls: tuple[Call, ...], output: Matrix, probe: Probe):
        self._layer, self._probe, self._calls = layer, probe, calls
        self._input, self._returned = self._vectors(layer.given), self._vectors(layer.returned)
        self._attention = self._vectors(output.call.returned)
        width = self._input.shape[-1]
        self._norms = [
            NormCall(call.module, norm, self._vectors(call.given), self._vectors(call.returned))
            for call in calls
            if call.given.shape[-1] == width == call.returned.shape[-1] and (norm := call.norm)
        ]
        later = (call for call in calls if call.start > output.call.end)
        self._given_later = [
            vectors
            for call in later
            if (vectors := probe.by_token(call.given)) is not None and vectors.shape[-1] == width
        ]
        normal = {id(call.module) for call in self._norms}
        self._blocks = [
            (call, vectors)
            for call in sorted(calls, key=lambda call: (call.matrix is None, -call.end))
            if id(call.module) not in normal
            if call is not output.call and not call.holds(output.call)
            if (vectors := probe.by_token(call.returned)) is not None
            if vectors.shape[-1] == width
        ]

    def _vectors(self, tensor: Tensor) -> Vectors:
        found = self._probe.by_token(tensor)
        if found is None:
            raise self._unfit("has no vector for every token")
        return found

    def _unfit(self, reason: str) -> UnfitModel:
        return UnfitModel(f"{type(self._layer.module).__name__} {reason}.")

    def steps(self, read: Vectors) -> Steps:
        """Find the steps of the layer.

        Args:
            read: what queries, keys and values are made of.

        Raises:
            UnfitModel: if the parts that were found do not add up to what the layer returns.
        """
        before = next((c for c in self._norms_of(self._input) if same(c.returned, read)), None)
        if before is None and not same(read, self._input):
            raise self._unfit(
                "makes queries, keys and values neither of its input nor of that after one norm"
            )
        joined = next(chain(self._sequential(), self._parallel()), None)
        if joined is None:
            raise self._unfit(
                "returns something else than the sum of its input, its attention and its network, "
                "by any order of norms that is known"
            )
        to_network, network_read = self._network_read(joined)
        return self._in_order(before, joined, to_network, network_read)

    def _norms_of(self, vectors: Vectors) -> Iterator[NormCall]:
        """Norms that were given these vectors."""
        return (call for call in self._norms if same(call.given, vectors))

    def _added(self, change: Vectors, block: Vectors) -> _Block | None:
        """Return how a block's vectors became a change of the stream, by at most one norm."""
        ways = [(block, ()), *((call.returned, (call.norm,)) for call in self._norms_of(block))]
        for vectors, norms in ways:
            factor = (change * vectors).sum((0, 1)) / vectors.square().sum((0, 1))
            if same(change, vectors * factor):
                return _Block(("ln",) * len(norms), norms, self._known(factor))
        shift = (change - block).mean((0, 1))
        if same(change, block + shift):
            return _Block((), shift=parameter_like(self._layer.module, shift))
        return None

    def _known(self, factor: Tensor) -> Tensor | None:
        """Return the parameter that a factor is; None for 1."""
        is_one = same(factor, torch.ones_like(factor), ROUND_OFF)
        return None if is_one else parameter_like(self._layer.module, factor)

    def _sequential(self) -> Iterator[_Joined]:
        """Both blocks one after the other, each with its residual."""
        for middle in self._given_later:
            added = self._added(middle - self._input, self._attention)
            if added is None or same(middle, self._input):
                continue
            steps = ("attn", *added.steps, "res")
            plain = replace(added, steps=steps)
            yield from self._then_network(middle, plain)
            for call in self._norms_of(middle):
                normed = replace(added, steps=(*steps, "ln"), norms=(*added.norms, call.norm))
                yield from self._then_network(call.returned, normed)
            return

    def _then_network(self, stream: Vectors, attention: _Block) -> Iterator[_Joined]:
        ends = [(self._returned, ())]
        ends += [(c.given, (c.norm,)) for c in self._norms if same(c.returned, self._returned)]
        alone = ((call, made, None) for call, made in self._blocks)
        for call, made, beside in chain(alone, self._pairs()):
            for end, last in ends:
                added = self._added(end - stream, made)
                if added is not None and added.shift is None:
                    steps = ("ff", *added.steps, "res", *("ln" for _ in last))
                    network = _Block(steps, (*added.norms, *last), added.factor)
                    yield _Joined(attention, network, call, stream, beside)

    def _pairs(self) -> Iterator[tuple[Call, Vectors, Call]]:
        """Experts and a network beside them: calls of both, and between them their sum."""
        for (call, made), (beside, more) in permutations(self._blocks, 2):
            if call.matrix is None and beside.matrix is not None and not call.holds(beside):
                yield call, made + more, beside

    def _parallel(self) -> Iterator[_Joined]:
        """Both blocks added to the layer's input, each times a number."""
        change, one = self._returned - self._input, torch.ones_like(self._input[0, 0])
        for call, made in self._blocks:
            sides = torch.stack([self._attention.flatten(), made.flatten()], dim=1)
            products = sides.T @ sides
            if torch.linalg.matrix_rank(products) < 2:
                continue
            factors = torch.linalg.solve(products, sides.T @ change.flatten())
            if same(change, self._attention * factors[0] + made * factors[1]):
                of_attention, of_network = (self._known(factor * one) for factor in factors)
                attention = _Block(("attn",), factor=of_attention)
                network = _Block(("ff", "res"), factor=of_network)
                yield _Joined(attention, network, call, self._input)

    def _network_read(self, joined: _Joined) -> tuple[tuple[Norm, ...], Vectors]:
        """Return the norm before the network, if there is any, and what the network is given."""
        calls = [call for call in self._calls if call.end <= joined.call.end]
        given = [self._probe.by_token(call.given) for call in reversed(calls)]
        ways = [((call.norm,), call.returned) for call in self._norms_of(joined.stream)]
        for read in given:  # nearest first: attention may read through another norm
            for norms, vectors in (*ways, ((), joined.stream)):
                if same(read, vectors):
                    return norms, vectors
        raise self._unfit("gives its network neither the stream nor that after one norm")

    def _in_order(
        self, before: NormCall | None, joined: _Joined, to_network: tuple[Norm, ...], read: Vectors
    ) -> Steps:
        """Name the order of the steps; a layer may lack the norm before attention alone.

        Raises:
            UnfitModel: if they are in an order that is not known.
        """
        first = () if before is None else (before.norm,)
        second = (*("ln" for _ in to_network), *joined.network.steps)
        later = (*joined.attention.norms, *to_network, *joined.network.norms)
        nothing = NoNorm(torch.zeros_like(self._input[0, 0]))
        for norms, orders in ((first, ORDERS.values()), ((nothing,), (PRE_NORM,))):
            for order in orders:
                steps = (*("ln" for _ in norms), *joined.attention.steps), second
                is_parallel = "res" not in joined.attention.steps
                if steps == (order.attention, order.network_block) and (
                    order.is_parallel == is_parallel
                ):
                    return Steps(
                        order,
                        (*norms, *later),
                        before and before.module,
                        joined.attention.factor,
                        joined.attention.shift,
                        joined.network.factor,
                        joined.call,
                        joined.beside,
                        read,
                    )
        shown = " ".join((*("ln" for _ in first), *joined.attention.steps, "·", *second))
        raise self._unfit(f"has its steps in an order that is not known ({shown})")
