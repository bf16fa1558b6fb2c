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

    number: int
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
        steps, dtype = self.steps, self.output.weight.dtype
        return LayerParts(
            self.call.module,
            self.output.call.module,
            norm=steps.before,
            factor=in_dtype(steps.attention_factor, dtype),
            shift=in_dtype(steps.attention_shift, dtype),
        )

    def weights(self) -> LayerWeights:
        """The weights of the layer; a factor of a block is folded into its output weights."""
        heads, n_groups = self.attended.query.shape[1], self.attended.value.shape[1]
        network, factor = self.network(), self.steps.network_factor
        of_experts = network.expert_bias
        weight, bias = (
            _times(part, self.steps.attention_factor)
            for part in (self.output.weight, self.output.bias)
        )
        dtype, shift = weight.dtype, self.steps.attention_shift
        return LayerWeights(
            number=self.number,
            **self.query.weights("query", heads),
            **self.key.weights("key", heads),
            **self.value.weights("value", heads),
            output_weight=weight.unflatten(0, (heads, -1)),
            output_bias=bias if shift is None else bias + shift.to(bias),
            feed_forward=replace(
                network,
                output_weight=_times(network.output_weight, factor),
                output_bias=_times(network.output_bias, factor),
                expert_bias=of_experts if of_experts is None else _times(of_experts, factor),
            ),
            order=self.steps.order,
            norms=in_dtype(self.steps.norms, dtype),
            is_causal=not (self.attended.weights > 0).triu(1).any(),
            score_scale=self.attended.scale,
            score_cap=self.attended.cap,
            rotary=self.rotary,
            gate=self.gate and self.gate.weights(),
            groups=None if n_groups == heads else groups(n_groups, heads),
            sink_logit=in_dtype(self.attended.sink, dtype),
        )


def _times(part: Tensor, factor: Tensor | None) -> Tensor:
    return part if factor is None else part * factor.to(part)


@dataclass(frozen=True)
class FoundLayers:
    """Layers of a model that attend, and what stands in place of attention in the others.

    `first` is the call of the model's first layer. `without_attention` has class names by layer
    number, counted from 1.
    """

    seen: Probe
    first: Call
    layers: tuple[FoundLayer, ...]
    without_attention: Mapping[int, str]


def find_layers(
    model: Model,
    inputs: Mapping[str, Any],
    rotations: Sequence[Rotation],
) -> FoundLayers:
    """Run a model once on random inputs and find the parts of every layer.

    Args:
        rotations: those that queries and keys may have gone through.

    Raises:
        UnfitModel: naming the part that was not found.
    """
    seen, items = probe(model, inputs), _items_of_lists(model)
    attending = {_layer_call(model, seen, items, moment): moment for moment in seen.moments}
    every = _calls_of_layers(model, seen, [call.module for call in attending])
    others = {
        number: _mixer_of(call, seen, [layer.module for layer in attending])
        for number, call in enumerate(every, start=1)
        if call not in attending
    }
    layers = tuple(
        _layer(every.index(call) + 1, call, seen, rotations, moment)
        for call, moment in attending.items()
    )
    return FoundLayers(seen, every[0], layers, others)


def _calls_of_layers(model: Model, seen: Probe, attending: Sequence[Model]) -> list[Call]:
    """Return the calls of all layers of a model: of the items of those lists that hold some.

    Raises:
        UnfitModel: if one is never run, or attends in a way that is not known.
    """
    known = {id(layer) for layer in attending}
    lists = (module for module in model.modules() if isinstance(module, nn.ModuleList))
    items = {id(m) for of in lists if any(id(m) in known for m in of) for m in of}
    calls = [call for call in seen.calls if id(call.module) in items]
    calls = [call for call in calls if not any(other.holds(call) for other in calls)]
    lacking = [
        number
        for number, call in enumerate(calls, start=1)
        if id(call.module) not in known
        and any(call.start < softmax < call.end for softmax in seen.softmaxes)
    ]
    if lacking or {id(call.module) for call in calls} != items:
        numbers = f"{', '.join(map(str, lacking))} attend in no way that is known"
        raise UnfitModel(
            f"{type(model).__name__}: of its {len(items)} layers "
            f"{numbers if lacking else 'some are never run'}."
        )
    return calls


def _mixer_of(layer: Call, seen: Probe, attending: Sequence[Model]) -> str:
    """Return the class name of what a layer without attention has in place of it: of the first that
    it runs and the others have not."""
    common = {type(child) for other in attending for child in other.children()}
    own = {id(child) for child in layer.module.children() if type(child) not in common}
    run = (call.module for call in seen.calls if id(call.module) in own)
    return type(next(run, layer.module)).__name__


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


def _layer(
    number: int, call: Call, seen: Probe, rotations: Sequence[Rotation], moment: Moment
) -> FoundLayer:
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
    others = tuple(c for c in calls if not (c.holds(moment) and c.holds(output.call)))
    network = network_of(steps.network, steps.read, others, seen, steps.beside)
    return FoundLayer(
        number, call, attended, query, key, value, rotary, output, gate, steps, network
    )


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
    before = [tensor.data for tensor in tensors]
    for tensor in tensors:
        tensor.data = tensor.data.double()
    if has_experts:
        model.set_experts_implementation("eager")
    try:
        yield
    finally:
        for tensor, data in zip(tensors, before, strict=True):
            tensor.data = data
        if has_experts:
            model.set_experts_implementation(experts)
