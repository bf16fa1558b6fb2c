"""Layers of a model, found by following tensors, without a module's name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from analysis.errors import UnfitModel
from analysis.models.attended import Attended
from analysis.models.attention import LayerParts
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.finding.attention_sides import (
    Side,
    SplitSide,
    rotation_of,
    side_of,
    split_side_of,
)
from analysis.models.finding.calls import Call, Matrix, Moment, same
from analysis.models.finding.network import network_of
from analysis.models.finding.outputs import FoundGate, output_of
from analysis.models.finding.probe import Probe, probe
from analysis.models.finding.steps import Layer, Steps
from analysis.models.finding.terms import with_scale
from analysis.models.parts import groups
from analysis.models.rotary import PatchRotary, Rotary
from analysis.models.trace import LayerWeights, Model, in_dtype

Rotation = Rotary | PatchRotary


@dataclass(frozen=True)
class FoundLayer:
    """The parts of a layer, found in float64; `weights` reads them as the model holds them."""

    call: Call
    attended: Attended
    query: Side
    key: Side | SplitSide
    value: Side
    rotary: Rotary | PatchRotary | None
    output: Matrix
    gate: FoundGate | None
    steps: Steps
    network: Callable[[], FeedForwardWeights]

    @property
    def parts(self) -> LayerParts:
        """The modules whose inputs and outputs make up the layer's trace."""
        factor = self.steps.attention_factor
        return LayerParts(
            self.call.module,
            self.output.call.module,
            norm=self.steps.before,
            factor=None if factor is None else factor.to(self.output.weight),
        )

    def weights(self) -> LayerWeights:
        """The weights of the layer; a factor of a block is folded into its output weights."""
        heads, n_groups = self.attended.query.shape[1], self.attended.value.shape[1]
        network, factor = self.network(), self.steps.network_factor
        weight, bias = (
            _times(part, self.steps.attention_factor)
            for part in (self.output.weight, self.output.bias)
        )
        dtype = weight.dtype
        return LayerWeights(
            **self.query.weights("query", heads),
            **self.key.weights("key", heads),
            **self.value.weights("value", heads),
            output_weight=weight.unflatten(0, (heads, -1)),
            output_bias=bias,
            feed_forward=replace(
                network,
                output_weight=_times(network.output_weight, factor),
                output_bias=_times(network.output_bias, factor),
            ),
            order=self.steps.order,
            norms=in_dtype(self.steps.norms, dtype),
            is_causal=not (self.attended.weights > 0).triu(1).any(),
            score_scale=self.attended.scale,
            score_cap=self.attended.cap,
            rotary=self.rotary,
            gate=self.gate and self.gate.weights(),
            groups=None if n_groups == heads else groups(n_groups, heads),
        )


def _times(part: Tensor, factor: Tensor | None) -> Tensor:
    return part if factor is None else part * factor.to(part)


def find_layers(
    model: Model,
    inputs: Mapping[str, Any],
    rotations: Sequence[Rotation],
) -> tuple[Probe, tuple[FoundLayer, ...]]:
    """Run a model once on random inputs and find the parts of every layer.

    Args:
        rotations: those that queries and keys may have gone through.

    Raises:
        UnfitModel: naming the part that was not found.
    """
    seen, items = probe(model, inputs), _items_of_lists(model)
    layers = tuple(
        _layer(_layer_call(model, seen, items, moment), seen, rotations, moment)
        for moment in seen.moments
    )
    _check_complete(model, [layer.call.module for layer in layers])
    return seen, layers


def _check_complete(model: Model, layers: Sequence[Model]) -> None:
    """Raise UnfitModel if a list of layers holds some without attention.

    Raises:
        UnfitModel: naming them.
    """
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and any(item is layers[0] for item in module):
            known = {id(layer) for layer in layers}
            lacking = [n for n, item in enumerate(module, start=1) if id(item) not in known]
            if lacking:
                raise UnfitModel(
                    f"{type(model).__name__}: of its {len(module)} layers "
                    f"{', '.join(map(str, lacking))} attend in no way that is known; models that "
                    "mix such layers with others are not read."
                )


