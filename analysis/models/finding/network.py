"""The feed-forward network behind a call, recognised by what its matrices are given and return."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from itertools import permutations, product

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from analysis.errors import UnfitModel
from analysis.measures.mixing.activation_gate import GATES, LIMITS, Activation, Xielu, active
from analysis.measures.mixing.gate_share import GATED
from analysis.measures.mixing.linear_layer import network_output
from analysis.models.capture import first_tensor
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.finding.calls import ROUND_OFF, Call, Matrix, same
from analysis.models.finding.probe import Probe
from analysis.models.router import Router
from analysis.models.trace import Model


def network_of(
    call: Call,
    read: Float[Tensor, "batch token width"],
    calls: tuple[Call, ...],
    probe: Probe,
    beside: Call | None = None,
) -> Callable[[], FeedForwardWeights]:
    """Find the network whose output a call returned; return what reads its weights.

    Args:
        read: what the network is given.
        calls: those of the layer.
        beside: the call of a network whose output is added to that of experts.

    Raises:
        UnfitModel: if its hidden layer is made in no way that is known.
    """
    back = call.matrix
    if back is None:
        return _experts(call, read, calls, probe, beside)
    hidden = probe.by_token(call.given)
    into = [
        _Path(matrix, made)
        for other in calls
        if same(probe.by_token(other.given), read)
        and (matrix := other.matrix)
        and (made := probe.by_token(other.returned)) is not None
    ]
    for gate, inputs, activation in _networks(into, len(back.weight), (*GATES, *_learned(calls))):
        if activation in LIMITS:
            continue  # known of experts alone, where its limit can be asked for
        made = active((gate or inputs).made[:1], activation)
        joined = made if gate is None else made * inputs.made[:1]
        if (
            hidden is not None
            and same(joined, hidden[:1], 1e-7)
            and _is_everywhere(activation, gate or inputs, calls, probe)
        ):
            return partial(_weights, gate, inputs, back, activation)
    raise UnfitModel(
        f"{type(call.module).__name__}: the network's hidden layer is made in no way that is "
        f"known: by {', '.join(name for name in GATES if name not in LIMITS)}, with gates or "
        "without."
    )


def _is_everywhere(
    activation: Activation, path: "_Path", calls: tuple[Call, ...], probe: Probe
) -> bool:
    """Return True unless a module computes the activation, and another one for large inputs."""
    wide = torch.linspace(-40, 40, 801, dtype=path.made.dtype, device=path.made.device)
    acts = (call for call in calls if same(probe.by_token(call.given), path.made))
    modules = (call.module for call in acts if next(call.module.parameters(), None) is None)
    return all(same(module(wide), active(wide, activation), ROUND_OFF) for module in modules)


def _learned(calls: tuple[Call, ...]) -> Iterator[Xielu]:
    """Activations with learned sizes that modules keep as the library's xIELU does."""
    for module in (call.module for call in calls):
        if hasattr(module, "alpha_p") and hasattr(module, "alpha_n"):
            positive, negative = (
                float(functional.softplus(size)) for size in (module.alpha_p, module.alpha_n)
            )
            yield Xielu(positive, float(module.beta) + negative, float(module.beta))


@dataclass(frozen=True)
class _Path:
    """A matrix into the hidden layer, or a half of one, and what it made."""

    matrix: Matrix
    made: Tensor
    half: int | None = None

    def part(self, stored: Float[Tensor, "*any column"]) -> Tensor:
        return stored if self.half is None else stored.chunk(2, dim=-1)[self.half]


def _networks(
    into: list[_Path], hidden: int, activations: Sequence[Activation]
) -> Iterator[tuple[_Path | None, _Path, Activation]]:
    """Every network of these paths: gate, inputs and activation."""
    halves = [
        [replace(path, made=half, half=place) for place, half in enumerate(path.made.chunk(2, -1))]
        for path in into
        if path.made.shape[-1] == 2 * hidden
    ]
    whole = [path for path in into if path.made.shape[-1] == hidden]
    yield from ((None, path, activation) for path in whole for activation in activations)
    for paths in (*halves, whole):
        for gate, inputs in permutations(paths, 2):
            yield from ((gate, inputs, activation) for activation in GATED)


def _weights(
    gate: _Path | None, inputs: _Path, back: Matrix, activation: Activation
) -> FeedForwardWeights:
    weight, bias = inputs.part(inputs.matrix.weight), inputs.part(inputs.matrix.bias)
    plain = FeedForwardWeights(weight, bias, back.weight, back.bias, activation)
    if gate is None:
        return plain
    weight, bias = gate.part(gate.matrix.weight), gate.part(gate.matrix.bias)
    return replace(plain, gate_weight=weight, gate_bias=bias)


