"""The feed-forward network behind a call, recognised by what its matrices are given and return."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from itertools import permutations

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.measures.mixing.activation_gate import GATES, active
from analysis.measures.mixing.gate_share import GATED
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.probe import Probe
from analysis.models.router import Router
from analysis.models.trace import Model


def network_of(
    call: Call, read: Float[Tensor, "batch token width"], calls: tuple[Call, ...], probe: Probe
) -> Callable[[], FeedForwardWeights]:
    """Find the network whose output a call returned; return what reads its weights.

    Args:
        read: what the network is given.
        calls: those of the layer.

    Raises:
        UnfitModel: if its hidden layer is made in no way that is known.
    """
    back = call.matrix
    if back is None:
        return _experts(call, read, calls, probe)
    hidden = probe.by_token(call.given)
    into = [
        _Path(matrix, made)
        for other in calls
        if same(probe.by_token(other.given), read)
        and (matrix := other.matrix)
        and (made := probe.by_token(other.returned)) is not None
    ]
    for gate, inputs, activation in _networks(into, len(back.weight)):
        made = active((gate or inputs).made, activation)
        product = made if gate is None else made * inputs.made
        if same(product, hidden, 1e-7) and _is_everywhere(activation, gate or inputs, calls, probe):
            return partial(_weights, gate, inputs, back, activation)
    raise UnfitModel(
        f"{type(call.module).__name__}: the network's hidden layer is made in no way that is "
        f"known: by {', '.join(GATES)}, with gates or without."
    )


def _is_everywhere(activation: str, path: "_Path", calls: tuple[Call, ...], probe: Probe) -> bool:
    """Return True unless a module computes the activation, and another one for large inputs."""
    wide = torch.linspace(-40, 40, 801, dtype=path.made.dtype, device=path.made.device)
    acts = (call for call in calls if same(probe.by_token(call.given), path.made))
    modules = (call.module for call in acts if next(call.module.parameters(), None) is None)
    return all(same(module(wide), active(wide, activation), ROUND_OFF) for module in modules)


@dataclass(frozen=True)
class _Path:
    """A matrix into the hidden layer, or a half of one, and what it made."""

    matrix: Matrix
    made: Tensor
    half: int | None = None

    def part(self, stored: Float[Tensor, "*any column"]) -> Tensor:
        return stored if self.half is None else stored.chunk(2, dim=-1)[self.half]


def _networks(into: list[_Path], hidden: int) -> Iterator[tuple[_Path | None, _Path, str]]:
    """Every network of these paths: gate, inputs and activation."""
    halves = [
        [replace(path, made=half, half=place) for place, half in enumerate(path.made.chunk(2, -1))]
        for path in into
        if path.made.shape[-1] == 2 * hidden
    ]
    whole = [path for path in into if path.made.shape[-1] == hidden]
    yield from ((None, path, activation) for path in whole for activation in GATES)
    for paths in (*halves, whole):
        for gate, inputs in permutations(paths, 2):
            yield from ((gate, inputs, activation) for activation in GATED)


def _weights(
    gate: _Path | None, inputs: _Path, back: Matrix, activation: str
) -> FeedForwardWeights:
    weight, bias = inputs.part(inputs.matrix.weight), inputs.part(inputs.matrix.bias)
    plain = FeedForwardWeights(weight, bias, back.weight, back.bias, activation)
    if gate is None:
        return plain
    weight, bias = gate.part(gate.matrix.weight), gate.part(gate.matrix.bias)
    return replace(plain, gate_weight=weight, gate_bias=bias)


def _experts(
    call: Call, read: Tensor, calls: tuple[Call, ...], probe: Probe
) -> Callable[[], FeedForwardWeights]:
    """Find experts with a router that make what a call returned, and one that all tokens share.

    Raises:
        UnfitModel: if no reading of the module does.
    """
    module, made = call.module, probe.by_token(call.returned)
    experts = next((m for m in module.modules() if _is_experts(m, read.shape[-1])), None)
    router = next((m for m in module.modules() if "Router" in type(m).__name__), None)
    asked = () if router is None else [*signature(router.forward).parameters][1:]
    given = tuple(getattr(module, name) for name in asked if hasattr(module, name))
    inside = tuple(other for other in calls if call.holds(other))
    for shared in (None, *_shared(module, read, inside, probe)):
        for activation in GATED if experts is not None and router is not None else ():
            read_weights = partial(_expert_weights, experts, router, given, shared, activation)
            network = read_weights()
            (gate, _), (inputs, _) = network.paths
            hidden = active(read @ gate, activation) * (read @ inputs)
            if same(network.routed(hidden, read) @ network.output_weight, made, ROUND_OFF):
                return read_weights
    raise UnfitModel(
        f"{type(module).__name__}: the network is neither two or three matrices nor experts with a "
        "router."
    )


def _is_experts(module: Model, width: int) -> bool:
    """Return True for weights of (expert, hidden, width) and (expert, width, hidden)."""
    both, down = (getattr(module, name, None) for name in ("gate_up_proj", "down_proj"))
    if not isinstance(both, Tensor) or not isinstance(down, Tensor):
        return False
    return both.dim() == 3 and both.shape[2] == width == down.shape[1]


@dataclass(frozen=True)
class _Shared:
    """The network that all tokens go through beside the experts, and the gate of its output."""

    network: Callable[[], FeedForwardWeights]
    gate: Model | None


def _shared(
    module: Model, read: Tensor, inside: tuple[Call, ...], probe: Probe
) -> Iterator[_Shared]:
    for name, child in module.named_children():
        backs = [c for c in inside if c.module in {*child.modules()} and c.module is not child]
        if "shared" in name and backs:
            network = network_of(backs[-1], read, tuple(backs), probe)
            yield _Shared(network, getattr(module, f"{name}_gate", None))


def _expert_weights(
    experts: Model,
    router: Model,
    given: tuple[Tensor, ...],
    shared: _Shared | None,
    activation: str,
) -> FeedForwardWeights:
    """All experts side by side, the shared one last."""
    both, down = experts.gate_up_proj.detach(), experts.down_proj.detach()
    sides = [half.flatten(0, 1).T for half in both.chunk(2, dim=1)]
    back, n_shared = down.transpose(1, 2).flatten(0, 1), 0
    if shared is not None:
        beside = shared.network()
        n_shared = len(beside.output_weight)
        sides = [torch.cat([side, w], 1) for side, (w, _) in zip(sides, beside.paths, strict=True)]
        back = torch.cat([back, beside.output_weight])
    gate, inputs = sides
    return FeedForwardWeights(
        input_weight=inputs,
        input_bias=inputs.new_zeros(inputs.shape[1]),
        output_weight=back,
        output_bias=back.new_zeros(back.shape[1]),
        activation=activation,
        gate_weight=gate,
        gate_bias=gate.new_zeros(gate.shape[1]),
        router=Router(router, len(both), n_shared, shared and shared.gate, given),
    )