def _items_of_lists(model: Model) -> set[int]:
    """Return the identities of all modules that stand in a list, as layers do."""
    lists = (module for module in model.modules() if isinstance(module, nn.ModuleList))
    return {id(item) for items in lists for item in items}


def _layer_call(model: Model, seen: Probe, items: set[int], moment: Moment) -> Call:
    """Return the call of a layer: of the outermost item of a list of modules with one attention."""
    for call in seen.calls:
        if id(call.module) in items and [m for m in seen.moments if call.holds(m)] == [moment]:
            return call
    raise UnfitModel(f"{type(model).__name__}: no item of a list of modules holds its attention.")


def _layer(call: Call, seen: Probe, rotations: Sequence[Rotation], moment: Moment) -> FoundLayer:
    attended = with_scale(moment.attended)
    name = type(call.module).__name__
    calls = tuple(other for other in seen.calls if call.holds(other))
    before = tuple(other for other in calls if other.end < moment.start)
    output, gate = output_of(attended, calls, moment.end, seen)
    value = side_of(attended.value, before, seen, slice(None))
    if value is None or value.norm is not None:
        raise UnfitModel(f"{name}: values are made by no matrix.")
    turned = next(_turned(seen, attended, before, value.stream, rotations), None)
    if turned is None:
        raise UnfitModel(
            f"{name}: queries or keys are not made by a matrix of what values are made of, a norm "
            "of heads and a rotation by the model's frequencies."
        )
    rotary, query, key = turned
    if gate is not None and not same(gate.side.read, value.stream):
        raise UnfitModel(f"{name}: the gate after attention is not made of what attention reads.")
    steps = Layer(call, calls, output, seen).steps(value.stream)
    beside = tuple(c for c in calls if not (c.holds(moment) and c.holds(output.call)))
    network = network_of(steps.network, steps.read, beside, seen)
    return FoundLayer(call, attended, query, key, value, rotary, output, gate, steps, network)


def _turned(
    seen: Probe,
    attended: Attended,
    before: tuple[Call, ...],
    read: Tensor,
    rotations: Sequence[Rotation],
) -> Iterator[tuple[Rotation | None, Side, Side | SplitSide]]:
    """Readings of queries and keys: as compared, by the first token, which rotations of texts leave
    where it is, or with a rotation of patches undone."""
    compared = attended.query, attended.key
    views = [(compared, slice(None)), (compared, slice(0, 1))]
    for rotation in rotations:
        if isinstance(rotation, PatchRotary):
            back = PatchRotary(-rotation.of_patches)
            views.append(((back.turned(compared[0]), back.turned(compared[1])), slice(None)))
    for sides, rows in views:
        query, key = (side_of(side, before, seen, rows) for side in sides)
        key = key or split_side_of(sides[1], before, seen, rows)
        if query is None or key is None or not all(same(s.stream, read) for s in (query, key)):
            continue
        turned = rotation_of(query, key, attended, rotations)
        if turned is not None:
            yield turned


@contextmanager
def in_float64(model: Model) -> Iterator[None]:
    """Hold a model's weights in float64 within a context, and bring back each as it was.

    Experts are run one after the other: the library's faster ways know no float64.
    """
    has_experts = hasattr(model, "set_experts_implementation")
    experts = model.config._experts_implementation if has_experts else None
    tensors = [t for t in (*model.parameters(), *model.buffers()) if t.is_floating_point()]
    before = [tensor.dtype for tensor in tensors]
    for tensor in tensors:
        tensor.data = tensor.data.double()
    if has_experts:
        model.set_experts_implementation("eager")
    try:
        yield
    finally:
        for tensor, dtype in zip(tensors, before, strict=True):
            tensor.data = tensor.data.to(dtype)
        if has_experts:
            model.set_experts_implementation(experts)