def _experts(
    call: Call, read: Tensor, calls: tuple[Call, ...], probe: Probe, beside: Call | None
) -> Callable[[], FeedForwardWeights]:
    """Find experts with a router that make what a call returned, and one that all tokens share.

    Raises:
        UnfitModel: if no reading of the module does.
    """
    module, made = call.module, probe.by_token(call.returned)
    stacks = [stack for m in module.modules() for stack in _stacks(m, read.shape[-1])]
    inside = tuple(other for other in calls if call.holds(other))
    router = _router(module, inside)
    ways = (None, *_shared(module, read, inside, probe))
    if beside is not None and made is not None:
        made = made + beside.returned.reshape(made.shape)
        ways = (_Shared(network_of(beside, read, calls, probe), None),)
    for shared in ways:
        for stack, activation in product(stacks, GATED):
            if router is None:
                break
            read_weights = partial(_expert_weights, stack, router, shared, activation)
            network = read_weights()
            if same(network_output(network, read), made, ROUND_OFF) and (
                activation not in LIMITS or _is_clamped(module, network, read)
            ):
                return read_weights
    raise UnfitModel(
        f"{type(module).__name__}: the network is neither two or three matrices nor experts with a "
        "router."
    )


def _router(module: Model, inside: tuple[Call, ...]) -> Callable[..., Router] | None:
    """Return the router of a block of experts, which may take tensors of it; None if none."""
    call = next((other for other in inside if "Router" in type(other.module).__name__), None)
    if call is None:
        return None
    asked = signature(call.module.forward).parameters
    held = {name: getattr(module, name, None) for name in asked}
    given = {name: tensor for name, tensor in held.items() if isinstance(tensor, Tensor)}
    return partial(Router, call.module, given=given, reads_batches=call.given.dim() == 3)


def _is_clamped(module: Model, network: FeedForwardWeights, read: Tensor) -> bool:
    """Return True if a network has the activation's limit, which large inputs alone reach."""
    wide = 100 * read
    return same(first_tensor(module(wide)), network_output(network, wide), ROUND_OFF)


@dataclass(frozen=True)
class _Stack:
    """Weights of experts, one behind the other, gates and inputs in one matrix.

    Columns of gates and inputs stand in two halves, or alternate.
    """

    module: Model
    is_turned: bool
    alternates: bool

    def of(self, name: str) -> Float[Tensor, "expert input output"]:
        stored = getattr(self.module, name).detach()
        return stored.mT if self.is_turned else stored

    def bias(self, name: str) -> Float[Tensor, "expert output"]:
        stored, weight = getattr(self.module, f"{name}_bias", None), self.of(name)
        return weight.new_zeros(len(weight), weight.shape[2]) if stored is None else stored.detach()

    def sides(self, columns: Float[Tensor, "*any column"]) -> tuple[Tensor, ...]:
        """Columns of gates and of inputs."""
        if self.alternates:
            return columns[..., ::2], columns[..., 1::2]
        return columns.chunk(2, dim=-1)


def _stacks(module: Model, width: int) -> Iterator[_Stack]:
    """Yield readings of a module that holds experts; none of another module."""
    both, down = (getattr(module, name, None) for name in ("gate_up_proj", "down_proj"))
    if isinstance(both, Tensor) and isinstance(down, Tensor) and both.dim() == 3:
        for is_turned, axis, other in ((True, 2, 1), (False, 1, 2)):
            if both.shape[axis] == down.shape[other] == width:
                yield from (_Stack(module, is_turned, alternates) for alternates in (False, True))


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
    stack: _Stack,
    router: Callable[..., Router],
    shared: _Shared | None,
    activation: Activation,
) -> FeedForwardWeights:
    """All experts side by side, the shared one last."""
    both, back = stack.of("gate_up_proj"), stack.of("down_proj").flatten(0, 1)
    sides = [side.transpose(0, 1).flatten(1) for side in stack.sides(both)]
    biases = [side.flatten() for side in stack.sides(stack.bias("gate_up_proj"))]
    n_shared, output_bias = 0, back.new_zeros(back.shape[1])
    if activation in LIMITS:
        biases[1] = biases[1] + 1
    if shared is not None:
        beside = shared.network()
        n_shared, output_bias = len(beside.output_weight), beside.output_bias
        sides = [torch.cat([side, w], 1) for side, (w, _) in zip(sides, beside.paths, strict=True)]
        biases = [torch.cat([bias, b]) for bias, (_, b) in zip(biases, beside.paths, strict=True)]
        back = torch.cat([back, beside.output_weight])
    (gate, inputs), (gate_bias, input_bias) = sides, biases
    expert_bias = stack.bias("down_proj")
    return FeedForwardWeights(
        input_weight=inputs,
        input_bias=input_bias,
        output_weight=back,
        output_bias=output_bias,
        activation=activation,
        gate_weight=gate,
        gate_bias=gate_bias,
        router=router(n_experts=len(both), n_shared=n_shared, shared_gate=shared and shared.gate),
        expert_bias=expert_bias if expert_bias.any() else None,
    )
