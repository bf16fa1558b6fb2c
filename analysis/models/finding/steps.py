"""How attention and network join the residual stream of a layer: its order, norms and factors."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.finding.matrices import ROUND_OFF, Matrix, matrix_of, norm_of, parameter_like
from analysis.models.finding.probe import Call, Probe, same
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

    A factor multiplies what a block adds to the stream, channel by channel; None for 1. `network`
    is the call that returns the network's output, and `read` what the network is given.
    """

    order: LayerOrder
    norms: tuple[Norm, ...]
    before: Model | None
    attention_factor: Tensor | None
    network_factor: Tensor | None
    network: Call
    read: Vectors


@dataclass(frozen=True)
class _Branch:
    """What a block adds: its vectors, the norm that they went through if any, and the factor."""

    norms: tuple[Norm, ...]
    factor: Tensor | None


class Layer:
    """One layer's calls, and the search for its steps."""

    def __init__(self, layer: Call, calls: tuple[Call, ...], output: Matrix, probe: Probe):
        def stream(tensor: Tensor) -> Vectors:
            found = probe.by_token(tensor)
            if found is None:
                raise UnfitModel(f"{type(layer.module).__name__} has no vector for every token.")
            return found

        self.layer, self.probe, self.calls = layer, probe, calls
        self.input, self.out = stream(layer.given), stream(layer.returned)
        self.attention = stream(output.call.returned)
        width = self.input.shape[-1]
        of_stream = [c for c in calls if c.given.shape[-1] == width == c.returned.shape[-1]]
        self.norms = [
            NormCall(call.module, norm, stream(call.given), stream(call.returned))
            for call in of_stream
            if (norm := norm_of(call))
        ]
        normal = {id(call.module) for call in self.norms}
        self.given = [
            g
            for call in calls
            if call.start > output.call.end and call.given.shape[-1] == width
            if (g := probe.by_token(call.given)) is not None
        ]
        self.blocks = [
            call
            for call in sorted(calls, key=lambda call: (matrix_of(call) is None, -call.end))
            if call.returned.shape[-1] == width and id(call.module) not in normal
            if call is not output.call and not call.holds(output.call)
            if probe.by_token(call.returned) is not None
        ]

    def after(self, vectors: Vectors) -> Iterator[NormCall]:
        """Norms that were given these vectors."""
        return (call for call in self.norms if same(call.given, vectors))

    def added(self, change: Vectors, block: Vectors) -> _Branch | None:
        """Return how a block's vectors became a change of the stream, by at most one norm."""
        for vectors, norms in ((block, ()), *((c.returned, (c.norm,)) for c in self.after(block))):
            factor = (change * vectors).sum((0, 1)) / vectors.square().sum((0, 1))
            if same(change, vectors * factor):
                return _Branch(norms, self._told(factor))
        return None

    def _told(self, factor: Tensor) -> Tensor | None:
        if same(factor, torch.ones_like(factor), ROUND_OFF):
            return None
        return parameter_like(self.layer.module, factor)

    def steps(self, read: Vectors) -> Steps:
        """Find the steps of the layer.

        Args:
            read: what queries, keys and values are made of.

        Raises:
            UnfitModel: if the parts that were found do not add up to what the layer returns.
        """
        before = None
        if not same(read, self.input):
            before = next((c for c in self.after(self.input) if same(c.returned, read)), None)
            if before is None:
                raise UnfitModel(
                    f"{type(self.layer.module).__name__}: attention reads neither the layer's "
                    "input nor its normalisation by one module."
                )
        for found in (*self._sequential(), *self._parallel()):
            steps, after, network, norms = found
            return self._named(before, steps, after, network, norms)
        raise UnfitModel(
            f"{type(self.layer.module).__name__}: its output is not the sum of its input, its "
            "attention and its network, by any order of norms that is known."
        )

    def _sequential(self) -> Iterator:
        for middle in self.given:
            joined = self.added(middle - self.input, self.attention)
            if joined is None:
                continue
            first = ("attn", *("ln" for _ in joined.norms), "res")
            bases = [(middle, first, joined.norms)]
            bases += [
                (c.returned, (*first, "ln"), (*joined.norms, c.norm)) for c in self.after(middle)
            ]
            for base, block, norms in bases:
                yield from self._network(base, block, norms, joined.factor)
            return

    def _network(self, base, block, norms, factor) -> Iterator:
        ends = [(self.out, ())]
        ends += [(c.given, (c.norm,)) for c in self.norms if same(c.returned, self.out)]
        for call in self.blocks:
            made = self.probe.by_token(call.returned)
            for end, last in ends:
                joined = self.added(end - base, made)
                if joined is None:
                    continue
                reads = [(base, ())] + [(c.returned, (c.norm,)) for c in self.after(base)]
                yield (block, factor), (joined, last), call, (reads, norms)

    def _parallel(self) -> Iterator:
        change = self.out - self.input
        for call in self.blocks:
            made = self.probe.by_token(call.returned)
            sides = torch.stack([self.attention.flatten(), made.flatten()], 1)
            gram = sides.T @ sides
            if torch.linalg.matrix_rank(gram) < 2:
                continue
            factors = torch.linalg.solve(gram, sides.T @ change.flatten())
            if same(change, self.attention * factors[0] + made * factors[1]):
                reads = [(self.input, ())]
                reads += [(c.returned, (c.norm,)) for c in self.after(self.input)]
                ones = torch.ones_like(self.input[0, 0])
                told = [self._told(factor * ones) for factor in factors]
                yield (("attn",), told[0]), (_Branch((), told[1]), ()), call, (reads, ())

    def _named(self, before, first, second, call, reading) -> Steps:
        (block, factor), (joined, last), (reads, norms) = first, second, reading
        read, to_network = self._read(call, reads)
        read_steps = () if before is None else ("ln",)
        wanted = (
            (*read_steps, *block),
            (*("ln" for _ in to_network), "ff", *("ln" for _ in joined.norms), "res")
            + tuple("ln" for _ in last),
        )
        is_parallel = "res" not in block
        in_order = (*norms, *to_network, *joined.norms, *last)
        for order in ORDERS.values():
            if order.is_parallel != is_parallel:
                continue
            if (order.attention, order.network_block) == wanted:
                first_norms = () if before is None else (before.norm,)
                return Steps(
                    order,
                    (*first_norms, *in_order),
                    before and before.module,
                    factor,
                    joined.factor,
                    call,
                    read,
                )
        if (("ln", *wanted[0]), wanted[1]) == (PRE_NORM.attention, PRE_NORM.network_block):
            none = NoNorm(torch.zeros_like(self.input[0, 0]))
            return Steps(PRE_NORM, (none, *in_order), None, factor, joined.factor, call, read)
        raise UnfitModel(
            f"{type(self.layer.module).__name__}: its steps are {' '.join(wanted[0])} and "
            f"{' '.join(wanted[1])}, an order of norms that is not known."
        )

    def _read(self, network: Call, reads) -> tuple[Vectors, tuple[Norm, ...]]:
        """Return what the network is given, and the norm that made it."""
        for vectors, norms in reversed(reads):
            if any(same(given, vectors) for given in self._given_to(network)):
                return vectors, norms
        raise UnfitModel(
            f"{type(self.layer.module).__name__}: its network reads neither the stream nor its "
            "normalisation by one module."
        )

    def _given_to(self, network: Call) -> Iterator[Tensor | None]:
        """What the matrices before the network's last call were given, nearest first."""
        calls = [c for c in self.calls if c.end <= network.end]
        return (self.probe.by_token(call.given) for call in reversed(calls))
